#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh [hash] [verify] [header] [update] [job] [view]: what is timed; all
# if nothing is named. Each is a file of tests/bench that says what it does.
#
# One table: what was timed, its median of three, and how many times faster it
# is than what stands beside it, in the same run and in turn with it. The
# ratio is what to quote: a machine's speed drifts. The table goes to
# $B/bench.json as well, and the growth of verify to $B/bench.svg.
set -eu
B=${B:-build/release}
COMPILE=${COMPILE:-cc -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -O2}
LIBS=${LIBS:--lm -lpthread}
# shellcheck disable=SC2034
BIN=$B
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
rows=$tmp/rows
# shellcheck disable=SC2034
num="-O2 -ftree-vectorize -fno-math-errno"
: >"$rows"

# row SECTION WHAT FIGURE UNIT [RATIO TO [MIB]]
row() {
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5:-}" \
		"${6:-}" "${7:-}" >>"$rows"
	printf '%-7s %-40s %10s %-4s %7s %-12s %7s\n' "$1" "$2" "$3" "$4" \
		"${5:-}" "${6:-}" "${7:-}"
}

# program NAME FLAGS FILE...: $tmp/NAME, against the library
program() {
	name=$1 flags=$2
	shift 2
	# shellcheck disable=SC2086
	$COMPILE $flags -o "$tmp/$name" "$@" "$B/libckpt.a" $LIBS
}

# The line in the middle, by its first number, of three of a command.
median() {
	for _ in 1 2 3; do "$@"; done | sort -n | sed -n 2p
}

divide() { # divide A B
	awk "BEGIN { b = $2; printf \"%.2f\", b ? $1 / b : 0 }"
}

program time '' tests/bench/time.c
[ $# -gt 0 ] || set -- hash verify header update job view
printf '%-7s %-40s %10s %-4s %7s %-12s %7s\n' section what median '' times \
	'faster than' MiB
for section; do
	# shellcheck disable=SC1090
	. "tests/bench/$section.sh"
done
awk -f tests/bench/json.awk "$rows" >"$B/bench.json"
awk -f tests/bench/plot.awk "$rows" >"$B/bench.svg"
echo "$B/bench.json, $B/bench.svg"
