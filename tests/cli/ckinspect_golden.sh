#!/bin/sh
# SPDX-License-Identifier: MIT
# Every section of one small file, as text and JSON, and broken copies of it,
# against tests/golden. UPDATE=1 writes the golden files anew: read the diff.
set -eu
golden=$PWD/tests/golden
cd "$TMPDIR"

"$BIN/ckforge" synth --vocabulary=4 --width=4 --heads=2 \
	--feed-forward-width=2 --layers=0 --positions=8 --groups=gains \
	--step=2 -o small.ckpt >/dev/null
mutate() { # mutate OUT OPTION...
	out=$1
	shift
	"$BIN/ckforge" mutate "$@" -o "$out" small.ckpt >/dev/null
}
end=$(wc -c <small.ckpt)
mutate gap.ckpt --set='records[1].offset=900' --fix-checksum
mutate cut.ckpt --truncate=420
mutate role.ckpt --set='records[2].role=9' --fix-checksum
mutate long.ckpt --append=00112233
printf '<!DOCTYPE html>\n<p>\033[31mnot found\n' >page.ckpt

bad=0
check() { # check NAME COMMAND...
	file=$golden/inspect_$1
	shift
	"$@" >got 2>err || { echo "failed: $*"; cat err; bad=1; }
	[ ! -s err ] || { echo "stderr of $*:"; cat err; bad=1; }
	if [ "${UPDATE:-}" ]; then
		cp got "$file"
	elif ! diff -u "$file" got; then
		echo "differs: $*"
		bad=1
	fi
}

inspect=$BIN/ckinspect
for s in overview groups records fields map findings hex stats; do
	check "$s.txt" "$inspect" --batch=$s small.ckpt
	# The list of rules grows; nothing else of this object is of ckinspect.
	[ $s = findings ] ||
		check "$s.json" "$inspect" --batch=$s --format=json small.ckpt
done
[ "$("$inspect" --batch=findings --format=json gap.ckpt |
	jq -r '.findings[0].rule + " " + .verdict')" = 'CK3004 invalid' ]
for s in overview records map findings hex; do
	check "gap_$s.txt" "$inspect" --batch=$s gap.ckpt
done
for f in cut role long; do
	check "${f}_records.txt" "$inspect" --batch=records $f.ckpt
	check "${f}_map.txt" "$inspect" --batch=map $f.ckpt
done
check page_overview.txt "$inspect" page.ckpt
check page_hex.txt "$inspect" --batch=hex page.ckpt
check page_fields.txt "$inspect" --batch=fields page.ckpt
check at_field.txt "$inspect" --at=0x1e small.ckpt
check at_element.txt "$inspect" --at=$((end - 20)) small.ckpt
check at_element.json "$inspect" --at=$((end - 20)) --format=json small.ckpt
check at_gap.txt "$inspect" --at=$((end + 1)) long.ckpt
exit $bad
