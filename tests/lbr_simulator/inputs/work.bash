# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Work for bash's interpreter: functions that call themselves, loops, patterns; no other program.
# shellcheck shell=bash
sum=0
dig() {
	local left=$1
	if ((left > 0)); then
		if [[ $left == *[13579] ]]; then
			dig $((left - 1))
		else
			until dig $((left - 1)); do :; done
		fi
	fi
	sum=$((sum + left))
}
for turn in {1..40}; do
	dig 24
	words="a${turn} b c d"
	for word in $words; do sum=$((sum + ${#word})); done
done
