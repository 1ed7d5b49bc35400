# SPDX-License-Identifier: MIT
# The rows of bench.sh as JSON. They hold our own words and numbers only, so
# nothing has to be escaped.
BEGIN { FS = "\t"; printf "{\"schema\":\"ckpt-bench/1\",\"rows\":[" }
{
	printf "%s\n{\"section\":\"%s\",\"what\":\"%s\",\"median\":%s,\"unit\":\"%s\"",
		(NR > 1) ? "," : "", $1, $2, $3, $4
	if ($5 != "")
		printf ",\"ratio\":%s,\"faster_than\":\"%s\"", $5, $6
	if ($7 != "")
		printf ",\"mib\":%s", $7
	printf "}"
}
END { print "\n]}" }
