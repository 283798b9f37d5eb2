#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# record: who and what is recorded, how it ends, what is said. The files are read by stock perf.
#
# Runs beside others.

load common

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
}

# The distinct values of fields of all samples, as perf reads them; no warning may come.
fields() {
	perf script -i "${2:-perf.data}" -F "$1" 2>warnings | awk 'NF { $1 = $1; print }' | sort -u
	[ ! -s warnings ] || { cat warnings; return 1; }
}

# Runs a program that must answer with one line on stderr: refused STATUS TEXT command...
refused() {
	local expected=$1 text=$2 line
	shift 2
	run -"$expected" "$@"
	echo "$output"
	line=$(grep -v 'sampling cpu-clock instead' <<<"$output")
	[ "$(wc -l <<<"$line")" -eq 1 ]
	[[ $line == "bpfprof: "*"$text"* ]]
}

# Waits for what was started last; it must end with this status.
ends_with() {
	local status=0
	wait "${background[-1]}" || status=$?
	[ "$status" -eq "$1" ] || { echo "status $status"; return 1; }
}

has_children() {
	[ "$(pgrep -c -P "$2" spin)" -ge "$1" ]
}

# Whether a process has nothing to do.
sleeps() {
	[ "$(sed 's/.*) //' "/proc/$1/stat" | cut -c1)" = S ]
}

has_threads() {
	[ "$(find "/proc/$2/task" -mindepth 1 -maxdepth 1 | wc -l)" -ge "$1" ]
}

# The first CPU that may be used here.
a_cpu() {
	taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/'
}

last_thread() {
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1
}

has_more_samples() {
	[ "$(samples)" -gt "$1" ]
}

# --- who ---

@test "a command is profiled from its first instruction, and nobody else" {
	"$BPFPROF" record -v -F 999 -- "$WORKLOADS/spin" 0.3 2>said
	[ "$(fields comm)" = spin ]
	[ "$(samples)" -gt 0 ]
	sums_hold
	perf report -i perf.data --stdio --no-children -s sym 2>/dev/null | grep -q spin_here
}

@test "two dashes are not needed in front of a command" {
	"$BPFPROF" record -q -F 999 "$WORKLOADS/spin" 0.1
	[ "$(fields comm)" = spin ]
}

@test "children of a command are followed, unless --no-inherit" {
	"$BPFPROF" record -q -F 4999 -- sh -c "$WORKLOADS/spin 0.1; $WORKLOADS/spin 0.1"
	[ "$(fields pid | wc -l)" -ge 2 ]
	fields comm | grep -qx spin
	"$BPFPROF" record -q -F 4999 --no-inherit -- sh -c "$WORKLOADS/spin 0.1; :"
	fields comm | lacks -x spin
}

# On each CPU somebody runs who runs nowhere else.
@test "everything is profiled by default, on all CPUs, at 99 Hz" {
	local cpu cpus
	cpus=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
	for cpu in $cpus; do
		start taskset -c "$cpu" "$WORKLOADS/spin" 100
	done
	record_until has_values perf.data pid "${background[@]}" --
	grep -E 'samples of (cpu-clock|cycles) ' said
	for cpu in $cpus; do
		fields comm,cpu | grep -qx "spin \[0*$cpu\]"
	done
	[ "$(fields period)" = 10101010 ] || ! perf evlist -i perf.data | grep -q cpu-clock
}

@test "-p profiles a running process and ends with it" {
	start "$WORKLOADS/spin" 100
	start "$WORKLOADS/spin" 100
	start "$BPFPROF" record -q -F 999 -p "${background[1]}"
	wait_for has_values perf.data pid "${background[1]}"
	kill -KILL "${background[1]}"
	ends_with 0
	[ "$(fields pid)" = "${background[1]}" ]
}

@test "-p takes several pids, in lists or one by one" {
	local spinning
	start "$WORKLOADS/spin" 100
	start "$WORKLOADS/spin" 100
	start "$WORKLOADS/spin" 100
	spinning=("${background[@]}")
	start "$BPFPROF" record -q -F 999 -p "${spinning[0]},${spinning[1]}" -p "${spinning[2]}"
	wait_for has_values perf.data pid "${spinning[@]}"
	kill -KILL "${spinning[@]}"
	ends_with 0
	[ "$(fields pid)" = "$(printf '%s\n' "${spinning[@]}" | sort)" ]
}

@test "-p profiles the children that run already, unless told not to" {
	local children
	start bash -c '"$WORKLOADS/spin" 100 & "$WORKLOADS/spin" 100 & wait'
	wait_for has_children 2 "${background[0]}"
	wait_for sleeps "${background[0]}"
	mapfile -t children < <(pgrep -P "${background[0]}" spin)
	record_until has_values perf.data pid "${children[@]}" -- -F 999 -p "${background[0]}"
	[ "$(fields comm)" = spin ]
	[ "$(fields pid)" = "$(printf '%s\n' "${children[@]}" | sort)" ]
	"$BPFPROF" record -q -F 999 -p "${background[0]}" --no-inherit --duration 0.2
	[ -z "$(fields pid)" ]
	kill "${children[@]}"
}

@test "-p narrows -a, and says so" {
	start "$WORKLOADS/spin" 100
	record_until has_values perf.data pid "${background[0]}" -- -F 999 -a -p "${background[0]}"
	grep -F -e "-p and -t narrow -a: only what they name is recorded" said
	[ "$(fields pid)" = "${background[0]}" ]
}

@test "-t profiles one thread of several" {
	start "$WORKLOADS/spin" 100 3
	wait_for has_threads 3 "${background[0]}"
	tid=$(last_thread "${background[0]}")
	record_until has_values perf.data tid "$tid" -- -F 999 -t "$tid"
	[ "$(fields tid)" = "$tid" ]
}

@test "-C profiles everything on some CPUs" {
	local cpu
	cpu=$(a_cpu)
	start taskset -c "$cpu" "$WORKLOADS/spin" 100
	record_until has_values perf.data pid "${background[0]}" -- -F 999 -C "$cpu"
	[ "$(fields cpu)" = "$(printf '[%03d]' "$cpu")" ]
}

# Others may run as nobody, too.
@test "-u profiles what runs as a user, by name or number" {
	local pid user
	start "$WORKLOADS/spin" 100
	install -m 755 "$WORKLOADS/spin" /tmp/spin.$$
	start setpriv --reuid=65534 --clear-groups /tmp/spin.$$ 100
	start setpriv --reuid=54321 --clear-groups /tmp/spin.$$ 100
	wait_for grep -q spin "/proc/${background[1]}/comm"
	wait_for grep -q spin "/proc/${background[2]}/comm"
	rm /tmp/spin.$$
	record_until has_values perf.data pid "${background[1]}" -- -F 999 -u nobody
	for pid in $(fields pid); do
		user=$(stat -c %u "/proc/$pid" 2>/dev/null) || continue # it has ended
		[ "$user" = 65534 ]
	done
	record_until has_values perf.data pid "${background[2]}" -- -F 999 -u 54321
	[ "$(fields pid)" = "${background[2]}" ]
}

@test "-G profiles a cgroup and what is below it" {
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	[ -n "$root" ] || skip "no cgroup v2 mounted"
	mkdir -p "$root/bpfprof.$$/below"
	start "$WORKLOADS/spin" 100
	start "$WORKLOADS/spin" 100
	echo "${background[1]}" >"$root/bpfprof.$$/below/cgroup.procs"
	record_until has_values perf.data pid "${background[1]}" -- -F 999 -G "bpfprof.$$"
	kill -KILL "${background[1]}"
	wait "${background[1]}" || true
	rmdir "$root/bpfprof.$$/below" "$root/bpfprof.$$"
	[ "$(fields pid)" = "${background[1]}" ]
}

# --- what ---

@test "several events in one run keep apart" {
	"$BPFPROF" record -q -e cpu-clock:u,page-faults -c 100000 -- "$WORKLOADS/spin" 0.1
	[ "$(perf evlist -i perf.data)" = $'cpu-clock:u\npage-faults' ]
	fields event | grep -q cpu-clock:u
}

@test "-c sets the period" {
	"$BPFPROF" record -q -e cpu-clock -c 2000000 -- "$WORKLOADS/spin" 0.1
	[ "$(fields period)" = 2000000 ]
}

@test "stacks go to main, or are left out" {
	"$BPFPROF" record -q -F 999 -- "$WORKLOADS/mainbarfoo" 300
	perf script -i perf.data -F ip,sym 2>/dev/null | awk '
		$2 == "foo" || $2 == "bar" { wanted = 1 }
		$2 == "main" { main = 1 }
		!NF { lost += wanted && !main; found += wanted && main; wanted = main = 0 }
		END { exit !(found && !lost) }'
	"$BPFPROF" record -q -F 999 --call-graph none -- "$WORKLOADS/spin" 0.1
	perf evlist -v -i perf.data | lacks CALLCHAIN
}

@test ":u and --all-user leave out the kernel" {
	"$BPFPROF" record -q -F 4999 -e cpu-clock:u -- dd if=/dev/zero of=/dev/null bs=64k count=20000 2>/dev/null
	perf script -i perf.data -F ip,sym 2>/dev/null | lacks ffffffff
	"$BPFPROF" record -q -F 4999 --all-user -- dd if=/dev/zero of=/dev/null bs=64k count=20000 2>/dev/null
	perf script -i perf.data -F ip,sym 2>/dev/null | lacks ffffffff
}

# --- where to ---

@test "a file that is there becomes perf.data.old, and only the owner may read" {
	"$BPFPROF" record -q -- true
	first=$(stat -c %i perf.data)
	"$BPFPROF" record -q -- true
	[ "$(stat -c %i perf.data.old)" = "$first" ]
	[ "$(stat -c %a perf.data)" = 600 ]
}

@test "-o - is a stream that perf reads" {
	"$BPFPROF" record -q -F 999 -o - -- "$WORKLOADS/spin" 0.2 | perf script -i - >said 2>warnings
	[ "$(awk '/cpu-clock:|cycles:/ { print $1 }' said | sort -u)" = spin ]
	[ ! -s warnings ]
	[ ! -e perf.data ]
}

@test "a reader that goes away ends the recording with one line" {
	run bash -c "$BPFPROF record -q -a -o - --duration 20 | head -c 100 >/dev/null; echo \${PIPESTATUS[0]}"
	[ "${lines[0]}" = "bpfprof: the reader of the stream has gone" ]
	[ "${lines[1]}" = 1 ]
}

@test "files are compressed, streams are not, and -z says otherwise" {
	"$BPFPROF" record -q -o one.data -- "$WORKLOADS/spin" 0.2
	"$BPFPROF" record -q -z0 -o plain.data -- "$WORKLOADS/spin" 0.2
	lacks -q 'compressed :' < <(perf report -i plain.data --header-only)
	"$BPFPROF" record -q -o - -- "$WORKLOADS/spin" 0.2 | perf report -i - --stats | lacks COMPRESSED
	"$BPFPROF" record -q -z -o - -- "$WORKLOADS/spin" 0.2 | "$BPFPROF" report --stdio | grep spin_here
	"$BPFPROF" record -q -z9 -o nine.data -- "$WORKLOADS/spin" 0.2
	perf report -i one.data --header-only | grep -q 'compressed : Zstd, level = 1'
	perf report -i nine.data --header-only | grep -q 'compressed : Zstd, level = 9'
	[ "$(fields comm nine.data)" = spin ]
}

@test "the header holds the command line" {
	"$BPFPROF" record -q -F 999 -- true
	perf report -i perf.data --header-only | grep -q '# cmdline : .*bpfprof record -q -F 999 -- true'
}

@test "two at once do not disturb each other" {
	local turn
	start "$WORKLOADS/spin" 100
	for turn in one two; do
		start env --default-signal "$BPFPROF" record -v -F 999 -a -o $turn.data 2>said.$turn
	done
	for turn in one two; do
		wait_for has_values $turn.data pid "${background[0]}"
	done
	kill -INT "${background[@]:1}"
	wait "${background[@]:1}" || true
	for turn in one two; do
		sums_hold said.$turn $turn.data
	done
}

# --- how it ends ---

@test "a command's status is passed on, also when a signal killed it" {
	run "$BPFPROF" record -q -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
	run "$BPFPROF" record -q -- sh -c 'kill -9 $$'
	[ "$status" -eq 137 ]
}

@test "a command that outlives its recording is ended, without complaint" {
	cp "$WORKLOADS/spin" outliver
	run "$BPFPROF" record -q --duration 0.2 -- ./outliver 100
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run -1 pgrep -x outliver
}

@test "INT, TERM and HUP end a recording with a whole file" {
	for row in INT:130 TERM:143 HUP:129; do
		start env --default-signal "$BPFPROF" record -q -a -F 999 -o "$row.data"
		wait_for has_samples "$row.data"
		kill "-${row%:*}" "${background[-1]}"
		ends_with "${row#*:}"
		[ "$(samples "$row.data")" -gt 0 ]
	done
}

@test "two INTs in a row leave a file that opens" {
	start env --default-signal "$BPFPROF" record -q -a -F 999
	wait_for has_samples perf.data
	kill -INT "${background[-1]}"
	kill -INT "${background[-1]}" || true
	ends_with 130
	[ "$(samples)" -gt 0 ]
}

@test "under nohup a hang-up does not end it" {
	local before
	start "$WORKLOADS/spin" 100
	start env --default-signal nohup "$BPFPROF" record -q -a -F 999 2>/dev/null
	wait_for has_samples perf.data
	kill -HUP "${background[-1]}"
	before=$(samples)
	wait_for has_more_samples "$before"
	kill -INT "${background[-1]}"
	ends_with 130
}

# --- what is said ---

@test "at the end samples, losses, size and cost are said" {
	run "$BPFPROF" record -F 999 -- "$WORKLOADS/spin" 0.2
	[ "$status" -eq 0 ]
	[[ $output =~ bpfprof:\ [0-9\ ]+\ samples\ of\ [a-z-]+\ in\ [0-9.]+\ m?s,\ (none|[0-9\ ]+)\ lost ]]
	[[ ${lines[-1]} =~ ^bpfprof:\ perf.data:\ [0-9.]+\ [kM]?B\;\ cost:\ .*\ CPU\ \(.*\ to\ start,\ .*\ in\ BPF\),\ [0-9.]+%\ of\ one\ CPU$ ]]
}

@test "at the end it says how many stacks are whole" {
	run "$BPFPROF" record -F 999 -- "$WORKLOADS/mainbarfoo" 300
	[ "$status" -eq 0 ]
	[[ $output =~ bpfprof:\ [0-9\ ]+\ of\ [0-9\ ]+\ user\ stacks\ whole\ \([0-9.]+%\) ]]
	# by frame pointers alone it is the rule that stacks end in libc, so nothing is called cut
	run "$BPFPROF" record -F 999 --call-graph fp -- "$WORKLOADS/mainbarfoo" 300
	[[ $output =~ bpfprof:\ [0-9\ ]+\ user\ stacks,\ [0-9\ ]+\ end\ in\ code\ without\ frame\ pointers ]]
	[[ $output != *"is no frame"* ]]
	run "$BPFPROF" record -F 999 --call-graph none -- "$WORKLOADS/mainbarfoo" 300
	[[ $output != *"user stacks"* ]]
}

@test "-q says nothing" {
	run "$BPFPROF" record -q --duration 0.2
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "on a terminal one line moves, elsewhere none does" {
	start script -qfec "echo \$\$ >pid; exec $BPFPROF record -a" typescript >/dev/null
	wait_for grep -q $'\rrecording [0-9]* s: .* samples, .* lost' typescript
	kill -INT "$(<pid)"
	wait "${background[0]}" || true
	run "$BPFPROF" record -a --duration 0.5
	[[ $output != *$'\r'* ]]
}

@test "a process named with escape codes cannot steer the terminal" {
	start bash -c 'printf "\033[31mred\007" >/proc/$$/comm; while :; do :; done'
	wait_for grep -q red "/proc/$!/comm"
	record_until has_values perf.data pid "${background[0]}" -- -v -F 999 -p "${background[0]}"
	lacks $'\033' said
	run -127 "$BPFPROF" record -v --duration 0.1 -- "$(printf '\033[31mnone')"
	[[ $output != *$'\033'* ]]
}

# --- bad input, each answered by one line ---

@test "no root" {
	refused 1 "run as root" setpriv --reuid=65534 --clear-groups --inh-caps=-all \
		"$BPFPROF" record -o "$BATS_TEST_TMPDIR/x.data"
}

@test "a file that is removed meanwhile is missed" {
	cd "$BATS_TEST_TMPDIR" || return
	run -1 "$BPFPROF" record -o gone.data -- sh -c 'until [ -e gone.data ]; do :; done; rm gone.data'
	[[ $output == *"gone.data was removed while it was written; record again"* ]]
}

@test "a ring larger than the kernel's side can be is refused" {
	refused 2 "--ring-size 1T: give a size such as 512K or 4M, at most 1G" "$BPFPROF" record --ring-size 1T
	refused 2 "--ring-size 0: give a size such as" "$BPFPROF" record --ring-size 0
}

@test "unwind tables keep to their memory, and what finds no room is told" {
	printf '#include <stdio.h>\n#include <math.h>\nint main(void) { return puts("") + (int)sin(1); }\n' >a.c
	"$BPFPROF" record -v -F 4999 --unwind-memory 1M -- gcc -O2 -S a.c 2>said
	grep "the unwind table of a file found no room; raise --unwind-memory" said
	grep -E "^bpfprof: unwind tables: [0-9]+ of [0-9]+ files, [0-9 ]+ rows, 1 MiB in the kernel" said
	"$BPFPROF" report | grep "found no room"
	"$BPFPROF" script -F comm,provenance | grep "^ *cc1 .*not yet analysed"
	# Its callers are not guessed from a register that is used for anything. (Other files have code
	# without rules, in which it may be right, and is checked.)
	"$BPFPROF" script -F comm,ip,dso,provenance | awk '
		!NF { guesses = in_cc1 = 0 }
		/^ *cc1 .*frame pointers/ { guesses = 1 }
		NF && in_cc1 && guesses { print "behind cc1: " $0; bad = 1 }
		/\/cc1\)$/ { in_cc1 = seen = 1 }
		END { exit !seen || bad }'
	"$BPFPROF" record -v -F 4999 -- gcc -O2 -S a.c 2>said
	run -1 grep "bpfprof: .*time.*found no room" said
}

@test "stacks of processes that live for some milliseconds are whole" {
	# Before all else that runs: a table that is made a second late is too late for whoever waits for
	# it, and on a busy machine that is not the recorder's doing.
	nice -n -20 "$BPFPROF" record -v -F 999 -- "$WORKLOADS/forky" 150 0 "$WORKLOADS/nofp" plain 0.02 \
		2>said
	cat said
	awk '$2 == "user_stacks" { all = $3 } $2 == "user_stacks_whole" { whole = $3 }
		$2 == "user_stack_not_analysed" { early = $3 }
		$2 ~ /^user_stack_/ { cut += $3 }
		END { exit !(all > 1000 && whole >= all * 0.98 && early <= all * 0.01 && all == whole + cut) }' said
}

@test "memory for unwind tables that is too small or too large is refused" {
	refused 2 "--unwind-memory is too small; give 1M to 1G" "$BPFPROF" record --unwind-memory 0
	refused 2 "--unwind-memory is too small; give 1M to 1G" "$BPFPROF" record --unwind-memory 1000k
	refused 2 "--unwind-memory is too large; give 1M to 1G" "$BPFPROF" record --unwind-memory 2G
}

@test "unknown events and options suggest the nearest" {
	refused 2 "unknown event 'cyclse'; did you mean 'cycles'?" "$BPFPROF" record -e cyclse
	refused 2 "did you mean --duration?" "$BPFPROF" record --duratoin 1
}

@test "options of perf record that are not there name what to use instead" {
	refused 2 "use perf record -I" "$BPFPROF" record -I
	refused 2 "use --ring-size" "$BPFPROF" record -m 512
	refused 2 "use --ring-size" "$BPFPROF" record --mmap-pages=512
	refused 2 "record again with --duration" "$BPFPROF" record --switch-output
}

@test "ways to walk stacks that are not there name the nearest" {
	refused 2 "--call-graph dwraf: stacks are not walked so; did you mean dwarf?" \
		"$BPFPROF" record --call-graph dwraf
	refused 2 "use auto, dwarf, fp, lbr or none" "$BPFPROF" record --call-graph everything
	refused 2 "leave out what stands behind the comma" "$BPFPROF" record --call-graph fp,8192
	refused 2 "leave out what stands behind the comma" "$BPFPROF" record --call-graph dwarf,much
}

@test "branch records that this machine does not have are refused, with what to use instead" {
	"$BPFPROF" check | grep -q '^.ok. *branch records' && skip "this machine has branch records"
	refused 2 "call-graph lbr: this machine shows no branch stack of calls; use --call-graph auto" \
		"$BPFPROF" record --call-graph lbr
	refused 1 "LBR) with cpu-clock: the kernel has none for this event; use --call-graph auto" \
		"$BPFPROF" record --call-graph lbr -e cpu-clock
	refused 2 "this machine shows no branch records; \`bpfprof check\`" "$BPFPROF" record -b
	refused 1 "branch stacks of this kind with cpu-clock" "$BPFPROF" record -b -e cpu-clock
}

@test "options for branch records that contradict one another" {
	refused 2 "no branches are called 'any_calls'; did you mean any_call?" \
		"$BPFPROF" record -j any_calls
	refused 2 "give -b or -j once" "$BPFPROF" record -b -j any_call
	refused 2 "want the same registers" "$BPFPROF" record --call-graph lbr -b -e cpu-clock
	refused 2 "--no-stitch is for stacks made of branch records" "$BPFPROF" record --no-stitch
	refused 2 "cpu-clock:k takes no samples in user space, whose calls LBR holds" \
		"$BPFPROF" record --call-graph lbr -e cpu-clock:k
}

@test "every option of perf record is either there or refused by name" {
	perf record -h 2>&1 | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' >names
	[ "$(wc -l <names)" -gt 50 ]
	while read -r name; do
		run timeout -s KILL 10 "$BPFPROF" record "$name"
		[[ $output != *"unknown option"* ]] || { echo "$name: $output"; return 1; }
	done < <(grep -vxE -- '--(all-cgroups|all-cpus|all-user|all-kernel|no-.*|exclude-perf|quiet|verbose|period|timestamp|buildid-.*|strict-freq|sample-.*|timestamp-boundary|compression-level)' names)
}

@test "pids and threads that do not exist" {
	refused 1 "no process 4194000" "$BPFPROF" record -p 4194000
	refused 1 "no thread 4194000" "$BPFPROF" record -t 4194000
	refused 2 "not a list of numbers" "$BPFPROF" record -p spin
	start "$WORKLOADS/spin" 100 2
	wait_for has_threads 2 "${background[0]}"
	tid=$(last_thread "${background[0]}")
	refused 1 "$tid is a thread of process ${background[0]}" "$BPFPROF" record -p "$tid"
}

@test "a rate above the kernel's limit names the sysctl" {
	limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	refused 1 "sysctl kernel.perf_event_max_sample_rate=$((limit + 1))" \
		"$BPFPROF" record -F $((limit + 1))
	"$BPFPROF" record -q -F max -e cpu-clock -- true
}

@test "no clock ticks so fast that its CPU has no time for anything else" {
	for rate in "-F max" "-F 20000" "-c 20000"; do
		# shellcheck disable=SC2086 # two words
		run "$BPFPROF" record $rate -e cpu-clock -- true
		[ "$status" = 0 ]
		[[ "$output" == *"sampling cpu-clock at 10000 Hz: faster"* ]]
		run "$BPFPROF" script -F period
		[ "${#lines[@]}" = 0 ] || [ "${lines[0]//[[:space:]]/}" = 100000 ]
	done
	run "$BPFPROF" record -F 10000 -e cpu-clock -- true
	[ "$status" = 0 ]
	[[ "$output" != *faster* ]]
}

@test "numbers that make no sense" {
	refused 2 "-F 0: give samples a second" "$BPFPROF" record -F 0
	refused 2 "-c 0: give a number of events" "$BPFPROF" record -c 0
	refused 2 "leave out one of them" "$BPFPROF" record -F 99 -c 1000
	refused 2 "at least one frame" "$BPFPROF" record --max-stack 0
	refused 2 "--max-stack 4000 is too deep; give at most 512" "$BPFPROF" record --max-stack 4000
	refused 2 "give a level from 1 to 22" "$BPFPROF" record -z23
	refused 2 "give a time such as" "$BPFPROF" record --duration 0
	refused 1 "is not online" "$BPFPROF" record -C 4095
}

@test "users and cgroups that do not exist" {
	refused 1 "no user 'nobody-at-all'" "$BPFPROF" record -u nobody-at-all
	refused 1 "cannot open cgroup no/such" "$BPFPROF" record -G no/such
}

@test "an output that cannot be written" {
	refused 1 "cannot create /no/such/x.data: No such file or directory" \
		"$BPFPROF" record -o /no/such/x.data
	refused 1 "cannot create /sys/x.data: Permission denied" "$BPFPROF" record -o /sys/x.data
}

@test "commands that cannot be run have a shell's statuses" {
	refused 127 "command not found: no-such-program" "$BPFPROF" record no-such-program
	: >plain
	refused 126 "cannot be executed: ./plain" "$BPFPROF" record ./plain
	printf '#!/no/such/interpreter\n' >script
	chmod +x script
	refused 127 "cannot run ./script" "$BPFPROF" record ./script
}

@test "a kernel without BTF" {
	mkdir empty
	refused 1 "CONFIG_DEBUG_INFO_BTF=y" \
		unshare -m sh -c "mount --bind empty /sys/kernel/btf && exec $BPFPROF record"
}

# The mark "holds a build id" on mappings in a file of perf that asked for none: see
# user/capture/mapping_probe.c. Prints how many mappings there are, and how many are marked.
marked_mappings() {
	python3 - "$1" <<-'END'
		import struct, sys
		content = open(sys.argv[1], "rb").read()
		at, size = struct.unpack_from("<QQ", content, 40)
		end = at + (size or len(content) - at)
		mappings = marked = 0
		while at + 8 <= end:
		    kind, misc, length = struct.unpack_from("<IHH", content, at)
		    if length < 8:
		        break
		    mappings += kind == 10
		    marked += kind == 10 and bool(misc & 0x4000)
		    at += length
		print(mappings, marked)
	END
}

@test "perf record beside it is not disturbed" {
	local mappings marked recorder
	# so few that all of it has room in what perf has mapped, if nobody empties that
	storm=(perf record -q -o beside.data -- "$WORKLOADS/forky" 100 0 /bin/true)
	"${storm[@]}" >/dev/null 2>&1 || skip "perf record fails alone: somebody else records"
	read -r mappings marked < <(marked_mappings beside.data)
	[ "$marked" -eq 0 ] || skip "somebody else records with build ids from the kernel"
	start "$BPFPROF" record -q -a -F 999 -o ours.data
	recorder=$!
	wait_for has_samples ours.data
	"${storm[@]}" >/dev/null
	kill -INT "$recorder"
	wait "$recorder" || true
	read -r mappings marked < <(marked_mappings beside.data)
	[ "$mappings" -ge 300 ]
	[ "$marked" -eq 0 ]
	perf script -i beside.data | grep -q .
	perf script -i ours.data | grep -q .
}

@test "perf can record us" {
	local theirs="$BATS_TEST_TMPDIR/theirs.data"

	perf record -q -F 4999 -e cpu-clock -g -o "$theirs" "$BPFPROF" record -q -o ours.data -- true
	perf script -i "$theirs" | grep -q '^bpfprof'
}
