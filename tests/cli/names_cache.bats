#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Names that are kept: of binaries that have been replaced or deleted since, and within bounds.
#
# Runs beside others.

load common

setup_file() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return
	mkdir bin
	printf 'int %s(void) { for (volatile long i = 0; i < 400000000; i++); return 0; }
int main(void) { return %s(); }\n' spin_here spin_here >here.c
	sed 's/spin_here/spin_there/' here.c >there.c
	gcc -g -O1 -fno-inline -Wl,--build-id -o here here.c
	gcc -g -O1 -fno-inline -Wl,--build-id -o there there.c
	cp here bin/program
	"$BPFPROF" record -q -F 999 -o recorded.data -- ./bin/program
}

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
	export XDG_CACHE_HOME=$PWD/caches FOLDER=$PWD/caches/bpfprof/names HOME=$PWD
	export RECORDED=$BATS_FILE_TMPDIR/recorded.data PROGRAM=$BATS_FILE_TMPDIR/bin/program
	cp "$BATS_FILE_TMPDIR/here" "$PROGRAM"
}

# The symbols of the program's own time.
names() {
	"$BPFPROF" report -i "$RECORDED" -d program -s symbol -g none --no-children "$@" 2>warnings |
		awk '/%/ { print $3 }' | head -1
}

# The file that keeps what the program has of a kind.
kept() {
	local id
	id=$(readelf -n "$BATS_FILE_TMPDIR/here" | awk '/Build ID/ { print $3 }')
	echo "$FOLDER/${id:0:2}/${id:2}.$1"
}

@test "a program that was deleted keeps its names" {
	[ "$(names)" = spin_here ]
	[ -s "$(kept names)" ]
	rm "$PROGRAM"
	[ "$(names)" = spin_here ]
	"$BPFPROF" script -i "$RECORDED" -F ip,sym | grep spin_here
}

@test "without the cache a program that was deleted has none, and none are kept" {
	[ "$(names --no-cache)" = spin_here ]
	[ ! -e "$FOLDER" ]
	rm "$PROGRAM"
	[[ $(names) == 0x* ]]
}

@test "lines and inlined functions that were asked for are kept" {
	"$BPFPROF" report -i "$RECORDED" --inline -s symbol,srcline -g none >while_there
	grep -q 'here.c:1' while_there
	rm "$PROGRAM"
	"$BPFPROF" report -i "$RECORDED" --inline -s symbol,srcline -g none >afterwards
	diff while_there afterwards
}

@test "a file of the cache that is damaged is told in one line and made again" {
	names >/dev/null
	for damage in "truncate -s 60" "truncate -s 0" "shred -n 1 -x"; do
		$damage "$(kept names)"
		[ "$(names)" = spin_here ]
		[ "$(grep -c damaged warnings)" = 1 ]
		[ "$(names)" = spin_here ]
		[ ! -s warnings ]
	done
	truncate -s -1 "$(kept names)"
	rm "$PROGRAM"
	[[ $(names) == 0x* ]]
}

# Kernel functions of the recording, without kallsyms.
names_without_kallsyms() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind /dev/null /proc/kallsyms && exec "$0" report "$@"' "$BPFPROF" \
		-i "$BATS_FILE_TMPDIR/kernel.data" "$@" 2>warnings
}

@test "the running kernel is named by what is kept under its build id, if that is whole and ours" {
	local id kernel
	"$BPFPROF" record -q -F 999 -o "$BATS_FILE_TMPDIR/kernel.data" -- \
		dd if=/dev/zero of=/dev/null bs=1M count=10000 2>/dev/null
	"$BPFPROF" report -i "$BATS_FILE_TMPDIR/kernel.data" --no-cache >by_kallsyms
	names_without_kallsyms --no-cache >without
	run ! cmp -s by_kallsyms without
	"$BPFPROF" report -i "$BATS_FILE_TMPDIR/kernel.data" >when_kept
	cmp by_kallsyms when_kept
	names_without_kallsyms >by_cache
	cmp by_kallsyms by_cache
	[ ! -s warnings ]

	id=$(od -An -v -t x1 /sys/kernel/notes | tr -d ' \n' | grep -o '040000001400000003000000474e5500.\{40\}' |
		head -1 | tail -c 41)
	kernel=$FOLDER/${id:0:2}/${id:2}.names
	[ "$(stat -c %a "$kernel")" = 600 ]
	chmod o+w "$kernel"
	names_without_kallsyms >not_believed
	cmp without not_believed
	"$BPFPROF" report -i "$BATS_FILE_TMPDIR/kernel.data" >by_kallsyms_again
	cmp by_kallsyms by_kallsyms_again
	chmod o-w "$kernel"
	for damage in "truncate -s 100" "truncate -s 0" "shred -n 1 -x" "cp $(find "$FOLDER" -name '*.names' -size -8k | head -1)"; do
		$damage "$kernel"
		"$BPFPROF" report -i "$BATS_FILE_TMPDIR/kernel.data" >after_damage 2>warnings
		cmp by_kallsyms after_damage
		[ "$(grep -c damaged warnings)" = 1 ]
		names_without_kallsyms >made_again
		cmp by_kallsyms made_again
		[ ! -s warnings ]
	done
}

@test "cache.dir says where names are kept, and cache.size how many" {
	printf '[cache]\n\tdir = %s/elsewhere\n\tsize = 20K\n' "$PWD" >.bpfprofconfig
	[ "$(PERF_CONFIG='' names)" = spin_here ]
	[ ! -e "$FOLDER" ]
	[ "$(find elsewhere -name '*.names' -printf '%s\n' | awk '{ all += $1 } END { print (all <= 20480) }')" = 1 ]
}

@test "reports at once share one cache" {
	local pids=()
	for i in 1 2 3 4; do
		"$BPFPROF" report -i "$RECORDED" --inline >"out.$i" 2>"err.$i" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid"; done
	[ "$(cat err.*)" = "" ]
	for i in 2 3 4; do cmp out.1 "out.$i"; done
	rm "$PROGRAM"
	[ "$(names)" = spin_here ]
	[ ! -s warnings ]
}

@test "a report does not wait for one that was stopped while it wrote places" {
	"$BPFPROF" report -i "$RECORDED" --inline >expected
	rm -r "$FOLDER"
	mkdir -p "$FOLDER"
	exec 8>"$FOLDER/lock"
	flock 8
	timeout 60 "$BPFPROF" report -i "$RECORDED" --inline >shown 8>&- 2>warnings
	[ "$(find "$FOLDER" -name '*.places')" = "" ]
	exec 8>&-
	cmp expected shown
	[ ! -s warnings ]
	"$BPFPROF" report -i "$RECORDED" --inline >shown
	[ "$(find "$FOLDER" -name '*.places')" != "" ]
	cmp expected shown
}

@test "root keeps no names in the home of another user" {
	mkdir home
	chown 12345 home
	unset XDG_CACHE_HOME
	[ "$(HOME=$PWD/home names)" = spin_here ]
	[ ! -s warnings ]
	[ "$(ls -A home)" = "" ]
}

@test "a program that was replaced keeps its own names" {
	[ "$(names)" = spin_here ]
	cp "$BATS_FILE_TMPDIR/there" "$PROGRAM"
	[ "$(names)" = spin_here ]
	[[ $(names --no-cache) == 0x* ]]
}

# A store with one window of the recording and the names that are kept.
make_store() {
	names >/dev/null
	mkdir -p store/windows/20261121
	echo "bpfprof store 1" >store/format
	cp "$RECORDED" store/windows/20261121/140000.data
	cp -r "$FOLDER" store/names
	export TZ=UTC
}

# names_in_store OPTION...: the symbol of the program's own time, asked as one who has no other names
names_in_store() {
	"$BPFPROF" report --no-cache -d program -s symbol -g none --no-children "$@" 2>warnings |
		awk '/%/ { print $3 }' | head -1
}

@test "names of a store whose writer was not root are read; those that another user could have made are told" {
	make_store
	rm "$PROGRAM"
	chown -R 12345 store
	[ "$(names_in_store --store store --at "2026-11-21 14:00")" = spin_here ]
	[ "$(names_in_store -i store/windows/20261121/140000.data)" = spin_here ]
	lacks names warnings
	chown 23456 store/names
	[[ $(names_in_store --store store --at "2026-11-21 14:00") == 0x* ]]
	[ "$(grep names warnings)" = "bpfprof: the names in store/names may be another user's; give them to the owner of the store, and nobody else" ]
	[[ $(names_in_store -i store/windows/20261121/140000.data) == 0x* ]]
	grep -q "store/names may be another user's" warnings
	# of a version that kept none nothing is said
	rm -r store/names
	[[ $(names_in_store --store store --at "2026-11-21 14:00") == 0x* ]]
	lacks names warnings
}

@test "what is damaged of the names that a store keeps is told in one line by who reads it" {
	make_store
	cp "$RECORDED" store/windows/20261121/150000.data
	find store/names -name '*.names' -exec truncate -s 60 {} +
	rm "$PROGRAM"
	local asks=(report script "export --format folded" diff) ask
	local at=(--at "2026-11-21 14:00") both=(--before "2026-11-21 14:00" --after "2026-11-21 15:00")
	for ask in "${asks[@]}"; do
		[ "$ask" != diff ] || at=("${both[@]}")
		# shellcheck disable=SC2086
		"$BPFPROF" $ask --store store --no-cache "${at[@]}" >shown 2>warnings
		[ "$(grep -c "names kept in store/names/.* are damaged" warnings)" -ge 1 ]
		[ "$(grep "are damaged" warnings | sort | uniq -d | wc -l)" = 0 ]
	done
}
