#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ckforge big: exactly the size, valid, in little memory; asked to stop, it
# leaves the old file alone.
set -u
cd "$TMPDIR" || exit 2
forge=$BIN/ckforge verify=$BIN/ckverify
bad=0

fail() {
	echo "FAIL: $*"
	bad=1
}

size() { # of a file
	wc -c <"$1" | tr -d ' '
}

for pair in 6000:6000 100k:102400 1000001:1000001 1M:1048576 3M:3145728; do
	"$forge" big --size="${pair%:*}" -o f.ckpt >words ||
		fail "big ${pair%:*}: exit $?"
	[ "$(size f.ckpt)" -eq "${pair#*:}" ] || fail "big ${pair%:*}: $(size f.ckpt)"
	grep -q "^f.ckpt: forged: no training lineage (.*, ${pair#*:} bytes, " words ||
		fail "big ${pair%:*}: $(cat words)"
	"$verify" -q --fail-on=warning f.ckpt || fail "big ${pair%:*}: not valid"
done
cp f.ckpt old
"$forge" big --size=3M -o g.ckpt --progress=never >/dev/null
cmp f.ckpt g.ckpt || fail "the same options, other bytes"
rm g.ckpt

# The limit is on addresses, of which a sanitizer takes many.
if [ "$MODE" = release ]; then
	(ulimit -v 32768 && "$forge" big --size=100M -o f.ckpt >/dev/null) ||
		fail "100M needs more than 32 MiB: exit $?"
	[ "$(size f.ckpt)" -eq 104857600 ] || fail "100M: $(size f.ckpt)"
	"$verify" -q f.ckpt || fail "100M: not valid"
fi

# stopped SIGNAL: while it writes.
stopped() {
	cp old f.ckpt
	"$forge" big --size=8G -o f.ckpt >words 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null && ! ls .f.ckpt.tmp-* >/dev/null 2>&1; do
		sleep 0.01
	done
	sleep 0.05
	kill "-$1" $pid
	wait $pid
	got=$?
	[ "$got" -eq 130 ] || fail "SIG$1: exit $got, $(cat words)"
	grep -q 'nothing was changed' words || fail "SIG$1: $(cat words)"
	cmp old f.ckpt || fail "SIG$1: the old file has changed"
	ls .f.ckpt.tmp-* 2>/dev/null && fail "SIG$1: a temporary file is left"
}
stopped INT
stopped TERM

refused() { # refused WORDS OPTIONS...
	words=$1
	shift
	"$forge" big "$@" >out 2>err
	got=$?
	[ $got -eq 2 ] || fail "big $*: exit $got"
	[ ! -s out ] || fail "big $*: $(cat out)"
	grep -qF -e "$words" err || fail "big $*: $(cat err)"
}
refused "the smallest such file has" --size=1k -o never
refused "the checksum stands at the front" --size=1M -o -
refused "'--size' is missing" -o never
refused "'--output' is missing" --size=1M
refused "too large" --size=2000000G -o never
refused "is not a size" --size=1T -o never
[ ! -e never ] || fail "a file was made"
exit $bad
