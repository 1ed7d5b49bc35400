#!/bin/sh
# SPDX-License-Identifier: MIT
# One update of eight tokens, timed with the products of the library and with
# three nested loops in their place, in turn, in one run. Processor seconds;
# the last column is the ratio, which is what to quote: a machine's speed
# drifts. Fails if the two do not give the same bits.
set -eu
B=${B:-build/release}
COMPILE=${COMPILE:-cc -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -O2}
LIBS=${LIBS:--lm -lpthread}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
num="-O2 -ftree-vectorize -fno-math-errno"

# shellcheck disable=SC2086
$COMPILE -o "$tmp/update" tests/bench/update.c "$B/libckpt.a" $LIBS
# shellcheck disable=SC2086
$COMPILE $num -o "$tmp/naive" tests/bench/update.c tests/bench/naive.c \
	"$B/libckpt.a" $LIBS

printf '%-8s %-7s %10s %8s %9s %8s %8s %7s\n' MiB build scalars forward \
	backward adamw update ratio
for mib in ${SIZES:-10 100}; do
	for _ in 1 2 3; do
		"$tmp/update" "$mib" 1 >>"$tmp/fast.$mib"
		"$tmp/naive" "$mib" 1 >>"$tmp/slow.$mib"
	done
	for build in slow fast; do
		sort -k5,5n "$tmp/$build.$mib" | sed -n 2p >"$tmp/$build"
		read -r n f b a all print <"$tmp/$build"
		[ $build = slow ] && slow=$all print1=$print
		ratio=$(awk "BEGIN { printf \"%.2f\", $slow / $all }")
		printf '%-8s %-7s %10s %8s %9s %8s %8s %7s\n' "$mib" \
			"$([ $build = slow ] && echo naive || echo blocked)" \
			"$n" "$f" "$b" "$a" "$all" "$ratio"
	done
	[ "$print" = "$print1" ] || {
		echo "bench: the two builds do not give the same bits" >&2
		exit 1
	}
done
