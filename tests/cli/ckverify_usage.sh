#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage errors: exit 2, nothing on standard output, a hint on standard error,
# and an option that cannot apply is never ignored.
. tests/support/golden.sh

samples plain good.ckpt
echo 'not a checkpoint at all, only a line of text' >text.ckpt
mkdir set && cp good.ckpt set/a.ckpt
mkdir none && cp text.ckpt none/a.ckpt
mkfifo pipe

refused() {
	expect 2 ckverify "$@"
	silent out
	says err "Try 'ckverify --help'."
}

refused
refused --no-such-option good.ckpt
refused --format good.ckpt
refused --format=xml good.ckpt
refused --form=json good.ckpt
refused --format=sarif good.ckpt
refused --format=junit good.ckpt
refused --readers good.ckpt
refused -q --digests good.ckpt
refused -q --locate good.ckpt
refused -q --propose-repair out.ckpt good.ckpt
refused --propose-repair out.ckpt
refused --propose-repair out.ckpt good.ckpt text.ckpt
refused --propose-repair out.ckpt set
refused --propose-repair out.ckpt -r good.ckpt
refused --propose-repair out.ckpt --latest set
refused --propose-repair - good.ckpt
refused --propose-repair good.ckpt good.ckpt
refused -j 0 good.ckpt
refused --latest set good.ckpt
refused --latest set -r
refused --max-memory=lots good.ckpt
refused --max-memory=0 good.ckpt
refused --max-memory=99999999999G good.ckpt
refused --values=none good.ckpt
refused -q -v good.ckpt
refused -q --first good.ckpt
refused -q --format=json good.ckpt
refused --quiet=yes good.ckpt
refused --explain
refused --explain CK1006 good.ckpt
refused --explain CK1006 --list-rules
refused --list-rules -v
refused --explain no-such-rule
refused --max-header=1M --profile=reference text.ckpt

# What only the files tell. Everything before them stays unsaid as well.
refused --values=off good.ckpt
refused --values=off text.ckpt good.ckpt
refused --values=off set
refused --values=off -r .
refused --values=off --format=json text.ckpt set/a.ckpt
refused --max-header=1M good.ckpt
refused --values=off - <good.ckpt
cat good.ckpt >pipe &
refused --values=off text.ckpt pipe
wait

# Where it can apply, it does no harm.
expect 1 ckverify --values=off text.ckpt
says out "text.ckpt: invalid"
expect 1 ckverify --values=off --max-header=1M none
expect 3 ckverify --values=off missing.ckpt

expect 2 ckverify --explain checksum-mismach
says err "did you mean 'checksum-mismatch'?"
expect 2 ckverify --explain 'CK1099'
says err "did you mean 'CK"
expect 2 ckverify --explain "$(printf 'a\033[31m\n')"
says err 'a\x1b[31m'
expect 2 ckverify --recursiv .
says err "did you mean '--recursive'?"

# Operands that look like options or like standard input.
cp good.ckpt ./-v
cp good.ckpt ./-
expect 0 ckverify -- -v
says out '-v: valid'
expect 0 ckverify ./- -- -v
says out './-: valid'
expect 1 ckverify - </dev/null
says out '-: '
expect 0 ckverify - <good.ckpt
says out '-: valid (llmcp35 v1, 9 records, 848 bytes'
# Nothing would be left to read the second time.
expect 2 ckverify - good.ckpt - <good.ckpt
says err 'standard input can be read only once'
expect 0 ckverify --help
says out 'Usage: ckverify'
expect 0 ckverify --version
says out 'ckverify (ckpt) '
finish
