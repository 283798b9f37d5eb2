#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Does some work with a program that every distribution builds its own way, without frame pointers.
#
# usage: live_program.sh FOLDER NAME SIZE      FOLDER: scratch; SIZE 1 is about a third of a second
#
# The work is prepared in FOLDER by `live_program.sh FOLDER prepare SIZE`.
set -eu
cd "$1" || exit 1
size=$3

# lines COUNT: text that sorts and compresses neither well nor badly
lines() {
	awk -v count="$1" 'BEGIN { srand(1); for (i = 0; i < count; i++)
		print int(rand() * 1000000), "line", i, int(rand() * 1000), "of some text" }'
}

prepare() {
	lines $((size * 150000)) >lines.txt
	# A C file with enough to optimize: loops, switches, calls.
	awk -v count=$((size * 60)) 'BEGIN {
		print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"
		for (i = 0; i < count; i++) {
			printf "int f%d(int *a, int n) {\n\tint s = %d;\n", i, i
			print "\tfor (int i = 0; i < n; i++) {\n\t\tswitch (a[i] & 7) {"
			for (j = 0; j < 7; j++)
				printf "\t\tcase %d: s += a[i] * %d + (s >> %d); a[i] ^= s; break;\n", j, i + j, j
			printf "\t\tdefault: s -= %s;\n\t\t}\n\t}\n\treturn s;\n}\n", \
				i ? "f" (i - 1) "(a, n / 2)" : "1"
		}
		print "int main(void) { int a[64] = {1}; return f0(a, 64); }" }' >many.c
	sed -e 's/^#include/#include/' -e '1i #include <map>\n#include <string>\n#include <regex>' many.c >many.cc
	rm -rf repo && mkdir repo && cd repo
	git -c init.defaultBranch=main init -q
	split -l 2000 ../lines.txt part
	git add . && git -c user.name=a -c user.email=a@b commit -qm first
	for part in part*; do sed -i 's/7/8/' "$part"; done
	git add . && git -c user.name=a -c user.email=a@b commit -qm second
}

python() {
	exec /usr/bin/python3 -c '
import json, re, sys
def walk(value, depth):
    return [walk(value, depth - 1), {"n": value}] if depth else {str(value): [value] * 3}
for turn in range(int(sys.argv[1]) * 90):
    text = json.dumps(walk(turn, 40), indent=1)
    back = json.loads(text)
    words = sorted(re.findall(r"[a-z0-9]+", text), key=lambda word: (len(word), word))
    total = sum(sum(i * i for i in range(n)) for n in range(300))
' "$size"
}

run_perl() {
	exec /usr/bin/perl -e '
		for my $turn (1 .. $ARGV[0]) {
			my %seen;
			for my $i (1 .. 40000) {
				my $key = join "-", $i % 997, $turn, $i;
				$seen{$1}++ if $key =~ /^(\d+)-\d+-(\d*[13579])$/;
				$key =~ s/(\d)(\d)/$2$1/g;
			}
			my @order = sort { $seen{$a} <=> $seen{$b} || $a cmp $b } keys %seen;
		}' $((size * 3))
}

case $2 in
prepare) prepare ;;
python3) python ;;
perl) run_perl ;;
sort) LC_ALL=C.UTF-8 exec sort --parallel=2 -k4,4n -k1,1 lines.txt -o sorted.txt ;;
xz) head -c $((size * 500000)) lines.txt | xz -T1 -6 -c >lines.xz ;;
openssl) exec openssl speed -seconds 1 -bytes 1024 rsa2048 sha256 >openssl.txt 2>&1 ;;
cc1) exec gcc -O2 -c many.c -o many.o ;;
cc1plus) exec g++ -O2 -c many.cc -o many.o ;;
clang) exec clang -O2 -c many.c -o many.o ;;
git) exec git -C repo -c pack.threads=1 repack -adfq --window=$((size * 4)) ;;
sqlite3) exec sqlite3 :memory: "
	CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
		WHERE i < $((size * 400000))) SELECT i, i * 7919 % 10007 AS a, printf('%05d', i % 977) AS b FROM n;
	CREATE INDEX x ON t(b, a);
	SELECT b, count(*), sum(a) FROM t WHERE b LIKE '%7%' GROUP BY b ORDER BY 3;" >sqlite.txt ;;
node) exec node -e '
	function tree(depth) { return depth ? { left: tree(depth - 1), right: tree(depth - 1) } : null; }
	for (let turn = 0; turn < +process.argv[1]; turn++) {
		const text = JSON.stringify(tree(13));
		const words = text.split(/[{}]+/).map((word, i) => word + i).sort();
		JSON.parse(text);
		words.reduce((sum, word) => sum + word.length, 0);
	}' $((size * 40)) ;;
c++) exec "$WORKLOADS/cxx" throw "$(awk "BEGIN { print $size / 3 }")" ;;
*)
	echo "live_program.sh: no program $2" >&2
	exit 2
	;;
esac
