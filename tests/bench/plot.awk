# SPDX-License-Identifier: MIT
# The rows of the section verify as an SVG: seconds by MiB, both axes in powers
# of ten, a line for each subject with its name at its end.
BEGIN {
	FS = "\t"
	split("#1b6ca8 #b0413e #6b6b6b #8a6d1d #5b3e8f #2e7d4f", colors, " ")
	left = 64; right = 640; top = 24; bottom = 376
}

$1 == "verify" && $5 == "" {
	split($2, part, ", ")
	name = part[1]
	if (!(name in order))
		names[order[name] = ++n] = name
	split(part[2], size, " ")
	x[name, ++count[name]] = log(size[1]) / log(10)
	y[name, count[name]] = log($3) / log(10)
	spread(x[name, count[name]], y[name, count[name]])
}

function spread(a, b)
{
	if (!seen++) {
		x0 = x1 = a
		y0 = y1 = b
	}
	if (a < x0) x0 = a
	if (a > x1) x1 = a
	if (b < y0) y0 = b
	if (b > y1) y1 = b
}

function px(a) { return left + (right - left) * (a - x0) / (x1 - x0) }
function py(b) { return bottom - (bottom - top) * (b - y0) / (y1 - y0) }

function text(a, b, anchor, color, words)
{
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n",
		a, b, anchor, color, words
}

function tick(a, b, c, d)
{
	printf "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#ddd\"/>\n", a, b, c, d
}

# Names that would lie on each other are pushed apart, the lowest first.
function place_names(   i, j, k, name, last)
{
	for (i = 1; i <= n; i++) {
		at[i] = py(y[names[i], count[names[i]]])
		rank[i] = i
	}
	for (i = 1; i <= n; i++)
		for (j = i + 1; j <= n; j++)
			if (at[rank[j]] > at[rank[i]]) {
				k = rank[i]
				rank[i] = rank[j]
				rank[j] = k
			}
	last = bottom + 100
	for (i = 1; i <= n; i++) {
		k = rank[i]
		if (at[k] > last - 15)
			at[k] = last - 15
		last = at[k]
		name = names[k] == "off" ? "CKPT_SIMD=off" : names[k]
		text(right + 8, at[k] + 4, "start", colors[k], name)
	}
}

END {
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\"" \
		" height=\"420\" font-family=\"sans-serif\" font-size=\"13\">"
	print "<rect width=\"760\" height=\"420\" fill=\"#fff\"/>"
	if (x1 <= x0 || y1 <= y0) {
		text(left, top, "start", "#333", "two sizes make a plot")
		print "</svg>"
		exit
	}
	y0 -= 0.1
	y1 += 0.1
	for (d = -4; d <= 3; d++)
		if (d >= y0 && d <= y1) {
			tick(left, py(d), right, py(d))
			text(left - 6, py(d) + 4, "end", "#333",
				10 ^ d " s")
		}
	for (i = 1; i <= count[names[1]]; i++) {
		a = x[names[1], i]
		tick(px(a), top, px(a), bottom)
		text(px(a), bottom + 20, "middle", "#333",
			sprintf("%.0f MiB", exp(a * log(10))))
	}
	for (i = 1; i <= n; i++) {
		printf "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" d=\"",
			colors[i], i == 1 ? 3 : 1.5
		for (k = 1; k <= count[names[i]]; k++)
			printf "%s%.1f %.1f", (k > 1) ? "L" : "M",
				px(x[names[i], k]), py(y[names[i], k])
		print "\"/>"
	}
	place_names()
	print "</svg>"
}
