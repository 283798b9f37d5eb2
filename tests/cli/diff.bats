#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof diff: under --strict-perf line by line what perf diff prints, of real recordings and of such
# with known samples; without it, what we do otherwise.
#
# Runs beside others.

load common

setup_file() {
	# Wrappers of python3 are programs with names longer than perf prints.
	export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	KNOWN=$(realpath "$BATS_TEST_DIRNAME/known_recording.py")
	export KNOWN
	cd "$BATS_FILE_TMPDIR" || return
	make_known
	"$PERF" --version >/dev/null 2>&1 || return 0
	[ "$(id -u)" = 0 ] || return 0
	local turn work
	work=$(realpath "$BATS_TEST_DIRNAME/mixed_work.sh")
	for turn in 1 2; do
		# not of all the machine: perf cuts long names of threads, and ours does not
		perf_records -F 499 -e cpu-clock,task-clock:u,page-faults -o "perf$turn.data" -- "$work"
		"$BPFPROF" record -q -F 499 -o "ours$turn.data" -- "$work" >/dev/null
	done
}

# The table of facts that the tests below go by: w is a program with the functions foo, bar and main.
make_known() {
	mkdir -p other
	cp "$WORKLOADS/mainbarfoo" w
	cp w other/v
	cp "$WORKLOADS/nofp" n
	"$KNOWN" u1.data events=0,1,2 cpu=1 ./w 0/foo=10x5 1/bar=7x3 0/main=3 2/foo=1x9 0/one:bar=1x3
	"$KNOWN" u2.data events=2,0 cpu=1 ./w 1/foo=10x4 1/bar=3 0/main=3x2 1/two:bar=1x4
	"$KNOWN" u3.data events=1,3 ./w 0/foo=10x4 0/bar=3 1/main=3x2
	"$KNOWN" v1.data ./w foo=5x10 bar=2x3 ./n leaf=7 middle=1x3
	"$KNOWN" v2.data ./w foo=5x9 bar=7 ./n leaf=2x7 outer=1 faults=4
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

need_recordings() {
	need_perf
	need_root
}

# same_diff OPTIONS AND FILES...: both print the same to the byte
same_diff() {
	"$PERF" diff "$@" >theirs 2>/dev/null
	"$BPFPROF" diff --strict-perf "$@" >ours
	[ -s theirs ]
	diff theirs ours
}

# The same without what is known to differ: files that are deleted, which ours may still name, and PLT
# entries, which perf 6.1 takes for _init. Their lines decide about widths, too.
same_lines() {
	"$PERF" diff "$@" 2>/dev/null | without_unsure >theirs
	"$BPFPROF" diff --strict-perf "$@" | without_unsure >ours
	# an entry for each of the three events at least; how many files run code is the machine's affair
	[ "$(grep -c '%' theirs)" -ge 3 ]
	diff theirs ours
}

# The same, where perf may have cut names of threads: to a width that not all lines had a say in.
same_lines_but_cut_names() {
	same_lines "$@" || diff <(cut_names <theirs) <(cut_names <ours)
}

cut_names() {
	sed -E 's/% ([^ %+-][^ %]{6})[^ ]*/% \1/'
}

without_unsure() {
	grep -v -e '(deleted)' -e ' _init$' -e '@plt$' -e '] 0x0000' | sed -e 's/  */ /g' -e 's/ $//' -e 's/\.\.\.*/../g'
}

# The lines without what chance may have done to them (diff_chance.bats): "1.23% *" behind a difference.
rows() {
	"$BPFPROF" diff "$@" | grep -v '^#' | sed -E -e 's/  */ /g' -e 's/^ //' -e 's/ $//' \
		-e 's/([+-][0-9.]+%?) [0-9.]+%?( [*?])?/\1/g'
}

# --- perf's figures ---

@test "known samples: every method, order and column is perf's to the byte" {
	need_perf
	local options files
	for options in "" "-c delta" "-c ratio" "-c wdiff:1,2" "-c wdiff:-3,7" "-o 0" "-p" "-F" \
		"-b" "-b -p -F" "-q" "-t ," "-t ; -c ratio -p" "-t , -c wdiff:1,1" "-s dso" "-s sym" \
		"-s comm" "-s pid" "-s +comm" "-s comm,sym -b" "-f" "-m"; do
		for files in "u1.data u2.data" "u2.data u1.data" "u1.data u3.data u2.data" \
			"u3.data u1.data" "v1.data v2.data" "v2.data v1.data v1.data"; do
			is_its_turn 7 || continue
			echo "$options $files"
			# shellcheck disable=SC2086
			same_diff $options $files
		done
	done
	same_diff -o 2 u2.data u1.data u3.data
	same_diff -o 2 -c ratio u2.data u1.data u3.data
}

@test "known samples: every filter is perf's to the byte" {
	need_perf
	printf 'foo\nmain\n' >names
	local options files
	for options in "-S foo" "-S foo,bar" "-S file://names" "-d w" "-d n,w" "-d ./n" "-C one" \
		"-C w --percentage relative" "-S leaf --percentage relative -F" "-C one,two -b -p" \
		"-d n -S leaf" "-S foo --percentage relative -b -F -p" "-S none" "--pid 4242" \
		"--tid 4243 --percentage relative" "--tid 4242,4243" "--time 0%-50%" "--time 10%/2" \
		"--time 0%-20%,60%-80%" "--time 1000.002,1000.006:1000.001," "--time 1000.003,"; do
		for files in "v1.data v2.data" "u1.data u2.data"; do
			is_its_turn 3 || continue
			echo "$options $files"
			# shellcheck disable=SC2086
			same_diff $options $files
		done
	done
	same_diff --cpu 0 u1.data u2.data
	same_diff --cpu 0-1 -s cpu,comm u1.data u2.data
	same_diff -s cpu u1.data u2.data
}

@test "code without names is one line for each binary, as perf has it" {
	need_perf
	strip -R .note.gnu.build-id -o s w
	"$KNOWN" s1.data build_ids=0 ./s 0x1150=5 0x11a0=7x2 0x1180=1
	"$KNOWN" s2.data build_ids=0 ./s 0x1140=6 0x11a5=9x2
	same_diff s1.data s2.data
	same_diff -s sym s2.data s1.data
	[ "$("$BPFPROF" diff --strict-perf -q s1.data s2.data | wc -l)" = 1 ]
	# ... and one for each function without it
	[ "$("$BPFPROF" diff -q s1.data s2.data | wc -l)" = 3 ]
}

@test "real recordings of perf: every line is perf's" {
	need_recordings
	same_lines perf1.data perf2.data
	same_lines -c ratio -p perf2.data perf1.data ours1.data
	same_lines_but_cut_names -s comm,dso,sym perf1.data perf2.data
	same_lines -C gzip,deep --percentage relative perf1.data perf2.data
	same_lines --time 10%-60% -b perf1.data perf2.data
}

@test "real recordings of ours: every line is perf's" {
	need_recordings
	same_lines ours1.data ours2.data
	same_lines -s dso -o 0 -p -F ours1.data ours2.data perf1.data
}

@test "recordings of many versions of perf: every pair is perf's to the byte" {
	need_perf
	local corpus files=() one other compared=0 least=20
	[ -z "${TEST_ALL:-}" ] || least=100
	corpus=$(realpath "$BATS_TEST_DIRNAME/../../../shared/perf-corpus" 2>/dev/null) || corpus=
	[ -d "$corpus" ] || skip "no ../shared/perf-corpus"
	# of streams perf diff prints nothing
	for one in "$corpus"/perf.data.*; do
		[[ $one == *piped* ]] || files+=("$one")
	done
	for one in "${files[@]}"; do
		for other in "${files[@]}"; do
			is_its_turn 11 || continue
			echo "$one $other"
			same_diff -p "$one" "$other"
			compared=$((compared + 1))
		done
	done
	[ "$compared" -ge "$least" ]
}

@test "the figures of three files with a thousand samples each" {
	need_root
	"$KNOWN" a.data ./w foo=1000000x995 k!_raw_spin_unlock_irqrestore=1000000x4 k!pid_task=1000000
	"$KNOWN" b.data ./w foo=1000000x706 bar=1000000x287 main=1000000x5 \
		k!_raw_spin_unlock_irqrestore=1000000 k!pid_task=1000000
	"$KNOWN" c.data ./w foo=1000000x428 bar=1000000x568 main=1000000x4 \
		k!_raw_spin_unlock_irqrestore=1000000
	diff <(rows --strict-perf -q a.data b.data c.data) - <<-'END'
		99.50% -28.90% -56.74% w [.] foo
		+28.70% +56.74% w [.] bar
		+0.50% +0.40% w [.] main
		0.40% -0.30% -0.30% [kernel.kallsyms] [k] _raw_spin_unlock_irqrestore
		0.10% +0.00% [kernel.kallsyms] [k] pid_task
	END
	diff <(rows --strict-perf -q -c ratio a.data b.data c.data) - <<-'END'
		0.10% 1.000000 [kernel.kallsyms] [k] pid_task
		99.50% 0.709548 0.430151 w [.] foo
		0.40% 0.250000 0.250000 [kernel.kallsyms] [k] _raw_spin_unlock_irqrestore
		N/A N/A w [.] bar
		N/A N/A w [.] main
	END
	diff <(rows --strict-perf -q -c wdiff:1,2 a.data b.data c.data | awk '{ print $1, $2 }') - <<-'END'
		99.50% 417000000
		0.10% 1000000
		0.40% -2000000
		N/A N/A
		N/A N/A
	END
	[ "$(rows --strict-perf -q -c wdiff:2,1 a.data b.data -S foo)" = "99.50% -1284000000 w" ]
}

# The example of perf-diff(1): f1 … f6 are functions of nofp.
@test "the manual's example: which file's column has which function" {
	local f1=plain f2=outer f3=middle f4=leaf f5=bottom f6=touch
	"$KNOWN" A.data ./n $f1=1 $f2=2 $f3=3 $f4=4 $f6=6
	"$KNOWN" B.data ./n $f2=2 $f4=4 $f5=5
	"$KNOWN" C.data ./n $f1=1 $f2=2 $f5=5
	shown() { # a letter for each column: b the baseline's, x a difference, . none
		"$BPFPROF" diff --strict-perf -q -t , "$@" | awk -F , '{
			sub(/^\[.\] /, "", $5)
			print $5, ($1 ~ /[0-9]/ ? "b" : ".") ($2 ~ /[0-9]/ ? "x" : ".") ($3 ~ /[0-9]/ ? "x" : ".")
		}' | sort
	}
	diff <(shown A.data B.data C.data) <(printf '%s\n' "$f1 b.x" "$f2 bxx" "$f3 b.." "$f4 bx." \
		"$f5 .xx" "$f6 b.." | sort)
	diff <(shown B.data A.data C.data) <(printf '%s\n' "$f1 .xx" "$f2 bxx" "$f3 .x." "$f4 bx." \
		"$f5 b.x" "$f6 .x." | sort)
	diff <(shown C.data B.data A.data) <(printf '%s\n' "$f1 b.x" "$f2 bxx" "$f3 ..x" "$f4 .xx" \
		"$f5 bx." "$f6 ..x" | sort)
}

# --- where we differ ---

@test "-b leaves the baseline's shares as they are" {
	"$KNOWN" a.data ./w foo=3 main=1
	"$KNOWN" b.data ./w foo=1 bar=3
	[ "$(rows -q -b --strict-perf a.data b.data)" = "100.00% -50.00% w [.] foo" ]
	[ "$(rows -q -b a.data b.data)" = "75.00% -50.00% w [.] foo" ]
}

@test "nothing is never -0.00%" {
	"$KNOWN" a.data ./w foo=100001 bar=899999
	"$KNOWN" b.data ./w foo=100000 bar=900000
	[[ $(rows -q --strict-perf a.data b.data) == *-0.00%* ]]
	[[ $(rows -q a.data b.data) != *-0.00%* ]]
}

@test "of two that changed as much, what grew comes first" {
	"$KNOWN" a.data ./w foo=7 main=3 bar=2
	"$KNOWN" b.data ./w foo=3 main=7 bar=2
	diff <(rows -q a.data b.data) - <<-'END'
		25.00% +33.33% w [.] main
		58.33% -33.33% w [.] foo
		16.67% +0.00% w [.] bar
	END
}

@test "a filter by thread counts that thread's samples" {
	"$KNOWN" a.data ./w one:foo=1 two:foo=9
	"$KNOWN" b.data ./w one:foo=5 two:foo=5
	[ "$(rows -q -C one a.data b.data)" = "10.00% +40.00% w [.] foo" ]
	# perf shows all of a line that began with a sample of that thread
	[ "$(rows -q --strict-perf -C one a.data b.data)" = "100.00% +0.00% w [.] foo" ]
}

@test "what vanished and what is new is said" {
	"$KNOWN" a.data ./w foo=6 main=4
	"$KNOWN" b.data ./w foo=5 bar=5
	diff <(rows -q a.data b.data) - <<-'END'
		+50.00% w [.] bar new
		40.00% -40.00% w [.] main gone
		60.00% -10.00% w [.] foo
	END
	diff <("$BPFPROF" diff -q -t , a.data a.data b.data | awk -F , '{ print $9 ": " $NF }') - <<-'END'
		[.] foo: 
		[.] main: gone in 2
		[.] bar: new
	END
}

@test "a binary of another name is known by its build id" {
	"$KNOWN" a.data ./w foo=6 main=4
	"$KNOWN" b.data ./other/v foo=5 main=5
	[ "$(rows -q a.data b.data)" = "40.00% +10.00% w [.] main now in v
60.00% -10.00% w [.] foo now in v" ]
	[ "$(rows -q -s dso a.data b.data)" = "100.00% +0.00% w now in v" ]
	# two of that build: which of them was it?
	"$KNOWN" c.data ./w foo=5 ./other/v foo=5
	[ "$(rows -q -S foo a.data c.data)" = "+50.00% v new
60.00% -10.00% w" ]
}

@test "a binary without build id is known by what it consists of" {
	cp n other/m
	"$KNOWN" a.data build_ids=0 ./n plain=6 leaf=4 middle=9 outer=2
	"$KNOWN" b.data build_ids=0 ./other/m plain=6 leaf=5 middle=8 outer=2
	[ "$(rows -q a.data b.data | grep -c 'now in m$')" = 4 ]
	# three functions in common say too little
	"$KNOWN" b.data build_ids=0 ./other/m plain=6 leaf=5 middle=8
	[ "$(rows -q a.data b.data | grep -c 'now in m$')" = 0 ]
}

@test "a part of a function that the compiler cut finds its pair" {
	"$KNOWN" a.data ./n faults=6 leaf=4
	"$KNOWN" b.data ./n faults.cold=7 leaf=3
	diff <(rows -q a.data b.data) - <<-'END'
		60.00% +10.00% n [.] faults now faults.cold
		40.00% -10.00% n [.] leaf
	END
	"$KNOWN" b.data ./n faults.cold=3 faults=4 leaf=3
	[ "$(rows -q a.data b.data | grep -c new)" = 1 ]
}

@test "a function that is in another binary now finds its pair, if the old one is there" {
	cp n other/lib
	"$KNOWN" a.data ./w foo=5 ./n touch=5
	"$KNOWN" b.data ./w foo=5 ./n leaf=1 ./other/lib touch=4
	[ "$(rows -q a.data b.data | grep touch)" = "50.00% -10.00% n [.] touch now in lib" ]
	"$KNOWN" b.data ./w foo=5 ./other/lib leaf=1 touch=4 outer=2
	"$KNOWN" a.data build_ids=0 ./w foo=5 ./n touch=5
	[ "$(rows -q a.data b.data | grep -c 'touch gone')" = 1 ]
}

@test "code without names is not paired by address in another build" {
	strip -R .note.gnu.build-id -o s w
	mkdir -p newer
	strip -R .note.gnu.build-id -o newer/s n
	"$KNOWN" s1.data ./s 0x1150=5 0x11a0=7x2
	"$KNOWN" s2.data ./newer/s 0x1300=6 0x1400=9x2
	[[ $(rows -q s1.data s2.data) == "100.00% +0.00% s "*" all code without names" ]]
}

@test "rates: seconds of CPUs, and events, a second" {
	# 1000 samples of 1 ms in 1 s, and 1000 in 2 s
	"$KNOWN" a.data step=1001001 ./w foo=1000000x750 bar=1000000x250
	"$KNOWN" b.data step=2002002 ./w foo=1000000x500 bar=1000000x500
	diff <(rows -q --rate a.data b.data) - <<-'END'
		0.7500 -0.5000 w [.] foo
		0.2500 +0.0000 w [.] bar
	END
	diff <(rows -q --rate -c ratio a.data b.data) - <<-'END'
		0.2500 1.000000 w [.] bar
		0.7500 0.333333 w [.] foo
	END
	"$KNOWN" a.data events=2 step=1001001 ./w foo=3x1000
	[ "$(rows -q --rate a.data a.data)" = "3000.0000 +0.0000 w [.] foo" ]
}

@test "--before and --after are two parts of one recording" {
	"$KNOWN" a.data ./w foo=1x40 bar=1x60 foo=1x30 bar=1x70
	diff <(rows -q --before 0%-50% --after 50%-100% a.data) <(rows -q --time 0%-50%:50%-100% a.data a.data)
	[ "$(rows -q --before 1000,1000.100 --after 1000.101,1000.200 a.data | sort)" = \
		"40.00% -10.00% w [.] foo
60.00% +10.00% w [.] bar" ]
	"$BPFPROF" diff --before 0%-50% --after 50%-100% a.data | grep -F '[0] a.data 0%-50% (Baseline)'
	cp a.data perf.data
	[ "$(rows -q --before 0%-50% --after 50%-100% | wc -l)" = 2 ]
}

@test "-v tells binaries apart by path" {
	mkdir -p x
	cp n x/w
	"$KNOWN" a.data ./w foo=6
	"$KNOWN" b.data ./x/w leaf=6
	[ "$("$BPFPROF" diff -v a.data b.data | grep -c '\./x/w ')" = 1 ]
	"$BPFPROF" diff -v a.data b.data | grep -F '[1] b.data'
}

@test "-D prints every record of each file first" {
	need_perf
	same_diff -D v1.data v2.data
}

# --- which files ---

@test "without names perf.data.old is compared with perf.data, and with a single one" {
	"$KNOWN" perf.data.old ./w foo=6 main=4
	"$KNOWN" perf.data ./w foo=4 main=6
	"$KNOWN" third.data ./w foo=6 main=4
	[ "$(rows -q -S foo)" = "60.00% -20.00% w" ]
	[ "$(rows -q -S foo third.data)" = "60.00% +0.00% w" ]
	rm perf.data.old
	fails_with 1 "cannot open perf.data.old: No such file or directory; name the recordings: bpfprof diff OLD NEW" \
		"$BPFPROF" diff
}

@test "config: diff.order and diff.compute; the command line is stronger" {
	printf '[diff]\n\torder = 0\n\tcompute = ratio\n' >config
	diff <(PERF_CONFIG=$PWD/config rows -q v1.data v2.data) <(rows -q -o 0 -c ratio v1.data v2.data)
	diff <(PERF_CONFIG=$PWD/config rows -q -c delta -o 1 v1.data v2.data) \
		<(rows -q -c delta v1.data v2.data)
	diff <(rows -q -c +delta v1.data v2.data) <(rows -q -c delta v1.data v2.data)
	printf '[diff]\n\tcompute = wdiff\n' >config
	PERF_CONFIG=$PWD/config fails_with 2 "diff.compute of the config file is wdiff, which needs weights; give them with -c wdiff:W1,W2" \
		"$BPFPROF" diff v1.data v2.data
}

@test "what cannot be is answered in one line" {
	fails_with 2 "diff: -c ratoi: no such method; did you mean ratio?" \
		"$BPFPROF" diff -c ratoi v1.data v2.data
	fails_with 2 "-c cycles: v1.data has no branches; record with -b, where the CPU counts cycles of branches" \
		"$BPFPROF" diff -c cycles v1.data v2.data
	fails_with 2 "diff: -c wdiff:1,0: wdiff needs two weights; give wdiff:W1,W2, whole numbers but 0: W1 for the baseline, W2 for the other" \
		"$BPFPROF" diff -c wdiff:1,0 v1.data v2.data
	fails_with 2 "diff: -c delta:3: delta takes nothing behind a colon; only wdiff does" \
		"$BPFPROF" diff -c delta:3 v1.data v2.data
	fails_with 2 "-o 2: there are only 2 recordings; 0 is the baseline, 1 the first recording behind it" \
		"$BPFPROF" diff -o 2 v1.data v2.data
	fails_with 2 "v1.data: samples of 'cpu-clock' do not say on which CPU they were taken; leave --cpu out, or record with -a" \
		"$BPFPROF" diff --cpu 0 v1.data v2.data
	fails_with 2 "--time '1,2:3,4' says nothing of recording 3; part them by \":\", one for each recording" \
		"$BPFPROF" diff --time 1,2:3,4 v1.data v2.data v1.data
	fails_with 2 "--before and --after belong together; give both, such as --before 0%-50% --after 50%-100%" \
		"$BPFPROF" diff --after 0%-50% v1.data
	fails_with 2 "--strict-perf and --rate: perf has no rates; leave one of them out" \
		"$BPFPROF" diff --strict-perf --rate v1.data v2.data
	run "$BPFPROF" diff --strict-pref v1.data v2.data
	[ "$status" = 2 ]
	[[ $output == *"did you mean --strict-perf"* ]]
}

@test "what is whole of a recording that was cut is shown, and the damage said in one line" {
	local pair
	head -c $(($(stat -c %s v1.data) * 2 / 3)) v1.data >cut.data
	for pair in "cut.data v2.data" "v2.data cut.data"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr "$BPFPROF" diff -q $pair
		[[ ${lines[0]} == *" w "* || ${lines[0]} == *" n "* ]]
		# shellcheck disable=SC2154
		[ "${#stderr_lines[@]}" = 1 ]
		[[ ${stderr_lines[0]} == "bpfprof: cut.data is cut"*" shown" ]]
	done
}
