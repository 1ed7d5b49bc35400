#!/bin/sh
# SPDX-License-Identifier: MIT
# man.sh write|check: man/TOOL.1 is what `TOOL --man` prints from its option
# rows; check fails if a committed page is missing or differs.
set -u
cd "$(dirname "$0")/.." || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

status=0
for source in src/cli/ck*.c; do
	[ -e "$source" ] || continue
	tool=$(basename "$source" .c)
	page=man/$tool.1
	if ! "$BIN/$tool" --man >"$tmp/page"; then
		echo "$tool --man failed"
		status=1
	elif [ "$1" = write ]; then
		cp "$tmp/page" "$page"
	elif ! diff -u "$page" "$tmp/page" >"$tmp/diff" 2>&1; then
		echo "$page is out of date: make man"
		head -n 20 "$tmp/diff"
		status=1
	fi
done
exit $status
