#!/bin/sh
# SPDX-License-Identifier: MIT
# Sets of files: indexes and their shards, side files, settings that do not fit
# the tensors. Every rule of sets stands in one of the golden files.
. tests/support/golden.sh

# shard FILE NAME ROWS: a safetensors file of one F32 matrix of 4 columns.
shard() {
	header="{\"$2\":{\"dtype\":\"F32\",\"shape\":[$3,4],"
	header="$header\"data_offsets\":[0,$(($3 * 16))]}}"
	# shellcheck disable=SC2059
	printf "\\$(printf '%03o' ${#header})\\0\\0\\0\\0\\0\\0\\0%s" \
		"$header" >"$1"
	head -c $(($3 * 16)) /dev/zero | tr '\0' '<' >>"$1"
}

# index FOLDER BODY: its weight_map, and whatever stands behind it.
index() {
	mkdir -p "$1"
	printf '{"weight_map":{%s}\n' "$2" >"$1/model.safetensors.index.json"
}

pointer='version https://git-lfs.github.com/spec/v1
oid sha256:1
size 4949453792'
both='"a":"m-1.safetensors","b":"m-2.safetensors"}'

# Good: as a folder and as an index, on any number of threads.
index good "$both"
shard good/m-1.safetensors a 2
shard good/m-2.safetensors b 2
run ckverify good
run ckverify good/model.safetensors.index.json
run ckverify -v good/model.safetensors.index.json
compare ckverify_index_good

# Bad indexes.
mkdir torn twice map up lfs
echo '{"weight_map":{"a"' >torn/model.safetensors.index.json
run ckverify torn
index twice '"a":"m-1.safetensors","\u0061":"m-1.safetensors"}'
shard twice/m-1.safetensors a 2
run ckverify twice
index map '}'
run ckverify map
index up '"a":"../good/m-1.safetensors","b":"/etc/passwd"}'
run ckverify up
echo "$pointer" >lfs/model.safetensors.index.json
run ckverify lfs
compare ckverify_index_bad

# Shards that do not fit.
index stale "$both"
shard stale/model.safetensors a 2
run ckverify stale
index lacks "$both"
cp good/m-1.safetensors lacks
: >lacks/m-2.safetensors
run ckverify lacks
index moved '"a":"m-2.safetensors","b":"m-2.safetensors",
	"c":"m-1.safetensors"},
	"metadata":{"total_size":65}'
cp good/m-?.safetensors moved
run ckverify moved
mkdir other
echo '{"weight_map":{"a":"p-1.bin","b":"p-2.bin","c":"p-3.bin"}}' \
	>other/pytorch_model.bin.index.json
echo pickle >other/p-1.bin
: >other/p-2.bin
echo "$pointer" >other/p-3.bin
run ckverify other
compare ckverify_index_shards

# Beside the weights.
mkdir saved
cp good/m-1.safetensors saved/model.safetensors
echo '{"global_step":5,"max_steps":10,"loss":NaN}' >saved/trainer_state.json
echo x >saved/scheduler.pt
echo x >saved/optimizer.pt.tmp.4711
echo x >saved/model.safetensors.part
echo '{"vocab_size"' >saved/config.json
run ckverify saved
mkdir weightless && echo '{}' >weightless/config.json
run ckverify weightless
mkdir runs runs/checkpoint-900 runs/checkpoint-1000 runs/best
cp good/m-1.safetensors runs/checkpoint-900/model.safetensors
cp good/m-1.safetensors runs/checkpoint-1000/model.safetensors
run ckverify -v runs
run ckverify --latest runs
run ckverify --latest good
run ckverify --latest missing
compare ckverify_index_folder

# Settings.
mkdir model
shard model/model.safetensors model.layers.0.embed_tokens.weight 2
cat >model/config.json <<'EOF'
{"vocab_size": 3, "hidden_size": 5, "num_hidden_layers": 2,
 "torch_dtype": "bfloat16", "tie_word_embeddings": false}
EOF
echo '{"a": 2}' >model/vocab.json
echo '{' >model/tokenizer.json
run ckverify model
run ckverify --fail-on=warning model
compare ckverify_index_settings

# All that a folder can have at once, in the order in which it decides.
mkdir all
for name in lfs torn map; do
	cp $name/model.safetensors.index.json all/$name.safetensors.index.json
done
echo '{"weight_map":{"a":"s-1.safetensors"}}' \
	>all/stale.safetensors.index.json
index all '"a":"m-1.safetensors","\u0061":"m-1.safetensors","b":"../b",
	"c":"m-2.safetensors","d":"m-3.safetensors","e":"m-4.safetensors",
	"f":"m-5.safetensors"},"metadata":{"total_size":65}'
cp good/m-1.safetensors all/m-1.safetensors
head -c 60 good/m-2.safetensors >all/m-3.safetensors
: >all/m-4.safetensors
shard all/m-5.safetensors g 1
cp all/m-5.safetensors all/other.safetensors
cp good/m-1.safetensors all/last.safetensors.part
cp saved/* all
echo '{' >all/vocab.json
head -c 9 all/m-1.safetensors >all/.m-1.safetensors.tmp-4711-0
run ckverify all
compare ckverify_index_all

# The same bytes on any number of threads.
for jobs in 1 2 3 200; do
	expect 1 ckverify --jobs=$jobs --format=json moved good lacks \
		good/*.safetensors stale/model.safetensors.index.json model
	[ $jobs -gt 1 ] || mv out one
	[ $jobs -eq 1 ] || cmp one out || say_failure "--jobs=$jobs"
done

# One object for the set, then one for each shard, the exit status of the worst.
expect 1 ckverify --format=jsonl lacks/model.safetensors.index.json
[ "$(jq -r '.file.path, .format, .exit_code' out | tr '\n' ' ')" = \
	"lacks/model.safetensors.index.json index 1 lacks/m-1.safetensors \
safetensors 0 lacks/m-2.safetensors safetensors 1 " ] ||
	say_failure "$(jq -r '.file.path, .format, .exit_code' out)"
[ "$(jq -r '.files[].file.path' one | head -n 4 | tr '\n' ' ')" = \
	"moved moved/m-1.safetensors moved/m-2.safetensors good " ] ||
	say_failure "json: $(jq -r '.files[].file.path' one)"
finish
