# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What tests of a running daemon wait for: its log is `log`, its store `store`.

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
