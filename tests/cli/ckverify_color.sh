#!/bin/sh
# SPDX-License-Identifier: MIT
# Colours and progress: when they are there, and that words stay without them.
. tests/support/golden.sh

samples plain good.ckpt
cp good.ckpt broken.ckpt && poke broken.ckpt 840 X
esc=$(printf '\033')

colored() { says out "${esc}[1;3"; }
plain() {
	grep -q "$esc" out && say_failure "colours, but: $*"
	return 0
}

expect 1 ckverify good.ckpt broken.ckpt
plain "not a terminal"
cp out words
expect 1 ckverify --color=always good.ckpt broken.ckpt
colored
sed "s/$esc\[[0-9;]*m//g" out | cmp - words ||
	say_failure "without its colours the text is another one"
expect 1 ckverify --color=never good.ckpt broken.ckpt
plain "--color=never"
export CLICOLOR_FORCE=1 TERM=dumb
expect 1 ckverify broken.ckpt
colored
export NO_COLOR=1
expect 1 ckverify broken.ckpt
plain "NO_COLOR"
expect 1 ckverify --color=always broken.ckpt
colored
expect 1 ckverify --color=always --format=json broken.ckpt
plain "JSON"
unset NO_COLOR CLICOLOR_FORCE

# Progress is on standard error, and only if asked for.
expect 0 ckverify good.ckpt
silent err
(head -c 300 good.ckpt; sleep 1.3; tail -c +301 good.ckpt) |
	"$BIN/ckverify" --progress=always - >out 2>err || say_failure "slow pipe"
says err '-'
says out '-: valid'
grep -q "$esc" err && say_failure "progress draws on what is no terminal"
(head -c 300 good.ckpt; sleep 1.3; tail -c +301 good.ckpt) |
	"$BIN/ckverify" - >out 2>err || say_failure "slow pipe, no progress"
silent err
finish
