#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Memory accesses: what perf mem records, of made-up accesses (memory_recording.py), for nothing here
# can record them. To the byte what perf prints; what differs:
#
# difference                          perf              here              who is right
# ------------------------------------------------------------------------------------------------
# data sources of more than 99 bytes  cut               whole             we: nothing is hidden
# numbers of hops without a name      "(null)"          "hops 5"          we: what was recorded
# names of cache lines                "name+0xffffaa…"  "name-0x20"       we: perf takes an address of
#                                                                         memory from one of the file
# "Sort order" by default             local_p_stage_cyc not there         we: perf on x86 has no such
#                                     at the end                          column either
# -s with "symbol" in it              a column "IPC"    none              we: it is always empty there
#
# Runs beside others.

load common

setup_file() {
	MAKE_FILE=$(realpath "$BATS_TEST_DIRNAME/memory_recording.py")
	export MAKE_FILE PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	"$MAKE_FILE" plain.data "$WORKLOADS/mainbarfoo"
	"$MAKE_FILE" all.data "$WORKLOADS/mainbarfoo" struct=1 physical=1
	"$MAKE_FILE" chains.data "$WORKLOADS/mainbarfoo" chains=1
	"$MAKE_FILE" every.data "$WORKLOADS/mainbarfoo" every=1
	"$MAKE_FILE" nothing.data "$WORKLOADS/mainbarfoo" plain=1
}

setup() {
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
}

# same_script FILE OPTION...: both print the same
same_script() {
	"$PERF" script -i "$@" 2>/dev/null >theirs
	[ -s theirs ]
	"$BPFPROF" script --strict-perf -i "$@" >ours
	diff theirs ours
}

@test "script prints accesses as perf does" {
	same_script plain.data
	same_script all.data
	same_script chains.data
	same_script all.data -F ip,sym,addr,data_src,weight,ins_lat,phys_addr,data_page_size
	same_script plain.data -F data_src
}

# of_table: without what differs (above), and what each prints behind the table
of_table() {
	sed -E -e '/^# \(Tip/,$d' -e '/^# [0-9 ]* samples/,$d' -e 's/,local_p_stage_cyc//'
}

# same_report FILE OPTION...: both print the same
same_report() {
	echo "options: $*"
	"$PERF" report --mem-mode --stdio -i "$@" 2>/dev/null | of_table >theirs
	[ "$(wc -l <theirs)" -gt 20 ]
	"$BPFPROF" report --mem-mode --stdio -i "$@" | of_table >ours
	diff theirs ours
}

@test "report --mem-mode is perf's" {
	same_report plain.data
	same_report all.data
	same_report chains.data
	same_report chains.data --no-children -g caller -n
	same_report chains.data -t ';' --show-total-period
	same_report all.data -d mainbarfoo
	same_report all.data --percentage relative -S bar
}

@test "report --mem-mode in the kernel is perf's" {
	need_root
	"$MAKE_FILE" kernel.data "$WORKLOADS/mainbarfoo" kernel=1
	same_report kernel.data --kallsyms /proc/kallsyms
	same_report kernel.data --kallsyms /proc/kallsyms -F overhead,dso_daddr,symbol_daddr
}

@test "each key of memory accesses is perf's" {
	for key in mem tlb snoop locked blocked; do
		diff <("$PERF" report --mem-mode --stdio -i every.data -F "overhead,sample,sym,$key" 2>/dev/null |
			of_table | sed -e 's/(null)/hops/' -e 's/   */ /g') \
			<("$BPFPROF" report --mem-mode -i every.data -F "overhead,sample,sym,$key" |
				of_table | sed -e 's/hops [5-7]/hops/' -e 's/   */ /g')
		same_report plain.data -s "$key,sym,pid"
	done
	for keys in symbol_daddr dso_daddr,symbol_daddr symbol_iaddr mem,symbol_iaddr,phys_daddr data_page_size,sym \
		phys_daddr; do
		same_report all.data -F "overhead,$keys"
	done
	same_report plain.data -s +pid
}

@test "cache lines are perf's, but for how far they are from their names" {
	for keys in dcacheline dcacheline,pid sym,dcacheline; do
		for program in "$PERF" "$BPFPROF"; do
			"$program" report --mem-mode --stdio -i chains.data -g none -t ';' -F "overhead,$keys" 2>/dev/null |
				of_table | sed -E -e 's/([^ ])[-+]0x[0-9a-f]+/\1/' -e 's/ *;/;/g' >"lines.${program##*/}"
		done
		diff "lines.${PERF##*/}" "lines.${BPFPROF##*/}"
	done
	# the heap of each process, and the memory that both share
	"$BPFPROF" report --mem-mode -q -i chains.data -g none -F dcacheline >lines
	[ "$(grep -c '\[\.\] 0x0000555556000000' lines)" = 2 ]
	[ "$(grep -c '\[s\] 0x0000000000000040' lines)" = 1 ]
	grep -q '__TMC_END__-0x20' lines
}

@test "JSON has the keys of memory accesses" {
	"$BPFPROF" report --mem-mode --json -i all.data -s sym,mem,symbol_daddr,dso_daddr,data_page_size,blocked >out.json
	jq -e '.events[0].entries | all(has("memory_level") and has("data_symbol") and has("data_page_bytes"))' out.json
	jq -e '[.events[0].entries[].data_symbol] | any(startswith("_IO_stdin_used+0x"))' out.json
	jq -e '[.events[0].entries[].blocked] | unique == ["N/A"]' out.json
}

@test "what --mem-mode does not go with is one line" {
	refused() {
		run "$BPFPROF" report -i "${@:2}"
		[ "$status" = 2 ]
		[ "$output" = "bpfprof: $1" ]
	}
	refused "--mem-mode: the recording says nothing of memory accesses; record with perf mem record, or leave it out here" \
		nothing.data --mem-mode
	refused "--mem-mode is of memory accesses, and -b of branches; leave out one of them" plain.data --mem-mode -b
	refused "a key of memory accesses was given; use bpfprof report --mem-mode" plain.data -s mem
	run "$BPFPROF" diff -s symbol_daddr plain.data plain.data
	[ "$status" = 2 ]
	[ "$output" = "bpfprof: a key of memory accesses was given; use bpfprof report --mem-mode" ]
}

@test "script words every value of a data source as perf does" {
	"$PERF" script -i every.data -F data_src 2>/dev/null | sed 's/(null)/hops/' >theirs
	[ "$(grep -c "LVL hops" theirs)" = 9 ]
	# perf cuts behind 99 bytes
	"$BPFPROF" script -i every.data -F data_src | sed 's/hops [5-7]/hops/' | cut -c -99 >ours
	diff <(cut -c -99 theirs | sed 's/ *$//') <(sed 's/ *$//' ours)
	[ "$(wc -l <ours)" -gt 200 ]
}

@test "a recording without data sources says so" {
	run "$BPFPROF" script -i nothing.data -F ip,data_src
	[ "$status" = 2 ]
	[ "$output" = "bpfprof: the samples hold no 'data_src'; leave it out of -F" ]
}
