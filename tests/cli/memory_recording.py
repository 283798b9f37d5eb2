#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes perf.data files of memory accesses: no machine of ours can record them.
"""Writes a perf.data as `perf mem record` makes them, of made-up accesses by a program's functions.

usage: memory_recording.py OUT BINARY [OPTION=VALUE...]

samples=N      how many (default 300)
chains=1       samples carry call chains too
struct=1       weights are the latency of the instruction, too (PERF_SAMPLE_WEIGHT_STRUCT)
weights=0      no weights
physical=1     physical addresses and sizes of pages, too
every=1        one sample for each bit, and each value, of what is said of an access, in place of N
kernel=1       some accesses are the kernel's, in its own data too (needs root)
plain=1        no data sources: nothing is said of the accesses
"""
import random
import re
import struct
import sys

sys.dont_write_bytecode = True
import perf_data as perf

BASE, HEAP, SHARED, NOWHERE = 0x555555554000, 0x555556000000, 0x7F1234000000, 0x100000000
MAP_BYTES = 0x100000
PIDS = (4242, 4343)
MMAP_DATA = 1 << 13
PRIVATE_MAP, SHARED_MAP, READ, WRITE, EXECUTE = 2, 1, 1, 2, 4
RAW_EVENT, MEM_LOADS = 4, 0x1CD
# op, level, snoop, lock, TLB, number of the level, remote, snoop (more), blocked, hops
FIELDS = (5, 14, 5, 2, 7, 4, 1, 2, 3, 3)


def data_source(values):
    word, at = 0, 0
    for value, bits in zip(values, FIELDS):
        word |= value << at
        at += bits
    return word


def every_source():
    """Each value of the small parts, of the large ones each bit and all (of levels two: perf report
    overruns its buffer), each also with a hit and with a miss."""
    for part, bits in enumerate(FIELDS):
        values = range(1 << bits) if bits < 5 else [1 << bit for bit in range(bits)]
        if bits >= 5:
            values.append(3 << bits - 2 if bits > 8 else (1 << bits) - 1)
        for value in values:
            for level in (0, 2, 4):
                words = [0] * len(FIELDS)
                words[1] = level
                words[part] |= value
                yield data_source(words)


class Recording:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(int(options.get("seed", 1)))
        self.records = []
        self.time = 1_000_000_000_000
        self.bits = perf.IP | perf.TID | perf.TIME | perf.ADDR | perf.CPU | perf.PERIOD
        for bits, name, value in (
            (perf.CALLCHAIN, "chains", "1"),
            (perf.PHYSICAL | perf.DATA_PAGE, "physical", "1"),
        ):
            if options.get(name) == value:
                self.bits |= bits
        if options.get("plain") != "1":
            self.bits |= perf.DATA_SOURCE
        if options.get("weights") != "0":
            self.bits |= perf.WEIGHTS if options.get("struct") == "1" else perf.WEIGHT

    def trailer(self, pid):
        return struct.pack("<IIQII", pid, pid, self.time, 0, 0)

    def mapping(self, place, path, protection, flags=PRIVATE_MAP, inode=0):
        body = struct.pack("<IIQQQ", *place) + struct.pack("<IIQQ", *((8, 1) if inode else (0, 0)), inode, 0)
        body += struct.pack("<II", protection, flags) + perf.padded(path) + self.trailer(place[0])
        misc = perf.USER if protection & EXECUTE else perf.USER | MMAP_DATA
        self.records.append(perf.record(10, misc, body))

    def boot(self, pid, binary):
        self.records.append(perf.name_record(pid, pid, "accesses", self.trailer(pid), perf.EXEC))
        for offset, address, size, protection in perf.segments(binary):
            start, skip = BASE + address & ~4095, offset & 4095
            self.mapping((pid, pid, start, size + skip, offset & ~4095), binary, protection, inode=77)
        self.mapping((pid, pid, HEAP, MAP_BYTES, 0), "[heap]", READ | WRITE)
        shared = (pid, pid, SHARED, MAP_BYTES, 0)
        self.mapping(shared, "/dev/shm/shared", READ | WRITE, SHARED_MAP, 99)

    def weight(self):
        cost = self.random.choice([0, 1, 7, 30, 31, 250, 2000])
        if self.options.get("struct") == "1":
            return struct.pack("<IHH", cost, self.random.choice([0, 5, 60]), 3)
        return struct.pack("<Q", cost)

    def sample(self, pid, ip, address, source, misc):
        self.time += 1000
        body = struct.pack("<QIIQQIIQ", ip, pid, pid, self.time, address, self.time // 1000 % 4, 0, 50)
        if self.bits & perf.CALLCHAIN:
            marker = perf.KERNEL_CONTEXT if misc == perf.KERNEL else perf.USER_CONTEXT
            chain = [marker, ip, BASE + 0x1100 + 16 * (address // 64 % 3)]
            body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        if self.options.get("weights") != "0":
            body += self.weight()
        if self.bits & perf.DATA_SOURCE:
            body += struct.pack("<Q", source)
        if self.bits & perf.PHYSICAL:
            body += struct.pack("<QQ", address & 0xFFFFFF | 0x80000000, self.random.choice([0, 4096, 1 << 16, 1 << 21, 1 << 30]))
        self.records.append(perf.record(9, misc, body))


def symbols(binary):
    """(address, size) of the functions and of the variables."""
    functions, variables = [], []
    for line in perf.output("nm", "-S", "--defined-only", binary).split("\n"):
        cells = line.split()
        if len(cells) == 4:
            place = int(cells[0], 16), int(cells[1], 16)
            (functions if cells[2] in "tTwW" else variables).append(place)
    return sorted(functions), sorted(variables)


def kernel_places():
    """(start, end) of the text, functions in it, variables."""
    text = perf.kernel_symbols()
    inside = sorted({at for at in text.values() if text["_stext"] < at < text["_etext"]})
    found = [text[name] for name in ("jiffies", "init_task") if name in text]
    return text["_stext"], text["_etext"], inside[1000:1010], found


def accesses(recording, binary):
    """Endless (ip, address, misc)."""
    choose = recording.random
    functions, variables = symbols(binary)
    has_kernel = recording.options.get("kernel") == "1"
    if has_kernel:
        start, end, kernel_functions, kernel_data = kernel_places()
        place = (perf.NOBODY, 0, start, end - start, start)
        path = "[kernel.kallsyms]_stext"
        recording.records.append(perf.mapping_record(place, path, recording.trailer(0), perf.KERNEL))
    while True:
        ip = BASE + choose.choice(functions)[0] + choose.randrange(8)
        at, size = choose.choice(variables)
        places = [BASE + at + choose.randrange(max(size, 1)), HEAP + 8 * choose.randrange(40)]
        places += [SHARED + 8 * choose.randrange(40), NOWHERE + 64 * choose.randrange(3)]
        if has_kernel and choose.random() < 0.3:
            address = choose.choice(kernel_data + [choose.choice(places)]) + 8 * choose.randrange(4)
            yield choose.choice(kernel_functions), address, perf.KERNEL
        else:
            yield ip, choose.choice(places), perf.USER


def main():
    path, binary, *words = sys.argv[1:]
    options = dict(word.split("=") for word in words)
    recording = Recording(options)
    for pid in PIDS:
        recording.boot(pid, binary)
    if options.get("every") == "1":
        sources = list(every_source())
    else:
        known = [0x68100142, 0x68100182, 0x1068100842, 0x5080044, 0x4C80042, 0x6A808042, 0x1E05080021, 0]
        sources = [recording.random.choice(known) for _ in range(int(options.get("samples", 300)))]
    for source, (ip, address, misc) in zip(sources, accesses(recording, binary)):
        recording.sample(recording.random.choice(PIDS), ip, address, source, misc)
    features = {perf.HOSTNAME: perf.pstr("host"), perf.ARCH: perf.pstr("x86_64")}
    attribute = perf.attribute(RAW_EVENT, MEM_LOADS, 1000, recording.bits, perf.FLAGS | MMAP_DATA_BIT)
    perf.write(path, [attribute], recording.records, features)


MMAP_DATA_BIT = 1 << 17
main()
