#!/bin/sh
# SPDX-License-Identifier: MIT
# man.sh write|check: makes what is generated from the tables, or fails if what
# is committed is missing or differs: man/TOOL.1 from the option rows of the
# tool, man/FORMAT.5 and fuzz/dict/FORMAT.dict from the schema rows of the
# format, man/ckpt-rules.7 from the findings table.
set -u
cd "$(dirname "$0")/.." || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
mode=$1
status=0

made() { # made FILE COMMAND...: FILE is what the command prints
	file=$1
	shift
	if ! "$@" >"$tmp/page"; then
		echo "$* failed"
		status=1
	elif [ "$mode" = write ]; then
		mkdir -p "$(dirname "$file")" && cp "$tmp/page" "$file"
	elif ! diff -u "$file" "$tmp/page" >"$tmp/diff" 2>&1; then
		echo "$file is out of date: make man"
		head -n 20 "$tmp/diff"
		status=1
	fi
}

for source in src/cli/ck*.c; do
	[ -e "$source" ] || continue
	tool=$(basename "$source" .c)
	made "man/$tool.1" "$BIN/$tool" --man
done
if [ -e src/cli/ckforge.c ]; then
	made man/ckpt-rules.7 "$BIN/ckforge" describe --as=rules
	formats=$("$BIN/ckforge" describe --as=names) || status=1
	for format in $formats; do
		made "man/$format.5" "$BIN/ckforge" describe "$format"
		made "fuzz/dict/$format.dict" \
			"$BIN/ckforge" describe "$format" --as=dictionary
	done
fi
exit $status
