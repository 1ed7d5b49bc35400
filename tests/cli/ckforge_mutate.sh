#!/bin/sh
# SPDX-License-Identifier: MIT
# ckforge mutate: edits by path, relayout, checksum, report, and what it never
# writes over.
set -eu
forge=$BIN/ckforge verify=$BIN/ckverify
base=corpus/llmcp35/good/tiny.ckpt
cp "$base" "$TMPDIR/in.ckpt"
cd "$TMPDIR"
case $forge in
/*) ;;
*) forge=$OLDPWD/$forge verify=$OLDPWD/$verify ;;
esac

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

expect() { # expect STATUS COMMAND...: into out and err
	want=$1
	shift
	got=0
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$want" ] || {
		cat out err >&2
		fail "exit $got instead of $want: $*"
	}
}

has() { # has FILE TEXT
	grep -qF -- "$2" "$1" || {
		cat "$1" >&2
		fail "$1 does not say: $2"
	}
}

# One field, and only it.
expect 0 "$forge" mutate --set header.selected_step=4 -o step.ckpt in.ckpt
has out "forged: no training lineage"
has out "set header.selected_step at 0x2a (42): 3 -> 4"
has out "step.ckpt: 900 bytes"
[ "$(cmp -l in.ckpt step.ckpt | wc -l)" -eq 1 ] || fail "more than one byte"
expect 1 "$verify" step.ckpt
has out CK1006
expect 0 "$forge" mutate --fix-checksum --set header.selected_step=4 \
	-o step.ckpt in.ckpt
expect 1 "$verify" step.ckpt
has out CK5502

# Tags are read and shown by name, doubles with their bits.
expect 0 "$forge" mutate --set records[3].role=BpePairs \
	--set header.adamw.beta1=0x1p-1 --set header.adamw.beta2=nan \
	-o tags.ckpt in.ckpt
has out "3 ModelParameter -> 2 BpePairs"
has out "-> 0.5 (bits 3fe0000000000000)"
has out "-> NaN (bits 7ff8000000000000)"

# A token grows, everything behind it shifts, and the file is valid.
expect 0 "$forge" mutate --set 'token[1].data=grown' --relayout \
	--fix-checksum -o grown.ckpt in.ckpt
has out "900 -> 904"
expect 0 "$verify" grown.ckpt
expect 0 "$forge" mutate --set 'token[1].data=b' --relayout --fix-checksum \
	-o shrunk.ckpt grown.ckpt
cmp in.ckpt shrunk.ckpt || fail "growing and shrinking changed the file"

# Without relayout the same edit leaves a file that lies.
expect 0 "$forge" mutate --set 'token[1].data=grown' --fix-checksum \
	-o lie.ckpt in.ckpt
expect 1 "$verify" lie.ckpt
has out CK1007

# Bytes, on the final file, in the order given.
expect 0 "$forge" mutate --truncate 40 --append 0a0b --append-text 'x\x00y' \
	--flip 0.0 --bytes 0x1=41 -o raw.bin in.ckpt
[ "$(wc -c <raw.bin)" -eq 45 ] || fail "45 bytes were expected"
printf 'MAMCP35' | cmp -n 7 - raw.bin || fail "flip or bytes"
printf '\n\013x\000y' >ending
tail -c 5 raw.bin | cmp - ending || fail "append"

# What comes from the command line is escaped before it is printed.
expect 0 "$forge" mutate --set "$(printf 'records[3].name=\033[31m')" \
	-o esc.ckpt in.ckpt
has out '\x1b[31m'
! grep -q "$(printf '\033')" out || fail "an escape was printed"

# A file without a header that can be parsed.
printf 'GGUF and more than thirty-eight bytes of it' >gguf
expect 1 "$forge" mutate --set header.selected_step=1 -o x gguf
has err "cannot be parsed, so only its bytes can be edited"
[ ! -e x ] || fail "a failure wrote a file"
expect 0 "$forge" mutate --flip 0.0 -o x gguf
expect 1 "$forge" mutate --flip 0.0 --fix-checksum -o y gguf
[ ! -e y ] || fail "a failure wrote a file"

# Standard input; the input itself is never written over.
expect 0 "$forge" mutate --flip 60.0 -o piped.ckpt - <in.ckpt
ln in.ckpt hard
ln -s in.ckpt soft
for out in in.ckpt ./in.ckpt hard soft; do
	expect 2 "$forge" mutate --flip 60.0 -o "$out" in.ckpt
	has err "is the file to be edited"
done
# shellcheck disable=SC2094
expect 2 "$forge" mutate --flip 60.0 -o in.ckpt - <in.ckpt
has err "is the file to be edited"
cmp in.ckpt hard || fail "the input changed"
expect 3 "$forge" mutate --flip 60.0 -o . in.ckpt
expect 3 "$forge" mutate --flip 60.0 -o none/x in.ckpt
expect 3 "$forge" mutate --flip 60.0 -o x missing
