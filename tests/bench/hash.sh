# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# The kernels of FNV-1a in cache and from memory, next to the plain loop. Fails
# if two do not give the same hash. KIBS: the sizes of the buffers.
program hash '' tests/bench/hash.c
# shellcheck disable=SC2086
"$tmp/hash" ${KIBS:-64 256 768 262144} >"$tmp/hashes"
while read -r kib kernel speed ratio; do
	row hash "$kernel, $kib KiB" "$speed" GB/s "$ratio" "plain loop"
done <"$tmp/hashes"
