#!/bin/sh
# SPDX-License-Identifier: MIT
# What keeps ckverify from a verdict is said plainly and is exit 3: files that
# are missing, unreadable or no files, pipes that end too early, output that
# cannot be written; and 130 when it is interrupted.
. tests/support/golden.sh

samples plain good.ckpt
ln -s loop loop
ln -s nowhere dangling
mkfifo idle
run ckverify missing.ckpt
run ckverify ''
run ckverify loop dangling
run ckverify good.ckpt/below
run ckverify idle
run ckverify missing.ckpt good.ckpt
run ckverify --max-memory=1k good.ckpt
compare ckverify_trouble

expect 3 ckverify /proc/self/mem
says out 'CK9001 io-error'
says out 'Input/output error'
expect 1 ckverify /dev/null
says out 'the file is empty'
expect 1 ckverify /dev/zero
says out 'all zero bytes'
cp good.ckpt shut.ckpt && chmod 000 shut.ckpt
if [ ! -r shut.ckpt ]; then
	expect 3 ckverify shut.ckpt
	says out 'Permission denied'
fi
expect 3 ckverify - <&-
says out 'Bad file descriptor'

# Pipes: exactly the file, too little, too much.
cat good.ckpt | "$BIN/ckverify" - >out || say_failure "a good file from a pipe"
says out '-: valid (llmcp35 v1, 9 records, 848 bytes'
(head -c 100 good.ckpt; sleep 0.2; tail -c +101 good.ckpt) |
	"$BIN/ckverify" - >out || say_failure "a good file from a slow pipe"
pipe() { # pipe EXIT TEXT: from standard input
	"$BIN/ckverify" - >out
	status=$?
	[ "$status" -eq "$1" ] || say_failure "exit $status from a pipe, not $1"
	says out "$2"
}
head -c 500 good.ckpt | pipe 1 'CK1005 truncated-file'
head -c 20 good.ckpt | pipe 1 'CK1001 truncated-fixed-header'
{ cat good.ckpt; printf xyz; } | pipe 1 '3 extra bytes'
{ cat good.ckpt; head -c 3000000 /dev/zero; } 2>/dev/null |
	pipe 1 'at least 1048576 extra bytes'
: | pipe 3 'CK9005 empty-pipe'
# A file that is standard input and was read in part.
{ dd bs=1 count=8 of=/dev/null 2>/dev/null; "$BIN/ckverify" - >out; } <good.ckpt
says out 'invalid'

# Output that cannot be written.
"$BIN/ckverify" good.ckpt >/dev/full 2>err
[ $? -eq 3 ] || say_failure "/dev/full is not exit 3"
says err 'ckverify: standard output: No space left on device'
"$BIN/ckverify" --format=json good.ckpt >&- 2>err
[ $? -eq 3 ] || say_failure "a closed output is not exit 3"
says err 'ckverify: standard output: Bad file descriptor'
"$BIN/ckverify" --list-rules >/dev/full 2>err
[ $? -eq 3 ] || say_failure "--list-rules to /dev/full is not exit 3"
"$BIN/ckverify" -q good.ckpt >/dev/full 2>err ||
	say_failure "-q has nothing to write"

# Interrupted while a pipe keeps it waiting. A shell lets background commands
# ignore SIGINT, so that timeout, which does not, starts it. In the foreground
# timeout sends the signal once; otherwise twice, and the second one ends.
mkfifo slow
interrupt() { # interrupt ARGUMENT...: exit status in $status
	(head -c 700 good.ckpt; sleep 3) >slow &
	timeout --foreground --preserve-status -s INT 0.7 \
		"$BIN/ckverify" "$@" >out 2>err
	status=$?
	kill $! 2>/dev/null
	wait
}
interrupt good.ckpt slow good.ckpt
[ "$status" -eq 130 ] || say_failure "interrupted: exit $status"
says out 'good.ckpt: valid'
says out 'slow: not-verified'
says out 'CK9006 cancelled'
[ "$(grep -c 'good.ckpt: valid' out)" = 1 ] || say_failure "it went on"
interrupt --format=json slow
[ "$status" -eq 130 ] || say_failure "interrupted json: exit $status"
jq -e '.exit_code == 130 and .verdict == "not-verified"
	and .files[0].primary.rule == "CK9006"' out >/dev/null ||
	say_failure "interrupted json says something else"
finish
