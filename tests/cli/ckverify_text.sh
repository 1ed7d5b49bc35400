#!/bin/sh
# SPDX-License-Identifier: MIT
# What ckverify says of good and bad files, as text.
. tests/support/golden.sh

samples plain good.ckpt fresh fresh.ckpt noted noted.ckpt warned warned.ckpt
run ckverify good.ckpt
run ckverify fresh.ckpt good.ckpt
run ckverify -v good.ckpt
run ckverify --values=finite --profile=reference --max-memory=1M good.ckpt
compare ckverify_valid

run ckverify warned.ckpt
run ckverify --fail-on=warning warned.ckpt
run ckverify --fail-on=warning good.ckpt
run ckverify --first warned.ckpt
run ckverify noted.ckpt
run ckverify -v noted.ckpt
run ckverify --fail-on=warning noted.ckpt
compare ckverify_warned

cp good.ckpt broken.ckpt && poke broken.ckpt 840 X
cp good.ckpt two.ckpt && poke two.ckpt 171 '\003'
cp good.ckpt version.ckpt && poke version.ckpt 8 '\002'
cp good.ckpt swapped.ckpt && poke swapped.ckpt 10 '\001\002\003\004'
cp good.ckpt nan.ckpt && poke nan.ckpt 664 '\377\377\377\377\377\377\377\377'
run ckverify broken.ckpt
run ckverify two.ckpt
run ckverify --first two.ckpt
run ckverify -v two.ckpt
run ckverify nan.ckpt
run ckverify version.ckpt
run ckverify swapped.ckpt
run ckverify good.ckpt broken.ckpt good.ckpt
run ckverify broken.ckpt version.ckpt
compare ckverify_broken

head -c 300 good.ckpt >cut.ckpt
head -c 10 good.ckpt >short.ckpt
{ cat good.ckpt; echo more; } >long.ckpt
: >empty.ckpt
run ckverify cut.ckpt
run ckverify short.ckpt
run ckverify long.ckpt
run ckverify empty.ckpt
compare ckverify_cut

cat >lfs.ckpt <<'END'
version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
END
echo '<!DOCTYPE html><html><body>404 Not Found</body></html>' >page.ckpt
echo '{"error":"Repository not found, or you have no access to it"}' >json.ckpt
printf 'PK\003\004................................................' >zip.ckpt
head -c 64 /dev/zero >zero.ckpt
echo 'This file is none of ours and of no kind that has a name.' >text.ckpt
run ckverify lfs.ckpt page.ckpt json.ckpt zip.ckpt zero.ckpt text.ckpt
run ckverify -v text.ckpt
compare ckverify_foreign

run ckverify -q good.ckpt
run ckverify -q warned.ckpt
run ckverify -q --fail-on=warning warned.ckpt
run ckverify -q broken.ckpt
run ckverify -q missing.ckpt version.ckpt
compare ckverify_quiet
finish
