#!/bin/sh
# SPDX-License-Identifier: MIT
# json and jsonl: what they say, that both say the same, and that everything
# fits the published schema.
. tests/support/golden.sh
top=${top:?set by golden.sh}

fits() { # fits FILE: every object in it fits the schema
	faults=$(jq -r --slurpfile schema "$top/include/ckverify-1.schema.json" \
		-f "$top/tests/support/schema.jq" "$1") ||
		say_failure "jq failed on $1"
	[ -z "$faults" ] || say_failure "$faults"
}

samples plain good.ckpt warned warned.ckpt hostile hostile.ckpt huge huge.ckpt
cp good.ckpt two.ckpt && poke two.ckpt 171 '\003'
cp good.ckpt version.ckpt && poke version.ckpt 8 '\002'
head -c 300 good.ckpt >cut.ckpt
echo 'not a checkpoint at all, only a line of text' >text.ckpt
mkdir -p set && cp good.ckpt set && : >set/.good.ckpt.tmp-12-0

for file in good.ckpt two.ckpt cut.ckpt text.ckpt missing.ckpt set; do
	run ckverify --format=jsonl "$file"
done
run ckverify --format=jsonl --first two.ckpt
run ckverify --format=jsonl --fail-on=warning warned.ckpt
compare ckverify_jsonl

run ckverify --format=json -v good.ckpt
run ckverify --format=json good.ckpt two.ckpt
compare ckverify_json

all="good.ckpt warned.ckpt hostile.ckpt huge.ckpt two.ckpt version.ckpt
	cut.ckpt text.ckpt missing.ckpt set"
for more in "" -v --first --fail-on=warning --profile=reference; do
	# shellcheck disable=SC2086
	expect 3 ckverify --format=json $more $all
	silent err
	fits out
	mv out whole
	# shellcheck disable=SC2086
	expect 3 ckverify --format=jsonl $more $all
	fits out
	jq -c '.files[]' whole >from_json
	jq -c . out >from_jsonl
	cmp from_json from_jsonl || say_failure "json and jsonl disagree"
	[ "$(jq -r .exit_code whole)" = 3 ] || say_failure "exit_code of all"
	[ "$(wc -l <out)" = 11 ] || say_failure "not one object a file"
done

# The exit status of one file is the one in its object.
for file in $all; do
	"$BIN/ckverify" --format=jsonl "$file" >out
	status=$?
	[ "$(head -n 1 out | jq .exit_code)" = "$status" ] ||
		say_failure "$file: exit $status, and not in its object"
done

# The rules are split into three lists without overlap, and none is lost.
expect 0 ckverify --format=jsonl good.ckpt
jq -e '.rules | (.passed + .failed + [.not_evaluated[].rule])
	| length == (unique | length) and length > 50' out >/dev/null ||
	say_failure "lists of rules overlap"
expect 1 ckverify --format=jsonl two.ckpt
jq -e '. as $o | [.findings[].rule] | unique
	== ($o.rules.failed | unique)' out >/dev/null ||
	say_failure "failed rules are not those of the findings"
expect 0 ckverify --format=jsonl huge.ckpt
jq -e '.summary.positions == "9007199254740992"' out >/dev/null ||
	say_failure "a number of 2^53 is not a string"
jq -e '.file.size | type == "number"' out >/dev/null ||
	say_failure "a small number is not a number"

# A checker that accepts everything would prove nothing.
echo '{"schema":"ckverify/1","verdict":"fine"}' >wrong
jq -r --slurpfile schema "$top/include/ckverify-1.schema.json" \
	-f "$top/tests/support/schema.jq" wrong | grep -q . ||
	say_failure "the schema accepts nonsense"
finish
