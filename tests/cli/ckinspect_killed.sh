#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# However the viewer ends, the terminal is as before; stopping, going on, and
# a file that changes while it is open do not end it.
. tests/support/terminal.sh
"$BIN/ckforge" fixture selected-step8 -o step8.ckpt >/dev/null || exit 1
inspect=$BIN/ckinspect

begin() { # begin LOCALE
	in_terminal "$1" "$inspect" step8.ckpt
	shows inspector valid
	modes "the viewer has the terminal" 1011
}

# By signals: exit statuses as of the shell. A sanitizer makes an abort of
# what it catches.
for signal in TERM HUP QUIT SEGV BUS FPE ILL ABRT; do
	begin C.UTF-8
	kill -$signal "$(viewer_pid)"
	number=$(kill -l $signal)
	case $signal in
	SEGV | BUS | FPE | ILL) ended $((128 + number)) 134 ;;
	*) ended $((128 + number)) ;;
	esac
done

# By the keyboard. While something is being asked, only that is given up; as
# often as one likes.
begin C
keys C-c
ended 130
begin C.UTF-8
for round in 1 2 3; do
	text :28
	modes "a prompt $round" 1111
	keys C-c
	modes "no prompt $round" 1011
	closes 0x00000000
	text m
	closes 'which letter?'
	keys C-c
	closes 0x00000000
done
resize 120 40
shows statistics
resize 80 24
lacks statistics
text :2874
keys Enter
closes 0x00000b3a
keys C-c
ended 130

# Input that is no key, byte by byte, is nothing to end for; a sequence that
# came in part takes no key with it; and one that curses waits for the end of
# does not keep a signal from ending the program.
begin C.UTF-8
text x
for byte in 80 ff c3 a0 fe; do
	for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
		tm send-keys -H $byte
		sleep 0.01
	done
done
keys j
closes 0x00000008
tm send-keys -H 1b 5b 04
lacks 0x00000008
keys g
closes 0x00000000
tm send-keys -H 1b 5b 1b 4f 42
closes 0x00000008
tm send-keys -H 1b 5b 4d 20
sleep 0.2
kill -TERM "$(viewer_pid)"
ended 143

# An export is not lost by a key that was perhaps not meant so, nor without a
# word.
truncate -s 64G large
in_terminal C.UTF-8 "$inspect" large
shows large
text w
closes 'unowned_bytes_from_0.bin'
keys C-u
text out.bin
keys Enter
closes '%, Esc cancels'
keys F5
closes 'Esc cancels that'
text q
closes 'q again cancels that and leaves'
text q
ended 0
shows 'the export was cancelled, nothing was written'
[ ! -e out.bin ] || die "a part of an export is left"

# The terminal goes away: the program does not stay behind.
begin C.UTF-8
pid=$(viewer_pid)
tm kill-session
gone() { # or waits for its shell to hear of that
	case $(ps -o stat= -p "$pid") in
	"" | Z*) return 0 ;;
	esac
	return 1
}
deadline=$((SECONDS + 30))
until gone; do
	[ $SECONDS -lt $deadline ] || { echo "FAIL: it stays"; exit 1; }
	sleep 0.02
done

# Ctrl-Z gives the terminal back, fg takes it again; so does a stop that
# nobody was asked about.
fresh env LC_ALL=C.UTF-8 TERM=tmux-256color PS1='at the prompt$ ' \
	ENV=/dev/null INSPECT="$inspect" sh -i
shows 'at the prompt$'
# shellcheck disable=SC2016
text 'set -m; stty -a >before; $INSPECT step8.ckpt'
keys Enter
shows inspector valid
modes "the viewer has the terminal" 1011
text :2874
keys Enter
closes 0x00000b3a
keys C-z
modes "the shell has the terminal" 0100
shows 'at the prompt$'
text 'stty -a >after; clear'
keys Enter
until_true "modes of the terminal" test -s after
text 'clear; fg'
keys Enter
modes "the viewer has the terminal again" 1011
closes 0x00000b3a
shows inspector
text x
keys Up
closes 0x00000b32
text :2874
keys Enter
closes 0x00000b3a
pid=$(viewer_pid)
kill -STOP "$pid"
shows 'at the prompt$'
# Modes are still those of the viewer, so Enter would not end a line.
text 'clear; fg'
keys C-j
closes 0x00000b3a
shows inspector
modes "the viewer has the terminal again" 1011
resize 120 40
shows statistics
resize 80 24
keys C-z
modes "the shell has the terminal" 0100
# Stopped programs end too.
kill -TERM "$pid"
kill -CONT "$pid"
until_true "its end" gone
modes "the shell has the terminal" 0100

# The file changes underneath.
cp step8.ckpt step8.copy
begin C.UTF-8
truncate -s 3000 step8.ckpt
shows CHANGED shorter
text :5000
keys Enter
closes 0x00001388
keys g
closes 0x00000000
text v
shows CHANGED
keys F5
lacks CHANGED
shows 3000 invalid
mv step8.copy step8.ckpt
shows CHANGED
text :2874
keys Enter
closes 0x00000b3a
keys F5
lacks CHANGED
shows 6330 valid 0x00000b3a
rm step8.ckpt
shows CHANGED
keys F5
shows 'the file cannot be opened again'
keys x
closes 0x00000b3a
text q
ended 0

# And so does the one that it is compared with.
"$BIN/ckforge" fixture selected-step8 -o step8.ckpt >/dev/null || exit 1
cp step8.ckpt other.ckpt
in_terminal C.UTF-8 "$inspect" step8.ckpt other.ckpt
shows 'B other.ckpt' inspector valid
text :2874
keys Enter
closes 0x00000b3a
rm other.ckpt
keys F5
shows 'the second file cannot be opened again' 'B other.ckpt'
keys x Down
closes 0x00000b42
cp step8.ckpt other.ckpt
keys F5
lacks CHANGED
closes 0x00000b42
shows 'B other.ckpt'
text q
ended 0
exit 0
