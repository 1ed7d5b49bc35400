#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ckforge mutate: every mistake is named, nothing is printed or written.
set -eu
forge=$BIN/ckforge
base=corpus/llmcp35/good/tiny.ckpt
out=$TMPDIR/out

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

wrong() { # wrong TEXT OPTION...
	text=$1 got=0
	shift
	"$forge" mutate "$@" -o "$out" "$base" >"$TMPDIR/stdout" \
		2>"$TMPDIR/stderr" || got=$?
	[ "$got" -eq 2 ] || fail "exit $got: $*"
	[ ! -s "$TMPDIR/stdout" ] || fail "printed on standard output: $*"
	[ ! -e "$out" ] || fail "wrote a file: $*"
	grep -qF -- "$text" "$TMPDIR/stderr" || {
		cat "$TMPDIR/stderr" >&2
		fail "does not say '$text': $*"
	}
}

# Paths that lead nowhere get the nearest one.
wrong "did you mean 'header.selected_step'?" --set header.selected_stp=1
wrong "did you mean 'records[i].offset'?" --set 'records[3].ofset=1'
wrong "did you mean 'header.groups.decay.count'?" --set header.groups.decay.coun=1
wrong "there is no 'records[99].offset' in this file" --set 'records[99].offset=1'
wrong "there is no 'records[9]' in this file" --delete 'records[9]'
# Values that do not fit.
wrong "not a number that fits" --set header.tokenizer_kind=256
wrong "not a number that fits" --set header.selected_step=-1
wrong "not a number that fits" --set 'records[3].role=Weights'
wrong "not a floating-point number" --set header.adamw.beta1=much
wrong "eight bytes" --set fixed_header.magic=LLM
wrong "neither hex:" --set 'records[3].name=hex:0'
wrong "PATH=VALUE was expected" --set header.selected_step
wrong "PATH[i]=VALUE was expected" --insert 'records[3].dims[0]'
wrong "duplicate one" --insert 'records[0]=1'
wrong "PATH[i],PATH[j] was expected" --swap 'records[0]'
# Bytes.
wrong "behind the end" --bytes 900=00
wrong "OFFSET=HEX" --bytes 00
wrong "hexadecimal digits" --bytes 0=0
wrong "OFFSET.BIT" --flip 8
wrong "shorter than that" --truncate 901
wrong "crlf or utf8" --mangle rot13
# Fields before bytes.
wrong "fields are edited before bytes" --flip 0.0 --set header.selected_step=1
# Options.
wrong "did you mean '--set'?" --sett header.selected_step=1
got=0
"$forge" mutate --flip 0.0 "$base" >"$TMPDIR/stdout" 2>"$TMPDIR/stderr" || got=$?
[ "$got" -eq 2 ] || fail "exit $got without -o"
grep -qF -- "-o OUT is missing" "$TMPDIR/stderr" || fail "-o is not asked for"
# Input that never ends: given up when asked to, and when memory is used up.
# More than a pipe holds has gone through once the reader is at work.
mkfifo "$TMPDIR/fifo"
exec 3<>"$TMPDIR/fifo"
got=0
"$forge" mutate --flip 0.0 -o "$out" "$TMPDIR/fifo" 2>"$TMPDIR/stderr" &
pid=$!
head -c 200000 /dev/zero >&3
kill -TERM $pid
wait $pid || got=$?
exec 3>&-
[ "$got" -eq 130 ] || fail "SIGTERM while reading: exit $got"
[ ! -e "$out" ] || fail "SIGTERM while reading: wrote a file"
# The limit is on addresses, of which a sanitizer takes many.
if [ "$MODE" = release ]; then
	got=0
	(ulimit -v 65536 && exec timeout -k 1 20 "$forge" mutate --flip 0.0 \
		-o "$out" /dev/zero) 2>"$TMPDIR/stderr" || got=$?
	[ "$got" -eq 3 ] || fail "endless input: exit $got"
fi
# To standard output: the bytes there, the report on standard error.
"$forge" synth -o "$TMPDIR/base" >/dev/null || fail "synth"
"$forge" mutate --flip 100.0 -o - "$TMPDIR/base" \
	>"$TMPDIR/piped" 2>"$TMPDIR/stderr" || fail "mutate -o -"
"$forge" mutate --flip 100.0 -o "$TMPDIR/named" "$TMPDIR/base" >/dev/null
cmp -s "$TMPDIR/piped" "$TMPDIR/named" || fail "mutate -o - wrote other bytes"
grep -q 'no training lineage' "$TMPDIR/stderr" || fail "mutate -o -: no report"
