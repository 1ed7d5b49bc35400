#!/bin/sh
# SPDX-License-Identifier: MIT
# Folders: a set without -r, every checkpoint below with it.
. tests/support/golden.sh

samples plain good.ckpt warned warned.ckpt
cp good.ckpt broken.ckpt && poke broken.ckpt 840 X

mkdir -p set/deep/er set/folder.ckpt
cp good.ckpt set/b.ckpt
cp good.ckpt set/A.ckpt
cp good.ckpt set/claimed-by-its-content
cp good.ckpt set/deep/er/c.ckpt
echo 'settings of a run, no checkpoint' >set/notes.txt
head -c 100 good.ckpt >set/.b.ckpt.tmp-4711-0
ln -s ../good.ckpt set/z-link.ckpt
ln -s .. set/loop
mkfifo set/pipe.ckpt
run ckverify set
run ckverify -r set
run ckverify --fail-on=warning set
compare ckverify_folder

head -c 5 good.ckpt >set/deep/.c.ckpt.tmp-1-127
cp broken.ckpt set/deep/d.ckpt
run ckverify -r set
run ckverify -r set/deep/er
run ckverify set/
compare ckverify_recursive

mkdir empty orphan bad
head -c 5 good.ckpt >orphan/.x.ckpt.tmp-1-0
cp good.ckpt broken.ckpt bad && ln -s nowhere bad/lost.ckpt
run ckverify empty
run ckverify -r empty
run ckverify orphan
run ckverify bad
run ckverify -q bad
run ckverify bad/good.ckpt empty
compare ckverify_sets

# Each member has an object of its own; the folder's comes first, with the
# worst verdict.
expect 3 ckverify --format=jsonl bad
[ "$(jq -r .file.path out | tr '\n' ' ')" = \
	"bad bad/broken.ckpt bad/good.ckpt bad/lost.ckpt " ] ||
	say_failure "members of bad: $(jq -r .file.path out)"
[ "$(head -n 1 out | jq -r '.format, .verdict, .exit_code' | tr '\n' ' ')" = \
	"folder not-verified 3 " ] || say_failure "the set's own object"

# A folder that cannot be read is not an empty one.
mkdir closed closed/in && cp good.ckpt closed && chmod 000 closed/in
if [ ! -r closed/in ]; then
	expect 3 ckverify -r closed
	says out 'closed: not-verified'
	says out 'in'
	expect 0 ckverify closed
fi
chmod 700 closed/in

# Deeper than a path can be long: what cannot be reached is not valid.
mkdir deep && (
	name=$(printf '%0200d' 0)
	cd deep || exit 1
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do
		mkdir "$name" && cd -P "$name" || exit 1
	done
)
expect 3 ckverify -r deep
says out 'deep: not-verified'
says out 'error CK9001 io-error, 0000'
says out 'File name too long'
rm -rf deep
finish
