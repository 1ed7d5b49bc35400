#!/bin/sh
# SPDX-License-Identifier: MIT
# Each folder of src may include itself, the folders left of it in this list,
# and include/; always by the path below src, as in "base/checked.h".
cd "$(dirname "$0")/.." || exit 2
order="base diag io wire model format sink sets num replay forensics view cli"

find include src -name '*.[ch]' -o -name '*.def' | sort |
	xargs awk -v order="$order" '
	function complain(what) {
		printf "%s:%d: %s\n", FILENAME, FNR, what
		bad = 1
	}
	BEGIN {
		n = split(order, names, " ")
		for (i = 1; i <= n; i++)
			rank[names[i]] = i
	}
	FNR == 1 {
		split(FILENAME, part, "/")
		here = part[1] == "src" ? rank[part[2]] : 0
		if (part[1] == "src" && !here)
			complain("src/" part[2] " is not in the list of layers")
	}
	/^[ \t]*#[ \t]*include[ \t]*<n?curses(w\/curses)?\.h>/ {
		if (FILENAME != "src/view/term.c")
			complain("only src/view/term.c knows curses")
	}
	!/^[ \t]*#[ \t]*include[ \t]*"/ { next }
	{
		split($0, quoted, "\"")
		target = quoted[2]
		if (target !~ /\//) {
			if (system("test -f include/" target))
				complain("\"" target "\": write the path below src")
			next
		}
		split(target, dir, "/")
		if (!(dir[1] in rank) || target ~ /\.\./)
			complain("\"" target "\" is not in a layer")
		else if (!here)
			complain("a public header includes \"" target "\"")
		else if (rank[dir[1]] > here)
			complain(part[2] " may not include " dir[1] "/")
	}
	END { exit bad }'
