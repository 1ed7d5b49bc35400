# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Safetensors headers of many tensors, next to jq and Python where these are
# installed; seconds of the processor. Nine tensors a layer. The other readers
# get the header alone.
cpu() { # cpu COMMAND...: its seconds, and MiB
	median "$tmp/time" "$@" | while read -r _ seconds kib; do
		echo "$seconds" $((kib / 1024))
	done
}

reader() { # reader NAME COMMAND...
	name=$1
	shift
	command -v "$1" >/dev/null || return 0
	cpu "$@" >"$tmp/line"
	read -r theirs mib <"$tmp/line"
	row header "$name, $tensors tensors" "$theirs" s '' '' "$mib"
	row header "ckverify, $tensors tensors" "$ours" s \
		"$(divide "$theirs" "$ours")" "$name" "$our_mib"
}

for layers in 111 1111 11111 111111; do
	tensors=$((9 * layers + 2))
	"$BIN/ckforge" synth --format=safetensors --layers=$layers \
		--width=2 --heads=1 --feed-forward-width=1 \
		-o "$tmp/wide" >/dev/null
	n=$(od -An -t u8 -N 8 "$tmp/wide" | tr -d ' ')
	tail -c +9 "$tmp/wide" | head -c "$n" >"$tmp/wide.json"
	cpu "$BIN/ckverify" -q "$tmp/wide" >"$tmp/line"
	read -r ours our_mib <"$tmp/line"
	reader "jq ." jq . "$tmp/wide.json"
	reader "python3 json" python3 -c \
		'import json, sys; json.load(open(sys.argv[1]))' \
		"$tmp/wide.json"
done
