#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Shell completion: what a person is offered at the Tab key.
#
# Runs beside others.

load common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	touch one.data two.data
	"$BPFPROF" completion bash >completion.bash
}

# What bash offers for the words given; the last one is being typed.
offered() {
	# compopt only works while a person types.
	bash -c 'compopt() { :; }; source completion.bash
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bpfprof
		printf "%s\n" "${COMPREPLY[@]}"' bash bpfprof "$@" | sort
}

@test "commands are offered first" {
	[ "$(offered re)" = $'record\nreport' ]
	offered '' | grep -qx check
	offered '' | grep -qx completion
}

@test "options of the command are offered, and only of it" {
	offered record --fre | grep -qx -- --freq
	[ -z "$(offered report --fre)" ]
	offered report -- | grep -qx -- --no-children
	offered record --he | grep -qx -- --help
}

@test "without a command the options of a recording are offered" {
	offered --fre | grep -qx -- --freq
	offered -a --dur | grep -qx -- --duration
}

@test "a file is offered where a file belongs" {
	[ "$(offered report -i o)" = one.data ]
	[ "$(offered report --input tw)" = two.data ]
	[ "$(offered report --input = tw)" = two.data ]
	[ "$(offered -o o)" = one.data ]
}

@test "the words of a choice are offered, also behind an equal sign" {
	offered report --color a | grep -qx always
	[ "$(offered report --color = n)" = never ]
	[ "$(offered report --color '=')" = $'always\nauto\nnever' ]
	[ "$(offered record --call-graph '=')" = $'auto\ndwarf\nfp\nlbr\nnone' ]
}

@test "nothing is offered for a number" {
	[ -z "$(offered record -F '')" ]
}

@test "running processes are offered for a pid" {
	offered record -p "$$" | grep -qx "$$"
}

@test "behind two dashes a program is offered, then its files" {
	offered record -- tru | grep -qx truncate
	[ "$(offered record -- cat o)" = one.data ]
	[ "$(offered -- cat o)" = one.data ]
}

# Types at a shell on a terminal: shell_session "SHELL ARGS" SEND EXPECT [SEND EXPECT]...
shell_session() {
	cat >keys.py <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PS1="$ ", TERM="vt100")
    words = sys.argv[1].split()
    os.execvp(words[0], words)
seen = b""
steps = [step.encode().decode("unicode_escape").encode() for step in sys.argv[2:]]
for send, expected in zip(steps[::2], steps[1::2]):
    os.write(fd, send)
    end = time.monotonic() + 30
    while expected not in seen:
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit("waited for %r, saw %r" % (expected, seen))
        seen += os.read(fd, 4096)
    seen = seen[seen.index(expected) + len(expected):]
END
	python3 keys.py "$@"
}

@test "the Tab key works in a real bash" {
	shell_session 'bash --norc --noprofile -i' \
		"source ./completion.bash; echo re''ady\\n" 'ready\r\n' \
		'bpfprof rec\t' 'bpfprof record ' '--fre\t' '--freq '
}

@test "the scripts are in order" {
	shellcheck -s bash completion.bash
	"$BPFPROF" completion zsh >_bpfprof
	"$BPFPROF" completion fish >bpfprof.fish
	! command -v zsh || zsh -n _bpfprof
	! command -v fish || fish -n bpfprof.fish
	grep -q -- '--freq=' _bpfprof
	grep -q -- '-l freq' bpfprof.fish
}

@test "fish offers commands, options and files" {
	command -v fish || skip "fish is not installed"
	"$BPFPROF" completion fish >bpfprof.fish
	fish_offers() { HOME=$PWD fish -c "source bpfprof.fish; complete -C '$1'" | cut -f1; }
	[ "$(fish_offers 'bpfprof rec')" = record ]
	fish_offers 'bpfprof record --fre' | grep -qx -- --freq
	fish_offers 'bpfprof report --color ' | grep -qx always
	fish_offers 'bpfprof report -i o' | grep -qx one.data
}

@test "zsh offers commands and options" {
	command -v zsh || skip "zsh is not installed"
	"$BPFPROF" completion zsh >_bpfprof
	shell_session 'zsh -f -i' \
		"fpath=(\$PWD \$fpath); autoload -U compinit; compinit -u -D; echo re''ady\\n" \
		'ready\r\n' 'bpfprof reco\t' 'record' '--fre\t' '--freq'
}

@test "an unknown shell is refused" {
	run "$BPFPROF" completion tcsh
	[ "$status" -eq 2 ]
	[[ $output == "bpfprof: no completion for the shell 'tcsh'; give bash, zsh or fish" ]]
}
