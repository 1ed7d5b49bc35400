# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# The whole of ckverify on a file in the page cache, by the clock: next to its
# own plain loops (CKPT_SIMD=off), to cat, which only reads, and to programs
# that compute other sums. MIBS: the sizes of the files.
verify_rows() { # verify_rows MIB: what stands in $tmp/verify.SUBJECT
	ours=
	for subject in ckverify off cat sha256sum xxhsum cksum; do
		[ -s "$tmp/verify.$subject" ] || continue
		sort -n "$tmp/verify.$subject" | sed -n 2p >"$tmp/line"
		rm "$tmp/verify.$subject"
		read -r seconds _ kib <"$tmp/line"
		row verify "$subject, $1 MiB" "$seconds" s '' '' $((kib / 1024))
		[ -n "$ours" ] || ours=$seconds our_mib=$((kib / 1024))
		[ "$subject" = ckverify ] || row verify "ckverify, $1 MiB" \
			"$ours" s "$(divide "$seconds" "$ours")" "$subject" \
			"$our_mib"
	done
}

verify_once() { # verify_once SUBJECT COMMAND...
	subject=$1
	shift
	! command -v "$1" >/dev/null ||
		"$tmp/time" "$@" >>"$tmp/verify.$subject"
}

for mib in ${MIBS:-1 16 256 1024 4096}; do
	"$BIN/ckforge" big --size "${mib}M" -o "$tmp/big" >/dev/null
	cat "$tmp/big" >/dev/null
	for _ in 1 2 3; do
		verify_once ckverify "$BIN/ckverify" -q "$tmp/big"
		verify_once off env CKPT_SIMD=off "$BIN/ckverify" -q "$tmp/big"
		verify_once xxhsum xxhsum -q "$tmp/big" 2>"$tmp/noise"
		for subject in cat sha256sum cksum; do
			verify_once $subject $subject "$tmp/big"
		done
	done
	verify_rows "$mib"
	rm "$tmp/big"
done
