#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes C sources unit0.c, unit1.c … whose functions inline each other, ten lines each.

Usage: generate.py UNITS FUNCTIONS
"""
import random, sys

units, functions = int(sys.argv[1]), int(sys.argv[2])
random.seed(7)
for unit in range(units):
    with open(f"unit{unit}.c", "w") as out:
        out.write("static volatile int sink;\n")
        for f in range(functions):
            # Every fourth is called by nobody here, and so has code of its own.
            is_inline = f % 4 != 3
            attribute = "static inline __attribute__((always_inline))" if is_inline else "__attribute__((noinline))"
            name = f"f{unit}_{f}"
            called = [f"f{unit}_{f - k}" for k in range(1, f % 4 + 1)]
            out.write(f"{attribute} int {name}(int a, int b)\n{{\n\tint sum = a * {f + 3};\n\n")
            out.write(f"\tif (b > {random.randrange(1000)})\n\t\tsink = sum;\n")
            for c in called:
                out.write(f"\tfor (int i = 0; i < (b & 7); i++)\n\t\tsum += {c}(sum, i);\n")
            out.write(f"\tsink += b;\n\treturn sum ^ {random.randrange(1 << 30)};\n}}\n\n")
