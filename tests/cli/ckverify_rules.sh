#!/bin/sh
# SPDX-License-Identifier: MIT
# --explain and --list-rules.
. tests/support/golden.sh

run ckverify --explain CK1006
run ckverify --explain bad-magic
run ckverify --explain CK6001
compare ckverify_explain

expect 0 ckverify --list-rules
rules=$(wc -l <out)
[ "$rules" -gt 90 ] || say_failure "only $rules rules"
cut -c 1-6 out >ids
grep -qvE '^CK[0-9]{4}$' ids && say_failure "a line without an id"
[ "$(sort -u ids | wc -l)" = "$rules" ] || say_failure "an id twice"
awk '{ print $3 }' out | sort | uniq -d | grep . && say_failure "a slug twice"
awk '{ print $1, $3 }' out >names
while read -r id slug; do
	expect 0 ckverify --explain "$id"
	says out "$id $slug"
	mv out by_id
	expect 0 ckverify --explain "$slug"
	cmp by_id out || say_failure "$id and $slug are explained differently"
done <names
finish
