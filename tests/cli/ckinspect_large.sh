#!/bin/sh
# SPDX-License-Identifier: MIT
# Large files: only a verdict needs all bytes. The header sections read a few
# megabytes of a file whose payload would take hours; --at and a hex range go
# where they are told; a pipe is read as far as it must be.
set -eu
cd "$TMPDIR"
inspect=$BIN/ckinspect
"$BIN/ckforge" big --size=64M -o big.ckpt >/dev/null
size=$(wc -c <big.ckpt)

"$inspect" --batch=records big.ckpt >out
grep -q '^verdict: not computed' out
"$inspect" --batch=records --format=json big.ckpt | jq -e '.verdict == null' \
	>/dev/null
if grep -q '<-' out; then exit 1; fi
"$inspect" --at=$((size - 1)) big.ckpt >file
grep -q '^value ' file
# shellcheck disable=SC2002
cat big.ckpt | "$inspect" --at=$((size - 1)) - | cmp - file
"$inspect" --batch=hex --hex-range=$((size - 40)):24 big.ckpt >file
# shellcheck disable=SC2002
cat big.ckpt | "$inspect" --batch=hex --hex-range=$((size - 40)):24 - |
	cmp - file

# The same header with a payload of a terabyte that is a hole.
header=$("$inspect" --batch=overview --format=json big.ckpt |
	jq .summary.header_bytes)
"$BIN/ckforge" mutate -o sparse.ckpt \
	--set=fixed_header.payload_bytes=$((1024 * 1024 * 1024 * 1024 - header)) \
	--truncate=16384 big.ckpt >/dev/null
truncate -s 1T sparse.ckpt 2>/dev/null || exit 0
for s in records groups fields map; do
	timeout 60 "$inspect" --batch=$s sparse.ckpt >out
	[ -s out ]
done
timeout 60 "$inspect" --batch=records sparse.ckpt >out
grep -q '^declared end 1099511627776 ' out
grep -q '<- CK3006 ' out
grep -q '^verdict: not computed' out
timeout 60 "$inspect" --at=1000000000000 sparse.ckpt | grep -q '^owner '
