#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SIGINT lets the update finish, saves, and exits 130; from there it goes on
# to the same bits. kill -9 at random moments leaves only whole files; there are
# KILLS of them, 40 if the environment does not say.
set -u -m
top=$PWD
cd "$TMPDIR" || exit 2
replay=$BIN/ckreplay verify=$BIN/ckverify bad=0
RANDOM=35 kills=${KILLS:-40}

fail() {
	echo "FAIL: $*"
	bad=1
}

# More updates than are made before the signal.
jq '.plan.updates = 10000000' "$top/corpus/jobs/demo.json" >long.json

"$replay" train --job long.json --until=10000000 --progress=always \
	--model m --checkpoint s --format=json >out 2>err &
pid=$!
while kill -0 $pid 2>/dev/null && ! [ -s err ]; do
	sleep 0.05
done
kill -INT $pid
wait $pid
status=$?
[ $status -eq 130 ] || fail "exit $status after SIGINT"
grep -q 'update [0-9]* of 10000000' err || fail "no progress: $(cat err)"
step=$(jq '.state.step' out)
jq -e '.verdict == "interrupted" and .exit_code == 130 and .model_saved and
	.training_checkpoint_saved and (.updates | length) == .state.step' \
	out >/dev/null || fail "the report: $(head -c 500 out)"
"$verify" -q m s || fail "not valid"
"$replay" resume --job long.json --checkpoint s --until=$((step + 3)) \
	--model m2 --save s2 >/dev/null || fail "resume"
"$replay" train --job long.json --until=$((step + 3)) \
	--model whole --checkpoint wholestate >/dev/null || fail "train"
cmp m2 whole || fail "going on differs"
cmp s2 wholestate || fail "going on differs in the checkpoint"

# How long a run takes here, in milliseconds.
"$replay" train --job long.json --until=8 --model b --checkpoint from >/dev/null
"$replay" train --job long.json --until=30 --model r --checkpoint rs >/dev/null
began=$(date +%s%N)
"$replay" train --job long.json --until=20 --model a --checkpoint as >/dev/null
span=$((($(date +%s%N) - began) / 1000000 + 5))
found=0
for ((run = 1; run <= kills; run++)); do
	rm -f k ks .k*.tmp-*
	if [ $((run % 2)) -eq 0 ]; then
		set -- train
	else
		set -- resume --checkpoint from --save ks
	fi
	[ "$1" = resume ] || set -- train --checkpoint ks
	"$replay" "$@" --job long.json --until=20 --model k >/dev/null &
	pid=$!
	ms=$((RANDOM % span))
	sleep "$((ms / 1000)).$(printf '%03d' $((ms % 1000)))"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ ! -e k ] || [ -e ks ] || fail "run $run: a model and no checkpoint"
	[ ! -e k ] || cmp k a || fail "run $run: another model"
	[ -e ks ] || continue
	found=$((found + 1))
	cmp ks as || fail "run $run: another checkpoint"
done
"$replay" resume --job long.json --checkpoint as --until=30 --model k3 \
	--save ks3 >/dev/null || fail "going on"
cmp ks3 rs || fail "going on differs from the whole run"
echo "interrupted at step $step; $kills kills, $found with a checkpoint"
exit $bad
