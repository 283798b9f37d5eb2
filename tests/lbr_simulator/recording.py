#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes of a simulator's log what a processor with LBR and `perf record --call-graph lbr` would have
left, and says what was true.

usage: recording.py LOG NAME [--registers N] [--variant V[=NUMBER]]... [--branches N] [--seed N]
                    [--no-symbols]

Writes NAME.perf.data, NAME.truth.gz (a line a sample: time, tid, ip, number of callers, how many of
them reach main or the thread's function, then the callers, newest first, as from>to; S: a signal) and
NAME.syms.gz (address, function, its start, file), NAME.returns.gz (return address, call; call 0: the
code that ends a signal handler).
--branches says in the file that the processor has that many registers. Variants can be combined:

  arch       Architectural LBR: no usable hw_idx
  wipe=P     after a part P of the samples the registers are empty, the top of stack elsewhere
  attach=P   recording begins with empty registers after a part P of the samples
  lost=P     a part P of the samples is lost, in runs
  filter=P   a part P of the entries is missing, as the kernel's software filter drops them
  sparse=N   only every Nth sample is taken
  eh_frame   the user call chain holds the true callers and not what frame pointers find, and the file
             says so as bpfprof's own do
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
# bpfprof's own: a note at the head of the file, and in a sample's misc how its stack was walked
# (user/perfdata/format.h, user/event/event_sink.h).
NOTE, NOTE_MAGIC, NOTE_VERSION, NOTE_START = 65, 0x00666F7270667062, 1, 1
CUT_COMPLETE, CUT_TOO_DEEP, WALK_EH_FRAME = 1 << 3, 3 << 3, 2 << 7
CHAIN_MAX = 127
CALL_BYTES = range(2, 9)  # what a CALL instruction can take


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

    def note(self):
        """Says that bpfprof made the file."""
        body = struct.pack("<QIIQ", NOTE_MAGIC, NOTE_VERSION, NOTE_START, 0)
        self.data.append(struct.pack("<IHH", NOTE, 0, 8 + len(body)) + body)

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

    def sample(self, time, sample, period, entries, index, misc):
        chain = [PERF_CONTEXT_USER, sample.ip] + sample.chain
        body = struct.pack("<QIIQIIQQ", sample.ip, self.pid, sample.tid, time, self._cpu(sample.tid), 0,
                           period, len(chain))
        body += struct.pack("<%dQ" % len(chain), *chain)
        body += struct.pack("<QQ", len(entries), index)
        body += b"".join(struct.pack("<QQQ", *entry, 0) for entry in entries)
        self._record(SAMPLE, misc, body, time, sample.tid)
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


def unwound(sample):
    """The sample as a walk by .eh_frame sees it, and the bits that say so."""
    chain = []
    for start, _, back in sample.callers:
        # A handler's caller is the code that ends the signal, and that one's is what was interrupted.
        chain += [back, start & ~log.SIGNAL] if start & log.SIGNAL else [back]
    cut = CUT_TOO_DEEP if len(chain) >= CHAIN_MAX else CUT_COMPLETE
    return sample._replace(chain=chain[: CHAIN_MAX - 1]), MISC_USER | WALK_EH_FRAME | cut


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


# --- both together --------------------------------------------------------------------------------------


class Recording:
    """A log's records on their way into the files."""

    def __init__(self, recorded, settings):
        self.recorded, self.settings = recorded, settings
        self.truth, self.writer = Truth(recorded), Writer(recorded.pid)
        self.processor = Processor(settings)
        self.sampler = Sampler(settings, len(recorded.samples()))
        self.period = recorded.period * self.sampler.every
        self.seen, self.newest = 0, {}  # samples, and each thread's last
        self.lines, self.addresses, self.returns, self.held = [], set(), {}, set()

    def _take_sample(self, time, sample):
        self.newest[sample.tid] = sample
        if self.seen == self.sampler.first and self.seen:
            self.processor.attach(self.newest.values())
        entries, index = self.processor.registers(sample)
        if self.sampler.takes(self.seen):
            self._write_sample(time, sample, entries, index)
        self.seen += 1

    def _write_sample(self, time, sample, entries, index):
        lost, misc = self.sampler.take_lost(), MISC_USER
        if lost:
            self.writer.lost(time, sample.tid, lost)
        if "eh_frame" in self.settings.variants:
            sample, misc = unwound(sample)
        self.writer.sample(time, sample, self.period, entries, index, misc)
        self.lines.append(self.truth.line(time, sample))
        self.addresses.add(sample.ip)
        self.addresses.update(start & ~log.SIGNAL for start, _, _ in sample.callers)
        self.returns.update((back, 0 if start & log.SIGNAL else start) for start, _, back in sample.callers)
        self.held.update(start for start, _ in entries)

    def _all_returns(self):
        """Also those of calls that registers hold and no true stack does, as longjmp() left them: of
        their return address is known that it is soon behind them, and behind no other call before it."""
        unknown = sorted(self.held - set(self.returns.values()))
        soon = {start + bytes: start for start in unknown for bytes in CALL_BYTES}
        return sorted((soon | self.returns).items())

    def take_all(self):
        if "eh_frame" in self.settings.variants:
            self.writer.note()
        self.writer.name(TIME_START, os.path.basename(self.recorded.maps()[0].path))
        for record in self.recorded.records:
            time = TIME_START + record.time
            if isinstance(record, log.Map):
                self.writer.mapping(time, record)
            elif isinstance(record, log.Sample):
                self._take_sample(time, record)
            elif record.tid != self.recorded.pid:
                self.writer.thread(time, record.tid, record.parent)

    def save(self, name):
        paths = list(dict.fromkeys(place.path for place in self.recorded.maps()))
        branches = self.settings.branches or self.settings.registers
        self.writer.save(name + ".perf.data",
                         features(paths, paths[0], self.period, branches, self.writer.times), self.period)
        save_text(name + ".truth.gz", self.lines)
        save_text(name + ".returns.gz", ["%x %x\n" % pair for pair in self._all_returns()])
        if not self.settings.no_symbols:
            save_text(name + ".syms.gz", self.truth.symbols(self.addresses))


def variant(argument):
    name, _, value = argument.partition("=")
    if name not in ("arch", "wipe", "attach", "lost", "filter", "sparse", "eh_frame"):
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
    recording = Recording(log.Log(settings.log), settings)
    recording.take_all()
    recording.save(settings.name)


if __name__ == "__main__":
    main()
