#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes perf.data files whose samples are of cgroups.
"""Writes a recording as perf record --all-cgroups leaves it.

usage: cgroup_recording.py OUT [ID:PATH=TIMES...]

So many samples of each cgroup; PATH "?": no record tells its path. Its ids are counted from 1 in
each file, so that two files may call one cgroup by two ids.
"""
import struct
import sys

sys.dont_write_bytecode = True
import perf_data as perf

PID, ADDRESS, PERIOD, FIRST_NS, STEP_NS = 4242, 0x400100, 1000, 1_000_000_000_000, 1_000_000


def trailer(time):
    return struct.pack("<IIQQQ", PID, PID, time, 0, perf.FIRST_ID)


def main():
    sample_type = perf.IDENTIFIER | perf.IP | perf.TID | perf.TIME | perf.CPU | perf.PERIOD
    records = [perf.name_record(PID, PID, "worker", trailer(0))]
    place = (PID, PID, 0x400000, 0x1000, 0)
    records.append(perf.mapping_record(place, "/bin/worker", trailer(0)))
    samples, time = [], FIRST_NS
    for argument in sys.argv[2:]:
        name, times = argument.rsplit("=", 1)
        number, path = name.split(":", 1)
        if path != "?":
            body = struct.pack("<Q", int(number)) + perf.padded(path) + trailer(0)
            records.append(perf.record(19, 0, body))
        for _ in range(int(times)):
            body = struct.pack("<QQIIQ", perf.FIRST_ID, ADDRESS, PID, PID, time)
            body += struct.pack("<IIQQ", 0, 0, PERIOD, int(number))
            samples.append(perf.record(9, perf.USER, body))
            time += STEP_NS
    attr = perf.attribute(1, 0, PERIOD, sample_type | perf.CGROUP, perf.FLAGS | 1 << 32)
    perf.write(sys.argv[1], [attr], records + samples, {})


main()
