#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every source file begins with the SPDX line (scripts: below the "#!"), and a comment that says what
# the file is for follows it. A workload's first line is its CFLAGS; a manual page's first is its title,
# and its NAME says what it is for.
#
# usage: tests/lint/spdx.sh TREE
cd "${1:-.}" || exit 2
find .ci .clang-format .clang-tidy .editorconfig Makefile bpf include tests user vmlinux \
	-type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -name '*.bats' -o -name '*.bash' -o -name '*.awk' \
	-o -name '*.py' -o -name '*.scd' -o -path './.ci/*' -o -name Makefile -o -name '.clang-*' \
	-o -name .editorconfig -o -path '.ci/*' \) 2>/dev/null | sort | xargs awk '
function check()
{
	if (file == "")
		return
	if (!has_license)
		print file ": the first line is not the SPDX line"
	else if (!has_purpose)
		print file ": no comment below the SPDX line says what the file is for"
	bad = bad || !has_license || !has_purpose
}
FNR == 1 {
	check()
	file = FILENAME
	has_license = has_purpose = 0
}
FNR <= 3 && /SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause/ {
	has_license = FNR
	has_purpose = FILENAME ~ /\.scd$/
	next
}
has_license && !has_purpose && FNR <= has_license + 3 && /^[ \t]*(\/\*|\*|#|;|\/\/|""").*[a-zA-Z]+ +[a-zA-Z]+/ {
	has_purpose = !/^#(include|ifndef|define)/
}
END {
	check()
	exit bad
}'
