#!/bin/sh
# SPDX-License-Identifier: MIT
# --locate and --propose-repair: what they find, say, refuse and write.
. tests/support/golden.sh
top=${top:?set by golden.sh}

fits() { # fits FILE: every object in it fits the schema
	faults=$(jq -r --slurpfile schema "$top/include/ckverify-1.schema.json" \
		-f "$top/tests/support/schema.jq" "$1") ||
		say_failure "jq failed on $1"
	[ -z "$faults" ] || say_failure "$faults"
}

good=$top/corpus/llmcp35/good/selected-step8.ckpt
cp "$good" good.ckpt
damaged() { # damaged NAME EDIT...: good.ckpt with bytes changed
	name=$1
	shift
	"$BIN/ckforge" mutate good.ckpt "$@" -o "$name" >/dev/null 2>&1 ||
		say_failure "cannot make $name"
}

damaged byte.ckpt --flip 3000.3
damaged burst.ckpt --bytes 3001=0102
damaged checksum.ckpt --bytes 33=aa
damaged header.ckpt --flip 75.1
damaged magic.ckpt --flip 2.5
damaged version.ckpt --bytes 8=07
damaged extent.ckpt --bytes 15=ff
damaged three.ckpt --bytes 3000=010203
damaged nan.ckpt --set 'param:final_norm.gain.data[0]=nan' --fix-checksum
cp nan.ckpt both.ckpt && poke both.ckpt 3000 'A'
head -c 6000 good.ckpt >cut.ckpt
{ cat good.ckpt; echo more; } >long.ckpt
head -c 20 good.ckpt >short.ckpt
printf 'PK\003\004................................................' >zip.ckpt
for file in byte burst checksum header magic version extent three both nan \
	cut long short zip good; do
	run ckverify --locate --first "$file.ckpt"
done
compare ckverify_locate

# A copy is written where there is one proposal, and it is the file as it was.
# The exit status stays that of the damaged file.
for file in byte burst checksum header magic version extent; do
	want=1
	[ $file = version ] && want=3
	rm -f out.ckpt
	cp $file.ckpt before
	expect $want ckverify --propose-repair out.ckpt $file.ckpt
	says out "a copy with the original bytes was written to out.ckpt"
	cmp out.ckpt good.ckpt || say_failure "$file.ckpt: another copy"
	cmp $file.ckpt before || say_failure "$file.ckpt was changed"
	expect 0 ckverify out.ckpt
done
expect 1 ckverify --propose-repair out2.ckpt - <byte.ckpt
cmp out2.ckpt good.ckpt || say_failure "another copy of standard input"

# Where there is none, nothing is.
for file in three both nan cut long short zip; do
	rm -f out.ckpt
	expect 1 ckverify --propose-repair out.ckpt $file.ckpt
	says out "no copy was written: "
	[ ! -e out.ckpt ] || say_failure "$file.ckpt: a copy was written"
done
expect 0 ckverify --propose-repair out.ckpt good.ckpt
says out "no copy was written: the checksum holds"
[ ! -e out.ckpt ] || say_failure "a copy of a good file was written"
expect 3 ckverify --propose-repair out.ckpt missing.ckpt
[ ! -e out.ckpt ] || say_failure "a copy of no file was written"

# Never over an input, by whatever name; the folder must be there.
refused() {
	expect 2 ckverify "$@"
	silent out
	says err "Try 'ckverify --help'."
}
ln byte.ckpt hard.ckpt
ln -s byte.ckpt soft.ckpt
cp byte.ckpt before
for to in byte.ckpt ./byte.ckpt hard.ckpt soft.ckpt; do
	refused --propose-repair $to byte.ckpt
	says err "the copy would replace an input: "
done
refused --propose-repair byte.ckpt - <byte.ckpt
cmp byte.ckpt before || say_failure "an input was changed"
expect 3 ckverify --propose-repair none/out.ckpt byte.ckpt
says err "cannot write the copy: open the folder"
says out "no copy was written: open the folder"
# Over another file it goes whole.
cp three.ckpt old.ckpt
expect 1 ckverify --propose-repair old.ckpt byte.ckpt
cmp old.ckpt good.ckpt || say_failure "an old file was not replaced"
[ -z "$(find . -name '.*tmp*')" ] || say_failure "a temporary file is left"

# An option that cannot apply is refused before anything is said.
printf '\002\000\000\000\000\000\000\000{}' >empty.safetensors
mkdir mixed && cp byte.ckpt empty.safetensors mixed
mkfifo pipe
refused --locate empty.safetensors
says err "which is of the format safetensors"
refused --locate good.ckpt empty.safetensors
refused --locate mixed
refused --locate -r mixed
refused --locate - <empty.safetensors
refused --locate good.ckpt pipe
says err "which can be read only once"
cat good.ckpt >pipe &
refused --locate - <pipe
says err "which can be read only once"
wait
# So is a set, by its name or by what is in it, with nothing written.
printf '{"metadata":{},\n"weight_map":{}}' >map.ckpt
cp good.ckpt model.safetensors.index.json
for file in map.ckpt model.safetensors.index.json; do
	rm -f out.ckpt
	refused --propose-repair out.ckpt $file
	says err "cannot apply to '$file', which is a set of files"
	[ ! -e out.ckpt ] || say_failure "a copy of a set was written"
done
refused --propose-repair out.ckpt mixed
says err "needs one file, not a set"
printf '{"metadata":{}}' >object.ckpt
expect 1 ckverify --propose-repair out.ckpt object.ckpt

# JSON says the same, and fits its schema; several files at once, too.
mkdir set && cp byte.ckpt burst.ckpt checksum.ckpt good.ckpt set
for j in 1 3; do
	expect 3 ckverify -j $j --locate --format=json byte.ckpt burst.ckpt \
		checksum.ckpt header.ckpt magic.ckpt version.ckpt extent.ckpt \
		three.ckpt both.ckpt cut.ckpt short.ckpt zip.ckpt good.ckpt \
		missing.ckpt set
	fits out
	mv out json$j
done
cmp json1 json3 || say_failure "threads show in the output"
jq -e '[.files[] | select(.file.path == "byte.ckpt")][0].locate
	| .outcome == "located" and .count == 1
	and .explanations[0].kind == "byte"
	and .explanations[0].offset == 3000
	and .explanations[0].found == "ea"
	and .explanations[0].original == "e2"
	and .explanations[0].verdict == "valid"
	and .explanations[0].values[0].path == "records[5].data[3,3]"
	and .explanations[0].values[0].original.bits == "bfe2b0b0d533e7f9"' \
	json1 >/dev/null || say_failure "JSON of one byte"
jq -e '[.files[] | select(.file.path == "missing.ckpt")][0]
	| has("locate") | not' json1 >/dev/null ||
	say_failure "a file that is missing was searched"
expect 1 ckverify --format=jsonl --propose-repair out3.ckpt byte.ckpt
fits out
jq -e '.exit_code == 1 and .locate.repair ==
	{"path":"out3.ckpt","written":true,"reason":null}' out >/dev/null ||
	say_failure "JSON of a repair"
expect 3 ckverify --format=json --propose-repair none/o byte.ckpt
fits out
jq -e '.exit_code == 3 and .files[0].exit_code == 1
	and .files[0].locate.repair.written == false' out >/dev/null ||
	say_failure "JSON of a failed repair"
finish
