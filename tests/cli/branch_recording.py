#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes perf.data files with branch stacks: no machine of ours can record them.
"""Writes a perf.data as `perf record -b` makes them, of made-up branches between real functions.

usage: branch_recording.py OUT BINARY [OPTION=VALUE...]

bits=N         branch_sample_type (default: user, kernel, any)
chains=1       samples carry call chains too; 0: not even with calls=1
samples=N      how many (default 400)
depth=N        at most that many entries a sample (default 16)
feature=0      leave out the BRANCH_STACK feature; 1: have it even with calls=1
events=N       that many events
loops=1        entries repeat, as those of a loop do
again=1        an entry comes again, but what followed it does not; each sample twice
calls=1        an LBR of call stacks, with 16 registers, of a program that calls up and down
overlong=1     with calls=1: more entries than the file says that there are registers
in_kernel=1    with calls=1: some samples are taken in the kernel
kernel=1       the kernel is mapped and some branches are there (needs root)
known=1        it is known of each branch whether it was predicted
kind=N         all branches are of that type
odd=1          addresses in no mapping, and samples with no entry
"""
import random
import re
import struct
import sys

sys.dont_write_bytecode = True
import perf_data as perf

ANY = 1 | 2 | 8
TYPE_SAVE, HW_INDEX, COUNTERS = 1 << 16, 1 << 17, 1 << 19
CALL_STACKS = 1 | 1 << 11 | 1 << 14 | 1 << 15 | HW_INDEX
REGISTERS = 16
BASE = 0x555555554000
PID, TID = 4242, 4242


def functions(binary):
    """(address, size) of each function, and (file offset, address, size) of the code segment."""
    found = []
    for line in perf.output("nm", "-S", "--defined-only", binary).split("\n"):
        cells = line.split()
        if len(cells) == 4 and cells[2] in "tTwW":
            found.append((int(cells[0], 16), int(cells[1], 16)))
    segment = perf.code_segment(binary)
    if not segment:
        sys.exit(f"{binary}: no code")
    return sorted(found), segment


def direct_calls(binary, found):
    """Function -> [(address of a CALL in it, behind the CALL, function that it calls)]."""
    code = perf.output("objdump", "-d", "--no-show-raw-insn", binary)
    starts = dict(found)
    lines = re.findall(r"^ +([0-9a-f]+):\s+(\w+)(?: +([0-9a-f]+) <)?", code, re.M)
    calls = {start: [] for start in starts}
    for (site, word, target), (behind, _, _) in zip(lines, lines[1:]):
        if word == "call" and target and int(target, 16) in starts:
            call = tuple(int(text, 16) for text in (site, behind, target))
            for start, size in found:
                if start <= call[0] < start + size:
                    calls[start].append(call)
    return {start: sites for start, sites in calls.items() if sites}


def kernel_functions():
    text = perf.kernel_symbols()
    start, end = text["_stext"], text["_etext"]
    inside = sorted({address for address in text.values() if start < address < end})
    picked = inside[1000 : 1000 + 40]
    return [(address, 16) for address in picked], start, end


class Recording:
    def __init__(self, options):
        self.options = options
        self.has_calls = options.get("calls") == "1"
        self.bits = int(options.get("bits", CALL_STACKS if self.has_calls else ANY))
        self.chains = options.get("chains", str(int(self.has_calls))) == "1"
        self.hw_idx = 0
        self.events = int(options.get("events", 1))
        self.random = random.Random(int(options.get("seed", 1)))
        self.records = []
        self.time = 1_000_000_000_000

    def sample_type(self):
        wanted = perf.IP | perf.TID | perf.TIME | perf.CPU | perf.PERIOD | perf.BRANCH_STACK
        if self.chains:
            wanted |= perf.CALLCHAIN
        if self.events > 1:
            wanted |= perf.IDENTIFIER
        return wanted

    def trailer(self):
        words = struct.pack("<IIQII", PID, TID, self.time, 0, 0)
        return words + (struct.pack("<Q", perf.FIRST_ID) if self.events > 1 else b"")

    def mapping(self, start, size, offset, path, misc, pid=PID):
        place = (pid, pid if pid == PID else 0, start, size, offset)
        self.records.append(perf.mapping_record(place, path, self.trailer(), misc))

    def name(self, text):
        self.records.append(perf.name_record(PID, TID, text, self.trailer(), perf.EXEC))

    def flags(self):
        predicted = self.random.choice([1, 2, 2, 2, 0])
        if self.options.get("known") == "1":
            predicted = predicted or 1
        other = self.random.choice([0, 0, 0, 0, 4, 8])
        cycles = self.random.choice([0, 1, 1, 2, 7, 300])
        kind = self.random.randrange(16) if self.bits & TYPE_SAVE else 0
        kind = int(self.options.get("kind", kind))
        new_kind = self.random.randrange(8) if kind == 15 else 0
        return predicted | other | cycles << 4 | kind << 20 | new_kind << 26

    def sample(self, event, ip, chain, branches, misc=perf.USER):
        body = struct.pack("<Q", perf.FIRST_ID + event) if self.events > 1 else b""
        body += struct.pack("<QIIQIIQ", ip, PID, TID, self.time, 0, 0, 1000 + event)
        if self.chains:
            body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        body += struct.pack("<Q", len(branches))
        if self.bits & HW_INDEX:
            body += struct.pack("<Q", self.hw_idx)
        for branch in branches:
            body += struct.pack("<QQQ", *branch)
        if self.bits & COUNTERS:
            body += struct.pack(f"<{len(branches)}Q", *range(len(branches)))
        self.records.append(perf.record(9, misc, body))

    def attribute(self, event):
        return perf.attribute(
            0, event, 1000 + event, self.sample_type(), branch_type=self.bits
        )

    def write(self, path):
        features = {perf.HOSTNAME: perf.pstr("host"), perf.ARCH: perf.pstr("x86_64")}
        if self.has_calls:
            caps = perf.pstr("branches") + perf.pstr(str(REGISTERS))
            features[perf.PMU_CAPS] = struct.pack("<I", 1) + caps
        if self.options.get("feature", str(int(not self.has_calls))) == "1":
            features[perf.BRANCHES] = b""
        attributes = [self.attribute(event) for event in range(self.events)]
        perf.write(path, attributes, self.records, features)


class Branches:
    """Made-up branches between the functions of a binary."""

    def __init__(self, recording, binary):
        self.options = recording.options
        self.random = recording.random
        found, (offset, address, size) = functions(binary)
        self.sizes = dict(found)
        self.calls = direct_calls(binary, found) if recording.has_calls else {}
        self.places = [(BASE + start, max(length, 1)) for start, length in found]
        recording.mapping(BASE + address & ~4095, size, offset & ~4095, binary, perf.USER)
        if self.options.get("kernel") == "1":
            kernel, start, end = kernel_functions()
            self.places += kernel
            recording.mapping(start, end - start, start, "[kernel.kallsyms]_stext", perf.KERNEL, perf.NOBODY)
        if self.options.get("odd") == "1":
            self.places += [(0x7F0000001000, 64), (0x10, 8)]

    def address(self):
        start, size = self.random.choice(self.places)
        return start + self.random.choice([0, 0, self.random.randrange(size)])

    def stack(self, depth, flags):
        count = self.random.randrange(1, depth + 1)
        if self.options.get("odd") == "1" and self.random.random() < 0.1:
            count = 0
        branches = [(self.address(), self.address(), flags()) for _ in range(count)]
        if self.options.get("loops") == "1" and count > 4:
            times = self.random.randrange(1, 5)
            branches = branches[:1] + branches[1:3] * times + branches[3:]
        if self.options.get("again") == "1" and count > 3:
            branches = branches[:3] + branches[1:2] + branches[3:]
        return branches[:depth]


class Calls:
    """A program that calls and returns at random, by the CALLs that are in the binary, and what the
    registers of its call stack hold."""

    def __init__(self, recording, branches):
        self.recording = recording
        self.branches = branches
        self.stack = []  # (address of the CALL, behind it, function called), the outermost first
        self.lost = 0  # of these, outermost ones that were overwritten
        is_overlong = recording.options.get("overlong") == "1"
        self.registers = 2 * REGISTERS if is_overlong else REGISTERS

    def step(self):
        choose, calls = self.recording.random, self.branches.calls
        for _ in range(choose.randrange(1, 12)):
            here = self.stack[-1][2] if self.stack else choose.choice(sorted(calls))
            if here not in calls or choose.random() < 0.3 or len(self.stack) == 40:
                self.stack = self.stack[:-1]
                self.lost = min(self.lost, len(self.stack))
            else:
                self.stack.append(choose.choice(calls[here]))
                self.lost = max(self.lost, len(self.stack) - self.registers)

    def sample(self):
        options, choose = self.recording.options, self.recording.random
        self.step()
        while len(self.stack) <= self.lost and options.get("odd") != "1":
            self.step()
        held = [(BASE + site, BASE + to, 0) for site, _, to in self.stack[self.lost :][::-1]]
        here = self.stack[-1][2] if self.stack else min(self.branches.sizes)
        ip = BASE + here + choose.randrange(self.branches.sizes[here] or 1)
        chain = [perf.USER_CONTEXT, ip] + [BASE + behind for _, behind, _ in self.stack[::-1][:3]]
        misc = perf.USER
        if options.get("in_kernel") == "1" and choose.random() < 0.3:
            ip, misc = 2**64 - 0x7EFFFFF0, perf.KERNEL
            chain = [perf.KERNEL_CONTEXT, ip, ip + 0x40] + chain
        self.recording.hw_idx = (len(self.stack) - 1) % REGISTERS
        self.recording.sample(0, ip, chain, held, misc)


def main():
    path, binary, *words = sys.argv[1:]
    options = dict(word.split("=") for word in words)
    recording = Recording(options)
    recording.name("branchy")
    branches = Branches(recording, binary)
    depth = int(options.get("depth", 16))
    calls = Calls(recording, branches)
    for _ in range(int(options.get("samples", 400))):
        recording.time += 1000
        if recording.has_calls:
            calls.sample()
            continue
        stack = branches.stack(depth, recording.flags)
        ip = stack[0][1] if stack else branches.address()
        chain = [perf.USER_CONTEXT, ip, branches.address() + 1, branches.address() + 1]
        misc = perf.KERNEL if ip > 2**63 else perf.USER
        for _ in range(2 if options.get("again") == "1" else 1):
            event = recording.random.randrange(recording.events)
            recording.sample(event, ip, chain, stack, misc)
    recording.write(path)


main()
