#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof diff: what is beyond chance. The recordings are made: `same1.data` and `same2.data` are what
# two runs of tests/workloads/shares may look like, `more1.data` and `more2.data` have another 30 chunks
# of 100 in part_6. How often live recordings of equal loads are told apart is for `make bench
# BENCH=false-alarms` to say: an error is allowed there now and then.
#
# Runs beside others.

load common

setup_file() {
	export PAGER=cat DEBUGINFOD_URLS=
	KNOWN=$(realpath "$BATS_TEST_DIRNAME/known_recording.py")
	export KNOWN
	cd "$BATS_FILE_TMPDIR" || return
	shares same1.data 40 1200 800 600 400 320 280 200 120 40 40
	shares same2.data 40 1225 790 592 408 311 286 206 112 36 45
	shares more1.data 40 1200 800 600 400 320 280 1400 120 40 40
	shares more2.data 40 1188 809 610 395 324 273 1412 126 43 35
	shares few1.data 1 6 4 3 2 2 1 1 1
	shares few2.data 1 7 4 3 2 1 1 1 0 1
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# shares FILE START COUNT...: a recording with START samples in _start, and below main so many in part_0,
# part_1, …
shares() {
	local file=$1 part=0 samples=("shares:_start=200000x$2")
	shift 2
	for count; do
		[ "$count" = 0 ] || samples+=("shares:part_$part<main<_start=200000x$count")
		part=$((part + 1))
	done
	"$KNOWN" "$file" chains=1 shuffle=1 "$WORKLOADS/shares" "${samples[@]}"
}

# marked FILES...: the functions of the program that are marked
marked() {
	"$BPFPROF" diff -q --significant "$@" | awk '/ shares / { print $NF }'
}

@test "of two runs of one program nothing of it is marked" {
	[ -z "$(marked same1.data same2.data)" ]
	"$BPFPROF" diff same1.data same2.data >all
	grep -E ' part_0$' all
	grep -E '^# [0-9]+ of [0-9]+ lines changed beyond chance \(\*\), in [0-9 ]+ and [0-9 ]+ samples' all
	grep '^# What would have been found: ' all
}

@test "a function that takes twenty points more is marked, with the interval that holds them" {
	marked same1.data more1.data | grep -x part_6
	"$BPFPROF" diff -q same1.data more1.data | awk '$NF == "part_6"' >line
	read -r _ delta interval mark _ <line
	[ "$mark" = "*" ]
	# From 200 of 4,040 samples to 1,400 of 5,240. The interval is 1.96 standard deviations of that many
	# at the least; there is more in it, as nothing is known of how runs differ.
	awk -v delta="${delta%\%}" -v interval="${interval%\%}" 'BEGIN {
		old = 200 / 4040; new = 1400 / 5240; off = delta - 100 * (new - old)
		least = 196 * sqrt(old * (1 - old) / 4040 + new * (1 - new) / 5240)
		exit !(off ^ 2 < 0.006 ^ 2 && interval > least - 0.01 && interval < 10) }'
}

@test "in live recordings a function that takes twenty points more is marked" {
	need_root
	"$BPFPROF" record -q -F 4999 -o live.data -- "$WORKLOADS/shares" 60000
	"$BPFPROF" record -q -F 4999 -o live-more.data -- "$WORKLOADS/shares" 78000 30
	# 1,000 samples each at the least, mostly some thousand: the change is more than ten standard deviations
	[ "$(samples live.data)" -gt 1000 ]
	marked live.data live-more.data | grep -x part_6
}

@test "several runs a side are told from one another by a colon" {
	marked same1.data same2.data : more1.data more2.data | grep -x part_6
	[ -z "$(marked same1.data : same2.data)" ]
	"$BPFPROF" diff same1.data same2.data : more1.data more2.data >all
	grep -F '#  [0] same1.data same2.data (Baseline)' all
	grep -F '#  [1] more1.data more2.data ' all
	grep -F '# t test with the spread of 2 and 2 recordings;' all
	"$BPFPROF" diff -q -c ratio same1.data same2.data : more1.data more2.data | grep -E '\* +shares .* part_6$'
}

@test "few samples are said to be too few" {
	"$BPFPROF" diff -q few1.data few2.data | grep -E ' \?  '
	"$BPFPROF" diff few1.data few2.data | grep -E '; [0-9]+ more have too few \(\?\)'
}

@test "with what they called, functions are marked too" {
	"$BPFPROF" diff -q --children --significant same1.data more1.data >marked
	grep -E '\* +shares .* part_6$' marked
	lacks -E ' main$' marked # has all of both
	"$BPFPROF" diff -q --children same1.data more1.data | grep -E '^ +9[0-9]\.[0-9]+%.* main$'
}

@test "what perf does not have is refused with --strict-perf" {
	fails_with 2 "perf has no test of significance; leave --strict-perf out" \
		"$BPFPROF" diff --strict-perf --significant same1.data same2.data
	"$BPFPROF" diff --strict-perf same1.data same2.data >strict
	lacks -F '+/-' strict
	lacks 'beyond chance' strict
}

@test "a side without recordings is refused" {
	fails_with 2 "there is no recording on one side of ':'; write OLD1 OLD2 : NEW1 NEW2" \
		"$BPFPROF" diff same1.data :
	fails_with 2 "there is no recording on one side of ':'; write OLD1 OLD2 : NEW1 NEW2" \
		"$BPFPROF" diff : same1.data
}

# ends STATUS COMMAND...: it ends with that status, and what it says on standard error is in `said`
ends() {
	local status=$1 found=0
	shift
	"$@" >shown 2>said || found=$?
	[ "$found" -eq "$status" ] || { echo "status $found"; cat said; return 1; }
}

@test "conditions that hold for a line end with status 3, and the line is named" {
	ends 3 "$BPFPROF" diff --fail-if 'delta>4%,p<0.01' same1.data more1.data
	grep -E '^bpfprof: --fail-if holds for one line: part_6 of shares, [0-9.]+% to [0-9.]+%, p = ' said
	[ "$(wc -l <said)" = 1 ]
	grep -q ' part_6' shown
	ends 0 "$BPFPROF" diff --fail-if 'delta>4%,p<0.01' same1.data same2.data
	[ ! -s said ]
	ends 0 "$BPFPROF" diff --fail-if 'delta>50%' same1.data more1.data
	ends 0 "$BPFPROF" diff --fail-if 'delta>4%,sym=part_5' same1.data more1.data
	ends 3 "$BPFPROF" diff --fail-if 'abs>=4,sym=part_6,dso=shares' same1.data more1.data
	ends 3 "$BPFPROF" diff --fail-if 'delta<-4%,p<=1%' more1.data same1.data
	ends 3 "$BPFPROF" diff --fail-if 'ratio>1.5,p<0.01' same1.data more1.data
	ends 3 "$BPFPROF" diff -s sym --fail-if 'delta>90' --fail-if 'delta>4,p<0.01' same1.data more1.data
}

@test "a line that is new or vanished can be asked for" {
	"$KNOWN" other.data "$WORKLOADS/mainbarfoo" foo=1x120 bar=1x80
	ends 3 "$BPFPROF" diff --fail-if 'new,sym=foo' same1.data other.data
	ends 3 "$BPFPROF" diff --fail-if 'vanished,sym=part_0' same1.data other.data
	ends 0 "$BPFPROF" diff --fail-if 'new,sym=part_0' same1.data other.data
}

# refused EXPRESSION PLACE WHAT
refused() {
	fails_with 2 "'$1', $2: $3; conditions are delta, abs, ratio or p with < <= > >= and a number; new; vanished; sym=NAME; dso=NAME; with commas between them" \
		"$BPFPROF" diff --fail-if "$1" same1.data same2.data
}

@test "a wrong condition is refused, and its place named" {
	refused 'delta>2%,q<0.01' "character 10, 'q<0.01'" "no such condition"
	refused 'delta' "character 6, ''" "here should be < <= > or >="
	refused 'delta=2' "character 7, '2'" "here should be < <= > or >="
	refused 'p<' "character 3, ''" "here should be a number"
	refused 'p<nan' "character 3, 'nan'" "here should be a number"
	refused 'delta>2% p<1' "character 9, ' p<1'" "here should be a comma, or the end"
	refused 'new,' "character 5, ''" "no such condition"
	refused 'sym=' "character 5, ''" "here should be a name"
	refused ',new' "character 1, ',new'" "no such condition"
}

@test "--json has every line, with figures and verdict" {
	"$BPFPROF" diff --json same1.data more1.data >diff.json
	jq -e '.version == 1 and .alpha == 0.05' diff.json
	jq -e '.events[0].sides | length == 2 and .[0].recordings == "same1.data" and
		.[1].lines_beyond_chance >= 1 and .[1].lines_tested > 5' diff.json
	jq -e '.events[0].lines[] | select(.symbol == "part_6") | .dso == "shares" and
		(.others[0] | .chance == "beyond" and .adjusted_p < 0.001 and .delta_low < .delta and
		.delta < .delta_high and .samples > 0 and .ratio > 2) and .baseline.percent < 10' diff.json
	"$BPFPROF" diff -q same1.data more1.data >table
	[ "$(jq '.events[0].lines | length' diff.json)" = "$(grep -c ' \[' table)" ]
	"$BPFPROF" diff --json --significant same1.data more1.data |
		jq -e '[.events[0].lines[].others[0].chance] | unique == ["beyond"]'
}

@test "--csv is a table that other programs read" {
	"$BPFPROF" diff --csv -s comm,sym same1.data more1.data same2.data >diff.csv
	python3 - <<-'END'
		import csv
		raw = open("diff.csv", "rb").read()
		assert raw.count(b"\n") == raw.count(b"\r\n")
		rows = list(csv.DictReader(open("diff.csv", newline="")))
		assert None not in rows[0] and len(rows) > 10
		row = next(row for row in rows if row["Symbol"].endswith("part_6"))
		assert row["event"] == "cpu-clock" and row["Command"] == "shares"
		assert row["chance_1"] == "beyond" and row["chance_2"] == "within"
		assert float(row["delta_low_1"]) < float(row["delta_1"]) < float(row["delta_high_1"])
		share = float(row["percent_1"]) - float(row["percent_0"])
		assert abs(share - float(row["delta_1"])) < 1e-6
	END
}

@test "one output at a time" {
	fails_with 2 "--json and --csv: there is only one output; leave one of them out" \
		"$BPFPROF" diff --json --csv same1.data same2.data
	fails_with 2 "--rate and --fail-if: it is shares that are tested; leave one of them out" \
		"$BPFPROF" diff --rate --fail-if new same1.data same2.data
}

@test "--paths shows as a tree which call path grew" {
	"$BPFPROF" diff --paths same1.data more1.data >paths
	grep -F "# Call paths of event 'cpu-clock': what changed by 0.5 points or more, or beyond chance (*)" paths
	# part_6 stands right below main, two columns further right.
	awk '/ main$/ { main = index($0, "main") } / \* +part_6$/ { part = index($0, "part_6") }
		END { exit !(main && part == main + 2) }' paths
	"$BPFPROF" diff -q --paths --significant same1.data more1.data >paths
	grep -E ' part_6$' paths
	"$BPFPROF" diff -q --paths --significant same1.data same2.data | lacks part_
	"$BPFPROF" diff -q --paths --least 50 same1.data same2.data | lacks part_
}

@test "--paths --json holds the same paths, each with its functions" {
	"$BPFPROF" diff --paths --json same1.data more1.data >paths.json
	"$BPFPROF" diff -q --paths same1.data more1.data | awk '{ print $NF }' >names
	diff names <(jq -r '.events[0].trees[0].paths[].path[-1]' paths.json)
	jq -e '.events[0].trees[0].paths | any(.path[-2:] == ["main", "part_6"] and .delta > 0.5 and
		.dso == "shares")' paths.json
	"$BPFPROF" diff --paths --json --significant same1.data same2.data |
		jq -e '[.events[0].trees[0].paths[] | select(.path[-1] | startswith("part_"))] == []'
}

@test "paths are text or JSON, and of shares" {
	fails_with 2 "--paths and --csv: paths are text or JSON, and of shares; leave one of them out" \
		"$BPFPROF" diff --paths --csv same1.data same2.data
	fails_with 2 "perf has no diff of call paths; leave --strict-perf out" \
		"$BPFPROF" diff --paths --strict-perf same1.data same2.data
}
