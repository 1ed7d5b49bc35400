#!/bin/sh
# SPDX-License-Identifier: MIT
# Names of files and names in files that would play tricks on a terminal, on
# JSON or on whoever reads a log.
. tests/support/golden.sh

samples plain good.ckpt hostile hostile.ckpt
newline=$(printf 'a\nb: valid (llmcp35 v1)')
escape=$(printf 'a\033[2J\007.ckpt')
invalid=$(printf 'a\377\200.ckpt')
bidi=$(printf 'a\342\200\256tpkc.ckpt')
c1=$(printf 'a\302\233.ckpt')

clean() { # no control bytes but line feeds, and all of it UTF-8
	LC_ALL=C tr -d '\n\040-\176\200-\377' <"$1" | grep -q . &&
		say_failure "$1 has control characters"
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 ||
		say_failure "$1 is not UTF-8"
	LC_ALL=C grep -q "$(printf '\342\200\256')" "$1" &&
		say_failure "$1 has bidirectional controls"
	return 0
}

mkdir set
for name in "$newline" "$escape" "$invalid" "$bidi" "$c1"; do
	cp good.ckpt "$name"
	cp good.ckpt "set/$name.ckpt"
	: >"set/.$name.tmp-7-0"
	for format in text json jsonl; do
		expect 0 ckverify -v --format=$format -- "$name"
		clean out
		expect 3 ckverify --format=$format -- "$name.missing"
		clean out
		[ "$format" = text ] || jq -e . out >/dev/null ||
			say_failure "no JSON for a hostile name"
	done
	expect 3 ckverify -q -- "$name.missing"
	clean err
	expect 2 ckverify --values=off -- "$name"
	clean err
done
expect 0 ckverify -- "$newline"
[ "$(wc -l <out)" = 1 ] || say_failure "a name became two lines"
says out 'a\nb: valid (llmcp35 v1): valid'
for format in text jsonl; do
	expect 0 ckverify --format=$format set
	clean out
done
jq -e -s '.[0].findings | length == 5' out >/dev/null ||
	say_failure "not every temporary file was found"

for format in text json; do
	expect 0 ckverify -v --format=$format hostile.ckpt
	clean out
done
expect 0 ckverify --format=jsonl hostile.ckpt
jq -r '.findings[0].found' out >found
says found 'a\x1b[2Jb\n\u{202e}\\c'
finish
