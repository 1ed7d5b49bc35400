#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of --html: what is in it, what must never be in it, where it may be
# written. How it looks and acts in a browser: tests/browser.sh.
set -eu
corpus=$PWD/corpus
cd "$TMPDIR"
inspect=$BIN/ckinspect
forge=$BIN/ckforge
export LC_ALL=C

fail() {
	echo "FAIL: $*"
	exit 1
}

has() { # has FILE TEXT
	grep -qF -- "$2" "$1" || fail "$1 lacks: $2"
}

lacks() {
	if grep -qF -- "$2" "$1"; then fail "$1 has: $2"; fi
}

expect() { # expect STATUS COMMAND...: and if not 0, a message
	want=$1
	shift
	got=0
	"$@" >out 2>err </dev/null || got=$?
	[ "$got" -eq "$want" ] || fail "$*: $got, not $want: $(cat err)"
	[ "$want" -eq 0 ] || [ -s err ] || fail "$*: no message"
}

page() { # page OUT FILE: makes it, and checks what holds of every page
	expect 0 "$inspect" "--html=$1" -- "$2"
	[ ! -s out ] || fail "$2: a page and output"
	[ "$(head -n 1 "$1")" = '<!DOCTYPE html>' ] || fail "$1: no page"
	[ "$(tail -n 1 "$1")" = '</html>' ] || fail "$1 does not end"
	has "$1" "content=\"default-src 'none'; style-src 'sha256-"
	[ "$(tr -d '\n\040-\176\200-\377' <"$1" | wc -c)" -eq 0 ] ||
		fail "$1: control bytes"
	iconv -f UTF-8 -t UTF-8 <"$1" >/dev/null || fail "$1 is not UTF-8"
	[ "$(grep -oi '<script' "$1" | wc -l)" -eq 1 ] || fail "$1: scripts"
	# Nothing from elsewhere, no code or style in an attribute.
	if grep -Ei '(https?:)?//[a-z]|<[^>]* (src|on[a-z]+|style)=|javascript:' \
		"$1"; then
		fail "$1 could load or run something"
	fi
	for tag in section svg table figure details g; do
		[ "$(grep -oE "<${tag}[ >]" "$1" | wc -l)" -eq \
			"$(grep -o "</$tag>" "$1" | wc -l)" ] ||
			fail "$1: <$tag> is not closed"
	done
	for id in findings map records values fields; do
		has "$1" "<section id=\"$id\">"
	done
}

# A good file.
"$forge" synth --width=4 --layers=2 --step=3 -o good.ckpt >/dev/null
page good.html good.ckpt
has good.html '<title>good.ckpt: valid</title>'
has good.html 'integrity, not authenticity'
has good.html '<p class="note">None.</p>'
lacks good.html 'class="mark'
cp good.html before.html
page good.html good.ckpt
cmp good.html before.html
"$inspect" good.ckpt --html - >stdout.html
cmp stdout.html before.html

# The table says what the other sections say.
sed -n '/<table id="table"/,/<\/tbody>/p' good.html | awk '
	function text(s) { sub(/^(<[^>]*>)*/, "", s); return s }
	/^<tr id=r/ { if (row) print row; row = text($0); next }
	/^<t[dh]/ && row != "" { row = row "\t" text($0) }
	/^<\/tbody>/ && row != "" { print row }' | cut -f 1-7,9,14-16 >table
"$inspect" --batch=records --format=json good.ckpt >records.json
"$inspect" --batch=stats --format=json good.ckpt >stats.json
jq -r --slurpfile s stats.json '.records as $r | range($r | length) |
	$r[.] as $t | $s[0].tensors[.] as $v | [$t.record,
	$t.label + $t.name, $t.role, $t.dtype, "[\($t.shape | join(","))]",
	"[\($t.range[0]),\($t.range[1]))", $t.length, $v.count, $v.zeros,
	$v.nan, $v.inf] | @tsv' records.json >wanted
[ -s wanted ]
diff -u wanted table || fail "the table differs from the records"
tensors=$(jq '[.tensors[] | select(.dtype == "f64")] | length' stats.json)
[ "$(grep -c '<figure>' good.html)" -eq "$tensors" ] || fail "histograms"

# Damaged ones, and what is no checkpoint at all.
"$forge" mutate -o bad.ckpt --set='records[7].data[1]=nan' \
	--append=0011 good.ckpt >/dev/null
page bad.html bad.ckpt
has bad.html 'bad">'
has bad.html 'class="mark error"'
for word in where expected found 'likely cause' next; do
	has bad.html "<dt>$word</dt>"
done
has bad.html 'CK4001'
has bad.html '1 not finite'
has bad.html 'class=marked'
size=$(wc -c <good.ckpt)
for n in 0 1 37 38 100 2000 $((size - 1)); do
	head -c "$n" good.ckpt >cut.ckpt
	page cut.html cut.ckpt
	lacks cut.html 'badge good'
done
printf '<script>alert(1)</script>\n' >foreign
page foreign.html foreign

# Numbers of every width, also those that are no whole bytes.
cp "$corpus/safetensors/good/dtypes.safetensors" dtypes
page dtypes.html dtypes
[ "$(grep -c '<figure>' dtypes.html)" -eq "$(grep -c '^<tr id=r' dtypes.html)" ] ||
	fail "a dtype has no histogram"

# Names that try to be markup, in the file and of it.
evil='<script>alert(1)</script><b onclick="x">&lt;'
"$forge" mutate -o hostile.ckpt --set="records[7].name=$evil" \
	--set='records[8].name="'"' \\xe2\\x80\\xae\\x1b[31m\\x00\\xff\\x7f" \
	--set='records[9].name=</title></svg></script><!--' \
	good.ckpt >/dev/null
page hostile.html hostile.ckpt
has hostile.html '&lt;script&gt;alert(1)&lt;/script&gt;&lt;b onclick=&quot;'
has hostile.html '\u{202e}\x1b[31m\x00\xff\x7f'
lacks hostile.html '<b onclick'
lacks hostile.html '<!--'
cp good.ckpt "<img src=x onerror='a'>\".ckpt"
page named.html "<img src=x onerror='a'>\".ckpt"
has named.html '<h1>&lt;img src=x onerror=&#39;a&#39;&gt;&quot;.ckpt</h1>'

# Of a pipe there is everything but what needs a second reading.
# shellcheck disable=SC2002
cat good.ckpt | "$inspect" --html=pipe.html -
has pipe.html 'a pipe passes once'
has pipe.html '<tr id=r7>'

# Never over what is shown, by whatever name; and all or nothing.
cp good.ckpt same.ckpt
ln same.ckpt hard.ckpt
ln -s same.ckpt soft.ckpt
for out in same.ckpt hard.ckpt soft.ckpt ./same.ckpt; do
	expect 2 "$inspect" --html=$out same.ckpt
done
got=0
"$inspect" --html=same.ckpt - <same.ckpt 2>err || got=$?
[ "$got" -eq 2 ] || fail "standard input was replaced"
cmp same.ckpt good.ckpt
echo old >kept.html
expect 3 "$inspect" --html=kept.html no-such-file
[ "$(cat kept.html)" = old ] || fail "an output was touched"
expect 3 "$inspect" --html=no-such-folder/x.html good.ckpt
mkdir folder
expect 3 "$inspect" --html=folder good.ckpt
expect 3 "$inspect" --html=/dev/null good.ckpt
expect 3 "$inspect" --html= good.ckpt
[ -z "$(find . -name '.*.tmp-*')" ] || fail "a temporary file is left"
if [ -w /dev/full ]; then
	got=0
	"$inspect" --html=- good.ckpt >/dev/full 2>err || got=$?
	[ "$got" -eq 3 ] || fail "a full disk went unnoticed"
	[ -s err ] || fail "a full disk went unsaid"
fi
expect 0 "$inspect" --html=kept.html good.ckpt
cmp kept.html before.html

for other in --batch --batch=map --at=3 --format=json --verbose --no-mouse; do
	expect 2 "$inspect" $other --html=x.html good.ckpt
	[ ! -e x.html ] || fail "$other was ignored"
done

# Very many records: the page is bounded, and says what is not in it.
"$forge" synth --vocabulary=100001 --width=2 --heads=1 --layers=1 \
	--feed-forward-width=1 -o many.ckpt >/dev/null
page many.html many.ckpt
[ "$(wc -c <many.html)" -lt 60000000 ] || fail "the page is too large"
[ "$(grep -c '^<tr id=r' many.html)" -eq 100000 ] || fail "rows"
left=$(($("$inspect" --batch=records --format=json many.ckpt |
	jq '.records | length') - 100000))
has many.html ">$left more records are left out of this page;"
has many.html ' more fields are left out of this page;'
# The map has no more pieces than columns, however many owners.
[ "$(grep -c '<title>\[' many.html)" -le 8000 ] || fail "pieces"
has many.html ' owners, from '
