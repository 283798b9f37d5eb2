#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof report: what a person types and sees. Figures are compared with perf's in parity.bats.
#
# Runs beside others.

load common

setup_file() {
	export PERF_CONFIG=/dev/null
	cd "$BATS_FILE_TMPDIR" || return
	[ "$(id -u)" = 0 ] || return 0
	# Twenty samples a round: shares are right to a twentieth even where rounds and samples keep step.
	"$BPFPROF" record -q -z0 -F 20000 -- "$WORKLOADS/mainbarfoo" 300 >/dev/null
}

setup() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return
}

report() {
	"$BPFPROF" report -i perf.data "$@"
}

# refused SENTENCE ARGUMENTS...: that one line on standard error, exit status 2
refused() {
	fails_with 2 "$1" report "${@:2}"
}

# column NUMBER: that column of a table without comments
column() {
	awk -v n="$1" 'NF { print $n }'
}

@test "the report begins with perf's comment lines and ends with what was lost" {
	report >out
	diff - <(sed '1,7s/Samples: [0-9]*$/Samples: N/;7q' out) <<-'TEXT'
		# To display the perf.data header info, please use --header/--header-only options.
		#
		#
		# Total Lost Samples: N
		#
		# The idle task was left out (keep it with --idle)
		#
	TEXT
	grep -q '^# [0-9 ]* samples of [0-9 ]* seen; [0-9 ]* lost' out
}

# share COLUMN SYMBOL: that share of that symbol, in whole per cent
share() {
	report -q -g none -s sym | awk -v n="$1" -v symbol="$2" '$4 == symbol { print int($n) }'
}

@test "a caller has what it calls as children, without children the busiest stands first" {
	[ "$(share 1 main)" -ge 95 ]
	[ "$(share 2 main)" -le 1 ]
	[ "$(share 1 bar)" -ge 95 ]
	[ "$(share 2 foo)" -gt "$(share 2 bar)" ]
	report -q --no-children -g none | head -n 1 | grep -q 'foo$'
}

@test "quiet prints no comment line" {
	if report -q | grep -q '^#'; then return 1; fi
}

@test "keys choose the columns" {
	[ "$(report -s dso | grep '^# Children')" = "# Children      Self  Shared Object    " ] ||
		report -s dso | grep -q '^# Children      Self  Shared Object'
	report -F sample,sym | grep -q '^#      Samples  Symbol'
	report -n | grep -q '^# Children      Self       Samples  Command'
}

@test "filters leave the lines they name, with their share of all samples" {
	report -q -g none -S foo >out
	[ "$(wc -l <out)" = 3 ]
	diff <(awk 'NF { print $1, $2 }' out) <(report -q -g none | awk '/ foo$/ { print $1, $2 }')
	awk 'NF { exit !($1 + 0 > 5 && $1 + 0 < 95 && $2 + 0 > 5) }' out
	report -S foo | grep -q '^# symbol: foo$'
	report -q -g none -d libc.so.6 | grep -qv mainbarfoo
	report -q -g none -c nobody >out
	[ -z "$(tr -d '\n' <out)" ]
}

@test "a list of names may stand in a file" {
	printf 'foo\nbar\n' >names
	[ "$(report -q -g none -S "file://$PWD/names" | awk 'NF { print $NF }' | sort | tr '\n' ' ')" = "bar foo " ]
	run report -S file:///nonexistent
	[ "$status" = 1 ]
	[ "$output" = "bpfprof: cannot read the list /nonexistent: No such file or directory; name a file with one name a line" ]
}

@test "relative percentages are of what the filters leave" {
	[ "$(report -q --no-children -g none -s sym -S foo,bar --percentage relative |
		awk '{ sum += $1 } END { printf "%.1f", sum }')" = 100.0 ]
}

@test "a process that was not there leaves no lines" {
	[ -z "$(report -q -g none --pid 1 | tr -d '\n')" ]
}

@test "parts of the time add up to all samples" {
	local first second
	first=$(report --json --time 0%-50% | jq '.recording.samples')
	second=$(report --json --time 50%-100% | jq '.recording.samples')
	[ $((first + second)) = "$(report --json | jq '.recording.samples')" ]
	[ "$first" -gt 0 ]
	[ "$second" -gt 0 ]
}

@test "JSON says the same as the table" {
	report --json >out.json
	[ "$(jq .version out.json)" = 3 ]
	[ "$(jq -r '.events[0].entries[] | select(.symbol == "foo") | .self_percent' out.json | xargs printf '%.2f%%')" = \
		"$(report -q -g none -S foo | column 2 | head -n 1)" ]
	jq -e '.events[0].entries[] | select(.symbol == "main") | .call_graph[0].frames[0].symbol == "main"' out.json
}

@test "self periods of all lines are the event's period" {
	report --json | jq -e '.events[0] | ([.entries[].self_period] | add) == .period'
}

@test "the header alone is printed on demand" {
	report --header-only | grep -q '^# hostname : '
	if report --header-only | grep -q Samples; then return 1; fi
	report --header | grep -q '^# Samples:'
}

@test "a recording from a pipe is read" {
	"$BPFPROF" report -q -g none -s dso -i - <perf.data >piped
	diff <(report -q -g none -s dso) piped
	# shellcheck disable=SC2002
	cat perf.data | "$BPFPROF" report -q -g none -s dso >piped
	diff <(report -q -g none -s dso) piped
}

@test "colour comes only when asked for, outside of a terminal" {
	if report | grep -q $'\033'; then return 1; fi
	report --color always | grep -q $'\033\\[31m'
	if report --color never | grep -q $'\033'; then return 1; fi
}

@test "without a terminal no pager is started" {
	PAGER='touch started' report >/dev/null
	[ ! -e started ]
}

@test "what perf report has and this has not is refused by name" {
	refused "report: --tui: the report is text; leave it out" --tui
	refused "report: --switch-on x: events do not switch the report on and off; choose a part with --time" --switch-on x
	refused "-s ipc_lbr: perf's \"ipc_lbr\" is not supported; use --total-cycles" -s ipc_lbr
}

@test "perf's names of options are understood" {
	diff <(report -g none --showcpuutilization) <(report -g none --show-cpu-utilization)
	diff <(report -g none) <(report -g none --samples 3 -M intel --objdump x --percent-type local-period --pretty normal)
	report -g none --stdio-color always | grep -q $'\033\\[31m'
	report -g none --stdio-color --ignore-vmlinux | grep -q $'\033\\[31m'
	if report -g none --stdio-color never | grep -q $'\033'; then return 1; fi
}

@test "misspelt keys, fields and words get the nearest" {
	refused "-s sumbol: no such field; did you mean \"symbol\"?" -s sumbol
	run report -g fractel
	[ "$status" = 2 ]
	[[ $output == *"no such word: fractel; did you mean \"fractal\"?" ]]
}

@test "a file that is not there, empty or no recording is one line" {
	run "$BPFPROF" report -i /nonexistent
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	: >empty
	run "$BPFPROF" report -i empty
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	run "$BPFPROF" report -i "$BPFPROF"
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	run timeout 20 "$BPFPROF" report -i /dev/zero
	[ "$status" = 1 ]
	[[ $output == *"/dev/zero is not a perf.data file"* ]]
}

@test "a file that is cut while it is read is one line" {
	"$BPFPROF" record -q -z0 -F 9999 -o shrinking.data -- "$WORKLOADS/mainbarfoo" 500 >/dev/null
	# The printer waits for its reader after some 64 kB.
	run bash -c '{ "$BPFPROF" script -i shrinking.data 2>said; echo $? >status; } |
		{ read -r _; truncate -s 4096 shrinking.data; cat >/dev/null; }; cat said; exit "$(cat status)"'
	[ "$status" = 1 ]
	[ "$output" = "bpfprof: the recording became shorter while it was read; read it again when nobody writes to it" ]
}

@test "a cut file shows what is whole, one line says so, and the status is 1" {
	head -c $(($(stat -c %s perf.data) * 2 / 3)) perf.data >cut.data
	run bash -c '"$BPFPROF" report -q -g none -i cut.data >cut.out 2>cut.err'
	[ "$status" = 1 ]
	[ "$(wc -l <cut.err)" = 1 ]
	grep -q foo cut.out
}

@test "records that are not known are passed over with one line, and quietly with -q" {
	python3 - <<-'PYTHON'
		import struct
		data = bytearray(open('perf.data', 'rb').read())
		at, size = struct.unpack_from('<QQ', data, 40)
		while struct.unpack_from('<I', data, at)[0] != 3:  # COMM
		    at += struct.unpack_from('<H', data, at + 6)[0]
		struct.pack_into('<I', data, at, 120)
		open('unknown.data', 'wb').write(data)
	PYTHON
	"$BPFPROF" report -i unknown.data >out 2>stderr
	diff <(echo "bpfprof: records of type 120 are not known and were passed over") stderr
	grep -q 'foo$' out
	"$BPFPROF" report -q -i unknown.data >out 2>stderr
	[ ! -s stderr ]
}

@test "a recording with the idle task does not say that it was left out" {
	"$BPFPROF" record -q -a --idle --duration 1 -o idle.data
	"$BPFPROF" report -i idle.data >out
	if grep -q 'idle task was left out' out; then return 1; fi
}
