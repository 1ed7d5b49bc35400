# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For scripts of tests/cli that need a terminal: `. tests/support/terminal.sh`
# in the top folder, then work in $TMPDIR. The terminal is a pane of a tmux
# server of our own; what it shows is waited for, a bounded time. All screens
# that were waited for are appended to ./tour, and to $CKPT_TOUR if that is set.
set -u
cd "$TMPDIR" || exit 2
command -v tmux >/dev/null || {
	echo "FAIL: tmux is not installed, so the viewer was not tested"
	exit 1
}
unset NO_COLOR CLICOLOR_FORCE TMUX
export TMUX_TMPDIR=$TMPDIR

servers=0
tm() {
	tmux -f /dev/null -L viewer$servers "$@"
}

# A server of its own for every command: one that was told to end may still be
# there.
fresh() { # fresh COMMAND...: on a screen of 80x24
	tm kill-server 2>/dev/null
	servers=$((servers + 1))
	tm -u new-session -d -x 80 -y 24 "$@" \; set -g escape-time 0 \; \
		set -g window-size manual || {
		echo "FAIL: tmux does not start"
		exit 1
	}
}
trap 'tm kill-server 2>/dev/null' EXIT

die() { # die WORDS: with what the terminal shows
	echo "FAIL: $*"
	tm capture-pane -p
	echo "modes ${mode:-}"
	exit 1
}

# in_terminal LOCALE COMMAND...: runs it on a screen of 80x24. No shell that
# mends the terminal stands between: modes before and after are in ./before and
# ./after, the exit status is in ./status.
in_terminal() {
	rm -f before after status pid
	cat >session.sh <<-'EOF'
		trap : INT QUIT
		stty -a >before
		"$@"
		echo $? >status
		stty -a >after
		echo the command is done
		exec cat
	EOF
	local locale=$1
	shift
	fresh env LC_ALL="$locale" TERM="${terminal-tmux-256color}" \
		sh session.sh "$@"
}

# until_true WORDS COMMAND...
until_true() {
	local words=$1 deadline=$((SECONDS + 30))
	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || die "waited in vain for: $words"
		sleep 0.02
	done
}

screen_has() {
	tm capture-pane -p >screen 2>/dev/null && grep -qF -- "$1" screen
}

screen_ends() {
	tm capture-pane -p >screen 2>/dev/null &&
		tail -n 1 screen | grep -qF -- "$1"
}

screen_lacks() {
	! screen_has "$1" && [ -s screen ]
}

shows() { # shows TEXT...: all at one time
	local text
	for text; do
		until_true "$text" screen_has "$text"
	done
	{
		echo "---- $*"
		cat screen
	} | tee -a tour >>"${CKPT_TOUR:-/dev/null}"
}

closes() { # closes TEXT: the last line has it
	until_true "$1 in the last line" screen_ends "$1"
}

lacks() { # lacks TEXT: it goes away
	until_true "the end of: $1" screen_lacks "$1"
}

# keys KEY...: as tmux names them.
keys() {
	tm send-keys -- "$@"
}

text() { # text WORDS: as they are
	tm send-keys -l -- "$1"
}

# The size of the screen, which the program is told.
resize() { # resize COLUMNS ROWS
	tm resize-window -x "$1" -y "$2"
}

mode_is() {
	mode=$(tm display-message -p \
		'#{alternate_on}#{cursor_flag}#{mouse_any_flag}#{keypad_flag}')
	[ "$mode" = "$1" ]
}

# modes WORDS DIGITS: alternate screen, cursor, mouse, keypad.
modes() {
	until_true "$1 (modes $2)" mode_is "$2"
}

has_status() {
	[ -s status ] && [ -s after ]
}

# ended STATUS...: the command has ended with one of these, and the terminal
# is as it was before.
ended() {
	local status want
	until_true "the end of the command" has_status
	read -r status <status
	for want; do
		[ "$status" != "$want" ] || break
	done
	[ "$status" = "$want" ] || die "exit status $status, wanted $*"
	shows "the command is done"
	modes "the terminal is put back" 0100
	cmp before after || {
		diff before after
		die "modes of the terminal"
	}
}

# The process of a tool in the terminal.
viewer_pid() {
	local shell
	shell=$(tm display-message -p '#{pane_pid}')
	ps -o pid= --ppid "$shell" | tr -d ' '
}
