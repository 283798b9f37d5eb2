#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Boots Debian kernels in qemu, each with the tests as its only file system, and prints a table.
#
# usage: BUILD=folder tests/kernels/run.sh [KERNEL...]      KERNEL: SUITE-ARCH, such as bookworm-amd64
#
# The processor is emulated, so this needs no rights and no KVM, and no clock of it can be trusted.
# What a guest printed stays in BUILD/kernels/KERNEL/log. The status is 0 only if in every guest
# something ran and nothing failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=$PWD/build}"
export BUILD
# The releases from Linux 5.10 to the newest there is, by the processor's name in Debian.
KERNELS=(bullseye-amd64 bookworm-amd64 trixie-amd64 trixie-backports-amd64)
GUEST_SECONDS=${GUEST_SECONDS:-300}

[ $# -gt 0 ] || set -- "${KERNELS[@]}"

# Runs the kernel of folder $2 for the processor $1 with the image $3; what it prints goes to stdout.
boot() {
	local machine console

	case $1 in
	# Without cmpxchg16b: qemu 7.2 at times gets its flags wrong, and the kernel's allocator uses it.
	amd64) machine=(qemu-system-x86_64 -cpu 'qemu64,-cx16') console=ttyS0 ;;
	*) echo "no machine for $1"; return 1 ;;
	esac
	# One thread for both CPUs: with two, a CPU at times runs instructions that the other has just
	# replaced (static branches), and the kernel dies of it.
	timeout -k 5 "$GUEST_SECONDS" nice "${machine[@]}" -accel tcg,thread=single -smp 2 -m 1024 \
		-display none -monitor none -nic none -serial stdio -no-reboot \
		-kernel "$2/vmlinuz" -initrd "$3" \
		-append "console=$console quiet loglevel=1 panic=-1 oops=panic" </dev/null 2>&1
}

# The tests of the log $1, as tests/count.awk wants them; a guest that did not come to its end is one
# more, and failed.
tests_of() {
	tr -d '\r' <"$1" | sed -n '/^#file/,/^#exit/p'
	grep -q '^#end' "$1" || printf '#file %s\nnot ok 1 - the guest comes to its end\n#exit 1\n' \
		"$(basename "$(dirname "$1")")"
}

# Runs one kernel and adds its row to the table.
run_kernel() {
	local name=$1 arch=${1##*-} folder=$BUILD/kernels/$1 image=$BUILD/kernels/${1##*-}.cpio
	local started ended counted status

	tests/kernels/fetch.sh kernel "${name%-*}" "$arch" "$folder" || return 1
	started=$(date +%s%N)
	boot "$arch" "$folder" "$image" >"$folder/log"
	ended=$(date +%s%N)
	counted=$(tests_of "$folder/log" | awk -f tests/count.awk -v expected="$test_files")
	status=$?
	sed '$d' <<<"$counted" | sed "s/^[a-z]*: */&$name: /"
	[ $status = 0 ] || {
		echo "$name: all it said is in $folder/log; its last lines:"
		tail -n 40 "$folder/log" | tr -d '\r' | sed 's/^/    /'
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
tests/kernels/image.sh / "$BUILD/kernels/amd64.cpio" || exit 1
test_files=$(cpio -t --quiet <"$BUILD/kernels/amd64.cpio" | grep -c '^tests/')
for kernel in "$@"; do
	run_kernel "$kernel" || status=1
done
column -t -s '|' "$table"
exit $status
