#!/bin/sh
# SPDX-License-Identifier: MIT
# Exit statuses, what goes where, colours, pipes, ranges, and names that try
# to write to the terminal.
set -eu
cd "$TMPDIR"
inspect=$BIN/ckinspect
"$BIN/ckforge" synth --width=4 --step=1 -o f.ckpt >/dev/null
size=$(wc -c <f.ckpt)

expect() { # expect STATUS COMMAND...: and if not 0, nothing on stdout
	want=$1
	shift
	got=0
	"$@" >out 2>err </dev/null || got=$?
	[ "$got" -eq "$want" ] || {
		echo "$*: exit status $got, not $want"
		cat err
		exit 1
	}
	if [ "$want" -ne 0 ] && { [ -s out ] || [ ! -s err ]; }; then
		echo "$*: a failure without a message, or with output"
		exit 1
	fi
}

# Shown is 0, whatever the verdict.
expect 0 "$inspect" f.ckpt
head -c 100 f.ckpt >cut.ckpt
expect 0 "$inspect" cut.ckpt
grep -q '^verdict  *invalid: CK1005 ' out
: >empty
expect 0 "$inspect" empty
expect 0 "$inspect" --batch f.ckpt
# Without a terminal an option of the viewer does no harm; where no viewer was
# asked for, it is a mistake.
expect 0 "$inspect" --no-mouse f.ckpt
expect 2 "$inspect" --no-mouse --batch f.ckpt
expect 2 "$inspect" --no-mouse --at=1 f.ckpt

expect 2 "$inspect"
expect 2 "$inspect" f.ckpt f.ckpt f.ckpt
expect 2 "$inspect" --batch f.ckpt f.ckpt
# Two files are compared in a terminal.
expect 3 "$inspect" f.ckpt f.ckpt
expect 2 "$inspect" --batch=nothing f.ckpt
expect 2 "$inspect" --at=twelve f.ckpt
expect 2 "$inspect" --at=-1 f.ckpt
expect 2 "$inspect" --at=1 --batch=hex f.ckpt
expect 2 "$inspect" --hex-range=0:16 f.ckpt
for range in 0 : 0: :16 0:0 a:b 1:2:3 -1:4 99999999999999999999:1; do
	expect 2 "$inspect" --batch=hex --hex-range=$range f.ckpt
done
expect 2 "$inspect" --at="$size" f.ckpt
grep -q "the file has $size bytes" err
expect 2 "$inspect" --batch=hex --hex-range="$size:1" f.ckpt
expect 2 "$inspect" --at=18446744073709551615 f.ckpt
expect 3 "$inspect" no-such-file
expect 3 "$inspect" .

# The last byte, and ranges that are cut at the end.
expect 0 "$inspect" --at=$((size - 1)) f.ckpt
expect 0 "$inspect" --batch=hex --hex-range=$((size - 5)):0xffffffffffffffff f.ckpt
[ "$(wc -l <out)" -eq 1 ]
expect 0 "$inspect" --batch=hex --hex-range=0:"$size" f.ckpt
cut -c 11-57 out | tr -d ' \n' >hex
od -An -v -tx1 f.ckpt | tr -d ' \n' | cmp - hex

# A pipe is shown as the file is.
for s in groups records fields map hex stats; do
	"$inspect" --batch=$s f.ckpt >file
	# shellcheck disable=SC2002
	cat f.ckpt | "$inspect" --batch=$s - >pipe
	cmp file pipe
done
"$inspect" --at=$((size - 9)) f.ckpt >file
"$inspect" --at=$((size - 9)) - <f.ckpt | cmp - file

# Colours only when asked for, and only as decoration.
"$inspect" --batch=records f.ckpt >plain
"$inspect" --batch=records --color=always f.ckpt >colors
if cmp -s plain colors || grep -q "$(printf '\033')" plain; then exit 1; fi
sed "s/$(printf '\033')\[[0-9;]*m//g" colors | cmp - plain

# Names of tensors and of the file itself.
"$BIN/ckforge" mutate --set='records[0].name=\x1b[2J\x0a\xe2\x80\xae\xff' \
	--fix-extents --fix-checksum -o evil.ckpt f.ckpt >/dev/null
evil=$(printf 'a\033[31m\nb')
cp evil.ckpt "$evil"
for s in overview groups records fields map findings hex stats; do
	"$inspect" --batch=$s "$evil" >text
	"$inspect" --batch=$s --format=json "$evil" >json
	if LC_ALL=C tr -d '\n' <text | LC_ALL=C grep -q '[[:cntrl:]]'; then
		echo "$s: control bytes"
		exit 1
	fi
	if LC_ALL=C tr -d '\n' <json | LC_ALL=C grep -q '[[:cntrl:]]'; then
		echo "$s: control bytes in JSON"
		exit 1
	fi
	jq -e '.schema == "ckinspect/1"' json >/dev/null
done
"$inspect" --batch=records "$evil" | grep -qF '\x1b[2J\n'

# A result that could not be written is not a success.
if [ -e /dev/full ]; then
	got=0
	"$inspect" f.ckpt >/dev/full 2>err || got=$?
	[ "$got" -eq 3 ]
fi
