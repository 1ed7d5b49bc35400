#!/bin/sh
# SPDX-License-Identifier: MIT
# The arithmetic environment: what is printed has its form, is the same every
# time and in every report, and changes with the build of the math library.
set -eu
cd "$TMPDIR"
replay=$BIN/ckreplay
hash='fnv1a64:[0-9a-f]{16}'

"$replay" env >text
sed -E "s/$hash/HASH/; s/libm-(fma|plain|other)/LIBM/" text >masked
cat >want <<'END'
profile      llmcp35-f64-v1
math         LIBM
fingerprint  HASH
rounding     nearest-even
subnormals   kept
contraction  off
END
diff -u want masked
"$replay" env | cmp - text

"$replay" env --format=json >json
math=$(sed -n 's/^math  *//p' text)
fingerprint=$(sed -n 's/^fingerprint  *//p' text)
jq -e --arg math "$math" --arg fingerprint "$fingerprint" '
	.schema == "ckreplay/1" and .rounding == "nearest-even" and
	.subnormals == "kept" and .contraction == "off" and
	.arithmetic == { profile: "llmcp35-f64-v1", math: $math,
		fingerprint: $fingerprint }' json >/dev/null

# Every report carries it.
"$BIN/ckforge" synth --positions=4 -o f.ckpt >/dev/null
for command in "step --inputs=0 --targets=1 --lr=0.1" "infer --ids=0"; do
	# shellcheck disable=SC2086
	"$replay" $command f.ckpt >out
	grep -qxF "  arithmetic llmcp35-f64-v1, $math, $fingerprint" out
	# shellcheck disable=SC2086
	"$replay" $command --format=json f.ckpt >out
	jq -e --slurpfile env json '.arithmetic == $env[0].arithmetic' \
		out >/dev/null
done

# glibc can be told not to use the instruction; then it is another library.
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable \
	"$replay" env >other
if [ "$math" = libm-fma ] && ! cmp -s text other; then
	grep -qx 'math         libm-plain' other
	if grep -qF "$fingerprint" other; then exit 1; fi
fi

got=0
"$replay" env f.ckpt >out 2>err || got=$?
[ "$got" -eq 2 ] && [ ! -s out ] && [ -s err ]
