#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz-smoke.sh BUILD SECONDS [TARGET...]: AFL++ on each target for a while,
# with the seeds of corpus/ and fuzz/seeds/TARGET, and the comparisons that a
# build in build/cmplog logs. Fails if a target was never executed, crashed,
# hung, or reached fewer edges than fuzz/floors.tsv asks for, or there is none.
set -u
cd "$(dirname "$0")/.." || exit 2
build=$1 seconds=$2
shift 2
if [ $# -eq 0 ]; then
	for f in fuzz/fuzz_*.c; do
		[ -e "$f" ] || continue
		f=${f#fuzz/fuzz_}
		set -- "$@" "${f%.c}"
	done
fi
[ $# -gt 0 ] || { echo "no fuzz/fuzz_*.c: nothing to run"; exit 1; }

export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
export AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_FAST_CAL=1
# A machine with other work to do is slow, not hung.
export AFL_HANG_TMOUT=20000 AFL_FORKSRV_INIT_TMOUT=60000
[ ! -e "$build/postproc.so" ] ||
	export AFL_CUSTOM_MUTATOR_LIBRARY="$PWD/$build/postproc.so"

take_seeds() { # take_seeds FOLDER: long ones only slow it down
	[ -d "$1" ] || return
	find "$1" -type f -size -64k | sort | while IFS= read -r f; do
		n=$((${n:-0} + 1))
		cp "$f" "$seeds/${1##*/}-$n-${f##*/}"
	done
}

stat() { # stat NAME: from the fuzzer_stats of this target
	sed -n "s/^$1 *: *//p" "$out/default/fuzzer_stats" 2>/dev/null
}

floor() { # the edges that a target has to reach
	awk -v t="$1" '$1 == t { n = $2 } END { print n + 0 }' fuzz/floors.tsv
}

status=0
for target; do
	out=$build/out/$target seeds=$build/seeds/$target
	rm -rf "$out" "$seeds"
	mkdir -p "$out" "$seeds"
	take_seeds corpus
	take_seeds "fuzz/seeds/$target"
	set --
	[ ! -e "fuzz/dict/$target.dict" ] || set -- -x "fuzz/dict/$target.dict"
	[ ! -e "build/cmplog/fuzz_$target" ] ||
		set -- "$@" -c "build/cmplog/fuzz_$target"
	afl-fuzz -i "$seeds" -o "$out" -V "$seconds" -t 10000 "$@" -- \
		"$build/fuzz_$target" </dev/null >"$out.log" 2>&1
	execs=$(stat execs_done) crashes=$(stat saved_crashes)
	hangs=$(stat saved_hangs) edges=$(stat edges_found)
	printf '%-12s execs_done %s, crashes %s, hangs %s, edges %s of %s\n' \
		"$target" "${execs:-0}" "${crashes:-?}" "${hangs:-?}" \
		"${edges:-0}" "$(floor "$target")"
	if [ "${execs:-0}" -eq 0 ] || [ "${crashes:-1}" -ne 0 ] ||
		[ "${hangs:-1}" -ne 0 ] || [ "$(floor "$target")" -eq 0 ] ||
		[ "${edges:-0}" -lt "$(floor "$target")" ]; then
		status=1
		tail -n 15 "$out.log"
		ls "$out"/default/crashes/id* "$out"/default/hangs/id* 2>/dev/null
	fi
done
exit $status
