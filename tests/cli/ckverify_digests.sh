#!/bin/sh
# SPDX-License-Identifier: MIT
# --digests: of every file what sha256sum says, of every record what it says
# of the record's bytes; the same in text and JSON, from a pipe, with threads.
. tests/support/golden.sh
top=${top:?set by golden.sh}

mkdir all
i=0
for folder in good bad unsupported; do
	for file in "$top"/corpus/*/$folder/*; do
		[ -f "$file" ] || continue
		i=$((i + 1))
		cp "$file" "all/$i-${file##*/}"
	done
done
[ "$i" -gt 50 ] || say_failure "only $i files"
head -c 3000000 /dev/zero >all/zeros.bin
: >all/empty.ckpt
sha256sum all/* >want

"$BIN/ckverify" --digests --format=jsonl -j 2 all/* >digests 2>err
silent err
jq -r 'select(.file) | .digests.sha256 + "  " + .file.path' digests >got
cmp want got || say_failure "the digests are not those of sha256sum"
faults=$(jq -r --slurpfile schema "$top/include/ckverify-1.schema.json" \
	-f "$top/tests/support/schema.jq" digests) ||
	say_failure "jq failed"
[ -z "$faults" ] || say_failure "$faults"
jq -e -s 'all(.[]; .digests | has("reason") | not)' digests >/dev/null ||
	say_failure "a reason beside a digest"

# Text says the same, with the reason where there is none.
"$BIN/ckverify" --digests all/* >text
grep '^  sha256' text | sed 's/^  sha256 //' | cmp - want ||
	say_failure "text and JSON have other digests"

# Nothing else changes.
"$BIN/ckverify" --format=jsonl all/* | jq -c . >plain
jq -c 'del(.digests)' digests >without
cmp plain without || say_failure "--digests changes more than digests"

# Each record, cut out by its offset and length, of every format.
each_record() { # each_record FILE WHAT-ITS-RECORDS-ARE-CALLED
	records=0
	"$BIN/ckinspect" --format=json --batch=records "$1" >inspected
	"$BIN/ckverify" --digests --format=jsonl "$1" >out
	jq -r '.digests.records[] | .path + " " + .sha256' out >got
	jq -r --arg name "$2" \
		'.records[] | "\($name)[\(.record)] \(.range[0]) \(.length)"' \
		inspected >places
	while read -r path offset length; do
		records=$((records + 1))
		want=$(tail -c "+$((offset + 1))" "$1" | head -c "$length" |
			sha256sum | cut -d' ' -f1)
		grep -qxF "$path $want" got ||
			say_failure "$1: $path: not $want"
	done <places
	[ "$records" -gt 3 ] || say_failure "$1: $records records"
	[ "$records" -eq "$(wc -l <got)" ] ||
		say_failure "$1: records differ in number"
}
file=$(ls "$top"/corpus/llmcp35/good/* | head -n 1)
cp "$file" one.ckpt
cp "$top/corpus/archive/good/training.safetensors" archive.safetensors
cp "$top/corpus/safetensors/good/dtypes.safetensors" plain.safetensors
each_record one.ckpt records
each_record archive.safetensors tensors
each_record plain.safetensors tensors

# A pipe, fast and slow, and one that goes on and on.
for file in one.ckpt all/empty.ckpt; do
	want=$(sha256sum <"$file" | cut -d' ' -f1)
	(cat "$file") | "$BIN/ckverify" --digests - >out
	grep -qx "  sha256 $want  -" out || says out "$want"
	(head -c 200 "$file" && sleep 0.1 && tail -c +201 "$file") |
		"$BIN/ckverify" --digests - >out
	grep -qx "  sha256 $want  -" out || says out "$want"
done
head -c 5000000 all/zeros.bin /dev/zero 2>/dev/null |
	"$BIN/ckverify" --digests --format=jsonl - >out
jq -e '.digests | .sha256 == null and .reason != ""' out >/dev/null ||
	say_failure "a digest of a part of a long pipe"
"$BIN/ckverify" --digests /dev/zero >out && say_failure "/dev/zero is valid"
says out "sha256 not given  /dev/zero: the input goes on"

"$BIN/ckverify" --digests missing.ckpt >out
says out "sha256 not given  missing.ckpt: it could not be opened"
expect 2 ckverify -q --digests one.ckpt
silent out
expect 2 ckverify --digests --explain CK1006
finish
