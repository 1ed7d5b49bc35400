#!/bin/sh
# SPDX-License-Identifier: MIT
# --what-happened: what is said of damaged files, that it fits the schema, and
# that no verdict and no exit status depends on it.
. tests/support/golden.sh
top=${top:?set by golden.sh}

fits() { # fits FILE: every object in it fits the schema
	faults=$(jq -r --slurpfile schema "$top/include/ckverify-1.schema.json" \
		-f "$top/tests/support/schema.jq" "$1") ||
		say_failure "jq failed on $1"
	[ -z "$faults" ] || say_failure "$faults"
}

expect 0 ckforge big --size=1M --progress=never -o good.ckpt
cp good.ckpt torn.ckpt && dd if=/dev/zero of=torn.ckpt bs=4096 seek=100 \
	count=2 conv=notrunc 2>/dev/null
head -c 524288 good.ckpt >cut.ckpt
sed 's/$/\r/' good.ckpt >text.ckpt
{ head -c 500000 good.ckpt; printf abc; tail -c +500001 good.ckpt; } >late.ckpt
echo '<!DOCTYPE html><html><body>404 Not Found</body></html>' >page.ckpt
cp good.ckpt flip.ckpt && poke flip.ckpt 600000 Z
mkdir -p set && cp good.ckpt torn.ckpt set

hints() { # hints ARGUMENT...: a transcript of what stands below the findings
	echo "\$ ckverify --what-happened $*" >>log
	"$BIN/ckverify" --what-happened "$@" 2>&1 |
		sed -n '/^  what may have happened/,$p' >>log
	echo >>log
}

for file in good torn cut text late page flip missing; do
	hints $file.ckpt
done
hints --first torn.ckpt
compare ckverify_what_happened

for file in good torn cut text late page flip missing; do
	"$BIN/ckverify" --format=jsonl $file.ckpt >without
	status=$?
	expect $status ckverify --format=jsonl --what-happened $file.ckpt
	fits out
	jq -c 'del(.causes, .causes_scope)' out >rest
	jq -c . without >before
	cmp before rest || say_failure "$file: something else changed"
done
expect 1 ckverify --format=json --what-happened good.ckpt torn.ckpt
fits out
[ "$(jq -r '.files[1].causes[0].cause' out)" = torn-pages ] ||
	say_failure "no torn page in the object of all"
expect 1 ckverify --format=jsonl -j 2 --what-happened -r set
fits out
[ "$(jq -r 'select(.verdict == "invalid") | .causes[0].cause' out |
	head -n 1)" = torn-pages ] || say_failure "no torn page in a folder"

# Standard input that is a file can be read twice; a pipe cannot.
expect 1 ckverify --what-happened - <torn.ckpt
says out 'torn-pages'
# shellcheck disable=SC2002
cat torn.ckpt | "$BIN/ckverify" --what-happened - >out 2>err
[ $? = 2 ] || say_failure "a pipe is no usage error"
silent out
says err 'can be read only once'
expect 2 ckverify -q --what-happened torn.ckpt
finish
