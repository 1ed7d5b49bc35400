#!/bin/sh
# SPDX-License-Identifier: MIT
# The tools at work: train a checkpoint, verify it, show its records, replay its
# next update, print the evidence, damage one byte, verify again, have the byte
# located and a repaired copy proposed, and have the rule explained. Fails if an
# outcome is not the expected one.
set -eu
BIN=${BIN:-build/release}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$(cd "$BIN" && pwd):$PATH
cd "$tmp"

show() { # show STATUS COMMAND...: prints the command, runs it, checks its exit
	want=$1
	shift
	printf '\n$ %s\n' "$*"
	status=0
	"$@" || status=$?
	[ "$status" = "$want" ] || {
		echo "demo: exit $status, expected $want" >&2
		exit 1
	}
}

show 0 ckforge fixture selected-step8 -o step8.ckpt
show 0 ckverify step8.ckpt
show 0 ckinspect --batch=groups step8.ckpt
show 0 ckreplay step step8.ckpt --inputs 0,1 --targets 1,2 --lr 0.006
show 0 ckreplay evidence step8.ckpt --inputs 0,1 --targets 1,2 --lr 0.006
show 0 ckinspect --at 2874 step8.ckpt
show 0 ckforge mutate step8.ckpt --flip 3000.3 -o damaged.ckpt
show 1 ckverify damaged.ckpt
show 1 ckverify --propose-repair repaired.ckpt damaged.ckpt
show 0 cmp repaired.ckpt step8.ckpt
show 0 ckverify --explain CK1006
show 0 ckforge mutate step8.ckpt --set param:final_norm.gain.data[0]=nan \
	--fix-checksum -o nan.ckpt
show 1 ckverify nan.ckpt
