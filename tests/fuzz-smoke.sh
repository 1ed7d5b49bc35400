#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz-smoke.sh BUILD SECONDS [TARGET...]: AFL++ on each target for a while.
# Fails if a target was never executed, crashed, or there is none.
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
export AFL_NO_UI=1 AFL_NO_AFFINITY=1
[ ! -e "$build/postproc.so" ] ||
	export AFL_CUSTOM_MUTATOR_LIBRARY="$PWD/$build/postproc.so"

# Long seeds only slow it down.
seeds=$build/seeds
rm -rf "$seeds"
mkdir -p "$seeds"
find corpus -type f -size -64k -path '*/*/*/*' | sort | while IFS= read -r f; do
	n=$((${n:-0} + 1))
	cp "$f" "$seeds/$n-${f##*/}"
done
[ -n "$(ls "$seeds")" ] || printf '\0' >"$seeds/zero"

stat() { # stat NAME: from the fuzzer_stats of this target
	sed -n "s/^$1 *: *//p" "$out/default/fuzzer_stats" 2>/dev/null
}

status=0
for target; do
	out=$build/out/$target
	rm -rf "$out"
	mkdir -p "$out"
	dict=fuzz/dict/$target.dict
	if [ -e "$dict" ]; then dict="-x $dict"; else dict=; fi
	in=$seeds
	[ ! -d "fuzz/seeds/$target" ] || in=fuzz/seeds/$target
	# shellcheck disable=SC2086
	afl-fuzz -i "$in" -o "$out" -V "$seconds" $dict -- \
		"$build/fuzz_$target" </dev/null >"$out.log" 2>&1
	execs=$(stat execs_done) crashes=$(stat saved_crashes)
	printf '%-12s execs_done %s, crashes %s, hangs %s, edges %s\n' "$target" \
		"${execs:-0}" "${crashes:-?}" "$(stat saved_hangs)" "$(stat edges_found)"
	if [ "${execs:-0}" -eq 0 ] || [ "${crashes:-1}" -ne 0 ]; then
		status=1
		tail -n 15 "$out.log"
		ls "$out"/default/crashes/id* 2>/dev/null
	fi
done
exit $status
