#!/bin/sh
# SPDX-License-Identifier: MIT
# A training checkpoint and a portable model, given together, have to be of one
# model; any other files say nothing of each other.
good=$PWD/corpus/archive/good
. tests/support/golden.sh
cp "$good/training.safetensors" c
cp "$good/text.safetensors" other
cp "$good/backbone.safetensors" b

run ckverify c other
run ckverify other c
run ckverify -q c other
run ckverify c other b
run ckverify c c other
run ckverify c b
compare ckverify_pair

"$BIN/ckreplay" train --model m --checkpoint t >/dev/null
expect 0 ckverify t m
expect 0 ckverify m t
expect 0 ckverify -j 2 m t
expect 1 ckverify -j 2 t other
expect 1 ckverify --format=jsonl c m
[ "$(wc -l <out)" -eq 3 ] || say_failure "not three objects"
says out '"primary":{"rule":"CK6041"'
# A pipe cannot go back, and need not where the tensors are in order.
"$BIN/ckverify" - t <m >out || say_failure "a model from a pipe"
silent err
finish
