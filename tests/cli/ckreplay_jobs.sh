#!/bin/sh
# SPDX-License-Identifier: MIT
# Training jobs: the published job's commands as they are published, its
# digests and its generated text; going on in another process gives the same
# files; what is refused leaves nothing behind.
. tests/support/golden.sh
top=${top:?set by golden.sh}

digest() { # digest FILE WANTED
	[ "$(sha256sum <"$1")" = "$2  -" ] || say_failure "$1 has other bytes"
}

holds() { # holds JQ-EXPRESSION: of the JSON in ./out
	jq -e "$1" out >/dev/null || {
		say_failure "out is not $1"
		head -c 2000 out
	}
}

same() { # same A B
	cmp "$1" "$2" || say_failure "$1 and $2 differ"
}

absent() { # absent FILE ...
	for file; do
		[ ! -e "$file" ] || say_failure "a refusal left $file"
	done
}

# The six commands. What was saved after two updates says jj5 from a folder
# that has nothing else, also after training went on; so does what comes then.
expect 0 ckreplay train --until 2 --model after2 --checkpoint state2 \
	--format=json
holds '.verdict == "valid" and .model_saved and .training_checkpoint_saved'
holds '[.updates[].data_document_ids] ==
	[["medium/full", "short/full"], ["long/full", "medium/full"]]'
holds '[.updates[].mean_loss.bits] == ["4016733fdb81cd16", "40164ef688f8f350"]'
holds '.updates[1].sampling_rng_state == "4354685564936845350"'
holds '.state.model_id ==
	"f99f6971f35a8c60902153b4d7253a181bdae1b1416b268f368803cf424499ea"'
holds '.state.optimizer_digest ==
	"423fab7889ff6a208afea53b4ebae38135844d4ec31523e12e06e50b333c61e9"'
digest after2 \
	0898631567d2d438c11809362820d876300bacd5e9e79160b332003e70545b8f
mkdir alone && cp after2 alone/m
(cd alone && exec "$BIN/ckreplay" infer --model m --prompt ab --tokens 3) >out ||
	say_failure "infer alone"
says out 'text jj5'
expect 0 ckreplay resume --checkpoint state2 --until 4 --model after4 \
	--save state4 --format=json
holds '[.updates[].step] == [3, 4] and .skipped == []'
holds '.state.next_learning_rate == null'
holds '.state.model_id ==
	"c1c13b8b5d63aa1ce8853ca5dda987de4f3f21684c045866a64840ab06d2f5e2"'
digest after4 \
	5e38b7af89e59aed8ecd9285337cb2f25ea2266fbff2cf53f3fa42e69b12339c
for model in after2 after4; do
	expect 0 ckreplay infer --model $model --prompt ab --tokens 3 \
		--format=json
	holds '.text == "jj5" and .generated_ids == [108, 108, 55] and
		.tied_alias and .prompt_ids == [0, 99, 100]'
done
expect 0 ckreplay demo --format=json
holds '.weight_bits_equal and .optimizer_bits_equal and
	.remaining_updates_equal and .progress_equal and
	.weights_only_restart.weights_differ_from_continuation and
	([.refusals[]] | all(. != null)) and
	.portable_inference.text == "jj5"'

# Without an end in between, with two threads, from a job file: the same bytes.
expect 0 ckreplay train --until 4 --model whole --checkpoint wholestate
same whole after4
same wholestate state4
expect 0 ckreplay train --job "$top/corpus/jobs/demo.json" --until=4 -j2 \
	--model two --checkpoint twostate
same two after4
same twostate state4
# Blocks that are not computed again give the same weights.
jq '.plan.recompute_blocks = false' "$top/corpus/jobs/demo.json" >kept.json
expect 0 ckreplay train --job kept.json --until 4 --model kept --checkpoint ks
same kept after4
# Nothing left to do still saves.
expect 0 ckreplay resume --checkpoint state4 --model m --save s --format=json
holds '.updates == []'
same m after4
same s state4

# Weights alone.
expect 0 ckreplay train --from after2 --model warm --checkpoint warmstate \
	--format=json
holds '.state.model_id ==
	"c4589e5bcff41a53704679608ee7c09905dbadbe3d1a67994703e10782736ccb"'
holds '[.updates[].monitoring_token_ids[0]] == [170, 246]'

# From boundary to boundary; a run from other weights does not follow.
expect 0 ckreplay audit state2 state4
says out 'bit-equal'
jq '.model.init_seed = "40"' "$top/corpus/jobs/demo.json" >seed.json
expect 0 ckreplay train --job seed.json --until 4 --model x --checkpoint other4
expect 1 ckreplay audit state2 other4 --format=json
holds '.verdict == "mismatch" and (.transitions[0].first_difference |
	startswith("model token_embedding.weight element 0: "))'
holds '.transitions[0].bit_equal == false'
expect 1 ckreplay audit state4 state2
grep -q 'nothing was written' out && say_failure "audit writes nothing"
expect 0 ckverify --format=json after2 state2
holds '[.files[].format_version] == [1, 1]'
expect 2 ckreplay audit state2
rm -f x m s

# The backbone, on the embeddings of the prompt: rows 0, 99 and 100 of it.
expect 0 ckreplay backbone export after2 -o bone --format=json
holds '.model_id ==
	"b169197fa03e333e1895bbb7041a4af7258eab3b48543bf0f99a0d0ca2c6c2ef"'
digest bone e71ae2eb6ab2bfb38da125251b21aa65e466eceb60d7a475c4ae3b6654c20ee8
n=$(od -An -tu8 -N8 after2 | tr -d ' ')
at=$(tail -c +9 after2 | head -c "$n" |
	jq '.["token_embedding.weight"].data_offsets[0]')
{
	printf '\110\0\0\0\0\0\0\0'
	printf '%-72s' '{"embeddings":{"dtype":"F64","shape":[1,3,4],"data_offsets":[0,96]}}'
	for row in 0 99 100; do
		tail -c +$((8 + n + at + 32 * row + 1)) after2 | head -c 32
	done
} >rows
expect 0 ckreplay backbone run bone --embeddings rows --format=json
holds '.shape == [1, 3, 4] and .hidden_bits_sha256 ==
	"a5ff7e529af23300f2a4625f099fbf42f024edd9430dce26837707cac475f679"'
expect 1 ckreplay backbone run after2 --embeddings rows
expect 1 ckreplay backbone run bone --embeddings bone
expect 1 ckreplay backbone export bone -o y
expect 1 ckreplay infer --model bone
expect 1 ckreplay infer --model state2
expect 2 ckreplay backbone run bone
expect 2 ckreplay backbone walk bone
expect 2 ckreplay backbone export after2 -o z --embeddings rows
absent y z

# Other data, another job, another executable: nothing is written.
back='resume --checkpoint state2 --model m --save s'
jq '.documents[0].text = "tha"' "$top/corpus/jobs/demo.json" >data.json
# shellcheck disable=SC2086
{
	expect 1 ckreplay $back --job data.json
	says out 'documents'
	jq '.plan.clip = 2' "$top/corpus/jobs/demo.json" >clip.json
	expect 1 ckreplay $back --job clip.json
	says out 'plan.clip'
	jq '.order = [2, 1, 0]' "$top/corpus/jobs/demo.json" >order.json
	expect 1 ckreplay $back --job order.json
	says out 'order[1]: 1 in the job, 0 in the file'
	expect 1 ckreplay $back --until 1
	expect 2 ckreplay $back --until 5
	silent out
	expect 2 ckreplay $back --until 0
}
absent m s
cp "$BIN/ckreplay" another && printf x >>another
# shellcheck disable=SC2086
./another $back --format=json >out
[ $? -eq 3 ] || say_failure "another executable went on"
holds '.verdict == "not-comparable" and .exit_code == 3'
absent m s
# The arithmetic of a hostile file is shown escaped, and once.
n=$(od -An -tu8 -N8 state2 | tr -d ' ')
{
	head -c 8 state2
	tail -c +9 state2 | head -c "$n" | sed \
		's/"envelope.arithmetic":"[^"]\{6\}/"envelope.arithmetic":"\\u001b/'
	tail -c +$((8 + n + 1)) state2
} >hostile
expect 3 ckreplay resume --checkpoint hostile --model m --save s
says out 'made under \x1b'
absent m s
# shellcheck disable=SC2086
./another $back --allow-other-binary --format=json >out ||
	say_failure "--allow-other-binary"
holds '.executables_set_aside | length == 1'
same m after4
cmp -s s state4 && say_failure "the override is not recorded"
rm -f m s

# Outputs leave inputs and each other alone.
expect 2 ckreplay train --model m --checkpoint ./m
expect 2 ckreplay train --model m
expect 2 ckreplay train --checkpoint m
expect 2 ckreplay train --model - --checkpoint m
expect 2 ckreplay train --until 5 --model m --checkpoint s
expect 2 ckreplay resume --checkpoint state2 --model m --save state2
expect 2 ckreplay train --from after2 --model after2 --checkpoint s
expect 2 ckreplay infer --model after2 --tokens 8
expect 2 ckreplay infer --model after2 --tokens 0
expect 2 ckreplay infer --model after2 --ids 0
expect 2 ckreplay infer --model after2 after4
expect 2 ckreplay infer --model after2 --prompt "$(printf '\377')"
expect 1 ckreplay infer --model after2 --prompt 'far too long for it'
says out 'TooManyPositions'
# One standard input is not two inputs.
expect 2 ckreplay resume --job - --checkpoint - --model m --save s <state2
silent out
says err 'standard input'
expect 2 ckreplay train --job - --from - --model m --checkpoint s <after2
silent out
absent m s

# Where nothing can be saved, nothing is trained: no update is reported.
mkfifo fifo
long=$(printf '%0300d' 0)
for place in no/x after2/x . '' fifo /dev/null "$long"; do
	expect 3 ckreplay train --model m --checkpoint "$place" --format=json
	holds '.verdict == "not-verified" and .exit_code == 3 and
		(has("updates") | not)'
	expect 3 ckreplay train --model "$place" --checkpoint s --format=json
	holds 'has("updates") | not'
	expect 3 ckreplay train --from after2 --model m --checkpoint "$place"
	says out 'nothing was written'
	expect 3 ckreplay resume --checkpoint state2 --model m --save "$place"
	says out 'nothing was written'
	absent m s
done
says err 'look at the destination: File name too long'
expect 3 ckreplay train --model m --checkpoint no/x
says err 'no/x: open the folder: No such file or directory'
mkdir locked && chmod a-w locked
if ! touch locked/probe 2>/dev/null; then # not as root
	expect 3 ckreplay train --model locked/m --checkpoint s
	says err 'create the temporary file: Permission denied'
	absent s
fi
rm -rf locked fifo
[ -z "$(find . -name '.*.tmp-*')" ] || say_failure "a temporary file is left"
digest after2 \
	0898631567d2d438c11809362820d876300bacd5e9e79160b332003e70545b8f

# A scale that overflows is halved; one that cannot be is the end.
jq '.scaler.scale = 8.98846567431158e+307 |
	.scaler.max = 8.98846567431158e+307' \
	"$top/corpus/jobs/demo.json" >over.json
expect 0 ckreplay train --job over.json --model m --checkpoint s --format=json
holds '(.skipped | length) > 0 and
	([.skipped[] | .next_loss_scale * 2 == .loss_scale] | all) and
	[.updates[].step] == [1, 2]'
rm -f m s
jq '.scaler.min = .scaler.max' over.json >stops.json
expect 1 ckreplay train --job stops.json --model m --checkpoint s
says out 'nothing was written'
absent m s
expect 1 ckreplay demo --job stops.json
says out 'LossScale: '

# Archives are no checkpoints of a replay.
for archive in after2 state2 bone; do
	expect 1 ckreplay step $archive --inputs 0,1 --targets 1,2 --lr 0.01
	says out 'OtherKind'
	expect 1 ckreplay infer $archive --ids 0
	says out 'OtherKind'
	"$BIN/ckreplay" evidence $archive --inputs 0,1 --targets 1,2 \
		--lr 0.01 >out
	[ $? -eq 3 ] || say_failure "evidence of $archive"
done

# Job files that are none.
printf '{' >bad.json
expect 1 ckreplay train --job bad.json --model m --checkpoint s
says out 'line 1'
jq '.model.more = 1' "$top/corpus/jobs/demo.json" >bad.json
expect 1 ckreplay train --job bad.json --model m --checkpoint s
says out 'model.more'
expect 3 ckreplay train --job no-such-file --model m --checkpoint s
expect 3 ckreplay train --job /dev/zero --model m --checkpoint s
says out 'at most 256 MiB'
absent m s

# Names of documents do not move the terminal, and read back from JSON.
jq '.documents[0].id = "\u001b[2J\u202e\u007f"' \
	"$top/corpus/jobs/demo.json" >evil.json
expect 0 ckreplay train --job evil.json --model m --checkpoint s
LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177-\377]')" out &&
	say_failure "raw bytes of a name"
expect 0 ckreplay train --job evil.json --model m --checkpoint s --format=json
LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177-\377]')" out &&
	say_failure "raw bytes of a name in JSON"
holds '.updates[0].data_document_ids[1] == "\u001b[2J\u202e\u007f"'
finish
