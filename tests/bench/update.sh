# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# One update of eight tokens, with the products of the library and with three
# nested loops in their place; seconds of the processor. Fails if the two do
# not give the same bits. SIZES: MiB of the checkpoints.
program update '' tests/bench/update.c
program naive "$num" tests/bench/update.c tests/bench/naive.c
for mib in ${SIZES:-10 100}; do
	for _ in 1 2 3; do
		"$tmp/update" "$mib" 1 >>"$tmp/blocked.$mib"
		"$tmp/naive" "$mib" 1 >>"$tmp/naive.$mib"
	done
	for build in naive blocked; do
		sort -k5,5n "$tmp/$build.$mib" | sed -n 2p >"$tmp/line"
		read -r _ _ _ _ all print <"$tmp/line"
		[ $build = blocked ] || slow=$all slow_print=$print
		row update "$mib MiB, $build products" "$all" s \
			"$(divide "$slow" "$all")" "naive"
	done
	[ "$print" = "$slow_print" ] || {
		echo "bench: the two builds do not give the same bits" >&2
		exit 1
	}
done
