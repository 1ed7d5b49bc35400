#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The sandbox around the tools themselves: that each of them enters it before
# it reads, that --no-sandbox keeps it out, and that what is asked for on
# odd ways is still found: links out of a folder, pipes by their numbers.
# What cannot be done inside: tests/unit/test_sandbox.c.
. tests/support/golden.sh

samples plain good.ckpt
built=$("$BIN/ckverify" --version | sed -n 's/^sandbox: //p')
case $MODE-$built in
san-none | cov-none | release-seccomp\ and\ Landlock | release-Landlock | \
	debug-seccomp\ and\ Landlock | debug-Landlock) ;;
*) say_failure "a build of $MODE with a sandbox of '$built'" ;;
esac
for tool in ckinspect ckreplay ckforge; do
	[ "$("$BIN/$tool" --version | sed -n 's/^sandbox: //p')" = "$built" ] ||
		say_failure "$tool has not what ckverify has"
done

status_of() { # status_of PID FIELD
	awk -v field="$2:" '$1 == field { print $2 }' "/proc/$1/status"
}

# Each tool waits for its standard input, which is a pipe that stays open.
mkfifo pipe
walls() { # walls TOOL ARGUMENT...: "0 0" or "1 1": privileges, filters
	local pid tries=0
	"$BIN/$1" "${@:2}" <pipe >out 2>err &
	pid=$!
	exec 3>pipe
	# It sleeps when it reads, and before that for nothing.
	until [ "$(status_of $pid Name) $(status_of $pid State)" = "$1 S" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 500 ] || break
		sleep 0.02
	done
	echo "$(status_of $pid NoNewPrivs)" \
		"$(($(status_of $pid Seccomp_filters) - filters))"
	exec 3>&-
	wait $pid
	[ $? -lt 128 ] || echo "$1 ended by a signal"
}
filters=$(status_of $$ Seccomp_filters)
before=$(status_of $$ NoNewPrivs)
# Some containers refuse what we would refuse ourselves, and a build may lack a
# wall; what is left is asked of the kernel, not of the tools.
offered=$("$BIN/test_sandbox" --offered) || say_failure "no word of the walls"
case $built-$offered in
none-*) wanted="$before 0" ;;
*calls*) wanted="1 1" ;;
*places*) wanted="1 0" ;;
*) wanted= ;;
esac

each() { # each ARGUMENT...: of all that reads standard input
	walls ckverify "$@" -
	walls ckverify "$@" good.ckpt -
	walls ckinspect "$@" --batch -
	walls ckinspect "$@" --html=page.html -
	walls ckreplay step "$@" - --inputs 0 --targets 0 --lr 1
	walls ckreplay infer "$@" - --ids 0
	walls ckreplay evidence "$@" - --inputs 0 --targets 0 --lr 1
	walls ckreplay train "$@" --job=- --model=m --checkpoint=c
	walls ckreplay audit "$@" - good.ckpt
	walls ckforge mutate "$@" - --set optimizer.step=1 -o made.ckpt
}
"$BIN/ckverify" -v good.ckpt >out 2>err
case $offered in
*calls*) ! grep 'calls are not restricted' err ;;
esac || say_failure "the calls could be restricted, and are not"
case $offered in
*places*) ! grep 'places are not restricted' err ;;
esac || say_failure "the places could be restricted, and are not"
if [ -z "$wanted" ]; then
	cat err
elif [ -n "$filters" ]; then
	each >walls
	[ "$(sort -u walls)" = "$wanted" ] || {
		say_failure "not each tool has the walls '$wanted'"
		cat walls
	}
	each --no-sandbox >walls
	[ "$(sort -u walls)" = "$before 0" ] || {
		say_failure "--no-sandbox leaves a wall"
		cat walls
	}
fi

# The same is said and made with and without.
same() { # same TOOL ARGUMENT...
	"$BIN/$1" "${@:2}" >with 2>&1
	local status=$?
	"$BIN/$1" --no-sandbox "${@:2}" >without 2>&1
	[ $? -eq $status ] || say_failure "--no-sandbox changes the exit: $*"
	cmp with without || say_failure "--no-sandbox changes what is said: $*"
}
same ckverify good.ckpt
same ckverify -j 3 good.ckpt good.ckpt missing.ckpt good.ckpt
same ckverify --list-rules
same ckverify --explain CK1006
same ckverify /proc/self/mem
same ckverify /proc/1/mem good.ckpt
same ckinspect --batch good.ckpt
same ckinspect --html=/nowhere/page.html good.ckpt
same ckinspect --html=/dev/page.html good.ckpt
same ckreplay env
same ckforge describe llmcp35 --as=manual
same ckforge synth -o "$PWD/synth.ckpt"
same ckforge synth -o nowhere/synth.ckpt
same ckforge synth -o /dev/full

# A cache of models: links to files that are elsewhere.
mkdir -p cache/blobs cache/snapshots/1 cache/snapshots/2 tree/deep
cp good.ckpt cache/blobs/a
ln -s ../../blobs/a cache/snapshots/1/model.ckpt
ln -s ../../blobs/a cache/snapshots/2/model.ckpt
ln -s ../../cache/blobs/a tree/deep/model.ckpt
expect 0 ckverify cache/snapshots/1
says out 'model.ckpt: valid'
expect 0 ckverify -j 2 cache/snapshots/1 cache/snapshots/2 good.ckpt
expect 0 ckverify -r tree
says out 'model.ckpt: valid'
expect 0 ckverify --latest cache/snapshots
says out '2/model.ckpt: valid'
ln -s ../cache/snapshots/2 tree/3
expect 0 ckverify --latest tree
says out '3/model.ckpt: valid'
(cd cache/snapshots/1 && "$BIN/ckverify" .) >out ||
	say_failure "the folder one is in"

# A shard below, which is a link, or is in a folder that is one; a name that is
# another file by the time it is read.
mkdir -p set/sub linked elsewhere
"$BIN/ckforge" synth --format=safetensors -o elsewhere/a >out
for shard in set/sub linked/sub; do
	[ "$shard" = set/sub ] && ln -s ../../elsewhere/a set/sub/a.safetensors
	[ "$shard" = set/sub ] || ln -s ../folder linked/sub
	"$BIN/ckinspect" --batch=records --format=json elsewhere/a |
		jq '{weight_map: [.records[].name | {(.): "sub/a.safetensors"}] | add}' \
			>"${shard%/sub}/model.safetensors.index.json"
done
mkdir folder && cp elsewhere/a folder/a.safetensors
expect 0 ckverify set
same ckverify set
expect 0 ckverify linked
same ckverify linked
same ckverify set/model.safetensors.index.json
! grep -q 'Permission denied' with || say_failure "a wall hides a shard"
mkfifo late
(
	sleep 0.3
	cp good.ckpt new && mv new good2.ckpt
	cat good.ckpt
) >late &
cp good.ckpt good2.ckpt
expect 0 ckverify late good2.ckpt
wait

# What is no edit is not taken for one.
expect 0 ckforge mutate good.ckpt --no-sandbox -o made1.ckpt
expect 0 ckforge mutate --no-sandbox good.ckpt --flip 100.3 -o made2.ckpt
expect 0 ckforge mutate good.ckpt --flip 100.3 -o made3.ckpt --no-sandbox
cmp made2.ckpt made3.ckpt || say_failure "the place of --no-sandbox matters"

# What the shell opened.
expect 0 ckverify /dev/stdin <good.ckpt
expect 0 ckverify <(cat good.ckpt) <(cat good.ckpt)
"$BIN/ckverify" /dev/fd/7 7<good.ckpt >out ||
	say_failure "a file by its number"
finish
