#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh [update] [view] [header] [job] [hash]: what is timed; all if nothing
# is named.
#
# update: one update of eight tokens, timed with the products of the library
# and with three nested loops in their place, in turn, in one run. Processor
# seconds; the last column is the ratio, which is what to quote: a machine's
# speed drifts. Fails if the two do not give the same bits.
# view: the first screen of the viewer, and frames with many records.
# job: updates of a training job with a vocabulary of 20,000, as update: the
# processor's seconds of one, the peak memory, and the ratio; the same model.
# header: safetensors headers of many tensors, next to jq and Python.
# hash: the kernels of FNV-1a in cache and from memory, next to the plain loop.
# Fails if two do not give the same hash.
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

# Distinct pairs of bytes are the merges: 258 ids and 19,742. Of the letters
# of the documents none begins one of them, so each is one token.
write_job() {
	awk -v updates=3 'BEGIN {
		printf "{\"schema\":\"ckpt-job/1\",\"model\":{\"width\":128," \
			"\"heads\":4,\"kv_heads\":4,\"feed_forward_width\":512," \
			"\"layers\":4,\"max_positions\":64,\"context_window\":64," \
			"\"rope_base\":10000.0,\"rms_epsilon\":1e-6," \
			"\"init_seed\":\"39\"},\"tokenizer\":{\"merges\":["
		for (i = 0; i < 19742; i++)
			printf "%s[%d,%d]", i ? "," : "", int(i / 256), i % 256
		printf "]},\"documents\":["
		for (d = 0; d < 2; d++) {
			printf "%s{\"id\":\"%d\",\"text\":\"", d ? "," : "", d
			for (i = 0; i < 63; i++)
				printf "%c", 97 + (5 * i + 3 * d + i * i) % 26
			printf "\"}"
		}
		printf "],\"order\":[0,1],\"plan\":{\"updates\":%d," \
			"\"warmup\":1,\"peak\":0.001,\"final\":0.0001," \
			"\"clip\":1.0,\"microbatches\":2," \
			"\"recompute_blocks\":true},", updates
		printf "\"optimizer\":{\"beta1\":0.9,\"beta2\":0.999," \
			"\"epsilon\":1e-8,\"weight_decay\":0.01," \
			"\"groups\":\"gains\"}," \
			"\"dropout\":{\"probability\":0.25,\"seed\":\"5\"}," \
			"\"sampling\":{\"seed\":\"6\"}," \
			"\"scaler\":{\"scale\":8,\"min\":1,\"max\":32," \
			"\"interval\":3}}\n"
	}' >"$tmp/job.json"
}

job() {
	# shellcheck disable=SC2086
	$COMPILE -o "$tmp/job" tests/bench/job.c "$B/libckpt.a" $LIBS
	# shellcheck disable=SC2086
	$COMPILE $num -o "$tmp/naive" tests/bench/job.c tests/bench/naive.c \
		"$B/libckpt.a" $LIBS
	write_job
	printf '%-7s %7s %8s %8s %7s\n' build targets update MiB ratio
	for build in naive job; do
		"$tmp/$build" "$tmp/job.json" 3 >"$tmp/line"
		read -r all peak targets print <"$tmp/line"
		[ $build = naive ] && slow=$all print1=$print
		printf '%-7s %7s %8s %8s %7s\n' \
			"$([ $build = naive ] && echo naive || echo blocked)" \
			"$targets" "$all" "$peak" \
			"$(awk "BEGIN { printf \"%.2f\", $slow / $all }")"
	done
	[ "$print" = "$print1" ] || {
		echo "bench: the two builds do not give the same model" >&2
		exit 1
	}
}

hash() {
	# shellcheck disable=SC2086
	$COMPILE -o "$tmp/hash" tests/bench/hash.c "$B/libckpt.a" $LIBS
	# shellcheck disable=SC2086
	"$tmp/hash" ${HASH_KIB:-64 256 768 262144}
}

[ $# -gt 0 ] || set -- update view header job hash
for what; do "$what"; done
