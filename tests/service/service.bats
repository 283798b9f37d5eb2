#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The unit file under a real systemd, in namespaces of its own (boot.sh): `make test-service`.

load ../cli/common

unit=$BATS_TEST_DIRNAME/../../user/service/bpfprof.service.in

# What every unit depends on by default, empty.
make_units() {
	mkdir -p share/units/bpfprof.service.d
	for target in nothing sysinit basic shutdown local-fs local-fs-pre multi-user umount slices; do
		printf '[Unit]\nDefaultDependencies=no\n' >"share/units/$target.target"
	done
	sed 's|@BIN@|/tmp/share|' "$unit" >share/units/bpfprof.service
	# there is no journal; and nobody wants to wait for so long
	printf '[Service]\nStandardError=append:/tmp/share/log\nRestartSec=100ms\nWatchdogSec=15\n' \
		>share/units/bpfprof.service.d/test.conf
}

# Runs a command there.
inside() {
	nsenter -t "$first" -m -p -u -i -n -C --root="/proc/$first/root" --wd=/proc/"$first"/root "$@"
}

property() {
	inside systemctl show -P "$1" bpfprof
}

is() {
	[ "$(property "$1")" = "$2" ]
}

setup_file() {
	need_root
	[ -x /lib/systemd/systemd ] || skip "no systemd"
	cd "$BATS_FILE_TMPDIR" || return
	mkdir scratch share
	chmod 755 share
	cp "$BPFPROF" "$WORKLOADS/mainbarfoo" "$WORKLOADS/shares" share/
	cp "$(dirname "$unit")/bpfprof.sysusers" share/
	printf '[daemon]\n\twindow = 2s\n\tmax-cpu = none\n' >share/config
	make_units
	unshare --mount --pid --uts --ipc --net --cgroup --fork --kill-child \
		"$BATS_TEST_DIRNAME/boot.sh" "$PWD" </dev/null >boot.log 2>&1 3>&- &
	echo $! >booter
	wait_for pgrep -P "$(cat booter)" -x systemd
	first=$(pgrep -P "$(cat booter)" -x systemd)
	echo "$first" >first
	wait_for inside systemctl is-active nothing.target
	inside systemd-sysusers /tmp/share/bpfprof.sysusers
	inside cp /tmp/share/config /etc/bpfprofconfig
	inside systemctl start bpfprof
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/booter" ] || kill -KILL "$(cat "$BATS_FILE_TMPDIR/booter")"
}

setup() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return
	first=$(cat first)
}

has_told_a_window() {
	[[ "$(property StatusText)" = "last window: "* ]]
}

is_restarted() {
	[ "$(property NRestarts)" -gt "$1" ] && is SubState running && [ "$(property MainPID)" != "$2" ]
}

# Whether the store of the service has samples of that program's function.
names() {
	inside /tmp/share/bpfprof report --store /var/lib/bpfprof --since 1h -s comm,sym -g none --no-children >named
	grep -Eq "% +$1 +\[[.k]\] $2" named
}

@test "systemd finds nothing wrong with the unit" {
	inside env SYSTEMD_UNIT_PATH=/tmp/share/units \
		systemd-analyze verify --man=no /tmp/share/units/bpfprof.service 2>&1 | tee verified
	[ ! -s verified ]
}

@test "the service starts, is told to be ready, and says after each window how it goes" {
	is ActiveState active
	is Type notify
	wait_for has_told_a_window
	[ "$(inside stat -c '%a %G' /var/lib/bpfprof)" = '750 bpfprof' ]
	cat share/log
	grep -q 'sampling at 99 Hz into /var/lib/bpfprof' share/log
}

@test "what protects the machine from the service hides nothing that it has to name" {
	# a file of somebody else's, and one that only its own mount namespace has
	inside sh -c 'mkdir -m 700 /home/theirs && cp /tmp/share/mainbarfoo /home/theirs/program &&
		chown -R nobody /home/theirs && chmod 500 /home/theirs/program'
	start inside setpriv --reuid nobody --clear-groups /home/theirs/program 1000000
	start inside unshare -m sh -c 'mount -t tmpfs none /mnt && cp /tmp/share/shares /mnt/contained &&
		exec /mnt/contained 100000000'
	wait_for names program foo
	wait_for names contained 'part_[0-9]'
	wait_for names '[^ ]+' '[a-z_]*(syscall|fault|tick|work|page|idle|schedule|file)'
	# of the machine's sources of names none is missing
	inside grep -q . /proc/kallsyms
}

@test "settings are read again with systemctl reload" {
	process=$(property MainPID)
	inside sed -i 's/window = 2s/window = 1s\n\tfreq = 199/' /etc/bpfprofconfig
	inside systemctl reload bpfprof
	wait_for grep -q 'settings were read again' share/log
	lacks 'cannot sample anew' share/log
	is MainPID "$process"
	wait_for is ActiveState active
}

@test "a service that is killed, and one that hangs, are started again" {
	process=$(property MainPID) restarts=$(property NRestarts)
	inside kill -KILL "$process"
	wait_for is_restarted "$restarts" "$process"
	process=$(property MainPID) restarts=$(property NRestarts)
	inside kill -STOP "$process"
	wait_for is_restarted "$restarts" "$process"
	wait_for has_told_a_window
}

@test "systemctl stop writes the open window and ends without failure" {
	inside systemctl stop bpfprof
	is ActiveState inactive
	is Result success
	[ -z "$(inside find /var/lib/bpfprof -name '*.open')" ]
	inside /tmp/share/bpfprof list --store /var/lib/bpfprof >listed
	grep '^# [0-9]* windows' listed
}
