#!/bin/sh
# SPDX-License-Identifier: MIT
# ckreplay evidence: the report of the fixture byte for byte, of files of every
# kind, and no report where there can be none.
corpus=$PWD/corpus/llmcp35
. tests/support/golden.sh

"$BIN/ckforge" fixture selected-step8 -o fixture.ckpt >/dev/null || exit 2
cmp fixture.ckpt "$corpus/good/selected-step8.ckpt" ||
	say_failure "the fixture is not that of the corpus"
cp "$corpus/good/bpe.ckpt" "$corpus/good/one-token.ckpt" .
run ckreplay evidence fixture.ckpt --inputs 0,1 --targets 1,2 --lr 0.006
run ckreplay evidence fixture.ckpt --inputs '0,1;2,3' --targets '1,2;3,4' \
	--lr 0x1p-24
run ckreplay evidence bpe.ckpt --inputs 97,258 --targets 98,259 --lr 0.01
run ckreplay evidence one-token.ckpt --inputs 0,0 --targets 0,0 --lr 0.01
compare ckreplay_evidence

run ckreplay evidence fixture.ckpt --inputs 0,1 --targets 1,2 --lr 0.006 \
	--format=json
compare ckreplay_evidence_json
expect 0 ckreplay evidence fixture.ckpt --inputs 0,1 --targets 1,2 \
	--lr 0.006 --format=json
jq -e '.evidence.roundtrip.bytes_deterministic == true and
	.evidence.scope.whole_job_resume == false and
	.evidence.layout.records == 38 and (.evidence | length) == 11' \
	out >/dev/null || say_failure "the object is not what it should be"
[ "$(wc -l <out)" = 1 ] || say_failure "more or less than one line"

# Twice this rate cannot be: its product with the decay is not below 1.
expect 0 ckreplay evidence fixture.ckpt --inputs 0 --targets 1 --lr 60
says out changed_batch_diverges:true
says out changed_learning_rate_diverges:not-applicable

# Through a pipe, and from every good file of the corpus.
"$BIN/ckreplay" evidence - --inputs 0,1 --targets 1,2 --lr 0.006 \
	<fixture.ckpt >piped || say_failure "standard input: exit $?"
"$BIN/ckreplay" evidence fixture.ckpt --inputs 0,1 --targets 1,2 \
	--lr 0.006 >named
cmp piped named || say_failure "the pipe gives another report"
for file in "$corpus"/good/*.ckpt; do
	"$BIN/ckreplay" evidence "$file" --inputs 0 --targets 0 --lr 1e-4 \
		>out 2>err
	status=$?
	[ "$status" = 0 ] && [ "$(wc -l <out)" = 11 ] && continue
	# Impossible updates are refused, and nothing else happens.
	[ "$status" = 1 ] && grep -q ': invalid-input$' out && continue
	say_failure "$file: exit $status"
	cat out err
done

# refused EXIT TEXT ARGUMENT...: no line of a report.
refused() {
	want=$1 text=$2
	shift 2
	expect "$want" ckreplay evidence "$@"
	cat err >>out
	says out "$text"
	grep -q '^schema=' out && say_failure "a report in spite of: $text"
}
"$BIN/ckforge" mutate fixture.ckpt --flip 3000.3 -o damaged.ckpt >/dev/null
refused 1 TokenOutOfRange fixture.ckpt --inputs 5 --targets 0 --lr 0.006
refused 1 TooManyPositions fixture.ckpt --inputs 0,1,2 --targets 1,2,3 \
	--lr 0.006
refused 1 InvalidLearningRate fixture.ckpt --inputs 0 --targets 0 --lr 0
refused 1 CK1006 damaged.ckpt --inputs 0 --targets 0 --lr 0.006
refused 1 CK1001 /dev/null --inputs 0 --targets 0 --lr 0.006
refused 3 not-verified missing.ckpt --inputs 0 --targets 0 --lr 0.006
refused 3 not-verified fixture.ckpt --inputs 0 --targets 0 --lr 0.006 \
	--max-memory=6k
refused 2 --targets fixture.ckpt --inputs 0 --lr 0.006
refused 2 'different shape' fixture.ckpt --inputs 0,1 --targets 0 --lr 0.006
TMPDIR=$PWD/nowhere
export TMPDIR
refused 3 not-verified fixture.ckpt --inputs 0 --targets 0 --lr 0.006
TMPDIR=$PWD/here
mkdir here
expect 0 ckreplay evidence fixture.ckpt --inputs 0 --targets 0 --lr 0.006
[ -z "$(ls -A here)" ] || say_failure "something is left in TMPDIR"

expect 2 ckforge fixture other -o never.ckpt
says err "no fixture 'other'; there is selected-step8"
expect 2 ckforge fixture selected-step8
says err "'--output' is missing"
[ ! -e never.ckpt ] || say_failure "a file of no fixture"
expect 0 ckforge fixture selected-step8 -o -
cmp out fixture.ckpt || say_failure "another fixture through a pipe"
finish
