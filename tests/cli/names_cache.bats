#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Names that are kept: of binaries that have been replaced or deleted since, and within bounds.

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

@test "a program that was replaced keeps its own names" {
	[ "$(names)" = spin_here ]
	cp "$BATS_FILE_TMPDIR/there" "$PROGRAM"
	[ "$(names)" = spin_here ]
	[[ $(names --no-cache) == 0x* ]]
}
