#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make install` and `make uninstall` below DESTDIR, and `make help`.
#
# Runs beside others.

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	unset MAKEFLAGS MAKELEVEL MFLAGS
	root=$BATS_TEST_TMPDIR/root
}

make_quietly() {
	make -s --no-print-directory BUILD="${BUILD:-build}" "$@"
}

@test "what is built is not built again, however BUILD is spelled" {
	built=$(stat -c '%i %y' "$BPFPROF")
	make_quietly all
	make -s --no-print-directory all BUILD="$(realpath --relative-to=. "${BUILD:-build}")"
	[ "$(stat -c '%i %y' "$BPFPROF")" = "$built" ]
}

@test "install puts the program, manual pages and completions below PREFIX" {
	make_quietly install DESTDIR="$root" PREFIX=/usr
	[ -x "$root/usr/bin/bpfprof" ]
	[ -s "$root/usr/share/bash-completion/completions/bpfprof" ]
	[ -s "$root/usr/share/zsh/site-functions/_bpfprof" ]
	[ -s "$root/usr/share/fish/vendor_completions.d/bpfprof.fish" ]
	grep -qx 'ExecStart=/usr/bin/bpfprof daemon' "$root/usr/lib/systemd/system/bpfprof.service"
	grep -q '^g bpfprof ' "$root/usr/lib/sysusers.d/bpfprof.conf"
	grep -qx 'Group=bpfprof' "$root/usr/lib/systemd/system/bpfprof.service"
	# what the example says can be read, and are the defaults
	config=$root/usr/share/doc/bpfprof/bpfprofconfig.example
	PERF_CONFIG=$config "$root/usr/bin/bpfprof" daemon --help >"$BATS_TEST_TMPDIR/help"
	grep -o '^	[a-z-]*' "$config" | while read -r name; do
		grep -q -- "--$name" "$BATS_TEST_TMPDIR/help"
	done
	for page in user/man/*.scd; do
		[ -s "$root/usr/share/man/man1/$(basename "$page" .scd)" ]
	done
	"$root/usr/bin/bpfprof" --version
}

@test "what install puts there can be read: manual pages, bash completion" {
	make_quietly install DESTDIR="$root" PREFIX=/usr
	for page in "$root"/usr/share/man/man1/*; do
		LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$page" 2>"$BATS_TEST_TMPDIR/warnings" >"$BATS_TEST_TMPDIR/text"
		[ ! -s "$BATS_TEST_TMPDIR/warnings" ]
		grep -q '^NAME' "$BATS_TEST_TMPDIR/text"
		[ "$(grep -c '@OPTIONS' "$BATS_TEST_TMPDIR/text")" = 0 ]
	done
	bash -n "$root/usr/share/bash-completion/completions/bpfprof"
}

@test "uninstall removes exactly what install put there" {
	mkdir -p "$root/usr/bin"
	touch "$root/usr/bin/other"
	make_quietly install DESTDIR="$root" PREFIX=/usr
	make_quietly uninstall DESTDIR="$root" PREFIX=/usr
	[ "$(find "$root" -type f)" = "$root/usr/bin/other" ]
}

@test "help names every target a person types" {
	run make_quietly help
	[ "$status" = 0 ]
	for target in all run test lint format asan coverage fuzz bench man install uninstall deb-deps help; do
		[[ $output == *"  $target "* ]]
	done
}
