# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For scripts of tests/cli: `. tests/support/golden.sh` in the top folder, then
# work in $TMPDIR. A transcript is what a person would see: the command, its
# output, what it said on standard error, its exit status. It is compared with
# tests/golden/NAME.txt; UPDATE_GOLDEN=1 writes that file instead, to be read
# before it is committed.
set -u
top=$PWD
golden=$top/tests/golden
failures=0
unset NO_COLOR CLICOLOR_FORCE
cd "$TMPDIR" || exit 2

say_failure() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# run TOOL ARGUMENT...: a transcript of one command, appended to $TMPDIR/log.
run() {
	tool=$1
	shift
	printf '$ %s' "$tool" >>log
	for word; do
		case $word in
		*[!A-Za-z0-9_./=,:+-]* | "") printf " '%s'" "$word" >>log ;;
		*) printf ' %s' "$word" >>log ;;
		esac
	done
	echo >>log
	"$BIN/$tool" "$@" >out 2>err
	status=$?
	cat out >>log
	# Not every machine has every wall of the sandbox.
	sed -e '/: note: .* not restricted: /d' -e 's/^/stderr: /' err >>log
	printf '[exit %s]\n\n' "$status" >>log
}

# compare NAME: the transcript so far with its golden file; starts a new one.
compare() {
	if [ -n "${UPDATE_GOLDEN:-}" ]; then
		cp log "$golden/$1.txt"
	elif ! diff -u "$golden/$1.txt" log; then
		say_failure "$1 differs from its golden file"
	fi
	rm -f log
}

# expect WANTED-EXIT TOOL ARGUMENT...: stdout is in ./out, stderr in ./err.
expect() {
	want=$1 tool=$2
	shift 2
	"$BIN/$tool" "$@" >out 2>err
	status=$?
	[ "$status" -eq "$want" ] || {
		say_failure "exit $status, wanted $want: $tool $*"
		head -n 5 out err
	}
}

says() { # says FILE TEXT: the text stands in out or err
	grep -qF -- "$2" "$1" || {
		say_failure "$1 does not say: $2"
		head -n 20 "$1"
	}
}

silent() { # silent FILE
	[ ! -s "$1" ] || {
		say_failure "$1 is not empty"
		head -n 20 "$1"
	}
}

samples() { # samples KIND FILE ...
	"$BIN/test_sample" "$@" || exit 2
}

# poke FILE OFFSET BYTES (as printf takes them)
poke() {
	# shellcheck disable=SC2059
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

finish() {
	[ "$failures" -eq 0 ] || exit 1
	exit 0
}
