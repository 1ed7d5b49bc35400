#!/bin/sh
# SPDX-License-Identifier: MIT
# What the compiler does not check. Called by `make lint`, which sets BIN,
# COMPILE (compiler and flags) and FORMATTED (the C files).
set -u
cd "$(dirname "$0")/.." || exit 2
bad=0
# shellcheck disable=SC2086
set -- $FORMATTED

step() { # step NAME COMMAND...
	name=$1
	shift
	if out=$("$@" 2>&1); then
		echo "ok    $name"
	else
		echo "FAIL  $name"
		bad=1
	fi
	[ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/      | /'
}

need() { # a tool that is absent is said, and fails: unchecked is not clean
	command -v "$1" >/dev/null || { echo "$1 is not installed"; return 1; }
}

format() {
	need clang-format && clang-format --dry-run -Werror "$@"
}

headers_alone() {
	status=0
	for h in include/*.h src/*/*.h; do
		[ -e "$h" ] || continue
		printf '#include "%s"\n' "${h#*/}" |
			$COMPILE -Werror -fsyntax-only -x c - || status=1
	done
	return "$status"
}

# Tables may be long: *.def and *_schema.c.
sizes() {
	awk '
	function complain(line, what) {
		printf "%s:%d: %s\n", FILENAME, line, what
		bad = 1
	}
	FNR == 1 { start = 0; long = 600
		if (FILENAME ~ /_schema\.c$/) long = 1e9
		if (FILENAME ~ /^src\/cli\/ck[a-z]*\.c$/) long = 200 }
	FNR == long + 1 { complain(FNR, "the file has more than " long " lines") }
	/^{/ { start = FNR }
	/^}/ && start {
		if (FNR - start - 1 > 60)
			complain(start, "a function of " FNR - start - 1 " lines")
		start = 0
	}
	END { exit bad }' "$@"
}

names() {
	! find src include tests fuzz -type f |
		grep -E '/(utils?|misc|common|helpers?)\.[a-z]+$'
}

man_pages() {
	set -- man/*.[1-9]
	[ -e "$1" ] || return 0
	need mandoc && mandoc -T lint -W warning "$@"
}

scripts() {
	need shellcheck || return
	set -- .ci/run tests/run tests/*.sh tests/cli/*.sh tests/bench/*.sh
	[ -e "$4" ] || set -- .ci/run tests/run tests/*.sh
	shellcheck -S warning "$@"
}

# Names of wrong files come from our own small table.
no_libmagic() {
	status=0
	grep -rnE '[<"]magic\.h[>"]|-lmagic' src include fuzz tests/unit \
		tests/support Makefile && status=1
	for t in "$BIN"/ck*; do
		[ -x "$t" ] || continue
		ldd "$t" | grep libmagic && status=1
	done
	return "$status"
}

step format format "$@"
step layers tests/layers.sh
step "headers compile alone" headers_alone
step "file and function length" sizes "$@"
step "file names" names
step "man pages" man_pages
step scripts scripts
step "no libmagic" no_libmagic
exit $bad
