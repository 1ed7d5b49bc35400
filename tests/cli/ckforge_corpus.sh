#!/bin/sh
# SPDX-License-Identifier: MIT
# ckforge corpus: makes exactly the committed files and README.md, again and
# again, and says which line of recipes.tsv is wrong.
set -eu
forge=$BIN/ckforge
copy=$TMPDIR/corpus

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

mkdir "$copy"
cp corpus/recipes.tsv "$copy"
"$forge" corpus "$copy" >"$TMPDIR/out"
grep -q "forged: no training lineage" "$TMPDIR/out" || fail "no label"
diff -r -x jobs corpus "$copy" || fail "the corpus is not what its recipes make"
"$forge" corpus "$copy" >"$TMPDIR/out"
grep -q " 0 written" "$TMPDIR/out" || fail "a second run wrote files"

# A file that was damaged is made anew.
: >"$copy/llmcp35/good/tiny.ckpt"
"$forge" corpus "$copy" >"$TMPDIR/out"
grep -q " 1 written" "$TMPDIR/out" || fail "the damaged file was left"
cmp corpus/llmcp35/good/tiny.ckpt "$copy/llmcp35/good/tiny.ckpt"

wrong() { # wrong TEXT LINE
	printf '# x\n\n%b\n' "$2" >"$copy/recipes.tsv"
	if "$forge" corpus "$copy" >"$TMPDIR/out" 2>"$TMPDIR/err"; then
		fail "accepted: $2"
	fi
	[ ! -s "$TMPDIR/out" ] || fail "printed on standard output: $2"
	grep -qF -- "$1" "$TMPDIR/err" || {
		cat "$TMPDIR/err" >&2
		fail "does not say '$1': $2"
	}
}
wrong "recipes.tsv:3: a line has six columns" 'a\tb\tc'
wrong "recipes.tsv:3: a line has six columns" 'a\tb\t\t-\tvalid\t-'
wrong "no base 'nothing'" 'a\tb.\tnothing\t-\tvalid\t-'
wrong "no base 'a'" 'a\tb.\ta\t-\tvalid\t-'
wrong "a: --flip '0.0': behind the end" 'a\tb.\t-\t--flip 0.0\tvalid\t-'
wrong "unrecognised option" 'a\tb.\t-\t--flop 0.0\tvalid\t-'
wrong "--width" 'a\tb.\tsynth --width=x\t-\tvalid\t-'
