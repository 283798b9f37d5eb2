#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Source lines and inlined functions are those that llvm-symbolizer finds: at addresses spread over the
# code of programs whose DWARF is of many kinds.
#
# Runs beside others.

load common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	command -v llvm-symbolizer >/dev/null || skip "llvm is not installed"
	tool=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../build}/tests/dwarf/lines")
	sources="$BATS_TEST_DIRNAME/../dwarf"
	count=${TEST_ALL:+10000}
	count=${count:-1000}
}

# Holds files against llvm-symbolizer.
same() {
	for file; do
		python3 "$sources/compare.py" -n "$count" "$tool" "$file" || return
	done
}

# Makes library $1 with compiler $2 and options: two units of C, and one of C++ where there is time.
make_library() {
	local library="$1" compiler="$2" units="unit0.c unit1.c" unit
	shift 2
	[ -e unit1.c ] || python3 "$sources/generate.py" 2 40
	[ -z "$TEST_ALL" ] && [ "$library" != gcc5 ] ||
		units="$units $sources/inlined.cc"
	for unit in $units; do
		"$compiler" -O2 -fPIC "$@" -c "$unit" -o "$library.$(basename "$unit").o"
	done
	"$compiler" -O2 -shared "$@" "$library".*.o -o "$library" 2>/dev/null
}

# The debug file of a binary, for its separate DWARF; fails if that is not installed.
has_debug_file() {
	local id
	id=$(readelf -n "$1" | awk '/Build ID/ { print $3 }')
	[ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]
}

# Addresses in the functions of a program.
functions_of() {
	nm "$1" | awk '$2 ~ /^[tTW]$/ { print "0x" $1 }' | while read -r address; do
		for offset in 0 7 16 33 50; do
			printf '0x%x\n' $((address + offset))
		done
	done
}

# Whether two libraries of the same code have the same frames at its functions.
alike() {
	functions_of "$1" >addresses
	"$tool" "$1" <addresses >before
	"$tool" "$2" <addresses >after
	diff before after && grep -q 'unit0.c:[1-9]' after
}

library_of() {
	ldd "$1" | awk -v name="$2" 'index($1, name) { print $3; exit }'
}

@test "bpfprof itself" {
	same "$BPFPROF"
}

@test "libc, whose DWARF is compressed and in a separate file" {
	libc=$(library_of /bin/ls libc.so)
	has_debug_file "$libc" || skip "libc6-dbg is not installed"
	same "$libc"
}

@test "functions of libc and of bpfprof have llvm-symbolizer's names, up to aliases" {
	libc=$(library_of /bin/ls libc.so)
	has_debug_file "$libc" || libc=
	for file in $libc "$BPFPROF"; do
		python3 "$sources/outermost.py" -n "$count" "$BPFPROF" "$BATS_TEST_DIRNAME/spread.py" "$file"
	done
}

@test "python3, whose link-time optimisation refers from unit to unit" {
	python=$(realpath /usr/bin/python3)
	has_debug_file "$python" || skip "its debug package is not installed"
	same "$python"
}

@test "a library without DWARF" {
	library=$(library_of "$(command -v llvm-symbolizer)" libLLVM)
	[ -n "$library" ] || skip "llvm-symbolizer is not linked with libLLVM"
	same "$library"
}

@test "DWARF 5, 4 and 2 of gcc and clang" {
	libraries="gcc5 clang4 ${TEST_ALL:+gcc2 gcc4 wide clang5}"
	declare -A options=([gcc5]="g++ -gdwarf-5" [gcc4]="g++ -gdwarf-4" [gcc2]="g++ -gdwarf-2 -gstrict-dwarf"
		[wide]="g++ -gdwarf-5 -gdwarf64" [clang5]="clang++ -gdwarf-5" [clang4]="clang++ -gdwarf-4")
	for library in $libraries; do
		# shellcheck disable=SC2086
		make_library "$library" ${options[$library]}
	done
	# shellcheck disable=SC2086
	same $libraries
}

@test "compressed sections, sections of functions, link-time optimisation" {
	libraries="flagged lto ${TEST_ALL:+named sections}"
	declare -A options=([flagged]=-gz=zlib [named]=-gz=zlib-gnu [lto]=-flto
		[sections]="-ffunction-sections -Wl,--gc-sections")
	for library in $libraries; do
		# shellcheck disable=SC2086
		make_library "$library" g++ -g ${options[$library]}
	done
	# shellcheck disable=SC2086
	same $libraries
}

# LLVM 14 goes wrong where a file has several split units: the same code without is the measure.
@test "split DWARF in .dwo files, and in packages, is the same as whole" {
	mkdir packages
	for split in clang++.5 ${TEST_ALL:+g++.4 clang++.4 g++.5}; do
		rm -f whole*
		make_library whole "${split%.*}" "-gdwarf-${split#*.}"
		make_library "$split" "${split%.*}" "-gdwarf-${split#*.}" -gsplit-dwarf
		alike whole "$split"
		cp "$split" packages/
		# That of LLVM 14 knows no packages of gcc's DWARF 5.
		[ "$split" = g++.5 ] && continue
		timeout 20 llvm-dwp -e "$split" -o "packages/$split.dwp"
		rm -f ./*.dwo
		alike whole "packages/$split"
	done
}

@test "a .dwo file beside the library, where its folder is gone" {
	mkdir built
	(cd built && make_library moved clang++ -gdwarf-5 -gsplit-dwarf)
	functions_of built/moved >addresses
	"$tool" built/moved <addresses >before
	mv built elsewhere
	"$tool" elsewhere/moved <addresses >after
	diff before after
	grep -q f0_2 after
}

@test "Rust" {
	rustc --version >/dev/null 2>&1 || skip "no rustc"
	rustc -g -C opt-level=2 "$sources/../workloads/rusty.rs" -o rusty
	same rusty
}

@test "what dwz moved to a common file is the same as before" {
	command -v dwz >/dev/null || skip "dwz is not installed"
	make_library gcc5 g++ -g
	make_library clang5 g++ -g -ffunction-sections
	cp gcc5 one
	cp clang5 two
	dwz -m common.debug one two
	alike gcc5 one
	alike clang5 two
	grep -q common.debug one
	# as DWARF 5 has it
	cp gcc5 one
	cp clang5 two
	dwz --dwarf-5 -m standard.debug one two 2>told || skip "dwz knows nothing of .debug_sup: $(cat told)"
	alike gcc5 one
	alike clang5 two
	readelf -SW one | grep -q '\.debug_sup'
}

@test "one large unit, and many" {
	functions=${TEST_ALL:+10000}
	units=${TEST_ALL:+200}
	python3 "$sources/generate.py" 1 "${functions:-150}"
	cc -O2 -g -shared -fPIC unit0.c -o large
	python3 "$sources/generate.py" "${units:-5}" 30
	for source in unit*.c; do
		cc -O2 -g -c -fPIC "$source"
	done
	cc -shared unit*.o -o many
	same large many
}
