# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Updates of a training job with a vocabulary of 20,000: the same as for update,
# and the peak memory. Fails if the two do not give the same model.

# Distinct pairs of bytes are the merges: 258 ids and 19,742. Of the letters
# of the documents none begins one of them, so each is one token.
write_job() {
	awk -v updates=3 'BEGIN {
		printf "{\"schema\":\"ckpt-job/1\",\"model\":{\"width\":128," \
			"\"heads\":4,\"kv_heads\":4,\"feed_forward_width\":512," \
			"\"layers\":4,\"max_positions\":64,\"context_window\":64," \
			"\"rope_base\":10000.0,\"rms_epsilon\":1e-6," \
			"\"init_seed\":\"39\"},\"tokenizer\":{\"merges\":["
		for (i = 0; i < 19742; i++)
			printf "%s[%d,%d]", i ? "," : "", int(i / 256), i % 256
		printf "]},\"documents\":["
		for (d = 0; d < 2; d++) {
			printf "%s{\"id\":\"%d\",\"text\":\"", d ? "," : "", d
			for (i = 0; i < 63; i++)
				printf "%c", 97 + (5 * i + 3 * d + i * i) % 26
			printf "\"}"
		}
		printf "],\"order\":[0,1],\"plan\":{\"updates\":%d," \
			"\"warmup\":1,\"peak\":0.001,\"final\":0.0001," \
			"\"clip\":1.0,\"microbatches\":2," \
			"\"recompute_blocks\":true},", updates
		printf "\"optimizer\":{\"beta1\":0.9,\"beta2\":0.999," \
			"\"epsilon\":1e-8,\"weight_decay\":0.01," \
			"\"groups\":\"gains\"}," \
			"\"dropout\":{\"probability\":0.25,\"seed\":\"5\"}," \
			"\"sampling\":{\"seed\":\"6\"}," \
			"\"scaler\":{\"scale\":8,\"min\":1,\"max\":32," \
			"\"interval\":3}}\n"
	}' >"$tmp/job.json"
}

program job '' tests/bench/job.c
program naive_job "$num" tests/bench/job.c tests/bench/naive.c
write_job
for build in naive blocked; do
	case $build in naive) run=naive_job ;; *) run=job ;; esac
	"$tmp/$run" "$tmp/job.json" 3 >"$tmp/line"
	read -r all peak targets print <"$tmp/line"
	[ $build = blocked ] || slow=$all slow_print=$print
	row job "an update of $targets tokens, $build" "$all" s \
		"$(divide "$slow" "$all")" naive "$peak"
done
[ "$print" = "$slow_print" ] || {
	echo "bench: the two builds do not give the same model" >&2
	exit 1
}
