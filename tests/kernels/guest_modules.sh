#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Modules that are loaded and unloaded while the daemon runs, inside a guest. Each has a thread of its own
# name, which says what the truth is; the second one likely lies where the first one was.

# shellcheck source=tests/kernels/guest_tap.sh
. /guest_tap.sh

mkdir -p /tmp/modules && cd /tmp/modules || exit

# Thread, binary and function of all samples of the modules' threads.
shown() {
	bpfprof report --store store --at '@0..@9999999999' -s comm,dso,symbol -g none --no-children |
		grep '% *busy_'
}

# sampled MODULE FUNCTION
sampled() {
	shown | grep "% *$1 *\[$1\].*\] $2 *$"
}

place() {
	sed -n "s/^$1 .* 0x/0x/p" /proc/modules | cut -d ' ' -f 1
}

none() {
	! grep "$1" samples
}

modules_that_come_later_have_their_names() {
	bpfprof daemon --store store --window 5s -F 199 --max-cpu none 2>log &
	await says 'sampling at' || { cat log; return 1; }
	insmod /modules/busy_one.ko
	place busy_one >places
	await sampled busy_one spin_in_one
	rmmod busy_one
	insmod /modules/busy_two.ko
	place busy_two >>places
	await sampled busy_two spin_in_two
	# The same again: it may come back elsewhere.
	rmmod busy_two
	insmod /modules/busy_one.ko
	place busy_one >>places
	kill -INT $!
	wait $!
	rmmod busy_one
}

none_has_the_names_of_another_one() {
	cat places
	shown >samples
	cat samples
	grep -q 'busy_two.*spin_in_two' samples
	none '% *busy_two .*spin_in_one'
	none '% *busy_one .*spin_in_two'
	none '% *busy_one *\[busy_two\]'
	none '% *busy_two *\[busy_one\]'
}

# Between two looks nobody knows whose code it was: of five seconds at most, each time.
most_samples_of_them_have_names() {
	awk '{ sub(/%/, "", $1); all += $1 } / spin_in_| busy_run/ { named += $1 }
		END { print named, "of", all; exit named < all / 2 }' samples
}

run_tests "$0"
