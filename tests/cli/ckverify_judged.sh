#!/bin/sh
# SPDX-License-Identifier: MIT
# ckverify against tests/judge, independent readers in another language: the
# same verdict, kind, check and record for LLMCP35 files of corpus/ and for
# mutants, the same verdicts of both profiles for safetensors.
# CKPT_MUTANTS=200000 for more of them than a test has time for, CKPT_SEED for
# others.
set -u
failures=0
corpus=$PWD/corpus
differ="python3 -B $PWD/tests/judge/differential.py"
cd "$TMPDIR" || exit 2

say_failure() {
	echo "FAIL: $*"
	tail -n 40 out
	failures=$((failures + 1))
}

compare() { # compare WANTED-EXIT FOLDER-OF-CKVERIFY ARGUMENT...
	want=$1 bin=$2
	shift 2
	$differ --bin="$bin" --seed="$seed" "$@" >out 2>&1
	status=$?
	[ "$status" -eq "$want" ] || say_failure "exit $status, wanted $want: $(printf '%.150s' "$*")"
}

says() {
	grep -qF "$1" out || say_failure "does not say: $1"
}

case ${MODE:-release} in
release) count=2500 ;;
*) count=200 ;;
esac
planted=60
count=${CKPT_MUTANTS:-$count}
seed=${CKPT_SEED:-2}

# With this seed each kind, check and pair of verdicts occurs in so many.
all=
[ "$count" -lt 2500 ] || [ "$seed" != 2 ] || all=--all
compare 0 "$BIN" "$corpus"/llmcp35/*/*
says ', 0 disagreements'
# shellcheck disable=SC2086
compare 0 "$BIN" --bases="$corpus/llmcp35/good" --count="$count" $all
says "$count compared, 0 planted, 0 disagreements"
cat out
compare 0 "$BIN" --subject=safetensors "$corpus"/safetensors/*/*
says ', 0 disagreements'
# shellcheck disable=SC2086
compare 0 "$BIN" --subject=safetensors --count="$count" $all
says "$count compared, 0 planted, 0 disagreements"
cat out

seed=2
# It has to be able to disagree: first over what the judge is made to say, ...
compare 1 "$BIN" --count="$planted" --plant=20 --pipe=1000
says "$planted compared, 3 planted, 3 disagreements"
for about in verdict kind check; do
	says ": $about: judge "
done
compare 1 "$BIN" --subject=safetensors --count="$planted" --plant=20 --pipe=1000
says "$planted compared, 3 planted, 3 disagreements"

# ... then over what ckverify is made to say.
mkdir false
falsify() { # falsify SED-SCRIPT WORDS...
	# shellcheck disable=SC2016
	printf '#!/bin/sh\n"%s/ckverify" "$@" >"%s/said"\nstatus=$?\n%s\n%s\n' \
		"$BIN" "$TMPDIR" "sed '$1' '$TMPDIR/said'" 'exit ${STATUS:-$status}' \
		>false/ckverify
	chmod +x false/ckverify
	compare 1 false --count="$planted" --pipe=1000
	shift
	for words; do
		says "$words"
	done
}
falsify 's/"seed_kind":"Layout"/"seed_kind":"Model"/
	s/"path":"records\[[0-9]*\]/"path":"records[77]/
	s/"verdict":"unsupported","exit_code":3/"verdict":"false","exit_code":0/
	s/"verdict":"invalid"/"verdict":"false"/
	s/"verdict":"valid"/"verdict":"invalid"/
	s/"verdict":"false"/"verdict":"valid"/' \
	'kind: judge Layout, ckverify Model' ', ckverify 77' \
	'verdict: judge invalid, ckverify valid' \
	'verdict: judge unsupported, ckverify valid' \
	'verdict: judge valid, ckverify invalid'
export STATUS=134
falsify '$d' 'no answer' 'exit 134'

[ "$failures" -eq 0 ] || exit 1
