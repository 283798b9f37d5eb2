# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Samples by cgroup, container and unit.
# Runs beside others.

load common

ID=3f0e5a9b6c1d2e4f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f
OTHER=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
POD=/kubepods.slice/kubepods-pod1.slice

record() {
	python3 "$BATS_TEST_DIRNAME/cgroup_recording.py" "$@"
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	record one.data 1:/=1 2:/system.slice/nginx.service=3 "3:/system.slice/docker-$ID.scope=4" \
		"4:$POD/cri-containerd-$OTHER.scope=2" 9:?=1
	# after a restart: other ids, and one of before is another's
	record two.data 3:/system.slice/nginx.service=2 2:/system.slice/nginx.service/worker=1
	mkdir -p store/windows/20261121
	echo "bpfprof store 1" >store/format
	cp one.data store/windows/20261121/140000.data
	cp two.data store/windows/20261121/140100.data
	# shellcheck disable=SC2119
	record none.data
}

setup() {
	export TZ=UTC
	cd "$BATS_FILE_TMPDIR" || return
}

# Of the lines of a report, the number of samples and the key, sorted.
by() {
	local keys=$1
	shift
	"$BPFPROF" report -n --no-children -g none -q -t, -s "$keys" "$@" 2>/dev/null | cut -d, -f2- |
		tr -d ' ' | grep . | LC_ALL=C sort
}

count() {
	"$BPFPROF" script -F comm "$@" 2>/dev/null | grep -c worker
}

@test "perf reads it as we do" {
	need_perf
	"$PERF" report -i one.data --stdio --no-children -s cgroup -n -t, 2>stderr |
		grep -v '^#' | cut -d, -f2- | tr -d ' ' | grep . | LC_ALL=C sort >perfs
	by cgroup -i one.data >ours
	diff perfs ours
	lacks "$(<stderr)" arning
}

@test "perf finds the cgroups of a store in what is exported of it" {
	need_perf
	local time='2026-11-21 14:00..2026-11-21 14:02'
	"$BPFPROF" export --store store --at "$time" --format perfdata -o exported.data 2>/dev/null
	"$PERF" report -i exported.data --stdio --no-children -s cgroup -n -t, 2>/dev/null |
		grep -v '^#' | cut -d, -f2- | tr -d ' ' | grep . | LC_ALL=C sort >perfs
	by cgroup --store store --at "$time" >ours
	diff perfs ours
	grep -q '^5,/system.slice/nginx.service$' ours
}

@test "containers and units are keys" {
	diff - <(by container -i one.data) <<-END
		1,unknown
		2,001122334455
		4,3f0e5a9b6c1d
		4,[none]
	END
	diff - <(by unit -i one.data) <<-END
		1,[none]
		1,unknown
		2,cri-containerd-$OTHER.scope
		3,nginx.service
		4,docker-$ID.scope
	END
	"$BPFPROF" report -i one.data --no-children --json -s container,unit >out.json
	[ "$(jq -r '.events[0].entries[0].container' out.json)" = "$ID" ]
	[ "$(jq '[.events[0].entries[] | select(.container)] | length' out.json)" = 3 ]
}

@test "samples are chosen by cgroup, container and unit" {
	[ "$(count -i one.data)" = 11 ]
	[ "$(count -i one.data --cgroup /system.slice)" = 7 ]
	[ "$(count -i one.data --cgroup system.slice/)" = 7 ]
	[ "$(count -i one.data --cgroup /system)" = 0 ]
	[ "$(count -i one.data --cgroup /)" = 10 ]
	[ "$(count -i one.data --cgroup "$POD,/system.slice/nginx.service")" = 5 ]
	[ "$(count -i one.data --container 3f0e5)" = 4 ]
	[ "$(count -i one.data --container "$OTHER,3f0e5")" = 6 ]
	[ "$(count -i one.data --container "${OTHER}0")" = 0 ]
	[ "$(count -i one.data --unit nginx)" = 3 ]
	[ "$(count -i one.data --unit nginx.service)" = 3 ]
	[ "$(count -i one.data --unit ngin)" = 0 ]
	[ "$(count -i one.data --unit nginx --container 3f0e5)" = 0 ]
}

@test "every command chooses alike" {
	[ "$(by comm -i one.data --unit nginx)" = 3,worker ]
	[ "$("$BPFPROF" export -i one.data --container 3f 2>/dev/null | sed 's/.* //')" = 4 ]
	"$BPFPROF" export -i one.data --container 3f --format perfdata -o chosen.data
	[ "$(count -i chosen.data)" = 4 ]
	"$BPFPROF" diff one.data two.data --unit nginx | grep 'in 3 and 3 samples'
}

@test "in a store a path is what counts, not its id" {
	diff - <(by cgroup --store store) <<-END
		1,/
		1,/system.slice/nginx.service/worker
		1,unknown
		2,$POD/cri-containerd-$OTHER.scope
		4,/system.slice/docker-$ID.scope
		5,/system.slice/nginx.service
	END
	[ "$(by unit --store store --unit nginx)" = 6,nginx.service ]
	[ "$(count --store store --unit nginx)" = 6 ]
	"$BPFPROF" export --store store --unit nginx -q --format perfdata -o all.data
	[ "$(by unit -i all.data)" = 6,nginx.service ]
	"$BPFPROF" diff --store store --before '2026-11-21 14:00..14:01' \
		--after '2026-11-21 14:01..14:02' --unit nginx | grep 'in 3 and 3 samples'
}

@test "a recording without cgroups is refused, and so is what nothing is of" {
	python3 "$BATS_TEST_DIRNAME/known_recording.py" plain.data "$WORKLOADS/mainbarfoo" main=1
	for command in "report -i" "script -i" "export -i" "diff plain.data"; do
		# shellcheck disable=SC2086
		run "$BPFPROF" $command plain.data --unit nginx
		[ "$status" = 2 ]
		[[ "${lines[-1]}" == *"do not say of which cgroup they are; record with --all-cgroups" ]]
	done
	run "$BPFPROF" report -i one.data --unit none
	[ "$status" = 1 ]
	[[ "${lines[-1]}" == *"has no samples that the filters leave"* ]]
}

# none_found SENTENCE COMMAND...: status 1, nothing but that line behind what is said of the index
none_found() {
	local sentence=$1 found=0
	shift
	"$BPFPROF" "$@" >stdout 2>stderr || found=$?
	[ "$found" = 1 ] || { echo "status $found"; return 1; }
	[ ! -s stdout ] || return
	diff <(echo "bpfprof: $sentence") <(tail -n 1 stderr)
}

@test "what no window of a store has is said in one line, by every command" {
	local command parts=(--before '2026-11-21 14:00' --after '2026-11-21 14:01')
	for command in report "export -o none.out" "export --format pprof -o none.out" "diff"; do
		# shellcheck disable=SC2086
		[ "$command" = diff ] || set -- $command
		[ "$command" != diff ] || set -- diff "${parts[@]}"
		none_found "no samples of unit nope in these 2 windows" "$@" --store store --unit nope
		none_found "no samples of process 999999 in these 2 windows" "$@" --store store --pid 999999
		none_found "no samples of unit nginx and thread 7 in these 2 windows" "$@" --store store \
			--unit nginx --tid 7
	done
	[ ! -e none.out ]
	none_found "no samples of container x in this window" export --store store --at '2026-11-21 14:00' \
		--format perfdata -o none.data --container x
	[ ! -e none.data ]
	none_found "no samples of command nope in these 2 windows" report --store store --comms nope
	none_found "no samples of command nope in these 2 windows" diff "${parts[@]}" --store store --comms nope
	# what only one side has is a change
	"$BPFPROF" diff "${parts[@]}" --store store --container 3f0e | grep 'gone'
}
