#!/bin/sh
# SPDX-License-Identifier: MIT
# One good and one bad file of every format, and what ckverify says of them.
set -u
cd "$(dirname "$0")/.." || exit 2
[ -x "$BIN/ckverify" ] || { echo "there is no ckverify to show yet"; exit 1; }

status=0 shown=0
show() { # show WANTED-EXIT FILE
	[ -e "$2" ] || return 0
	printf '\n$ ckverify %s\n' "$2"
	"$BIN/ckverify" "$2"
	got=$?
	echo "(exit status $got)"
	shown=$((shown + 1))
	[ "$got" -eq "$1" ] || { echo "expected $1"; status=1; }
}

for format in corpus/*/; do
	for f in "$format"good/*; do show 0 "$f"; break; done
	for f in "$format"bad/*; do show 1 "$f"; break; done
done
[ "$shown" -gt 0 ] || { echo "corpus/ is empty"; status=1; }
exit $status
