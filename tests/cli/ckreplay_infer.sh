#!/bin/sh
# SPDX-License-Identifier: MIT
# Generation: what is printed, what is refused, what stops it, and that nothing
# is changed. The ids of these files are far from ties; what depends on the
# last bit is masked.
. tests/support/golden.sh

"$BIN/ckforge" synth --vocabulary=5 --positions=6 --seed=4 --rng-state=35 \
	-o literal.ckpt >/dev/null || exit 2
"$BIN/ckforge" synth --tokenizer=byte-bpe --merges=3 --positions=8 --seed=2 \
	--rng-state=0xfffffffffffffff0 -o bpe.ckpt >/dev/null || exit 2
cksum literal.ckpt bpe.ckpt >before

masked() { # masked NAME: compare, without what a machine adds
	sed -i -E 's/^  arithmetic .*/  arithmetic (masked)/
		s/"arithmetic":\{[^}]*\}/"arithmetic":{}/' log
	compare "$1"
}

run ckreplay infer literal.ckpt --ids 0,1
run ckreplay infer literal.ckpt --ids 0,1 --format=json
run ckreplay infer literal.ckpt --ids 0,1 --tokens=0
run ckreplay infer literal.ckpt --ids 0,1 --tokens=2 --temperature=1
run ckreplay infer literal.ckpt --ids 0 --temperature=0x1p-1 --top-k=2
run ckreplay infer bpe.ckpt --prompt=ab --tokens=3
run ckreplay infer bpe.ckpt --prompt= --tokens=1 --format=json
run ckreplay infer bpe.ckpt --ids=0,99,100 --temperature=2 --top-k=40 --tokens=9
masked infer_generated

run ckreplay infer literal.ckpt --ids=
run ckreplay infer literal.ckpt --ids=0,1,2,3,4,0,1
run ckreplay infer literal.ckpt --ids=0,5
run ckreplay infer literal.ckpt --ids=0,5 --format=json
run ckreplay infer literal.ckpt --ids=0 --eos=5
run ckreplay infer literal.ckpt --ids=0 --eos=18446744073709551615
run ckreplay infer literal.ckpt --ids=0 --temperature=0
run ckreplay infer literal.ckpt --ids=0 --temperature=nan
run ckreplay infer literal.ckpt --ids=0 --temperature=1 --top-k=0
run ckreplay infer literal.ckpt --ids=0 --temperature=1 --top-k=6
run ckreplay infer literal.ckpt --prompt=a
masked infer_refused

# With EOS at each id in turn: it stops exactly where the id first comes.
expect 0 ckreplay infer literal.ckpt --ids=0,1 --format=json
all=$(jq -c .generated_ids out)
for eos in 0 1 2 3 4; do
	expect 0 ckreplay infer literal.ckpt --ids=0,1 --eos=$eos --format=json
	jq -e --argjson all "$all" --argjson eos $eos '
		($all | index($eos)) as $i |
		if $i == null then .generated_ids == $all and .stop == "context"
		else .generated_ids == $all[:$i + 1] and .stop == "eos" end' \
		out >/dev/null || say_failure "EOS $eos"
done

# A prompt as text is the document's ids without EOS.
expect 0 ckreplay infer bpe.ckpt --prompt=aab --tokens=2
mv out text
ids=$(sed -n 's/^  prompt ids //p' text)
expect 0 ckreplay infer bpe.ckpt --ids="$ids" --tokens=2
cmp -s out text || say_failure "--prompt and --ids $ids differ"

# Wrong lines.
expect 2 ckreplay infer literal.ckpt
silent out
expect 2 ckreplay infer literal.ckpt --ids=0 --prompt=a
expect 2 ckreplay infer literal.ckpt --ids=0 --top-k=2
says err '--top-k needs --temperature'
expect 2 ckreplay infer literal.ckpt --ids='0;1'
expect 2 ckreplay infer literal.ckpt --ids=0,
expect 2 ckreplay infer literal.ckpt --ids=0 --temperature=warm
says err 'warm'
expect 2 ckreplay infer --ids=0
silent out
expect 3 ckreplay infer --ids=0 no-such-file
head -c 100 literal.ckpt >cut.ckpt
expect 1 ckreplay infer --ids=0 cut.ckpt
says out 'invalid-input'

# Pieces that would write to the terminal do not.
"$BIN/ckforge" mutate --set='records[3].data[0]=27' --fix-checksum \
	-o evil.ckpt literal.ckpt >/dev/null || say_failure "mutate"
expect 0 ckreplay infer evil.ckpt --ids=0,1 --tokens=2
says out 'text "\x1b\x1b"'
expect 0 ckreplay infer evil.ckpt --ids=0,1 --tokens=2 --format=json
says out '"text":"\\x1b\\x1b"'

cksum literal.ckpt bpe.ckpt | cmp -s - before || say_failure "a file changed"
finish
