#!/bin/sh
# SPDX-License-Identifier: MIT
# safetensors with every tool: what ckverify says in both profiles, each section
# of ckinspect, edits by path, and files made and read through a pipe.
. tests/support/golden.sh

top=${top:?set by golden.sh}
cp "$top/corpus/safetensors/good/data-order.safetensors" good.safetensors
cp "$top/corpus/safetensors/good/warn-mask.safetensors" mask.safetensors
cp "$top/corpus/safetensors/bad/repeated-name-escaped.safetensors" twice.safetensors
cp "$top/corpus/safetensors/good/dtypes.safetensors" dtypes.safetensors
cp "$top/corpus/safetensors/bad/git-lfs-pointer.safetensors" lfs.safetensors

run ckverify good.safetensors mask.safetensors twice.safetensors lfs.safetensors
run ckverify --profile=reference twice.safetensors
run ckverify --values=off mask.safetensors
run ckverify --align=64 good.safetensors
run ckverify --format=jsonl good.safetensors
# What nothing names: a damaged brace, bytes of no format.
cp "$top"/corpus/foreign/safetensors-brace "$top"/corpus/foreign/unknown .
run ckverify safetensors-brace unknown
compare safetensors_verify

for section in overview groups records fields map findings hex stats; do
	run ckinspect --batch=$section mask.safetensors
done
run ckinspect --at 16 good.safetensors
run ckinspect --at 30 good.safetensors
run ckinspect --at 170 good.safetensors
run ckinspect --batch=fields twice.safetensors
run ckinspect --batch=records dtypes.safetensors
compare safetensors_inspect
# Dtypes below a byte have a histogram like all others.
expect 0 ckinspect --html page.html dtypes.safetensors
[ "$(grep -o '<svg[^>]* bins, ' page.html | wc -l)" -eq 22 ] ||
	say_failure "not 22 histograms"

run ckforge mutate good.safetensors --set=tensor:a.dtype=F16 \
	--set='tensors[1].shape[0]=3' --delete='tensors[0]' -o edited.safetensors
run ckverify edited.safetensors
run ckforge mutate good.safetensors --set='tensors[9].name=x' -o edited.safetensors
run ckforge mutate good.safetensors --fix-extents -o edited.safetensors
run ckforge mutate good.safetensors --fix-checksum -o edited.safetensors
run ckforge synth --format=safetensors --vocabulary=7 -o made.safetensors
run ckverify --align=8 made.safetensors
run ckforge synth --format=safetensors --step=3 -o made.safetensors
compare safetensors_forge

# A pipe is enough, and gives the same.
for f in "$top"/corpus/safetensors/*/*.safetensors; do
	[ -s "$f" ] || continue # an empty pipe is another fault
	"$BIN/ckverify" --format=jsonl "$f" >file.json
	was=$?
	cp "$f" now.bin
	"$BIN/ckverify" --format=jsonl - <now.bin >/dev/null
	redirected=$?
	# shellcheck disable=SC2002
	cat now.bin | "$BIN/ckverify" --format=jsonl - >pipe.json
	piped=$?
	[ "$piped" -eq "$redirected" ] || say_failure "$f: $redirected, piped $piped"
	case $f in
	*/good/*) [ "$was$piped" = 00 ] || say_failure "$f: $was, piped $piped" ;;
	esac
done
finish
