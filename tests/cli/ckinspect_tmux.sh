#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The viewer in a real terminal: a tour through the small fixture, screens of
# all sizes, the mouse, and a terminal that is as before when it is over.
. tests/support/terminal.sh
"$BIN/ckforge" fixture selected-step8 -o step8.ckpt >/dev/null || exit 1
inspect=$BIN/ckinspect

tour() { # tour LOCALE
	in_terminal "$1" "$inspect" step8.ckpt
	shows step8.ckpt 6330 valid records fixed_header.magic
	modes "the viewer has the terminal" 1011

	# Moving, and going to an offset and a name.
	keys x Right Right
	closes 0x00000002
	keys j
	closes 0x0000000a
	text :2874
	modes "a prompt has a cursor" 1111
	keys Enter
	closes 0x00000b3a
	shows token_embedding.weight
	modes "the cursor is away again" 1011
	text :0xb35
	keys Enter
	closes 0x00000b35
	shows token-0
	keys '}'
	closes 0x00000b36
	text :final_norm.gain
	keys Enter
	closes final_norm.gain
	shows 'records[15].data[0]'

	# Searching, with a key in two bytes on the way.
	keys g
	closes 0x00000000
	text /token_emb
	if [ "$1" != C ]; then
		text é
		closes token_embé
		keys BSpace
	fi
	text edding
	keys Enter
	shows token_embedding.weight 'records[5].data[0,0]'

	# A prompt that is given up changes nothing.
	text :7
	keys Escape
	modes "no prompt" 1011
	closes 0x
}

sizes() {
	text :2874
	keys Enter
	closes 0x00000b3a
	resize 120 40
	shows statistics findings inspector records
	resize 40 10
	closes 0x00000b3a
	lacks inspector
	resize 30 8
	shows '30x8: too small'
	lacks 0x00000b3a
	resize 80 24
	closes 0x00000b3a
	shows inspector
	# While something is being asked, too.
	text :28
	resize 120 40
	shows ':' statistics
	text 6
	resize 30 8
	shows 'too small'
	resize 80 24
	shows inspector
	text 9
	keys Enter
	closes 0x00000b35
}

pages() {
	text '?'
	shows 'Moving'
	text q
	lacks 'Moving'
	shows inspector
	text :0
	keys Enter
	closes 0x00000000
	text z
	lacks inspector
	text q
	shows inspector
	keys C-l
	shows inspector
}

# Rows come at once or by and by; all 33 tensors are equal.
replay() {
	text r
	closes inputs
	text 0,1
	keys Enter
	closes targets
	text 1,2
	keys Enter
	closes rate
	keys C-u
	text 0.006
	keys Enter
	shows bit-equal
	text q
	shows inspector
}

# The mouse as this terminal reports it: button, column and row from 1, each
# and 32.
report() {
	tm send-keys -H 1b 5b 4d "$(printf %x $((32 + $1)))" \
		"$(printf %x $((32 + $2)))" "$(printf %x $((32 + $3)))"
}

mouse() {
	text Tx
	text :16
	keys Enter
	closes 0x00000010
	# The second byte in the third row of bytes, then the wheel.
	report 0 52 6
	closes 0x00000011
	report 65 52 6
	closes 0x00000029
}

for locale in C.UTF-8 C; do
	tour "$locale"
	sizes
	pages
	replay
	mouse
	text q
	ended 0
	plain=$(LC_ALL=C grep -c '[^ -~]' tour)
	[ $locale != C ] || [ "$plain" -eq 0 ] || die "not ASCII in the C locale"
	[ $locale = C ] || [ "$plain" -gt 0 ] || die "ASCII lines in UTF-8"
	rm tour
done

in_terminal C.UTF-8 "$inspect" --no-mouse step8.ckpt
shows inspector
modes "the mouse is left alone" 1001
text q
ended 0

# Without a terminal that can do it, the overview; and no viewer for a pipe.
export terminal
for terminal in dumb "" no-such-terminal; do
	in_terminal C "$inspect" step8.ckpt
	ended 0
	shows 'supplied by the caller'
done
unset terminal
in_terminal C sh -c "cat step8.ckpt | $inspect -"
ended 0
shows 'supplied by the caller'
in_terminal C "$inspect" no-such-file
ended 3
shows 'no-such-file: No such file or directory'
in_terminal C "$inspect" step8.ckpt no-such-file
ended 3
shows 'no-such-file: No such file or directory'
in_terminal C "$inspect" no-such-file step8.ckpt
ended 3
shows 'no-such-file: No such file or directory'
# Files that say that they are empty, and are not, and one that is.
in_terminal C "$inspect" /proc/self/status
ended 0
shows /proc/self/status
in_terminal C "$inspect" step8.ckpt /proc/self/status
ended 3
shows 'two files are compared in a terminal only'
: >empty
in_terminal C "$inspect" empty
shows 'the file is empty'
text q
ended 0
in_terminal C "$inspect" --batch --no-mouse step8.ckpt
ended 2
exit 0
