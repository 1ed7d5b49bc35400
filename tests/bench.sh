#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh [update] [view] [header]: what is timed; all if nothing is named.
#
# update: one update of eight tokens, timed with the products of the library
# and with three nested loops in their place, in turn, in one run. Processor
# seconds; the last column is the ratio, which is what to quote: a machine's
# speed drifts. Fails if the two do not give the same bits.
# view: the first screen of the viewer, and frames with many records.
# header: safetensors headers of many tensors, next to jq and Python.
set -eu
B=${B:-build/release}
COMPILE=${COMPILE:-cc -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -O2}
LIBS=${LIBS:--lm -lpthread}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
num="-O2 -ftree-vectorize -fno-math-errno"

BIN=$B

update() {
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
}

# The median of three of a command that prints numbers, by the first of them.
median() {
	for _ in 1 2 3; do "$@"; done | sort -n | sed -n 2p
}

first_screen() { # first_screen NAME FILE
	median "$tmp/screen" "$BIN/ckinspect" "$2" >"$tmp/median"
	read -r ms kib <"$tmp/median"
	printf '%-34s %8s ms %8s KiB\n' "$1" "$ms" "$kib"
}

view() {
	# shellcheck disable=SC2086
	$COMPILE -o "$tmp/screen" tests/bench/screen.c
	# shellcheck disable=SC2086
	$COMPILE -o "$tmp/frames" tests/bench/frames.c "$B/libckpt.a" $LIBS
	"$BIN/ckforge" fixture selected-step8 -o "$tmp/step8" >/dev/null
	"$BIN/ckforge" synth --layers=4200 --width=4 --heads=1 \
		--feed-forward-width=2 --step=2 -o "$tmp/many" >/dev/null
	# What looks like a terabyte is its header and a hole.
	"$BIN/ckforge" big --size 1T -o - 2>/dev/null | head -c 4M >"$tmp/hole"
	truncate -s 1T "$tmp/hole"
	echo "first screen"
	first_screen "the fixture" "$tmp/step8"
	first_screen "1 TiB, mostly a hole" "$tmp/hole"
	first_screen "113,000 records" "$tmp/many"
	"$tmp/frames" "$tmp/many"
}

seconds() { # seconds COMMAND...: user and system, and the peak in KiB
	/usr/bin/time -f '%U %S %M' -o "$tmp/time" "$@" >/dev/null || return
	read -r user system peak <"$tmp/time"
	echo "$(awk "BEGIN { print $user + $system }") $peak"
}

# Nine tensors a layer. The other readers get the header alone.
header() {
	printf '%-9s %-12s %8s %8s\n' tensors reader seconds KiB
	for layers in 111 1111 11111 111111; do
		"$BIN/ckforge" synth --format=safetensors --layers=$layers \
			--width=2 --heads=1 --feed-forward-width=1 \
			-o "$tmp/wide" >/dev/null
		n=$(od -An -t u8 -N 8 "$tmp/wide" | tr -d ' ')
		tail -c +9 "$tmp/wide" | head -c "$n" >"$tmp/wide.json"
		time_header ckverify "$BIN/ckverify" -q "$tmp/wide"
		! command -v jq >/dev/null ||
			time_header "jq ." jq . "$tmp/wide.json"
		! command -v python3 >/dev/null ||
			time_header "python3 json" python3 -c \
				'import json, sys; json.load(open(sys.argv[1]))' \
				"$tmp/wide.json"
	done
}

time_header() { # time_header NAME COMMAND...
	name=$1
	shift
	median seconds "$@" >"$tmp/median"
	read -r time kib <"$tmp/median"
	printf '%-9s %-12s %8s %8s\n' $((9 * layers + 2)) "$name" "$time" "$kib"
}

[ $# -gt 0 ] || set -- update view header
for what; do "$what"; done
