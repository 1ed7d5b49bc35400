#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of `ckinspect --html` in a real browser: headless Chromium shows
# good, damaged and hostile files, without one message on its console; filter,
# sorting and map act; the policy of the page holds; it can be read without
# scripts. Called by `make browser`, which sets BIN. CKPT_SHOTS=FOLDER keeps
# the pictures.
set -u
cd "$(dirname "$0")/.." || exit 2
BIN=$(cd "$BIN" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C
bad=0
browser=$(command -v chromium || command -v chromium-browser) || {
	echo "FAIL  chromium is not installed, so the page was not tested"
	exit 1
}

result() { # result NAME: ok if the command before it succeeded
	if [ $? -eq 0 ]; then
		echo "ok    $1"
	else
		echo "FAIL  $1"
		bad=1
	fi
}

# chrome OPTION... URL: its messages in $tmp/log, what it prints in $tmp/dom.
chrome() {
	rm -rf "$tmp/profile"
	timeout -k 5 240 "$browser" --headless --no-sandbox --disable-gpu \
		--no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --hide-scrollbars \
		--host-resolver-rules='MAP * ~NOTFOUND' \
		--user-data-dir="$tmp/profile" --enable-logging=stderr --v=0 \
		"$@" >"$tmp/dom" 2>"$tmp/log"
}

quiet() { # nothing on the console
	if grep CONSOLE "$tmp/log"; then return 1; fi
}

dom() { # dom URL [OPTION...]: the page after its script ran, in $tmp/dom
	url=$1
	shift
	chrome --virtual-time-budget=10000 "$@" --dump-dom "$url"
	grep -q '</html>' "$tmp/dom"
}

has() {
	grep -qF -- "$1" "$tmp/dom" || {
		echo "      | lacks: $1"
		return 1
	}
}

cd "$tmp" || exit 2
"$BIN/ckforge" fixture selected-step8 -o good.ckpt >/dev/null &&
	"$BIN/ckforge" mutate -o bad.ckpt --set='records[7].data[1]=nan' \
		--append=0011 good.ckpt >/dev/null &&
	"$BIN/ckforge" mutate -o hostile.ckpt \
		--set='records[7].name=<script>document.title=1</script>' \
		--set='records[8].name="><img src=x onerror="alert(1)">' \
		--set='records[9].name=</style></title></svg><h1>' \
		good.ckpt >/dev/null || exit 2
head -c 20 good.ckpt >cut.ckpt
for f in good bad hostile cut; do
	"$BIN/ckinspect" --html=$f.html $f.ckpt || exit 2
	dom "file://$tmp/$f.html" && quiet
	result "$f: a page without a message"
done

# A fragment is the first filter.
rows=$(grep -c '^<tr id=r' good.html)
dom "file://$tmp/good.html#q=embedding%20Moment" && quiet &&
	has ">2 of $rows shown<" &&
	[ "$(grep -c '<tr id="r[0-9]*" hidden=""' dom)" -eq $((rows - 2)) ]
result "the fragment #q= filters"

# Without scripts all is there, and nothing that would need them. The policy
# of this copy allows none.
sed "s/script-src [^;]*;/script-src 'none';/" bad.html >plain.html
dom "file://$tmp/plain.html" && [ "$(grep -c CONSOLE log)" -eq 1 ] &&
	[ "$(grep -c '<tr id="r[0-9]*"' dom)" -eq "$rows" ] &&
	! grep -q '<tr id="r[0-9]*" hidden' dom &&
	has '<div class="tools" hidden="">' && ! grep -q '<button' dom
result "it can be read without scripts"

# A copy with a script that does what a person would; the policy would not let
# it run, so the copy has none.
probe() { # probe PAGE SCRIPT
	sed -e '/http-equiv/d' -e '/^<\/body>$/d' -e '/^<\/html>$/d' "$1"
	printf '<script>\nvar say = [];\n%s\n' "$2"
	cat <<'END'
var out = document.createElement('pre');
out.id = 'probe';
out.textContent = '\n' + say.join('\n') + '\n';
document.body.appendChild(out);
</script>
</body>
</html>
END
}
probed() { # what it said
	sed -n '/<pre id="probe">/,/<\/pre>/p' dom | sed '1d;$d'
}

probe good.html '
var heads = document.querySelectorAll("#table thead th");
var ids = function () {
	return Array.from(document.querySelectorAll("#table tbody tr"))
		.filter(function (r) { return !r.hidden; })
		.map(function (r) { return r.id; });
};
var sorted = function (i) {
	heads[i].firstElementChild.click();
	say.push(heads[i].getAttribute("aria-sort"), ids()[0]);
};
say.push(heads[6].textContent);
sorted(6); sorted(6); sorted(1); sorted(0);
say.push(document.querySelectorAll("[aria-sort]").length);
var q = document.getElementById("q");
q.value = "no such name";
q.dispatchEvent(new Event("input"));
setTimeout(function () {
	var out = document.getElementById("probe");
	out.textContent += "after " + ids().length + " " +
		document.getElementById("shown").textContent + " " +
		location.hash + "\n";
}, 1000);
var map = document.getElementById("bytes");
var where = document.getElementById("where");
var key = function (k) {
	map.dispatchEvent(new KeyboardEvent("keydown", { key: k }));
	say.push(where.textContent);
};
key("Home"); key("End"); key("ArrowRight"); key("ArrowLeft");
map.querySelectorAll("g.p")[0].firstElementChild.nextElementSibling
	.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
say.push(where.textContent);
' >acts.html
cat >wanted <<'END'
bytes
ascending
r0
descending
r5
ascending
r6
ascending
r0
1
[0,38) · 38 bytes · header · fixed_header
[6170,6330) · 160 bytes · moments · records[37].data token_embedding.weight
[6170,6330) · 160 bytes · moments · records[37].data token_embedding.weight
[6010,6170) · 160 bytes · moments · records[36].data token_embedding.weight
[2874,3034) · 160 bytes · parameters · records[5].data token_embedding.weight
after 0 0 of 38 shown #q=no%20such%20name
END
dom "file://$tmp/acts.html" && quiet && probed >got && diff wanted got
result "filter, sorting and map act"

probe hostile.html '
say.push(document.title, document.scripts.length,
	document.querySelectorAll("img, h1").length,
	document.querySelectorAll("[onerror], [style], iframe, base").length,
	document.querySelector("#r7 th").textContent.trim(),
	document.querySelector("#r8 th").textContent.trim(),
	document.querySelector("#r9 th").textContent.trim(),
	performance.getEntriesByType("resource").length);
' >probe.html
cat >wanted <<'END'
hostile.ckpt: invalid
2
1
0
&lt;script&gt;document.title=1&lt;/script&gt;
"&gt;&lt;img src=x onerror="alert(1)"&gt;
&lt;/style&gt;&lt;/title&gt;&lt;/svg&gt;&lt;h1&gt;
0
END
dom "file://$tmp/probe.html" && quiet && probed >got && diff wanted got
result "names are text, whatever they hold"

# Should an escape be missing one day: the policy refuses what it let in.
sed 's|^<main>$|<main><img src="http://x.invalid/a" onerror="run()"><script>document.title = "owned"</script><p style="color: red">|' \
	good.html >broken.html
dom "file://$tmp/broken.html" && has '<title>good.ckpt: valid</title>' &&
	[ "$(grep CONSOLE log | grep -c 'Content Security Policy')" -ge 3 ]
result "the policy of the page holds"

for scheme in light dark; do
	setting=$([ $scheme = dark ] && echo 0 || echo 1)
	for f in good bad; do
		chrome --blink-settings=preferredColorScheme="$setting" \
			--window-size=1280,2400 \
			--screenshot="$tmp/$f-$scheme.png" "file://$tmp/$f.html"
		quiet && [ "$(wc -c <"$f-$scheme.png")" -gt 50000 ]
		result "$f: a picture, $scheme"
	done
done
! cmp -s good-light.png good-dark.png
result "light is not dark"
if [ -n "${CKPT_SHOTS:-}" ]; then cp ./*.png "$CKPT_SHOTS/"; fi
exit $bad
