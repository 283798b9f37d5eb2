# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Counts the TAP of many files, as kept by run-one.sh between "#file NAME" and "#exit STATUS": names
# what failed and what was skipped, and closes with "N passed, N failed, N skipped".
#
# A test that was planned but never reported is a failure, and so is a file that exits with a status
# its tests do not account for. -v expected=N: files that must have reported.
#
# Behind an argument again=1 comes the TAP of files that failed, run a second time: what failed and passes
# there is named as unsteady. What fails, is skipped or is not reported there has failed.
# Status 1 if anything failed or nothing passed.

# of: the test, or nothing if it is the file that failed
function fail(what, of)
{
	file_failures++
	if (again)
		bad_again[file]
	if (again && (file, what) in known)
		return
	known[file, what]
	failure_file[++failures] = file
	failure_of[failures] = of
	failure[failures] = what
	failure_is_late[failures] = again
}

function skip(what)
{
	if (again) {
		bad_again[file]
		return
	}
	skipped++
	skips = skips "skipped: " file ": " what "\n"
}

function pass(test)
{
	if (again)
		passed_again[file, test]
	if (!again || !((file, test) in passes))
		passed++
	passes[file, test]
}

# Whether what failed at first passed when its file ran again: the test, or the whole file.
function is_unsteady(i)
{
	if (failure_is_late[i] || !(failure_file[i] in ended_again))
		return 0
	if (failure_of[i] != "")
		return (failure_file[i], failure_of[i]) in passed_again
	return !(failure_file[i] in bad_again)
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
	planned = reported = file_failures = 0
	files += !again
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
		pass(test_name($0))
	next
}
/^not ok / {
	reported++
	name = test_name($0)
	fail(name, name ~ /^(setup|teardown)_file failed$/ ? "" : name)
	next
}
/^#exit / {
	if (reported < planned)
		fail((planned - reported) " of " planned " tests never reported, exit status " $2)
	else if ($2 != 0 && !file_failures)
		fail("exit status " $2)
	else if (reported > planned && !file_failures)
		fail("reported " reported " tests, but planned " planned)
	else if (planned == 0 && $2 == 0 && reported == 0 && !index(skips, "skipped: " file ": "))
		fail("ran no test")
	if (again)
		ended_again[file]
}
END {
	for (i = 1; i <= failures; i++) {
		line = failure_file[i] ": " failure[i]
		if (is_unsteady(i)) {
			unsteady = unsteady "unsteady: " line " (failed, then passed alone)\n"
			continue
		}
		failed++
		failed_lines = failed_lines "failed:  " line "\n"
	}
	if (files < expected)
		failed_lines = failed_lines "failed:  " (expected - files) " test files did not run\n"
	failed += expected > files ? expected - files : 0
	printf "%s%s%s", skips, unsteady, failed_lines
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 || passed == 0
}
