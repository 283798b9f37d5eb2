#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes of a simulator's log what a processor with LBR and `perf record --call-graph lbr` would have
left, and says what was true.

usage: recording.py LOG NAME [--registers N] [--variant V[=NUMBER]]... [--branches N] [--seed N]
                    [--no-symbols]

Writes NAME.perf.data, NAME.truth.gz (a line a sample: time, tid, ip, number of callers, how many of
them reach main or the thread's function, then the callers, newest first, as from>to; S: a signal) and
NAME.syms.gz (address, function, its start, file), NAME.returns.gz (return address, call).
--branches says in the file that the processor has that many registers. Variants can be combined:

  arch       Architectural LBR: no usable hw_idx
  wipe=P     after a part P of the samples the registers are empty, the top of stack elsewhere
  attach=P   recording begins with empty registers after a part P of the samples
  lost=P     a part P of the samples is lost, in runs
  filter=P   a part P of the entries is missing, as the kernel's software filter drops them
  sparse=N   only every Nth sample is taken
"""
import argparse
import gzip
import os
import random
import struct

import log
from elf import Elf, Functions

TIME_START = 1000 * 10**9  # an instruction is a nanosecond
PERF_CONTEXT_USER = 2**64 - 512
NO_INDEX = 2**64 - 1

# IP TID TIME CALLCHAIN CPU PERIOD BRANCH_STACK
SAMPLE_TYPE = 1 | 2 | 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 11
# USER CALL_STACK NO_FLAGS NO_CYCLES HW_INDEX
BRANCH_TYPE = 1 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 17
# disabled inherit exclude_kernel exclude_hv mmap comm enable_on_exec task sample_id_all exclude_guest
# mmap2 comm_exec
ATTR_FLAGS = sum(1 << bit for bit in (0, 1, 5, 6, 8, 9, 12, 13, 18, 20, 23, 24))
ATTR_BYTES = 128

LOST, COMM, FORK, SAMPLE, MMAP2 = 2, 3, 7, 9, 10
MISC_USER, MISC_EXEC = 2, 0x2000


def pad(data, unit=8):
    return data + bytes(-len(data) % unit)


def attribute(period):
    return struct.pack("<IIQQQQQIIQQQQIIQIHHIIQ", 0, ATTR_BYTES, 0, period, SAMPLE_TYPE, 0, ATTR_FLAGS,
                       0, 0, 0, 0, BRANCH_TYPE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


class Writer:
    """The bytes of a perf.data file, records first."""

    def __init__(self, pid):
        self.pid, self.data, self.times = pid, [], []

    def _record(self, kind, misc, body, time, tid):
        trailer = struct.pack("<IIQII", self.pid, tid, time, self._cpu(tid), 0)
        body = body if kind == SAMPLE else pad(body) + trailer
        self.data.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def _cpu(self, tid):
        return (tid - self.pid) % 4

    def name(self, time, name):
        body = struct.pack("<II", self.pid, self.pid) + pad(name.encode()[:15] + b"\0")
        self._record(COMM, MISC_EXEC, body, time, self.pid)

    def thread(self, time, tid, parent):
        self._record(FORK, 0, struct.pack("<IIIIQ", self.pid, self.pid, tid, parent, time), time, parent)

    def mapping(self, time, record):
        status = os.stat(record.path)
        body = struct.pack("<IIQQQIIQQII", self.pid, self.pid, record.start, record.bytes, record.offset,
                           os.major(status.st_dev), os.minor(status.st_dev), status.st_ino, 0, 5, 2)
        self._record(MMAP2, MISC_USER, body + pad(record.path.encode() + b"\0"), time, self.pid)

    def lost(self, time, tid, count):
        self._record(LOST, 0, struct.pack("<QQ", 0, count), time, tid)

    def sample(self, time, sample, period, entries, index):
        chain = [PERF_CONTEXT_USER, sample.ip] + sample.chain
        body = struct.pack("<QIIQIIQQ", sample.ip, self.pid, sample.tid, time, self._cpu(sample.tid), 0,
                           period, len(chain))
        body += struct.pack("<%dQ" % len(chain), *chain)
        body += struct.pack("<QQ", len(entries), index)
        body += b"".join(struct.pack("<QQQ", *entry, 0) for entry in entries)
        self._record(SAMPLE, MISC_USER, body, time, sample.tid)
        self.times.append(time)

    def save(self, path, features, period):
        data = b"".join(self.data)
        data_start = 104 + ATTR_BYTES + 16
        bitmap = sum(1 << bit for bit, _ in features)
        table_start = data_start + len(data)
        payload_start = table_start + 16 * len(features)
        table, payload = b"", b""
        for _, content in features:
            table += struct.pack("<QQ", payload_start + len(payload), len(content))
            payload += content
        header = b"PERFILE2" + struct.pack("<QQQQQQQQQQQQ", 104, ATTR_BYTES + 16, 104, ATTR_BYTES + 16,
                                           data_start, len(data), 0, 0, bitmap, 0, 0, 0)
        with open(path, "wb") as file:
            file.write(header + attribute(period) + bytes(16) + data + table + payload)


# --- features -------------------------------------------------------------------------------------------


def text(value):
    encoded = pad(value.encode() + b"\0", 64)
    return struct.pack("<I", len(encoded)) + encoded


def texts(values):
    return struct.pack("<I", len(values)) + b"".join(text(value) for value in values)


def build_ids(paths):
    records = b""
    for path in paths:
        build_id = Elf(path).build_id()
        if build_id:
            name = pad(path.encode() + b"\0", 64)
            records += struct.pack("<IHHi20sB3x", 0, MISC_USER | 0x8000, 36 + len(name), -1, build_id,
                                   len(build_id)) + name
    return records


def features(paths, program, period, branches, times):
    caps = [("branches", str(branches)), ("max_precise", "3"), ("pmu_name", "skylake")]
    event = struct.pack("<II", 1, ATTR_BYTES) + attribute(period) + struct.pack("<I", 0) + text("cycles:u")
    command = ["/usr/bin/perf", "record", "--call-graph", "lbr", "-e", "cycles:u", "-c", str(period), program]
    return [
        (2, build_ids(paths)),
        (3, text("lbr-simulator")),
        (4, text("6.1.0-simulated")),
        (5, text("6.1.192")),
        (6, text("x86_64")),
        (7, struct.pack("<II", 4, 4)),
        (8, text("Intel(R) simulated LBR")),
        (9, text("GenuineIntel,6,85,7")),
        (10, struct.pack("<Q", 16 << 20)),
        (11, texts(command)),
        (12, event),
        (21, struct.pack("<QQ", times[0], times[-1])),
        (28, struct.pack("<I", len(caps)) + b"".join(text(name) + text(value) for name, value in caps)),
    ]


# --- the processor --------------------------------------------------------------------------------------


class Processor:
    """What the registers of one size would hold at each sample, faults of the wanted kind included."""

    def __init__(self, settings):
        self.settings = settings
        self.random = random.Random(settings.seed)
        self.offset = {}  # of the top of stack, by thread
        self.wiped = {}  # lowest depth since the registers were emptied, by thread

    def _wipe(self, sample):
        self.wiped[sample.tid] = sample.depth
        self.offset[sample.tid] = self.random.randrange(self.settings.registers)

    def attach(self, samples):
        """Recording begins now: the registers of every thread that was seen so far are empty."""
        for sample in samples:
            self._wipe(sample)

    def registers(self, sample):
        """(entries, hw_idx) at a sample. To be called for each of a thread, in order."""
        settings, tid = self.settings, sample.tid
        held = sample.held[settings.registers]
        if tid in self.wiped:
            self.wiped[tid] = min(self.wiped[tid], sample.lowest)
            held = min(held, sample.depth - self.wiped[tid])
        if tid not in self.offset:
            self.offset[tid] = self.random.randrange(settings.registers)
        index = (self.offset[tid] + sample.depth) % settings.registers
        entries = sample.entries[:held]
        missing = settings.variants.get("filter", 0)
        if missing:
            entries = [entry for entry in entries if self.random.random() >= missing]
        if self.random.random() < settings.variants.get("wipe", 0):
            self._wipe(sample)
        return entries, NO_INDEX if "arch" in settings.variants else index


class Sampler:
    """Which samples are taken, and how many were lost before each."""

    def __init__(self, settings, count):
        variants = settings.variants
        self.random = random.Random(settings.seed + 1)
        self.first = int(variants.get("attach", 0) * count)
        self.every = int(variants.get("sparse", 1))
        self.part = variants.get("lost", 0)
        self.run = self.lost = 0

    def takes(self, number):
        if number < self.first or number % self.every:
            return False
        if not self.run and self.random.random() < self.part / 10:
            self.run = self.random.randint(1, 19)  # ten on average
        if self.run:
            self.run -= 1
            self.lost += 1
            return False
        return True

    def take_lost(self):
        lost, self.lost = self.lost, 0
        return lost


# --- the truth ------------------------------------------------------------------------------------------


class Truth:
    def __init__(self, recorded):
        self.pid = recorded.pid
        self.maps = recorded.maps()
        program = self.maps[0]
        elf = Elf(program.path)
        main = elf.main()
        self.main = None if main is None else main + program.start - elf.address_of(program.offset)

    def reach(self, sample):
        """How many callers, from the newest on, reach main() or the thread's function."""
        total = len(sample.callers)
        if sample.tid != self.pid:
            return max(total - 2, 0)  # start_thread() and clone3() are the outermost
        for at in range(total - 1, -1, -1):
            if sample.callers[at][1] == self.main:
                return at
        return total

    def line(self, time, sample):
        callers = ["%s%x>%x" % ("S" if start & log.SIGNAL else "", start & ~log.SIGNAL, to)
                   for start, to, _ in sample.callers]
        return "%d %d %x %d %d %s\n" % (time, sample.tid, sample.ip, len(callers), self.reach(sample),
                                        " ".join(callers))

    def symbols(self, addresses):
        functions, lines = {}, []
        for address in sorted(addresses):
            for place in self.maps:
                if place.start <= address < place.start + place.bytes:
                    break
            else:
                continue
            if place.path not in functions:
                functions[place.path] = Functions(place.path)
            found = functions[place.path].find(address - place.start + place.offset)
            if found:
                lines.append("%x %s %x %s\n" % (address, found[1], found[0], place.path))
        return lines


def save_text(path, lines):
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        packed.write("".join(lines).encode())


def make(recorded, name, settings):
    """Writes the three files."""
    truth, writer = Truth(recorded), Writer(recorded.pid)
    processor, sampler = Processor(settings), Sampler(settings, len(recorded.samples()))
    period = recorded.period * sampler.every
    program = recorded.maps()[0].path
    lines, addresses, returns, newest, number = [], set(), {}, {}, 0
    writer.name(TIME_START, os.path.basename(program))
    for record in recorded.records:
        time = TIME_START + record.time
        if isinstance(record, log.Map):
            writer.mapping(time, record)
        elif isinstance(record, log.Thread):
            if record.tid != recorded.pid:
                writer.thread(time, record.tid, record.parent)
        else:
            newest[record.tid] = record
            if number == sampler.first and sampler.first:
                processor.attach(newest.values())
            entries, index = processor.registers(record)
            if sampler.takes(number):
                lost = sampler.take_lost()
                if lost:
                    writer.lost(time, record.tid, lost)
                writer.sample(time, record, period, entries, index)
                lines.append(truth.line(time, record))
                addresses.add(record.ip)
                addresses.update(caller[0] & ~log.SIGNAL for caller in record.callers)
                returns.update((caller[2], caller[0]) for caller in record.callers if caller[2])
            number += 1
    paths = list(dict.fromkeys(place.path for place in recorded.maps()))
    branches = settings.branches or settings.registers
    writer.save(name + ".perf.data", features(paths, program, period, branches, writer.times), period)
    save_text(name + ".truth.gz", lines)
    if not settings.no_symbols:
        save_text(name + ".syms.gz", truth.symbols(addresses))
    save_text(name + ".returns.gz", ["%x %x\n" % pair for pair in sorted(returns.items())])


def variant(argument):
    name, _, value = argument.partition("=")
    if name not in ("arch", "wipe", "attach", "lost", "filter", "sparse"):
        raise argparse.ArgumentTypeError("no variant %s" % name)
    return name, float(value or 0)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("log")
    parser.add_argument("name")
    parser.add_argument("--registers", type=int, choices=log.RINGS, default=32)
    parser.add_argument("--variant", type=variant, action="append", default=[])
    parser.add_argument("--branches", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-symbols", action="store_true")
    settings = parser.parse_args()
    settings.variants = dict(settings.variant)
    make(log.Log(settings.log), settings.name, settings)


if __name__ == "__main__":
    main()
