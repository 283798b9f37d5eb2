#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Boots Debian kernels in qemu, each with the tests as its only file system, and prints a table.
#
# usage: BUILD=folder tests/kernels/run.sh KERNEL...      KERNEL: SUITE-ARCH, such as bookworm-amd64
#
# The processor is emulated, so this needs no rights and no KVM, and no clock of it can be trusted.
# What a guest printed stays in BUILD/kernels/KERNEL/log. The status is 0 only if in every guest
# something ran and nothing failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=$PWD/build}"
export BUILD
GUEST_SECONDS=${GUEST_SECONDS:-900}

# Runs the kernel of folder $2 for the processor $1 with the image $3; what it prints goes to stdout.
boot() {
	local machine console

	case $1 in
	amd64)
		# Without cmpxchg16b: qemu 7.2 at times gets its flags wrong, and the kernel's allocator
		# uses it. One thread for both CPUs: with two, a CPU at times runs instructions that the
		# other has just replaced (static branches), and the kernel dies of it.
		machine=(qemu-system-x86_64 -cpu 'qemu64,-cx16' -accel 'tcg,thread=single')
		console=ttyS0
		;;
	arm64)
		machine=(qemu-system-aarch64 -M virt -cpu cortex-a72 -accel 'tcg,thread=multi')
		console=ttyAMA0
		;;
	esac
	timeout -k 5 "$GUEST_SECONDS" nice -n "${GUEST_NICE:-10}" "${machine[@]}" -smp 2 -m 2048 \
		-display none -monitor none -nic none -serial stdio -no-reboot \
		-kernel "$2/vmlinuz" -initrd "$3" \
		-append "console=$console quiet loglevel=1 panic=-1 oops=panic no_timer_check" </dev/null 2>&1
}

# The tests of the log $1, as tests/count.awk wants them; a guest that did not come to its end is one
# more, and failed.
tests_of() {
	# As in run-one.sh: a cmocka test that skips itself says "not ok".
	tr -d '\r' <"$1" | sed -n '/^#file/,/^#exit/p' |
		sed 's/^not ok \([0-9]*\) # SKIP \(.*\)/ok \1 - \2 # SKIP/'
	grep -q '^#end' "$1" || printf '#file %s\nnot ok 1 - the guest comes to its end\n#exit 1\n' \
		"$(basename "$(dirname "$1")")"
}

# Makes the file system of the guests with the processor $1.
make_image() {
	local root=/ build=$BUILD

	[ "$1" = amd64 ] || {
		root=$BUILD/kernels/$1 build=$BUILD/$1
		export CROSS_COMPILE=aarch64-linux-gnu-
	}
	BUILD=$build tests/kernels/image.sh "$root" "$2"
}

# Holds the stacks that the guest of the log $1 has recorded against the true ones; a test each.
judge_stacks() {
	local stacks=${1%log}stacks number=0 names name least_whole=90

	[ "$2" != aarch64 ] || least_whole='90 spawns.fork=40'
	tr -d '\r' <"$1" | sed -n '/^#data/,/^#end of data/p' | grep -v '^#' | base64 -d 2>/dev/null |
		gunzip >"$stacks" 2>/dev/null
	names=$(sh tests/cli/known_names.sh "$2")
	# Nothing may be wrong, and of some 50 samples of each a few may be cut: a slow bpfprof comes late
	# with its tables. Arm's processor that is emulated has no access flag of its own: what a child
	# has not touched since fork() can be read only with a fault, which BPF programs do not take.
	# shellcheck disable=SC2086 # names have no blanks
	LEAST_SAMPLES=10 LEAST_WHOLE="$least_whole" python3 tests/cli/true_stacks.py "$stacks" "$stacks.judged" $names
	echo "#file true stacks"
	for name in $names; do
		number=$((number + 1))
		grep -q ': true$' "$stacks.judged/$name" || printf 'not '
		echo "ok $number - $(head -n 1 "$stacks.judged/$name")"
	done
	printf '1..%s\n#exit 0\n' "$number"
}

# Whether this machine's compiler and libraries can build a module for the kernel $1.
takes_modules() {
	case $1 in
	bullseye-amd64 | bookworm-amd64 | bookworm-backports-amd64) ;;
	*) false ;;
	esac
}

# Makes the file system of the kernel $1 from that of all, $2: with the modules and their tests.
add_modules() {
	local folder=$BUILD/kernels/$1 root

	tests/kernels/fetch.sh headers "${1%-*}" "${1##*-}" "$folder" &&
		tests/kernels/build_modules.sh "$folder" || return 1
	root=$(mktemp -d) || return 1
	mkdir "$root/tests" "$root/modules"
	cp "$folder"/modules/*.ko "$root/modules/"
	cp "$BUILD/tests/kernels/fake_lbr/fake_lbr_test" tests/kernels/guest_modules.sh "$root/tests/"
	(cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) | cat "$2" - >"$folder/initrd"
	rm -rf "$root"
}

# Runs one kernel and adds its row to the table.
run_kernel() {
	local name=$1 arch=${1##*-} folder=$BUILD/kernels/$1 image=$BUILD/kernels/${1##*-}.cpio
	local started ended counted status test_files processor=x86_64

	[ "$arch" = amd64 ] || processor=aarch64

	tests/kernels/fetch.sh kernel "${name%-*}" "$arch" "$folder" || return 1
	test_files=$(cpio -t --quiet <"$image" | grep -c '^tests/')
	if takes_modules "$name"; then
		add_modules "$name" "$image" || return 1
		image=$folder/initrd
		test_files=$((test_files + 2))
	fi
	started=$(date +%s%N)
	boot "$arch" "$folder" "$image" >"$folder/log"
	ended=$(date +%s%N)
	counted=$({
		tests_of "$folder/log"
		judge_stacks "$folder/log" "$processor"
	} | awk -f tests/count.awk -v expected=$((test_files + 1)))
	status=$?
	sed '$d' <<<"$counted" | sed "s/^[a-z]*: */&$name: /"
	[ $status = 0 ] || {
		echo "$name: all it said is in $folder/log; its last lines:"
		sed '/^#data/,/^#end of data/d' "$folder/log" | tail -n 40 | tr -d '\r' | sed 's/^/    /'
	}
	printf '%s|%s|%s|%s|%s\n' "$name" "$(cat "$folder/release")" \
		"$(sed -n 's/^#boot \([0-9.]* s\).*/\1/p' "$folder/log" | head -n 1)" \
		"$(awk -v ns=$((ended - started)) 'BEGIN { printf "%.1f s", ns / 1e9 }')" \
		"$(tail -n 1 <<<"$counted")" >>"$table"
	return $status
}

status=0
table=$(mktemp) || exit 1
trap 'rm -f "$table"' EXIT
echo "kernel|release|to its first process|until off|tests" >"$table"
mkdir -p "$BUILD/kernels"
for arch in $(printf '%s\n' "${@##*-}" | sort -u); do
	(make_image "$arch" "$BUILD/kernels/$arch.cpio") || exit 1
done
for kernel in "$@"; do
	run_kernel "$kernel" || status=1
done
column -t -s '|' "$table"
exit $status
