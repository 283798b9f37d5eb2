# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Work for Perl's interpreter: recursion, regular expressions, sorting with a comparison.
use strict;
use warnings;

sub steps { my $left = shift; return $left ? 1 + steps($left - 1) : 0 }

my $text = join ' ', map { "key$_=" . $_ * 7919 % 1000 } 1 .. 600;
for my $turn (1 .. 12) {
	my %found = $text =~ /(\w+)=(\d+)/g;
	my @order = sort { $found{$a} <=> $found{$b} || $a cmp $b } keys %found;
	steps(40) for 1 .. 20;
	(my $copy = $text) =~ s/(\d+)=(\d+)/$2 + $1/ge;
}
