#!/bin/sh
# SPDX-License-Identifier: MIT
# ckforge synth: the known file, any shape valid, the same bytes each time and
# by each way out, and a reason for whatever cannot be.
set -u
cd "$TMPDIR" || exit 2
forge=$BIN/ckforge verify=$BIN/ckverify
bad=0

fail() {
	echo "FAIL: $*"
	bad=1
}

known='s1.ckpt: forged: no training lineage (llmcp35, 8676 bytes, fnv1a64:dae9b18dc7729be8)'
said=$("$forge" synth --vocabulary=7 --width=6 --heads=3 \
	--feed-forward-width=5 --layers=3 --positions=5 --seed=1 --step=0 \
	--rope-base=500 --rms-epsilon=1e-5 --learning-rate=0.02 --beta1=0.9 \
	--beta2=0.99 --epsilon=1e-8 --weight-decay=0x1.999999999999ap-4 \
	--rng-state=0x1 --groups=none --tokenizer=literal -o s1.ckpt) ||
	fail "the known file: exit $?"
[ "$said" = "$known" ] || fail "said: $said"
"$verify" -q s1.ckpt || fail "the known file is not valid"

# Every combination is valid, and the same to a file and through a pipe.
for tokenizer in --vocabulary=3 --vocabulary=1 "--vocabulary=40 --token-bytes=5" \
	"--tokenizer=byte-bpe" "--tokenizer=byte-bpe --merges=9" \
	"--tokenizer=byte-bpe --merges=70 --merge-shape=doubling"; do
	for rest in "" "--layers=0" "--layers=11 --step=2 --groups=gains" \
		"--step=1000 --beta1=0" "--groups=gains --rng-state=7"; do
		# shellcheck disable=SC2086
		"$forge" synth $tokenizer $rest -o f.ckpt >/dev/null ||
			fail "synth $tokenizer $rest: exit $?"
		"$verify" -q --fail-on=warning f.ckpt ||
			fail "synth $tokenizer $rest: not valid"
		# shellcheck disable=SC2086
		"$forge" synth $tokenizer $rest -o - >piped 2>words ||
			fail "synth $tokenizer $rest -o -: exit $?"
		cmp f.ckpt piped || fail "synth $tokenizer $rest: differs"
		grep -q '^-: forged: no training lineage' words ||
			fail "no report on standard error"
	done
done
"$forge" synth --seed=2 -o other >/dev/null
"$forge" synth --seed=3 -o f.ckpt >/dev/null
cmp -s f.ckpt other && fail "the seed has no effect"

# refused STATUS WORDS OPTIONS...: nothing on standard output, nothing made.
refused() {
	want=$1 words=$2
	shift 2
	out=$("$forge" synth "$@" 2>err)
	got=$?
	[ "$got" -eq "$want" ] || fail "synth $*: exit $got, not $want"
	[ -z "$out" ] || fail "synth $*: says $out"
	grep -qF -e "$words" err || fail "synth $*: $(cat err)"
	[ ! -e never ] || fail "synth $*: made a file"
}

refused 2 "width 7 is not a multiple of heads 2" --width=7 -o never
refused 2 "is odd" --width=6 --heads=2 -o never
refused 2 "'nan' is not a finite real number" --rope-base=nan -o never
refused 2 "beta1 1 is not at least 0 and below 1" --beta1=1 -o never
refused 2 "learning rate x weight decay" --weight-decay=1000 -o never
refused 2 "token bytes" --vocabulary=27 --token-bytes=1 -o never
refused 2 "belongs to a byte-BPE tokenizer" --merges=3 -o never
refused 2 "belongs to a literal tokenizer" --tokenizer=byte-bpe \
	--vocabulary=258 -o never
refused 2 "too small" --heads=0 -o never
refused 2 "more than 2^62 bytes" --feed-forward-width=0xffffffffffffffff -o never
refused 2 "'--output' is missing" --step=1
refused 2 "one operand too many" -o never extra
mkdir folder
refused 3 "it is a folder" -o folder
refused 3 "it has no file name" -o .
refused 3 "No such file or directory" -o no/never
refused 3 "it has no file name" -o ''
if [ -e /dev/full ]; then
	"$forge" synth -o - >/dev/full 2>err
	got=$?
	[ $got -eq 3 ] || fail "/dev/full: exit $got"
fi
for left in .*tmp-*; do
	[ ! -e "$left" ] || fail "a temporary file is left: $left"
done
exit $bad
