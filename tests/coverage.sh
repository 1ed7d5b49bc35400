#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# coverage.sh [FOLDER...]: which lines of src/FOLDER the unit tests, the fuzz
# targets over the corpus and tests/cli reach, each folder's share, and every
# line that none of them does. Fails below COVERAGE_FLOOR (95) per cent.
# COVERAGE_RUN=no counts what earlier runs of MODE=cov have left.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || set -- format wire model num
floor=${COVERAGE_FLOOR:-95}

if [ "${COVERAGE_RUN:-yes}" != no ]; then
	find build/cov -name '*.gcda' -delete 2>/dev/null
	tests/run cov:gcc || exit
fi
for folder; do
	# What no test loaded has notes all the same, and counts as not reached.
	gcov -t build/cov/src/"$folder"/*.gcno 2>/dev/null
done | awk -v floor="$floor" -v wanted=" $* " '
	/^ *-: *0:Source:/ {
		file = $0
		sub(/.*Source:/, "", file)
		folder = file
		sub(/^src\//, "", folder)
		sub(/\/.*/, "", folder)
		next
	}
	# Lines of headers come once for each file that includes them.
	index(wanted, " " folder " ") && match($0, /^ *[^: ]+: *[0-9]+:/) {
		split($0, part, ":")
		gsub(/ /, "", part[1])
		if (part[1] == "-")
			next
		at = file ":" (part[2] + 0)
		all[at] = folder
		if (part[1] !~ /^[#=]/)
			reached[at] = 1
		else
			text[at] = substr($0, RLENGTH + 1)
	}
	END {
		for (at in all) {
			lines[all[at]]++
			if (at in reached)
				hit[all[at]]++
			else
				print at ":" text[at] | "sort -t: -k1,1 -k2,2n"
		}
		close("sort -t: -k1,1 -k2,2n")
		for (folder in lines) {
			share = 100 * hit[folder] / lines[folder]
			printf "%-8s %6d of %6d lines, %.1f %%\n", folder,
				hit[folder], lines[folder], share
			if (share < floor)
				status = 1
		}
		n = split(wanted, folders, " ")
		for (i = 1; i <= n; i++)
			if (!(folders[i] in lines)) {
				printf "%-8s no lines\n", folders[i]
				status = 1
			}
		exit status
	}'
exit "${PIPESTATUS[1]}"
