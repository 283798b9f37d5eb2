# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What tests of a running daemon begin with and wait for: its settings are `config`, its log is `log`, its
# store `store`.

enter_with_config() {
	cd "$BATS_TEST_TMPDIR" || return
	need_root
	export PERF_CONFIG=$BATS_TEST_TMPDIR/config
	: >config
}

setup() {
	enter_with_config
}

# Names are read with the lowest priority, which gets nothing for seconds beside work that always wants to
# run: work whose names are waited for must not come before.
start_low() {
	start nice -n 19 "$@"
}

# Whether the daemon's log has a line like that.
says() {
	grep -q "$1" log
}

windows() {
	find store/windows -name '*.data' 2>/dev/null | sort
}

has_windows() {
	[ "$(windows | wc -l)" -ge "$1" ]
}
