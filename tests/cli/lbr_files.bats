#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Stitched call stacks against the true ones, for files whose truth came with them: of ../shared/lbr, where
# a throwaway prototype's figures are the limits.
#
# Runs beside others.

load common

SHARED=$BATS_TEST_DIRNAME/../../../shared/lbr

setup() {
	[ -d "$SHARED" ] || skip "there are no recordings with true stacks in ../shared/lbr"
}

# figures FILE TIER: "main wrong", in percent
figures() {
	"$BUILD/tests/lbr/chains" "$SHARED/$1.perf.data" "$2" "$SHARED/symfs" 2>/dev/null \
		>"$BATS_TEST_TMPDIR/chains" || return 1
	python3 "$SHARED/score.py" "$SHARED/$1.truth.gz" "$BATS_TEST_TMPDIR/chains" "$SHARED/$1.syms.gz" |
		sed -E 's/.*main ([0-9.]+)%.*WRONG ([0-9.]+)%.*/\1 \2/'
}

# limits FILE KEY: the same of another's result
limits() {
	jq -r ".$2 | \"\(.Cm) \(.W)\"" "$SHARED/$1.expected.json"
}

# no_worse FIGURES LIMITS: as many to main or more, and as many wrong or fewer
no_worse() {
	awk -v a="$1" -v b="$2" 'BEGIN { split(a, x, " "); split(b, y, " ")
		exit !(x[1] + 0.05 >= y[1] && x[2] <= y[2] + 0.05) }' || {
		echo "main and wrong are $1, the limit is $2"
		return 1
	}
}

@test "certain: nothing is wrong where calls and returns balance, and as much is whole as can be" {
	local file got
	for file in tchain_edit_n32 tchain_edit_n16 rectree_fp_n32 parser_nofp_n32 cc1_n32; do
		got=$(figures "$file" certain)
		echo "$file $got"
		[ "${got#* }" = 0.000 ]
		no_worse "$got" "$(limits "$file" proto_certain)"
	done
}

@test "all 43 nested functions are there in every sample, with 32 registers and with 16" {
	[ "$(figures tchain_edit_n32 certain)" = "100.00 0.000" ]
	[ "$(figures tchain_edit_n16 certain)" = "100.00 0.000" ]
}

@test "certain: under longjmp() no more is wrong than must be" {
	no_worse "$(figures longjmp_fp_n32 certain)" "$(limits longjmp_fp_n32 proto_certain)"
}

@test "likely: no less is whole than by certain, and no more wrong than by perf" {
	local file
	for file in tchain_edit_n32 tchain_edit_n16 rectree_fp_n32 parser_nofp_n32 cc1_n32 longjmp_fp_n32; do
		no_worse "$(figures "$file" likely)" \
			"$(figures "$file" certain | cut -d' ' -f1) $(limits "$file" stitch | cut -d' ' -f2)"
	done
}

@test "likely: more is whole than by perf --stitch-lbr, with less wrong" {
	local file ours=() perfs=()
	for file in tchain_edit_n32 tchain_edit_n16 rectree_fp_n32 parser_nofp_n32 cc1_n32; do
		ours+=("$(figures "$file" likely)")
		perfs+=("$(limits "$file" stitch)")
	done
	printf '%s\n' "${ours[@]}" - "${perfs[@]}"
	printf '%s\n' "${ours[@]}" - "${perfs[@]}" | awk '
		/^-$/ { side = 1; next }
		{ main[side + 0] += $1; wrong[side + 0] += $2 }
		END { exit !(main[0] > main[1] && wrong[0] < wrong[1]) }'
}

@test "plain: what perf shows" {
	no_worse "$(figures cc1_n32 plain)" "$(limits cc1_n32 plain)"
	no_worse "$(figures longjmp_fp_n32 plain)" "$(limits longjmp_fp_n32 plain)"
}

@test "a recording of real hardware without register numbers is stitched without contradiction" {
	run "$BUILD/tests/lbr/chains" "$SHARED/real-i7-9700-no-hw-index.perf.data" certain
	[ "$status" = 0 ]
	[ "${#lines[@]}" -ge 29 ]
	[[ $output != *"cannot have been called"* ]]
}

# stitched ARGUMENT…: a digest of cc1's report
stitched() {
	"$BPFPROF" report --stdio --stitch-lbr --symfs "$SHARED/symfs" \
		-i "$SHARED/cc1_n32.perf.data" "$@" 2>>warnings | md5sum
}

@test "who calls whom in a large binary is kept, and what is damaged or another's is not believed" {
	local plain kept=() file other
	cd "$BATS_TEST_TMPDIR" || return
	export XDG_CACHE_HOME=$PWD/caches HOME=$PWD
	plain=$(stitched --no-cache)
	[ ! -e caches ]
	[ "$(stitched)" = "$plain" ]
	mapfile -t kept < <(find caches -name '*.callers' -printf '%s %p\n' | sort -n | cut -d' ' -f2)
	[ "${#kept[@]}" -ge 2 ]
	[ "$(stitched)" = "$plain" ]
	[ ! -s warnings ]
	file=${kept[-1]}
	other=${kept[0]}
	printf 'x' | dd of="$file" bs=1 seek=1000 conv=notrunc status=none
	[ "$(stitched)" = "$plain" ]
	grep -q damaged warnings
	[ "$(stat -c %s "$file")" -gt 1000 ]
	cp "$other" caches/other
	cp "$file" "$other"
	[ "$(stitched)" = "$plain" ]
	cp caches/other "$file"
	[ "$(stitched)" = "$plain" ]
	[ "$(wc -l <warnings)" -eq 1 ]
}
