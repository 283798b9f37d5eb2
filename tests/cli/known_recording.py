#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes perf.data files whose samples are what the arguments say.
"""Writes a perf.data with known samples in functions of real binaries.

usage: known_recording.py OUT [OPTION=VALUE...] [BINARY] SAMPLE...

A SAMPLE is [EVENT/][THREAD:]FUNCTION=PERIOD[xTIMES], in the BINARY that was named last; FUNCTION may
be an address of the binary, 0x1234, or k!NAME, a function of the running kernel (needs root). A
BINARY is a path (it has a slash).

events=0,1     configurations of the software events (default: 0, cpu-clock)
cpu=1          samples carry the CPU, taken in turn from 0 and 1
build_ids=0    mappings do not have the build ids of their files
step=NS        from sample to sample (default: 1 ms)
pid=N          of the process (default: 4242)
"""
import re
import struct
import subprocess
import sys

BASE, APART = 0x555555554000, 0x10000000
USER, KERNEL, BUILD_ID = 2, 1, 1 << 14
ATTR_BYTES = 128
IP, TID, TIME, CPU, PERIOD, IDENTIFIER = 1, 2, 4, 128, 256, 1 << 16
FEATURES = {3: "host", 6: "x86_64"}  # 7: CPUs, 21: times of the first and last sample


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Binary:
    def __init__(self, path, base):
        self.path, self.base = path, base
        self.functions = {}
        for table in ([], ["-D"]):
            for line in output("nm", *table, path).split("\n"):
                cells = line.split()
                if len(cells) == 3 and cells[1] in "tTwW":
                    self.functions.setdefault(cells[2].split("@")[0], int(cells[0], 16))
        for line in output("readelf", "-lW", path).split("\n"):
            cells = line.split()
            if cells[:1] == ["LOAD"] and "E" in "".join(cells[6:-1]):
                self.offset, self.address, self.size = (int(cells[i], 16) for i in (1, 2, 5))
        found = re.search(r"Build ID: ([0-9a-f]+)", output("readelf", "-n", path))
        self.build_id = bytes.fromhex(found.group(1)) if found else b""

    def place(self, function):
        if function.startswith("0x"):
            return self.base + int(function, 16)
        return self.base + self.functions[function]


def padded(text):
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def pstr(text):
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 64)
    return struct.pack("<I", len(data)) + data


class Recording:
    def __init__(self):
        self.options = {"events": "0", "cpu": "0", "build_ids": "1", "step": "1000000", "pid": "4242"}
        self.records, self.binaries, self.threads = [], [], {}
        self.time = self.first = 1_000_000_000_000
        self.taken = 0
        self.kernel = None

    def events(self):
        return [int(text) for text in self.options["events"].split(",")]

    def pid(self):
        return int(self.options["pid"])

    def has_cpu(self):
        return self.options["cpu"] == "1"

    def trailer(self, tid):
        words = struct.pack("<IIQ", self.pid(), tid, self.time)
        words += struct.pack("<II", 0, 0) if self.has_cpu() else b""
        return words + struct.pack("<Q", 100)

    def record(self, kind, misc, body):
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def tid_of(self, name):
        if name not in self.threads:
            self.threads[name] = self.pid() + len(self.threads)
            ids = struct.pack("<II", self.pid(), self.threads[name])
            self.record(3, 0, ids + padded(name) + self.trailer(self.threads[name]))
        return self.threads[name]

    def map(self, path):
        binary = Binary(path, BASE + APART * len(self.binaries))
        start = binary.base + (binary.address & ~4095)
        body = struct.pack("<IIQQQ", self.pid(), self.pid(), start, binary.size, binary.offset & ~4095)
        misc = USER
        if binary.build_id and self.options["build_ids"] == "1":
            misc |= BUILD_ID
            body += struct.pack("<BBH", len(binary.build_id), 0, 0) + binary.build_id.ljust(20, b"\0")
        else:
            body += struct.pack("<IIQQ", 0, 0, 0, 0)
        body += struct.pack("<II", 5, 2) + padded(path)
        self.record(10, misc, body + self.trailer(self.pid()))
        self.binaries.append(binary)

    def map_kernel(self):
        with open("/proc/kallsyms", encoding="ascii") as lines:
            rows = [line.split() for line in lines]
        self.kernel = {row[2]: int(row[0], 16) for row in rows if len(row) == 3}
        start = self.kernel["_stext"]
        body = struct.pack("<IIQQQ", 2**32 - 1, 0, start, self.kernel["_etext"] - start, start)
        body += struct.pack("<IIQQII", 0, 0, 0, 0, 5, 2) + padded("[kernel.kallsyms]_stext")
        self.record(10, KERNEL, body + self.trailer(0))

    def place(self, function):
        if not function.startswith("k!"):
            return self.binaries[-1].place(function), USER
        if not self.kernel:
            self.map_kernel()
        return self.kernel[function[2:]], KERNEL

    def sample(self, word):
        found = re.fullmatch(r"(?:(\d+)/)?(?:([^:]+):)?([^=:]+)=(\d+)(?:x(\d+))?", word)
        event, thread, function, period, times = found.groups()
        tid = self.tid_of(thread or "w")
        address, misc = self.place(function)
        for _ in range(int(times or 1)):
            self.time += int(self.options["step"])
            self.taken += 1
            body = struct.pack("<QQIIQ", 100 + int(event or 0), address, self.pid(), tid, self.time)
            body += struct.pack("<II", self.taken % 2, 0) if self.has_cpu() else b""
            self.record(9, misc, body + struct.pack("<Q", int(period)))

    def attribute(self, config):
        kinds = IP | TID | TIME | PERIOD | IDENTIFIER | (CPU if self.has_cpu() else 0)
        flags = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 20 | 1 << 23 | 1 << 24
        attr = struct.pack("<IIQQQQQ", 1, ATTR_BYTES, config, 1000, kinds, 4, flags)
        return attr + b"\0" * (ATTR_BYTES - len(attr))

    def write(self, path):
        events = self.events()
        ids = b"".join(struct.pack("<Q", 100 + i) for i in range(len(events)))
        attrs = b""
        for i, config in enumerate(events):
            attrs += self.attribute(config) + struct.pack("<QQ", 104 + 8 * i, 8)
        payloads = {bit: pstr(text) for bit, text in FEATURES.items()}
        payloads[7] = struct.pack("<II", 8, 8)
        payloads[21] = struct.pack("<QQ", self.first + int(self.options["step"]), self.time)
        records = b"".join(self.records)
        attrs_at = 104 + len(ids)
        records_at = attrs_at + len(attrs)
        at = records_at + len(records) + 16 * len(payloads)
        table = b""
        for bit in sorted(payloads):
            table += struct.pack("<QQ", at, len(payloads[bit]))
            at += len(payloads[bit])
        header = b"PERFILE2" + struct.pack("<QQ", 104, ATTR_BYTES + 16)
        header += struct.pack("<QQQQQQ", attrs_at, len(attrs), records_at, len(records), 0, 0)
        header += struct.pack("<QQQQ", sum(1 << bit for bit in payloads), 0, 0, 0)
        with open(path, "wb") as out:
            out.write(header + ids + attrs + records + table)
            out.write(b"".join(payloads[bit] for bit in sorted(payloads)))


def main():
    path, *words = sys.argv[1:]
    recording = Recording()
    for word in words:
        name, _, value = word.partition("=")
        if name in recording.options:
            recording.options[name] = value
        elif "/" in word and "=" not in word:
            recording.map(word)
        else:
            recording.sample(word)
    recording.write(path)


main()
