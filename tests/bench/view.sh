# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# The first screen of the viewer, from its start, and frames with many records.
program screen '' tests/bench/screen.c
program frames '' tests/bench/frames.c
"$BIN/ckforge" fixture selected-step8 -o "$tmp/step8" >/dev/null
"$BIN/ckforge" synth --layers=4200 --width=4 --heads=1 \
	--feed-forward-width=2 --step=2 -o "$tmp/many" >/dev/null
# What looks like a terabyte is its header and a hole.
"$BIN/ckforge" big --size 1T -o - 2>/dev/null | head -c 4M >"$tmp/hole"
truncate -s 1T "$tmp/hole"

first_screen() { # first_screen NAME FILE
	median "$tmp/screen" "$BIN/ckinspect" "$2" >"$tmp/median"
	read -r ms kib <"$tmp/median"
	row view "first screen, $1" "$ms" ms '' '' $((kib / 1024))
}

first_screen "the fixture" "$tmp/step8"
first_screen "1 TiB, mostly a hole" "$tmp/hole"
first_screen "113,000 records" "$tmp/many"
"$tmp/frames" "$tmp/many" | while read -r ms what; do
	row view "$what" "$ms" ms
done
rm -f "$tmp/hole"
