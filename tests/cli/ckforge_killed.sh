#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill -9 at random moments while a file is saved over another: afterwards it
# is wholly the old or wholly the new one and valid, ckverify names what was
# left behind, and the next save succeeds. Goes on until enough temporary
# files were left for the test to mean something.
set -u
cd "$TMPDIR" || exit 2
forge=$BIN/ckforge verify=$BIN/ckverify
bad=0 runs=0 orphans=0 replaced=0
RANDOM=35

fail() {
	echo "FAIL: $*"
	bad=1
}

shape=(--layers=4 --width=64 --feed-forward-width=200 --step=1)
mkdir d
for seed in 1 2; do
	"$forge" synth "${shape[@]}" --seed=$seed -o "$seed" >/dev/null || exit 1
done
cp 1 d/f

# How long a save takes here, in milliseconds.
began=$(date +%s%N)
"$forge" synth "${shape[@]}" -o 3 >/dev/null || exit 1
span=$((($(date +%s%N) - began) / 1000000 + 2))

deadline=$((SECONDS + 10))
while [ $SECONDS -lt $deadline ] && [ $bad -eq 0 ]; do
	[ $runs -lt 10 ] || [ $orphans -lt 3 ] || [ $replaced -lt 1 ] || break
	seed=$((runs % 2 + 1)) runs=$((runs + 1))
	rm -f d/.f.tmp-*
	cmp -s d/f 1 && old=1 || old=2
	"$forge" synth "${shape[@]}" --seed=$seed -o d/f >/dev/null &
	pid=$!
	ms=$((RANDOM % span))
	if [ $((runs % 3)) -eq 0 ]; then # while it writes, for certain
		while kill -0 $pid 2>/dev/null && ! compgen -G 'd/.f.tmp-*'; do
			sleep 0.002
		done >/dev/null
		ms=1
	fi
	sleep "$((ms / 1000)).$(printf '%03d' $((ms % 1000)))"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	if cmp -s d/f $seed; then
		[ $old -eq $seed ] || replaced=$((replaced + 1))
	elif ! cmp -s d/f $old; then
		fail "run $runs: neither the old nor the new file"
	fi
	"$verify" -q d/f || fail "run $runs: not valid"
	for orphan in d/.f.tmp-*; do
		[ -e "$orphan" ] || continue
		orphans=$((orphans + 1))
		"$verify" d >words || fail "run $runs: ckverify d: exit $?"
		grep -qF "${orphan#d/}" words ||
			fail "run $runs: ${orphan#d/} is not named: $(cat words)"
	done
done
echo "$runs runs, $replaced replaced, $orphans temporary files left behind"
[ $orphans -gt 0 ] || fail "no kill came while the file was being written"
"$forge" synth "${shape[@]}" --seed=1 -o d/f >/dev/null || fail "the next save"
cmp d/f 1 || fail "the next save wrote something else"
exit $bad
