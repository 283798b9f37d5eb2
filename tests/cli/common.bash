# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the command-line tests share: `load common` at the head of a file. A test starts in a folder of
# its own, and what it started is killed at its end; a file that wants it otherwise defines its own
# setup() or teardown() behind the load.

bats_require_minimum_version 1.5.0

export BPFPROF WORKLOADS PERF REAL_PERF="${REAL_PERF:-${PERF:-perf}}"
# Every test reads this file: no process where none is needed.
[[ ${BPFPROF-} == /* ]] || BPFPROF=$(realpath "${BPFPROF:-build/bpfprof}")
[[ ${WORKLOADS-} == /* ]] || WORKLOADS=$(realpath "${WORKLOADS:-build/tests/workloads}")
PERF=${BASH_SOURCE[0]%/*}/steady_perf.sh
[[ $PERF == /* ]] || PERF=$(realpath "$PERF")
# Without a home perf does not name the vDSO, of which it keeps a copy there.
export HOME="${HOME:-${BATS_RUN_TMPDIR:-/tmp}}"
# What a person may have set, and tests look at.
export TERM=xterm LC_ALL=C.UTF-8
unset NO_COLOR COLUMNS LINES DEBUGINFOD_URLS
# Names are only kept where a test is about that.
export XDG_CACHE_HOME=/dev/null
background=()

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	show_failure
	[ ${#background[@]} -eq 0 ] || end_background
}

# What was there when a test failed, into its output: what its assertions looked at, as a count that is
# wrong says little. The latest files first, of each its beginning and its end.
show_failure() {
	local file
	[ -z "${BATS_TEST_COMPLETED:-}" ] || return 0
	echo "load: $(cat /proc/loadavg); \$status: ${status-}; in $PWD:"
	find . -maxdepth 1 -type f -size -1024k -printf '%T@ %f\n' | sort -rn | head -n 12 | cut -d' ' -f2- |
		while read -r file; do
			! LC_ALL=C grep -qI . "$file" || show_file "$file"
		done
	[ -z "${output-}" ] || show_file /dev/stdin <<<"$output"
}

show_file() {
	awk -v name="${1/#\/dev\/stdin/\$output}" '
		NR <= 25 { print "  " name ": " substr($0, 1, 200); next }
		{ last[NR % 15] = substr($0, 1, 200) }
		END {
			if (NR > 40)
				print "  " name ": (" NR - 40 " lines more)"
			for (line = NR > 40 ? NR - 14 : 26; line <= NR; line++)
				print "  " name ": " last[line % 15]
		}' "$1"
}

# Without the shell's word on each that was killed.
end_background() {
	{ kill -KILL "${background[@]}" && wait "${background[@]}"; } 2>/dev/null || true
}

# Whether this is to be looked at: one of $1 times that it is asked, or with TEST_ALL=1 every time. Where
# loops are nested, a number that no loop's length divides by lets each option and each file have its turn.
is_its_turn() {
	asked=$((${asked:--1} + 1))
	[ -n "${TEST_ALL:-}" ] || [ $((asked % $1)) = 0 ]
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

need_perf() {
	"$PERF" --version >/dev/null 2>&1 || skip "no perf"
}

# perf 6.1 takes the beginning and the last entry of linkage tables for _init, and ours does not. What binds
# late runs through the beginning, where about one process of a thousand has a sample: to compare with
# perf to the byte, programs are bound when they begin.
bind_early() {
	export LD_BIND_NOW=1
}

# Runs in the background, to be killed at the end of the test; $! is its pid.
start() {
	"$@" 3>&- &
	background+=($!)
}

# What never has anything to read: to wait for a moment without a process, which would change $!.
exec {nothing}<> <(:)

# Waits until the condition holds, at most about a minute, however long it takes to ask.
wait_for() {
	local end=$((SECONDS + 60))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || { echo "never happened: $*"; return 1; }
		read -rt 0.05 -u "$nothing" || true
	done
}

# Some virtual machines have no 32-bit mode, whatever their kernel was built for.
runs_32_bits() {
	local status=0

	"$WORKLOADS/x86_bits32" 0.01 >/dev/null 2>&1 || status=$?
	[ "$status" != 126 ]
}

need_32_bits() {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	runs_32_bits || skip "32-bit programs cannot be run here"
}

# Whether no line of the input matches, with grep's options.
lacks() {
	if grep "$@"; then return 1; fi
}

# How many samples are in the file, as perf counts them.
samples() {
	"$PERF" report -i "${1:-perf.data}" --stats 2>/dev/null |
		awk '/SAMPLE events:/ { print $3; exit }'
}

has_samples() {
	[ -e "$1" ] && [ "$(samples "$1")" -gt 0 ] 2>/dev/null
}

# has_values FILE FIELDS VALUE...: each value is among these fields of the file's samples
has_values() {
	local file=$1 fields=$2 value
	shift 2
	"$BPFPROF" script -i "$file" -F "$fields" >values 2>/dev/null || true
	for value; do
		grep -qw -- "$value" values || return 1
	done
}

# record_until CONDITION... -- OPTION...: records perf.data until the condition holds, and then ends as
# by Ctrl-C; what was said is in `said`
record_until() {
	local condition=()
	until [ "$1" = -- ]; do
		condition+=("$1")
		shift
	done
	shift
	rm -f perf.data
	start env --default-signal "$BPFPROF" record "$@" 2>said
	wait_for "${condition[@]}"
	kill -INT "${background[-1]}"
	wait "${background[-1]}" || true
}

# One number out of the table that record -v prints (into `said`).
counter() {
	awk -v name="$1" '$2 == name { print $3 }' "${2:-said}"
}

# sum_of SAID KIND...: the sum of all rows of these kinds, as include/bpfprof/counters.h lists them
sum_of() {
	local said=$1 name kind sum=0
	shift
	while read -r name kind; do
		[[ " $* " != *" $kind "* ]] || sum=$((sum + $(counter "$name" "$said")))
	done < <(sed -nE 's/^\tX\(([a-z_]+), ([A-Z]+),.*/\1 \2/p' \
		"$BATS_TEST_DIRNAME/../../include/bpfprof/counters.h")
	echo "$sum"
}

# sums_hold [SAID [FILE]]: what the kernel's counters saw is sent, left out, or lost for a reason, to the
# last sample, and what was sent is in the file
sums_hold() {
	local said=${1:-said}
	cat "$said"
	[ "$(counter samples_sent "$said")" -gt 0 ]
	[ "$(counter overflows "$said")" -eq "$(sum_of "$said" SENT SKIPPED LOST)" ]
	[ "$(counter overflows "$said")" -eq "$(counter overflows_expected "$said")" ]
	[ "$(counter samples_sent "$said")" -eq "$(samples "${2:-perf.data}")" ]
}

# fails_with STATUS SENTENCE COMMAND...: that status, and on standard error that one line alone
fails_with() {
	local status=$1 sentence=$2 found=0
	shift 2
	"$@" >stdout 2>stderr || found=$?
	[ "$found" -eq "$status" ] || { echo "status $found"; return 1; }
	[ ! -s stdout ] || return
	diff <(echo "bpfprof: $sentence") stderr
}

# While something else on this machine asks for build ids of mappings (perf --buildid-mmap does), Linux
# 6.18 marks the mappings of every other recording as if they held build ids, and perf 6.1 dies of
# it, then or when it reads the file; with build ids of its own it does not.
#
# Here and elsewhere --no-bpf-event, as perf waits for most of a second for its thread that listens to them.
perf_records() {
	{ "$PERF" record -q --no-bpf-event "$@" >/dev/null 2>record.log && ! has_build_ids "$(written_by "$@")"; } ||
		"$PERF" record -q --no-bpf-event --buildid-mmap "$@" >/dev/null 2>>record.log || {
		cat record.log
		return 1
	}
}

# The file behind -o.
written_by() {
	until [ "$1" = -o ]; do
		shift || return
	done
	echo "$2"
}

# Whether mappings of a recording have build ids.
has_build_ids() {
	"$BPFPROF" script -i "$1" --show-mmap-events -F comm 2>/dev/null | grep -q 'PERF_RECORD_MMAP2.* <[0-9a-f]*>'
}

without_last_blanks() {
	sed -e :more -e '/^\n*$/{$d;N;b more' -e '}'
}

# perf's table of a report alone, without the kinds of branches and the tip behind it.
perf_table() {
	"$PERF" report --stdio --no-inline -i "$@" 2>/dev/null |
		sed -e '/^# (Tip/,$d' -e '/^# Branch Statistics/,$d' -e '/^#$/d' | without_last_blanks
}

our_table() {
	"$BPFPROF" report --strict-perf --stdio --no-inline -i "$@" |
		sed -e '/^# [0-9 ]* samples/,$d' -e '/^# Branch Statistics/,$d' -e '/^#$/d' |
		without_last_blanks
}

# same_table FILE OPTION...: the reports are the same to the byte
same_table() {
	perf_table "$@" >theirs
	our_table "$@" >ours
	[ "$(wc -l <theirs)" -gt 6 ]
	diff theirs ours
}
