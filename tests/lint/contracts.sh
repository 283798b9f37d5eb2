#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every prototype in a header of user/ and include/ has its contract: a comment that ends on the line
# directly above it.
#
# usage: tests/lint/contracts.sh TREE
cd "${1:-.}" || exit 2
find user include -name '*.h' | sort | xargs awk '
# Takes comments and strings out of the line; in_comment carries over to the next.
function strip(line,    out, start)
{
	out = ""
	while (line != "") {
		if (in_comment) {
			start = index(line, "*/")
			if (!start)
				return out
			line = substr(line, start + 2)
			in_comment = 0
			continue
		}
		start = index(line, "/*")
		if (!start)
			return out line
		out = out substr(line, 1, start - 1)
		line = substr(line, start + 2)
		in_comment = 1
	}
	return out
}
function is_prototype(text)
{
	return text ~ /[a-z_0-9]+\(/ && text !~ /^(typedef|static|enum|struct [a-z_0-9]+ *{|extern "C"|WIRE_SIZE|_Static_assert|static_assert)/ &&
		text !~ /=/ && text !~ /^__attribute__/
}
FNR == 1 {
	depth = in_comment = continued = 0
	statement = ""
	comment_above = 0
}
{
	was_comment = in_comment
	code = strip($0)
	ends_comment = $0 ~ /\*\/[ \t]*$/ && code ~ /^[ \t]*$/
	if (continued || code ~ /^[ \t]*#/) {
		continued = $0 ~ /\\$/
		comment_above = 0
		next
	}
	if (code ~ /^[ \t]*$/) {
		comment_above = ends_comment
		next
	}
	if (statement == "" && depth == 0) {
		first_line = FNR
		has_contract = comment_above
	}
	comment_above = 0
	if (depth == 0)
		statement = statement code " "
	opens = gsub(/{/, "{", code)
	closes = gsub(/}/, "}", code)
	depth += opens - closes
	if (depth == 0 && (code ~ /;[ \t]*$/ || closes)) {
		if (code ~ /;[ \t]*$/ && !index(statement, "{") && is_prototype(statement) && !has_contract) {
			printf "%s:%d: prototype without a contract directly above: %s\n", FILENAME, \
				first_line, statement
			bad = 1
		}
		statement = ""
	}
}
END { exit bad }'
