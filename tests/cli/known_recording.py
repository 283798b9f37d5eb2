#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes perf.data files whose samples are what the arguments say.
"""Writes a perf.data with known samples in functions of real binaries.

usage: known_recording.py OUT [OPTION=VALUE...] [BINARY] SAMPLE...

A SAMPLE is [EVENT/][THREAD:]FUNCTION[<CALLER...]=PERIOD[xTIMES], in the BINARY that was named last;
FUNCTION may be an address of the binary, 0x1234, or k!NAME, a function of the running kernel (needs
root), or k!0x1234, an address in it. A BINARY is a path (it has a slash).

events=0,1     configurations of the software events (default: 0, cpu-clock)
chains=1       samples carry call chains, of FUNCTION and its CALLERs
deferred=N     chains of user space come in records of their own behind the samples, as Linux 6.19 can, one
               for N samples, which are alike
cpu=1          samples carry the CPU, taken in turn from 0 and 1
build_ids=0    mappings do not have the build ids of their files
shuffle=1      samples come in another order, always the same one
step=NS        from sample to sample (default: 1 ms)
pid=N          of the process (default: 4242)
"""
import random
import re
import struct
import sys

sys.dont_write_bytecode = True
import perf_data as perf

BASE, APART = 0x555555554000, 0x10000000


class Binary:
    def __init__(self, path, base):
        self.path, self.base = path, base
        self.functions = {}
        for address, name in perf.functions(path):
            self.functions.setdefault(name, address)
        self.offset, self.address, self.size = perf.code_segment(path)
        self.build_id = perf.build_id_of(path)

    def place(self, function):
        if function.startswith("0x"):
            return self.base + int(function, 16)
        return self.base + self.functions[function]


class Recording:
    def __init__(self):
        self.options = {"events": "0", "cpu": "0", "chains": "0", "build_ids": "1", "shuffle": "0"}
        self.options |= {"step": "1000000", "pid": "4242", "deferred": "0"}
        self.records, self.samples, self.binaries, self.threads = [], [], [], {}
        self.time = self.first = 1_000_000_000_000
        self.taken = 0
        self.kernel = None

    def events(self):
        return [int(text) for text in self.options["events"].split(",")]

    def pid(self):
        return int(self.options["pid"])

    def has_cpu(self):
        return self.options["cpu"] == "1"

    def has_chains(self):
        return self.options["chains"] == "1"

    def trailer(self, tid):
        words = struct.pack("<IIQ", self.pid(), tid, self.time)
        words += struct.pack("<II", 0, 0) if self.has_cpu() else b""
        return words + struct.pack("<Q", perf.FIRST_ID)

    def tid_of(self, name):
        if name not in self.threads:
            self.threads[name] = self.pid() + len(self.threads)
            tid = self.threads[name]
            self.records.append(perf.name_record(self.pid(), tid, name, self.trailer(tid)))
        return self.threads[name]

    def map(self, path):
        binary = Binary(path, BASE + APART * len(self.binaries))
        start = binary.base + (binary.address & ~4095)
        place = (self.pid(), self.pid(), start, binary.size, binary.offset & ~4095)
        build_id = binary.build_id if self.options["build_ids"] == "1" else b""
        self.records.append(
            perf.mapping_record(place, path, self.trailer(self.pid()), build_id=build_id)
        )
        self.binaries.append(binary)

    def map_kernel(self):
        self.kernel = perf.kernel_symbols()
        start = self.kernel["_stext"]
        place = (perf.NOBODY, 0, start, self.kernel["_etext"] - start, start)
        self.records.append(
            perf.mapping_record(place, "[kernel.kallsyms]_stext", self.trailer(0), perf.KERNEL)
        )

    def place(self, function):
        if not function.startswith("k!"):
            return self.binaries[-1].place(function), perf.USER
        if not self.kernel:
            self.map_kernel()
        name = function[2:]
        return int(name, 16) if name.startswith("0x") else self.kernel[name], perf.KERNEL

    def sample(self, word):
        found = re.fullmatch(r"(?:(\d+)/)?(?:([^:]+):)?([^=:]+)=(\d+)(?:x(\d+))?", word)
        event, thread, function, period, times = found.groups()
        tid = self.tid_of(thread or "w")
        function, *callers = function.split("<")
        address, misc = self.place(function)
        # callers are where their call returns to, which lies behind their first byte
        chain = [address] + [self.place(caller)[0] + 1 for caller in callers]
        context = perf.USER_CONTEXT if misc == perf.USER else perf.KERNEL_CONTEXT
        details = (int(event or 0), tid, address, misc, [context, *chain], int(period))
        self.samples += int(times or 1) * [details]

    def take_samples(self):
        """Records those that were asked for."""
        if self.options["shuffle"] == "1":
            random.Random(1).shuffle(self.samples)
        for event, tid, address, misc, chain, period in self.samples:
            self.time += int(self.options["step"])
            self.taken += 1
            body = struct.pack("<QQII", perf.FIRST_ID + event, address, self.pid(), tid)
            body += struct.pack("<Q", self.time)
            body += struct.pack("<II", self.taken % 2, 0) if self.has_cpu() else b""
            body += struct.pack("<Q", period)
            cookie, rest = divmod(self.taken, int(self.options["deferred"]) or 1)
            is_deferred = self.options["deferred"] != "0" and misc == perf.USER
            brief = [perf.DEFERRED_CONTEXT, cookie - (rest == 0)] if is_deferred else chain
            if self.has_chains():
                body += struct.pack(f"<{1 + len(brief)}Q", len(brief), *brief)
            self.records.append(perf.record(9, misc, body))
            if is_deferred and rest == 0:
                body = struct.pack(f"<{2 + len(chain)}Q", brief[1], len(chain), *chain)
                self.records.append(perf.record(22, misc, body + self.trailer(tid)))
        self.samples = []

    def attribute(self, config):
        kinds = perf.IP | perf.TID | perf.TIME | perf.PERIOD | perf.IDENTIFIER
        kinds |= perf.CPU if self.has_cpu() else 0
        kinds |= perf.CALLCHAIN if self.has_chains() else 0
        flags = perf.FLAGS | (perf.DEFER_CHAINS if self.options["deferred"] != "0" else 0)
        return perf.attribute(1, config, 1000, kinds, flags)

    def write(self, path):
        self.take_samples()
        features = {
            perf.HOSTNAME: perf.pstr("host"),
            perf.ARCH: perf.pstr("x86_64"),
            perf.CPUS: struct.pack("<II", 8, 8),
            perf.TIMES: struct.pack("<QQ", self.first + int(self.options["step"]), self.time),
        }
        perf.write(path, [self.attribute(one) for one in self.events()], self.records, features)


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
