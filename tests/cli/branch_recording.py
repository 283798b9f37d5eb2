#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes perf.data files with branch stacks: no machine of ours can record them.
"""Writes a perf.data as `perf record -b` makes them, of made-up branches between real functions.

usage: branch_recording.py OUT BINARY [OPTION=VALUE...]

bits=N         branch_sample_type (default: user, kernel, any)
chains=1       samples carry call chains too
samples=N      how many (default 400)
depth=N        at most that many entries a sample (default 16)
feature=0      leave out the BRANCH_STACK feature
events=N       that many events
loops=1        entries repeat, as those of a loop do
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
import subprocess
import sys

ANY = 1 | 2 | 8
TYPE_SAVE, HW_INDEX, COUNTERS = 1 << 16, 1 << 17, 1 << 19
CALL_STACKS = 1 | 1 << 11 | 1 << 14 | 1 << 15 | HW_INDEX
REGISTERS = 16
CALLCHAIN, BRANCH_STACK, IDENTIFIER = 1 << 5, 1 << 11, 1 << 16
BASE = 0x555555554000
PID, TID = 4242, 4242
ATTR_BYTES = 128
KERNEL, USER = 1, 2


def functions(binary):
    """(address, size) of each function, and (file offset, address, size) of the code segment."""
    names = subprocess.run(
        ["nm", "-S", "--defined-only", binary], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for line in names.split("\n"):
        cells = line.split()
        if len(cells) == 4 and cells[2] in "tTwW":
            found.append((int(cells[0], 16), int(cells[1], 16)))
    headers = subprocess.run(
        ["readelf", "-lW", binary], capture_output=True, text=True, check=True
    ).stdout
    for line in headers.split("\n"):
        cells = line.split()
        if cells[:1] == ["LOAD"] and "E" in "".join(cells[6:-1]):
            return sorted(found), [int(cells[i], 16) for i in (1, 2, 5)]
    sys.exit(f"{binary}: no code")


def direct_calls(binary, found):
    """Function -> [(address of a CALL in it, behind the CALL, function that it calls)]."""
    code = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", binary], capture_output=True, text=True, check=True
    ).stdout
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
    with open("/proc/kallsyms", encoding="ascii") as lines:
        rows = [line.split() for line in lines]
    text = {row[2]: int(row[0], 16) for row in rows if len(row) == 3}
    start, end = text["_stext"], text["_etext"]
    inside = sorted({address for address in text.values() if start < address < end})
    picked = inside[1000 : 1000 + 40]
    return [(address, 16) for address in picked], start, end


def padded(text):
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def pstr(text):
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 64)
    return struct.pack("<I", len(data)) + data


class Recording:
    def __init__(self, options):
        self.options = options
        self.has_calls = options.get("calls") == "1"
        self.bits = int(options.get("bits", CALL_STACKS if self.has_calls else ANY))
        self.chains = self.has_calls or options.get("chains") == "1"
        self.hw_idx = 0
        self.events = int(options.get("events", 1))
        self.random = random.Random(int(options.get("seed", 1)))
        self.records = []
        self.time = 1_000_000_000_000

    def sample_type(self):
        wanted = 1 | 2 | 4 | 128 | 256 | BRANCH_STACK
        if self.chains:
            wanted |= CALLCHAIN
        if self.events > 1:
            wanted |= IDENTIFIER
        return wanted

    def trailer(self):
        words = struct.pack("<IIQII", PID, TID, self.time, 0, 0)
        return words + (struct.pack("<Q", 100) if self.events > 1 else b"")

    def record(self, kind, misc, body):
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def mapping(self, start, size, offset, path, misc, pid=PID):
        body = struct.pack("<IIQQQ", pid, pid if pid == PID else 0, start, size, offset)
        body += struct.pack("<IIQQII", 0, 0, 0, 0, 5, 2) + padded(path)
        self.record(10, misc, body + self.trailer())

    def name(self, text):
        self.record(3, 0x2000, struct.pack("<II", PID, TID) + padded(text) + self.trailer())

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

    def sample(self, event, ip, chain, branches, misc=USER):
        body = struct.pack("<Q", 100 + event) if self.events > 1 else b""
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
        self.record(9, misc, body)

    def attribute(self, event):
        flags = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 20 | 1 << 23 | 1 << 24
        attr = struct.pack(
            "<IIQQQQQ", 0, ATTR_BYTES, event, 1000 + event, self.sample_type(), 4, flags
        )
        attr += struct.pack("<IIQQQ", 0, 0, 0, 0, self.bits)
        return attr + b"\0" * (ATTR_BYTES - len(attr))

    def write(self, path):
        ids = b"".join(struct.pack("<Q", 100 + i) for i in range(self.events))
        attrs = b""
        for i in range(self.events):
            attrs += self.attribute(i) + struct.pack("<QQ", 104 + 8 * i, 8)
        payloads = {3: pstr("host"), 6: pstr("x86_64")}
        if self.has_calls:
            payloads[28] = struct.pack("<I", 1) + pstr("branches") + pstr(str(REGISTERS))
        elif self.options.get("feature") != "0":
            payloads[15] = b""
        records = b"".join(self.records)
        bitmap = sum(1 << bit for bit in payloads)
        attrs_at = 104 + len(ids)
        records_at = attrs_at + len(attrs)
        table_at = records_at + len(records)
        at = table_at + 16 * len(payloads)
        table = b""
        for bit in sorted(payloads):
            table += struct.pack("<QQ", at, len(payloads[bit]))
            at += len(payloads[bit])
        header = b"PERFILE2" + struct.pack("<QQ", 104, ATTR_BYTES + 16)
        header += struct.pack("<QQQQQQ", attrs_at, len(attrs), records_at, len(records), 0, 0)
        header += struct.pack("<QQQQ", bitmap, 0, 0, 0)
        with open(path, "wb") as out:
            out.write(header + ids + attrs + records + table)
            out.write(b"".join(payloads[bit] for bit in sorted(payloads)))


class Branches:
    """Made-up branches between the functions of a binary."""

    def __init__(self, recording, binary):
        self.options = recording.options
        self.random = recording.random
        found, (offset, address, size) = functions(binary)
        self.sizes = dict(found)
        self.calls = direct_calls(binary, found) if recording.has_calls else {}
        self.places = [(BASE + start, max(length, 1)) for start, length in found]
        recording.mapping(BASE + address & ~4095, size, offset & ~4095, binary, USER)
        if self.options.get("kernel") == "1":
            kernel, start, end = kernel_functions()
            self.places += kernel
            recording.mapping(start, end - start, start, "[kernel.kallsyms]_stext", KERNEL, 2**32 - 1)
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
        chain = [2**64 - 512, ip] + [BASE + behind for _, behind, _ in self.stack[::-1][:3]]
        misc = USER
        if options.get("in_kernel") == "1" and choose.random() < 0.3:
            ip, misc = 2**64 - 0x7EFFFFF0, KERNEL
            chain = [2**64 - 128, ip, ip + 0x40] + chain
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
        chain = [2**64 - 512, ip, branches.address() + 1, branches.address() + 1]
        misc = KERNEL if ip > 2**63 else USER
        recording.sample(recording.random.randrange(recording.events), ip, chain, stack, misc)
    recording.write(path)


main()
