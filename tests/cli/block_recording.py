#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes perf.data files with known branches between functions of a program.
"""usage: block_recording.py [-s] OUT PROGRAM SAMPLE...

SAMPLE  its branches, newest first: 'FROM>TO:CYCLES,…[*TIMES]'; a place is 'function' or 'function+0x10'

In front of them, unless -s is given, stand threads of the same process, and a sample in each function of the program whose
name is f and a number. perf 6.1.192 gives back references to a process's mappings that it has not taken,
two for each branch with cycles (hist__account_cycles(): a fix that went to the stable kernels without what
it mends), and crashes as soon as there are none left. The threads and the lines of these functions hold
some for it.
"""
import re
import struct
import sys

sys.dont_write_bytecode = True
import perf_data as perf

BASE = 0x555555554000
PID, THREADS = 42, 400
TYPE = perf.IP | perf.TID | perf.TIME | perf.CPU | perf.PERIOD | perf.BRANCH_STACK
ANY_USER = 1 | 1 << 3


class Recording:
    def __init__(self, program, has_front):
        lines = perf.output("nm", "--defined-only", program).splitlines()
        self.starts = {line.split()[-1]: BASE + int(line.split()[0], 16) for line in lines}
        offset, address, size = perf.code_segment(program)
        trailer = struct.pack("<IIQII", PID, PID, 1000, 0, 0)
        place = (PID, PID, BASE + (address & ~4095), size + (address & 4095), offset & ~4095)
        self.time = 1_000_000
        self.records = [
            perf.name_record(PID, PID, "blocks", trailer, perf.EXEC),
            perf.mapping_record(place, program, trailer),
        ]
        if has_front:
            self.add_front()

    def add_front(self):
        for tid in range(PID + 1, PID + THREADS):
            own = struct.pack("<IIQII", PID, tid, 1000, 0, 0)
            self.records.append(perf.name_record(PID, tid, "blocks", own))
        for name, start in self.starts.items():
            if re.match(r"f[0-9]+$", name):
                self.add([(start, start, 2)])

    def address(self, place):
        name, offset = re.match(r"(\w+)(?:\+0x([0-9a-f]+))?$", place).groups()
        return self.starts[name] + int(offset or "0", 16)

    def branch(self, text):
        source, target, cycles = re.match(r"(.*)>(.*):(\d+)$", text).groups()
        return self.address(source), self.address(target), 2 | int(cycles) << 4

    def add(self, branches):
        self.time += 1000
        body = struct.pack("<QIIQIIQ", branches[0][1], PID, PID, self.time, 0, 0, 1000)
        body += struct.pack("<Q", len(branches))
        body += b"".join(struct.pack("<QQQ", *branch) for branch in branches)
        self.records.append(perf.record(9, perf.USER, body))

    def write(self, path):
        features = {
            perf.HOSTNAME: perf.pstr("host"),
            perf.ARCH: perf.pstr("x86_64"),
            perf.BRANCHES: b"",
        }
        attribute = perf.attribute(0, 0, 1000, TYPE, branch_type=ANY_USER)
        perf.write(path, [attribute], self.records, features)


def main():
    words = sys.argv[1:]
    has_front = words[0] != "-s"
    path, program, *samples = words if has_front else words[1:]
    recording = Recording(program, has_front)
    for sample in samples:
        text, _, times = sample.partition("*")
        branches = [recording.branch(branch) for branch in text.split(",")]
        for _ in range(int(times or 1)):
            recording.add(branches)
    recording.write(path)


main()
