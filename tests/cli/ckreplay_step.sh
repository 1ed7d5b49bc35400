#!/bin/sh
# SPDX-License-Identifier: MIT
# The one supplied update: its report, the updated file, what it is expected to
# be, why it is not, the controls, and refusals that leave nothing behind.
. tests/support/golden.sh

"$BIN/ckforge" synth --vocabulary=5 --positions=4 --step=3 --groups=gains \
	--rng-state=35 -o f.ckpt >/dev/null || exit 2
"$BIN/ckforge" synth --vocabulary=5 --positions=4 -o fresh.ckpt \
	>/dev/null || exit 2
"$BIN/ckforge" synth --vocabulary=1 --positions=4 -o one.ckpt \
	>/dev/null || exit 2
update="--inputs=0,1;2,3 --targets=1,2;3,4"
cksum f.ckpt >before

masked() { # masked NAME: compare, without what a machine adds
	sed -i -E 's/^  arithmetic .*/  arithmetic (masked)/
		s/fnv1a64:[0-9a-f]{16}/HASH/g
		s/^  step (.*), loss .*/  step \1, loss (masked)/
		s/element ([0-9]+): [0-9a-f]{16} and [0-9a-f]{16}, [0-9]+ /element \1: BITS and BITS, N /
		s/at most [0-9]+ ULPs/at most N ULPs/' log
	compare "$1"
}

# shellcheck disable=SC2086
run ckreplay step $update --lr=0.01 f.ckpt
masked replay_step
# shellcheck disable=SC2086
run ckreplay step $update --lr=0.01 -o next.ckpt f.ckpt
# shellcheck disable=SC2086
run ckreplay step $update --lr=0.01 --expect=next.ckpt --self-check f.ckpt
# shellcheck disable=SC2086
run ckreplay step $update --lr=0.02 --expect=next.ckpt -o no.ckpt f.ckpt
# shellcheck disable=SC2086
run ckreplay step $update --lr=0.01 --expect=f.ckpt f.ckpt
run ckreplay step --inputs=0,0 --targets=0,0 --lr=0.01 --self-check one.ckpt
sed -i '/^  equal /d' log
masked replay_expect
[ ! -e no.ckpt ] || say_failure "written in spite of a mismatch"

# What was written is one step on, and valid.
expect 0 ckverify next.ckpt
expect 0 ckreplay step --inputs=0 --targets=1 --lr=0.01 --format=json next.ckpt
jq -e '.before.step == 4 and .after.step == 5' out >/dev/null ||
	say_failure "the step of what was written"

# The cause is named: half the rate that was asked for.
# shellcheck disable=SC2086
expect 1 ckreplay step $update --lr=0.02 --expect=next.ckpt --format=json f.ckpt
jq -e '.verdict == "mismatch" and .exit_code == 1 and
	.expected.verdict == "mismatch" and
	.expected.cause == "half the learning rate" and
	.expected.first_difference.role == "parameter" and
	.expected.first_difference.name == "token_embedding.weight" and
	.expected.settings == [] and
	([.expected.causes[] | select(.result == "equal")] | length) == 1' \
	out >/dev/null || say_failure "the cause"

# Only the header differs: the sampling stream moved on.
"$BIN/ckforge" mutate --set=header.sampling_rng_state=36 --fix-checksum \
	-o moved.ckpt next.ckpt >/dev/null || say_failure "mutate"
# shellcheck disable=SC2086
expect 1 ckreplay step $update --lr=0.01 --expect=moved.ckpt f.ckpt
says out 'sampling_rng_state differs: 0x0000000000000023 and 0x0000000000000024'
# shellcheck disable=SC2086
expect 1 ckreplay step $update --lr=0.01 --expect=moved.ckpt --format=json f.ckpt
jq -e '.expected.tensors == 0 and .expected.causes == null and
	.expected.settings == [{ name: "sampling_rng_state",
		computed: "0x0000000000000023",
		expected: "0x0000000000000024" }]' out >/dev/null ||
	say_failure "the setting"

# Made elsewhere: a difference cannot be judged, equality can.
away=fnv1a64:0123456789abcdef
here=$("$BIN/ckreplay" env | sed -n 's/^fingerprint  *//p')
for arithmetic in $away 0123456789abcdef; do
	# shellcheck disable=SC2086
	expect 3 ckreplay step $update --lr=0.02 --expect=next.ckpt \
		--expect-arithmetic=$arithmetic f.ckpt
	says out 'f.ckpt: not-comparable'
done
# shellcheck disable=SC2086
expect 1 ckreplay step $update --lr=0.02 --expect=next.ckpt \
	--expect-arithmetic="$here" f.ckpt
# shellcheck disable=SC2086
expect 0 ckreplay step $update --lr=0.01 --expect=next.ckpt \
	--expect-arithmetic=$away f.ckpt

# Another shape altogether.
# shellcheck disable=SC2086
expect 1 ckreplay step $update --lr=0.01 --expect=fresh.ckpt f.ckpt
says out 'selected_step differs: 4 and 0'
expect 1 ckreplay step --inputs=0 --targets=0 --lr=0.01 --expect=f.ckpt one.ckpt
says out 'first difference: token 1: only in one'

# Refusals, each by name, and nothing is written.
refuses() { # refuses KIND ARGUMENT...
	kind=$1
	shift
	expect 1 ckreplay step "$@" -o no.ckpt f.ckpt
	says out "invalid-input"
	says out "$kind: "
	[ ! -e no.ckpt ] || say_failure "written in spite of a refusal"
	expect 1 ckreplay step "$@" --format=json f.ckpt
	jq -e --arg kind "$kind" '.verdict == "invalid-input" and
		.kind == $kind' out >/dev/null || say_failure "JSON of $kind"
}
refuses TokenOutOfRange --inputs=5 --targets=0 --lr=0.01
refuses TokenOutOfRange --inputs=0 --targets=5 --lr=0.01
refuses TooManyPositions --inputs=0,1,2,3,4 --targets=0,0,0,0,0 --lr=0.01
refuses InvalidLearningRate --inputs=0 --targets=0 --lr=0
refuses InvalidLearningRate --inputs=0 --targets=0 --lr=nan
refuses InvalidDecayProduct --inputs=0 --targets=0 --lr=100
head -c 500 next.ckpt >cut.ckpt
# shellcheck disable=SC2086
expect 1 ckreplay step $update --lr=0.01 --expect=cut.ckpt -o no.ckpt f.ckpt
says out 'cut.ckpt: invalid-input'
[ ! -e no.ckpt ] || say_failure "written in spite of an invalid file"
# shellcheck disable=SC2086
expect 3 ckreplay step $update --lr=0.01 --expect=no-such-file f.ckpt

# Wrong lines; no input is ever replaced.
expect 2 ckreplay step --inputs=0 --targets=1 --lr=0.1 -o - f.ckpt
expect 2 ckreplay step --inputs=0 --targets=1 f.ckpt
silent out
expect 2 ckreplay step --inputs=0,1 --targets=1 --lr=0.1 f.ckpt
expect 2 ckreplay step --inputs=0,1 --targets='1;2' --lr=0.1 f.ckpt
expect 2 ckreplay step --inputs=0 --targets=1 --lr=fast f.ckpt
expect 2 ckreplay step --inputs=0 --targets=1 --lr=0.1 \
	--expect-arithmetic=$away f.ckpt
expect 2 ckreplay step --inputs=0 --targets=1 --lr=0.1 --expect=next.ckpt \
	--expect-arithmetic=here f.ckpt
ln -s f.ckpt link.ckpt
for output in f.ckpt link.ckpt next.ckpt; do
	expect 2 ckreplay step --inputs=0 --targets=1 --lr=0.1 \
		--expect=next.ckpt -o $output f.ckpt
	silent out
	says err 'replace an input'
done
# Where nothing can be saved, nothing is tried.
for output in no/x f.ckpt/x . '' /dev/null; do
	expect 3 ckreplay step --inputs=0 --targets=1 --lr=0.1 \
		--expect=next.ckpt -o "$output" f.ckpt
	silent out
	says err 'cannot write the updated checkpoint'
done
# Standard input is an input as well, and can be read once.
# shellcheck disable=SC2094
expect 2 ckreplay step --inputs=0 --targets=1 --lr=0.1 -o f.ckpt - <f.ckpt
says err 'replace an input'
expect 2 ckreplay step --inputs=0 --targets=1 --lr=0.1 --expect=- - <f.ckpt
says err 'cannot be both'

# What we do not implement is not called invalid.
"$BIN/ckforge" mutate --set=fixed_header.version=2 --fix-checksum \
	-o two.ckpt f.ckpt >/dev/null || say_failure "mutate"
for action in 'step --inputs=0 --targets=0 --lr=0.1' 'infer --ids=0' \
	'evidence --inputs=0 --targets=0 --lr=0.1'; do
	# shellcheck disable=SC2086
	expect 3 ckreplay $action --format=json two.ckpt
	jq -e '.verdict == "unsupported" and .exit_code == 3 and
		.kind == "UnsupportedFile"' out >/dev/null ||
		say_failure "unsupported: $action"
done

# Trouble with a temporary file is not blamed on the checkpoint.
for action in step evidence; do
	TMPDIR=/nowhere expect 3 ckreplay $action --inputs=0 --targets=0 \
		--lr=0.01 f.ckpt
	says out 'a temporary file in /nowhere: No such file'
done

# A result that cannot be printed is trouble, and is said.
for rate in 0.01 0; do
	"$BIN/ckreplay" step --inputs=0 --targets=0 --lr=$rate f.ckpt \
		>&- 2>err
	[ $? -eq 3 ] || say_failure "a closed standard output, rate $rate"
	says err 'standard output: '
	"$BIN/ckreplay" step --inputs=0 --targets=0 --lr=$rate f.ckpt \
		>/dev/full 2>err
	[ $? -eq 3 ] || say_failure "a full standard output, rate $rate"
	says err 'standard output: '
done
cksum f.ckpt | cmp -s - before || say_failure "the input changed"
finish
