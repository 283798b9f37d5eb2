#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints the calls that the registers held at each sample of a log, newest first, as chains.py prints
what perf shows of them.

usage: modelled.py LOG REGISTERS
"""
import sys

import log


def main():
    registers = int(sys.argv[2])
    for sample in log.Log(sys.argv[1]).samples():
        held = sample.entries[: sample.held[registers]]
        print(" ".join("%x" % call[0] for call in held) or "-")


if __name__ == "__main__":
    main()
