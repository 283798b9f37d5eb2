# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Counts the TAP of many files, as kept by run-one.sh between "#file NAME" and "#exit STATUS": names
# what failed and what was skipped, and closes with "N passed, N failed, N skipped".
#
# A test that was planned but never reported is a failure, and so is a file that exits with a status
# its tests do not account for. -v expected=N: files that must have reported.
# Status 1 if anything failed or nothing passed.

function fail(what)
{
	failed++
	failures = failures "failed:  " file ": " what "\n"
}

function skip(what)
{
	skipped++
	skips = skips "skipped: " file ": " what "\n"
}

function test_name(line)
{
	sub(/ *# *[Ss][Kk][Ii][Pp] */, ": ", line)
	sub(/: $/, "", line)
	sub(/^(not )?ok *[0-9]* *(- )?/, "", line)
	return line
}

/^#file / {
	file = substr($0, 7)
	planned = reported = 0
	failed_before = failed
	files++
	next
}
/^1\.\.0/ {
	sub(/^1\.\.0 *(# *)?/, "")
	skip($0)
	next
}
/^1\.\.[0-9]+/ {
	planned += substr($1, 4)
	next
}
/^ok / {
	reported++
	if (tolower($0) ~ /# *skip/)
		skip(test_name($0))
	else
		passed++
	next
}
/^not ok / {
	reported++
	fail(test_name($0))
	next
}
/^#exit / {
	if (reported < planned)
		fail((planned - reported) " of " planned " tests never reported, exit status " $2)
	else if ($2 != 0 && failed == failed_before)
		fail("exit status " $2)
	else if (planned == 0 && $2 == 0 && reported == 0 && !index(skips, "skipped: " file ": "))
		fail("ran no test")
}
END {
	if (files < expected)
		failures = failures "failed:  " (expected - files) " test files did not run\n"
	failed += expected > files ? expected - files : 0
	printf "%s%s", skips, failures
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 || passed == 0
}
