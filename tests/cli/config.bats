#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Config files, shared with perf.
#
# Runs beside others.

load common

setup_file() {
	export RECORDING=$BATS_FILE_TMPDIR/perf.data
	[ "$(id -u)" = 0 ] || return 0
	"$BPFPROF" record -q -F 999 -o "$RECORDING" -- "$WORKLOADS/mainbarfoo" 200
}

setup() {
	need_root
	export HOME=$BATS_TEST_TMPDIR
	unset PERF_CONFIG
	cd "$HOME" || return
}

# The title line of the report.
titles() {
	"$BPFPROF" report -i "$RECORDING" "$@" | grep -m1 -E '^# +(Children|Overhead)'
}

@test "without a config file the report has children and self" {
	[[ $(titles) == *Children*Self* ]]
}

@test "perf's file in the home directory sets report.children" {
	printf '[report]\n\tchildren = false\n' >.perfconfig
	[[ $(titles) == *Overhead* ]]
}

@test "our file wins over perf's, and the command line over both" {
	printf '[report]\n\tchildren = false\n' >.perfconfig
	printf '[report]\n\tchildren = true\n' >.bpfprofconfig
	[[ $(titles) == *Children* ]]
	[[ $(titles --no-children) == *Overhead* ]]
}

@test "PERF_CONFIG names the only file" {
	printf '[report]\n\tchildren = false\n' >.perfconfig
	printf '[report]\n# nothing here\n' >mine
	[[ $(PERF_CONFIG=mine titles) == *Children* ]]
}

@test "the sort order and the call graph come from it too" {
	printf '[report]\n  sort-order = comm\n[call-graph]\n  print-type = none\n' >.perfconfig
	"$BPFPROF" report -i "$RECORDING" >shown
	grep -q '^# .*Command' shown
	[ "$(grep -c Symbol shown)" -eq 0 ]
	[ "$(grep -c -e "---" shown)" -eq 0 ]
}

# Whether `record OPTION...` records stacks.
has_stacks() {
	"$BPFPROF" record -q -o stacks.data "$@" -- true &&
		[[ $("$BPFPROF" report -i stacks.data --header-only) == *CALLCHAIN* ]]
}

@test "how stacks are walked is taken from perf's key, and the command line wins" {
	has_stacks
	printf '[call-graph]\n\trecord-mode = none\n' >.perfconfig
	run ! has_stacks
	has_stacks --call-graph fp
	has_stacks -g
	printf '[call-graph]\n\trecord-mode = lbr\n' >.perfconfig
	run -2 "$BPFPROF" record -q -- true
	[[ $output == "bpfprof: call-graph lbr: "*"; use --call-graph auto" ]]
	has_stacks --call-graph auto
}

@test "keys of perf that we do not know are left alone" {
	printf '[colors]\n\ttop = red, default\n[tui]\n\treport = on\n[buildid]\n\tdir = "~/x"\n' \
		>.perfconfig
	run "$BPFPROF" report -i "$RECORDING"
	[ "$status" -eq 0 ]
}

@test "in our file a key or section that nobody knows is told once, and the rest is taken" {
	printf '[report]\n\tchildern = true\n\tchildren = false\n[reports]\n\ta = 1\n\tb = 2\n' >.bpfprofconfig
	printf '[daemon]\n\tfreq = 9\n\tnonsense = 1\n[cache]\n\tsize = 1M\n' >>.bpfprofconfig
	run --separate-stderr titles
	[ "$status" -eq 0 ]
	[[ $output == *Overhead* ]]
	# shellcheck disable=SC2154
	[ "$stderr" = "bpfprof: $HOME/.bpfprofconfig line 2: unknown key report.childern; did you mean report.children?
bpfprof: $HOME/.bpfprofconfig line 5: unknown section [reports]; did you mean [report]?" ]
}

@test "a file of another user is not read, which is told" {
	printf '[report]\n\tchildren = false\n' >.bpfprofconfig
	chown nobody .bpfprofconfig
	run --separate-stderr titles
	[[ $output == *Children* ]]
	[ "$stderr" = "bpfprof: $HOME/.bpfprofconfig is not read: it is user $(id -u nobody)'s; give it to who runs bpfprof, or to root" ]
}

@test "what every command may find in a file of settings is told by none of them" {
	cp "$BATS_TEST_DIRNAME/../../user/service/bpfprofconfig.example" .bpfprofconfig
	cat >>.bpfprofconfig <<-END
		[report]
			children = false
			sort-order = comm
			queue-size = 1
		[call-graph]
			print-type = none
			record-mode = none
			threshold = 1
		[cache]
			size = 1M
		[store]
			dir = $PWD/store
		[diff]
			order = 0
			alpha = 1%
		[hist]
			percentage = relative
		[top]
			children = true
		[colors]
			top = red
	END
	for command in "report -i $RECORDING" "script -i $RECORDING" "diff $RECORDING $RECORDING" list \
		"record -q -o new.data -- true" "-q -o new.data -- true" "export --since 1h" \
		"daemon --store store --once --window 1s --max-cpu none"; do
		# shellcheck disable=SC2086
		"$BPFPROF" $command >/dev/null 2>said || true
		lacks -E 'unknown|bpfprofconfig' said
	done
}

@test "a wrong line is named" {
	printf '[report]\n\tchildren = false\n\tsort-order comm\n' >.perfconfig
	run "$BPFPROF" report -i "$RECORDING"
	[ "$status" -ne 0 ]
	[ "$output" = "bpfprof: report: $HOME/.perfconfig line 3: no = behind the key" ]
}

@test "a wrong value is named with its key and line" {
	printf '[report]\n\n\tchildren = perhaps\n' >.perfconfig
	run "$BPFPROF" report -i "$RECORDING"
	[ "$status" -eq 2 ]
	[ "$output" = "bpfprof: report: $HOME/.perfconfig line 3: report.children: 'perhaps' is neither yes nor no; give true or false" ]
}

@test "a file that PERF_CONFIG names and that is not there is told" {
	PERF_CONFIG=/no/such run "$BPFPROF" report -i "$RECORDING"
	[ "$status" -eq 1 ]
	[ "$output" = 'bpfprof: report: cannot read /no/such: No such file or directory' ]
}

@test "a command without such options reads no config file" {
	printf 'broken' >.perfconfig
	run "$BPFPROF" check --json
	[ "$status" -eq 0 ]
}
