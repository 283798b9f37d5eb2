#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Which name an address gets: perf's, wherever perf has one, and only ever from the file that ran.
#
# Runs beside others.

load common

setup() {
	SPREAD=$BATS_TEST_DIRNAME/spread.py
	cd "$BATS_TEST_TMPDIR" || return
}

our_names() {
	"$BPFPROF" script -q -F ip,sym,symoff -i "$1" "${@:2}" | sed 's/^ *//'
}

# same_names FILE COUNT: perf names these addresses alike, to the byte behind the start.
same_names() {
	"$SPREAD" spread.data "$1" "$2"
	"$PERF" script -F ip,sym,symoff -i spread.data 2>/dev/null | sed 's/^ *//' >perfs
	our_names spread.data --strict-perf >ours
	[ "$(wc -l <ours)" -gt $(($2 / 2)) ]
	diff perfs ours | head -20
	cmp perfs ours
}

# A C++ program with functions behind each other, in ./app.
compile_app() {
	cat >app.cc <<-END
		#include <cstdio>
		namespace shop {
		template <class T> struct Basket { __attribute__((noinline)) T sum(T); };
		template <class T> T Basket<T>::sum(T n) { T s = 0; while (n--) s += n * n; return s; }
		}
		extern "C" __attribute__((noinline)) long busy(long n) {
			long s = 0;
			for (volatile long i = 0; i < n; i++) s += shop::Basket<long>().sum(50);
			return s;
		}
		int main() { std::printf("%ld\n", busy(${1:-2000000})); }
	END
	g++ -O1 -g -Wl,--build-id -o app app.cc
}

@test "a C library with its debug file: 10,000 addresses are named as perf names them" {
	need_perf
	same_names "$(realpath /lib/x86_64-linux-gnu/libc.so.6 2>/dev/null || realpath /lib/*/libc.so.6)" 10000
}

@test "big programs and libraries, C and C++, stripped or not: as perf" {
	need_perf
	for file in /usr/bin/python3 /usr/bin/perl /bin/bash \
		"$(gcc -print-prog-name=cc1)" "$(gcc -print-file-name=libstdc++.so.6)"; do
		[ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
		same_names "$(realpath "$file")" 10000
	done
}

@test "the kernel: 10,000 addresses are named as perf names them" {
	need_root
	need_perf
	same_names kernel 10000
}

# As of code that the kernel made and has forgotten since.
@test "an address behind the kernel's text that has no name is in no file, as in perf" {
	need_root
	need_perf
	"$BATS_TEST_DIRNAME/known_recording.py" made.data chains=1 k!pid_task=1 k!0xffffffffff000010=1 \
		'k!pid_task<k!0xffffffffff000010=1'
	"$PERF" script -F ip,sym,dso -i made.data >perfs 2>/dev/null
	"$BPFPROF" script -F ip,sym,dso -i made.data >ours
	[ "$(grep -c '\[unknown\] (\[unknown\])$' perfs)" -eq 2 ]
	diff perfs ours
}

@test "static programs, position independent or not: as perf" {
	need_perf
	compile_app
	g++ -O1 -g -static -o static app.cc
	g++ -O1 -g -static-pie -o static-pie app.cc
	for program in static static-pie; do
		"$SPREAD" spread.data "$PWD/$program" 10000
		"$PERF" script -F ip,sym,symoff -i spread.data 2>/dev/null | sed 's/^ *//' >perfs
		our_names spread.data --strict-perf >ours
		# perf 6.1 lets _init reach over the linkage table, which lies behind it
		[ "$(diff perfs ours | grep '^[<>]' | grep -cv -e '@plt' -e '_init' -e '\[unknown\]')" -eq 0 ]
		[ "$(diff perfs ours | grep -c '^>')" -lt 20 ]
		[ "$(grep -c ' _init+' ours)" -le 1 ]
	done
}

@test "C++ names are readable, without parameters, or raw if asked for" {
	compile_app
	"$SPREAD" spread.data "$PWD/app" 3000
	our_names spread.data | grep -q ' shop::Basket<long>::sum+0x'
	our_names spread.data --raw-names | grep -q ' _ZN4shop6BasketIlE3sumEl+0x'
	"$BPFPROF" report -q --stdio -i spread.data -s sym | grep -q '\] shop::Basket<long>::sum$'
}

# beginnings FILE NAMES: of lines "address name+0xoffset" where the named function begins in FILE
beginnings() {
	nm "$1" | awk 'NF == 3 { print $3, $1 }' >symbols
	sed -nE 's/^([0-9a-f]+) (.*)\+0x[0-9a-f]+$/\1 \2/p' "$2" | python3 -c '
import re, sys
table = dict(line.split() for line in open("symbols"))
for line in sys.stdin:
    address, name = line.rstrip("\n").split(" ", 1)
    made = re.fullmatch(r"\[fn 0x([0-9a-f]+)\]", name)
    start = made[1] if made else table.get(name)
    if start:
        print(address, format(int(start, 16), "x"))'
}

@test "functions of a stripped program are named by where they begin, never one line an address" {
	compile_app
	"$SPREAD" spread.data "$PWD/app" 3000
	our_names spread.data --raw-names >named
	strip app -o stripped
	cp app whole
	cp stripped app
	our_names spread.data >stripped-names
	beginnings whole named >true
	beginnings whole stripped-names >found
	# start code and linkage tables have no call frame information, or less than one entry each
	for function in busy main _ZN4shop6BasketIlE3sumEl; do
		start=$(nm whole | awk -v name=$function '$3 == name { print $1 }')
		grep " $(printf %x "0x$start")$" true >"$function.true"
		[ "$(wc -l <$function.true)" -gt 20 ]
		comm -23 <(sort -u $function.true) <(sort -u found) >lost
		[ ! -s lost ]
	done
	grep -q '@plt+0x' stripped-names
	"$BPFPROF" report --stdio -i spread.data -s sym >shown
	[ "$(grep -c '\] \[fn 0x' shown)" -gt 3 ]
	grep -q 'distinct addresses in functions without symbol' shown
	# with --strict-perf they are what they are to perf
	"$BPFPROF" report --stdio -i spread.data -s sym --strict-perf >strict
	[ "$(grep -c '\[fn' strict)" -eq 0 ]
	[ "$(grep -c '%.*\[\.\] 0x' strict)" -gt 100 ]
}

@test "a library with exported symbols alone has the others named by where they begin" {
	cat >lib.c <<-END
		__attribute__((noinline)) static int inner(int n) { volatile int s = 0; while (n--) s += n; return s; }
		int shown(int n) { return inner(n) + inner(n / 2); }
	END
	gcc -O1 -fPIC -shared -Wl,--build-id -o lib.so lib.c
	inner=$(nm lib.so | awk '$3 == "inner" { print $1 }')
	strip lib.so
	"$SPREAD" spread.data "$PWD/lib.so" 2000
	our_names spread.data >names
	grep -q ' shown+0x' names
	grep -qF " [fn $(printf '%#x' "0x$inner")]+0x" names
}

@test "a stripped program is named from the debug file that it links to" {
	compile_app
	objcopy --only-keep-debug app app.debug
	strip app
	"$SPREAD" spread.data "$PWD/app" 3000
	[ "$(our_names spread.data | grep -c ' busy+0x')" -eq 0 ]
	objcopy --add-gnu-debuglink=app.debug app
	our_names spread.data | grep -q ' busy+0x'
	mkdir .debug
	mv app.debug .debug
	our_names spread.data | grep -q ' busy+0x'
	# another build's debug file is not believed
	mv .debug/app.debug app.debug
	compile_app 3
	strip app
	objcopy --add-gnu-debuglink=app.debug app
	[ "$(our_names spread.data | grep -c ' busy+0x')" -eq 0 ]
}

@test "below --symfs, binary and debug file by build id" {
	compile_app
	id=$(readelf -n app | sed -n 's/.*Build ID: //p')
	mkdir -p "root/opt" "root/usr/lib/debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug app "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	strip app
	mv app root/opt/app
	"$SPREAD" spread.data root/opt/app 3000 /opt/app
	our_names spread.data --symfs root | grep -q ' busy+0x'
	[ "$(our_names spread.data | grep -c ' busy+0x')" -eq 0 ]
}

@test "kernel names of a file that has none are refused, as a missing one" {
	"$SPREAD" spread.data /bin/true 10
	echo 'no symbols' >text
	printf '%016x T %s\n' 0 _stext 0 _etext >hidden
	{ printf '%016x A variable\n' {1..5000}; echo 'ffffffff81000000 T _text'; } >copy
	for command in report script diff; do
		run "$BPFPROF" "$command" -k nofile spread.data spread.data
		[ "$status" -eq 1 ]
		[ "$output" = 'bpfprof: --vmlinux: cannot read nofile: No such file or directory' ]
		run "$BPFPROF" "$command" --kallsyms "" spread.data spread.data
		[ "$status" -eq 2 ]
		[ "$output" = "bpfprof: --kallsyms: the path is empty; give a file's path" ]
		while read -r option file why; do
			run "$BPFPROF" "$command" "$option" "$file" spread.data spread.data
			echo "$command $option $file: $status $output"
			[ "$status" -eq 2 ]
			[ "$output" = "bpfprof: $option: $why" ]
		done <<-END
			--vmlinux text text is no ELF file; give an uncompressed kernel image, vmlinux
			--vmlinux . . is no file
			--kallsyms /dev/zero /dev/zero is no file
			--kallsyms /dev/tty /dev/tty is no file
			--kallsyms text text has no lines of kallsyms; give a copy of a machine's /proc/kallsyms
			--kallsyms hidden all addresses in hidden are zero; copy /proc/kallsyms as root
		END
	done
	"$BPFPROF" report -q --kallsyms copy -i spread.data | grep -q true
	"$BPFPROF" report -q --kallsyms /dev/null -k /dev/null -i spread.data | grep -q true
}

@test "packed symbols in the binary itself are read" {
	compile_app
	objcopy --only-keep-debug app mini
	objcopy -S --keep-symbol=busy mini 2>/dev/null
	xz -k mini
	strip app
	objcopy --add-section .gnu_debugdata=mini.xz app
	"$SPREAD" spread.data "$PWD/app" 3000
	our_names spread.data | grep -q ' busy+0x'
}

@test "a program that was built anew since is not named, and the footer says why" {
	need_root
	compile_app 20000000
	"$BPFPROF" record -q -o ran.data -- ./app >/dev/null
	"$BPFPROF" report --stdio -i ran.data | grep -q '\] shop::Basket<long>::sum$'
	compile_app 20000001
	"$BPFPROF" report --stdio -i ran.data >shown
	[ "$(grep -c 'shop::Basket' shown)" -eq 0 ]
	grep -q 'replaced since recording' shown
}

runs_program() {
	[ "$(readlink "/proc/$1/exe")" = "$2" ]
}

@test "a deleted program that still runs is named" {
	need_root
	compile_app 2000000000
	start ./app >/dev/null
	record_until has_values perf.data pid "$!" -- -q -p "$!"
	rm app
	"$BPFPROF" report --stdio -q >shown
	grep -q '\] shop::Basket<long>::sum$' shown
}

@test "a program in a container of its own is named while it runs" {
	need_root
	compile_app 2000000000
	mkdir hidden
	start unshare -m sh -c 'mount -t tmpfs none hidden && cp app hidden/app && exec hidden/app' \
		>/dev/null
	pid=$!
	wait_for runs_program "$pid" "$PWD/hidden/app"
	record_until has_values perf.data pid "$pid" -- -q -p "$pid"
	[ ! -e hidden/app ]
	"$BPFPROF" report --stdio -q >shown
	grep -q '\] shop::Basket<long>::sum$' shown
}

@test "JIT code is named from a map that can be believed" {
	pid=987654
	map=/tmp/perf-$pid.map
	rm -f $map
	"$SPREAD" jit.data jit $pid 7f0000001010 7f0000001020 7f0000001fff
	our_names jit.data | grep -q '7f0000001010 \[unknown\]'
	printf '%s\n' '7f0000001000 20 LazyCompile:*old' '7f0000001000 20 LazyCompile:*run app.js:3' \
		'7f0000001020 10 stub' >$map
	our_names jit.data >names
	[ "$(id -u)" -ne 0 ] || chown 65534 $map
	our_names jit.data >distrusted
	rm -f $map
	grep -q '7f0000001010 LazyCompile:\*run app.js:3+0x10$' names
	grep -q '7f0000001020 stub+0x0$' names
	grep -q '7f0000001fff \[unknown\]$' names
	[ "$(id -u)" -ne 0 ] || [ "$(grep -c run distrusted)" -eq 0 ]
}

@test "the map of JIT code in a container is found by the pid that the process itself has" {
	need_root
	mkfifo hold
	unshare -m -p -f --mount-proc sh -c 'mount -t tmpfs none /tmp &&
		echo "7f0000001000 20 inside" >/tmp/perf-1.map && echo ready && exec cat' <hold >ready 3>&- &
	outer=$!
	exec 4>hold # it is there until this is closed
	wait_for test -s ready
	pid=$(pgrep -P $outer)
	"$SPREAD" jit.data jit "$pid" 7f0000001010
	our_names jit.data >names
	kill -9 "$pid"
	grep -q '7f0000001010 inside+0x10$' names
}

@test "a name with escape codes does not reach the terminal raw" {
	compile_app
	objcopy --redefine-sym "busy=$(printf '\033[31mred')" app
	"$SPREAD" spread.data "$PWD/app" 3000
	"$BPFPROF" script -i spread.data >samples
	"$BPFPROF" report --stdio -i spread.data >shown
	grep -qF '\x1b[31mred' samples
	grep -qF '\x1b[31mred' shown
	[ "$(cat samples shown | tr -dc '\033' | wc -c)" -eq 0 ]
}

@test "damaged, empty and special files in place of the binary do no harm" {
	compile_app
	"$SPREAD" spread.data "$PWD/app" 500
	for size in 0 1 64 1000 5000; do
		cp app whole
		truncate -s $size app
		our_names spread.data >names
		[ "$(wc -l <names)" -gt 100 ]
		mv whole app
	done
	rm app
	mkfifo app
	[ "$(timeout 20 "$BPFPROF" script -q -i spread.data | grep -c unknown)" -gt 100 ]
	rm app
	mkdir app
	[ "$("$BPFPROF" script -q -i spread.data | grep -c unknown)" -gt 100 ]
}
