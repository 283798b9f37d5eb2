#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Becomes a systemd that runs nothing but the units it is given: what it changes goes into memory, and
# its folders for data are empty. To be run as the first process of its own namespaces:
#
# unshare --mount --pid --uts --ipc --net --cgroup --fork --kill-child tests/service/boot.sh FOLDER
#
# FOLDER/scratch is for its files, FOLDER/share is its /tmp/share, with the units in share/units.
set -eu

folder=$1
root=$folder/scratch/root
mount --make-rprivate /
mount -t tmpfs none "$folder/scratch"
mkdir -p "$folder"/scratch/{upper,work} "$root"
mount -t overlay none -o "lowerdir=/,upperdir=$folder/scratch/upper,workdir=$folder/scratch/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sys "$root/sys"
mount -t cgroup2 none "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
for empty in run tmp var/lib var/log; do
	mount -t tmpfs none "$root/$empty"
done
mkdir "$root/tmp/share" "$root/tmp/old"
mount --bind "$folder/share" "$root/tmp/share"
cd "$root"
pivot_root . tmp/old
umount -l /tmp/old
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/tmp/share/units \
	SYSTEMD_GENERATOR_PATH= /lib/systemd/systemd --system --unit=nothing.target
