#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The first process of a guest: runs every test and turns the machine off. Each test's TAP stands
# between "#file NAME" and "#exit STATUS", which tests/count.awk counts; "#end" says that all were run.

/bin/busybox mkdir -p /bin /proc /sys /dev
/bin/busybox --install /bin 2>/dev/null
export PATH=/bin HOME=/ WORKLOADS=/workloads BPFPROF=/bin/bpfprof CMOCKA_MESSAGE_OUTPUT=TAP
export TEST_SLOWNESS=50 # a program takes 25 ms to begin here, and ticks are late
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# A slow machine makes the kernel lower the sampling rate that it allows.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
cd /tmp || exit

echo "#boot $(cut -d ' ' -f 1 /proc/uptime) s, Linux $(uname -r)"
for test in /tests/*; do
	echo "#file ${test##*/}"
	timeout 300 "$test" 2>&1
	echo "#exit $?"
done
/guest_stacks.sh 2>&1
echo '#end'
poweroff -f
