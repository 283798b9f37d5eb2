#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes perf.data files of a made-up machine, and the binaries with its symbols.
"""Writes the samples of perf's own hists tests as perf.data files, for perf and for bpfprof.

usage: machine_recording.py FOLDER

Three processes (perf 100 and 200, bash 300) map a program at 0x400000, libc at 0x500000 and what
stands for the kernel at 0xf00000; each binary has three functions of 100 bytes. Written are

cumulate.data  hists_cumulate: ten samples with call chains, of period 1000
output.data    hists_output: the same without chains, on CPUs, of period 100
filter.data    hists_filter: two events
link.data      hists_link: two events with other samples
group.data     the same as a recorded group
details.data   samples with cgroup, weight, latency, transaction, page size, and two sockets
parts.data     hists_output's samples, a second apart from each other
"""
import os
import struct
import sys

sys.dont_write_bytecode = True
import perf_data as perf

PERF1, PERF2, BASH = 100, 200, 300
PROGRAM, LIBC, KERNEL, MAP_BYTES = 0x400000, 0x500000, 0xF00000, 0x100000
FIRST, SECOND, THIRD, SYMBOL_BYTES = 700, 800, 900, 100
SYMBOLS = {
    "perf": ["main", "run_command", "cmd_record"],
    "bash": ["main", "xmalloc", "xfree"],
    "libc": ["malloc", "free", "realloc"],
    "[kernel]": ["schedule", "page_fault", "sys_perf_event_open"],
}

(PERF_MAIN, RUN_COMMAND, CMD_RECORD) = (PROGRAM + at for at in (FIRST, SECOND, THIRD))
(BASH_MAIN, XMALLOC, XFREE) = (PROGRAM + at for at in (FIRST, SECOND, THIRD))
(MALLOC, FREE, REALLOC) = (LIBC + at for at in (FIRST, SECOND, THIRD))
(SCHEDULE, PAGE_FAULT, SYS_OPEN) = (KERNEL + at for at in (FIRST, SECOND, THIRD))

CUMULATE = [
    (PERF1, SCHEDULE, [SCHEDULE, RUN_COMMAND, PERF_MAIN]),
    (PERF1, PERF_MAIN, [PERF_MAIN]),
    (PERF1, CMD_RECORD, [CMD_RECORD, RUN_COMMAND, PERF_MAIN]),
    (PERF1, MALLOC, [MALLOC, CMD_RECORD, RUN_COMMAND, PERF_MAIN]),
    (PERF1, FREE, [FREE, CMD_RECORD, RUN_COMMAND, PERF_MAIN]),
    (PERF2, PERF_MAIN, [PERF_MAIN]),
    (PERF2, PAGE_FAULT, [PAGE_FAULT, SYS_OPEN, RUN_COMMAND, PERF_MAIN]),
    (BASH, BASH_MAIN, [BASH_MAIN]),
    (BASH, XMALLOC, [XMALLOC, MALLOC, XMALLOC, MALLOC, XMALLOC, BASH_MAIN]),
    (BASH, PAGE_FAULT, [PAGE_FAULT, MALLOC, BASH_MAIN]),
]
CPUS = [0, 1, 1, 1, 2, 2, 2, 3, 0, 1]
FILTER = [
    (PERF1, SCHEDULE),
    (PERF1, PERF_MAIN),
    (PERF1, MALLOC),
    (PERF2, PERF_MAIN),
    (PERF2, CMD_RECORD),
    (PERF2, PAGE_FAULT),
    (BASH, BASH_MAIN),
    (BASH, XMALLOC),
    (BASH, MALLOC),
    (BASH, PAGE_FAULT),
]
COMMON = [(PERF1, SCHEDULE), (PERF2, PERF_MAIN), (PERF2, CMD_RECORD), (BASH, XMALLOC), (BASH, MALLOC)]
LEADER = [(PERF1, RUN_COMMAND), (PERF1, MALLOC), (PERF1, PAGE_FAULT), (PERF2, SYS_OPEN), (BASH, FREE)]
OTHER = [(PERF2, FREE), (BASH, MALLOC), (BASH, XFREE), (BASH, REALLOC), (BASH, PAGE_FAULT)]


def write_binary(path, names):
    """An ELF file whose code begins where the first function does."""
    strings = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    names_at = {name: strings.index(name.encode() + b"\0") for name in (".text", ".symtab", ".strtab")}
    symbol_names, symbols = b"\0", b"\0" * 24
    for place, name in enumerate(names):
        symbols += struct.pack("<IBBHQQ", len(symbol_names), 0x12, 0, 1, FIRST + 100 * place, SYMBOL_BYTES)
        symbol_names += name.encode() + b"\0"
    text_bytes = SYMBOL_BYTES * len(names)
    symbols_at = (FIRST + text_bytes + 7) & ~7
    symbol_names_at = symbols_at + len(symbols)
    strings_at = symbol_names_at + len(symbol_names)
    sections_at = (strings_at + len(strings) + 7) & ~7
    header = b"\x7fELF\2\1\1" + b"\0" * 9
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, sections_at, 0, 64, 56, 1, 64, 5, 4)
    program = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, MAP_BYTES, MAP_BYTES, 4096)
    sections = b"\0" * 64
    sections += struct.pack("<IIQQQQIIQQ", names_at[".text"], 1, 6, FIRST, FIRST, text_bytes, 0, 0, 1, 0)
    sections += struct.pack(
        "<IIQQQQIIQQ", names_at[".symtab"], 2, 0, 0, symbols_at, len(symbols), 3, 1, 8, 24
    )
    sections += struct.pack(
        "<IIQQQQIIQQ", names_at[".strtab"], 3, 0, 0, symbol_names_at, len(symbol_names), 0, 0, 1, 0
    )
    sections += struct.pack(
        "<IIQQQQIIQQ", strings.index(b".shstrtab\0"), 3, 0, 0, strings_at, len(strings), 0, 0, 1, 0
    )
    file = (header + program).ljust(FIRST, b"\0") + b"\x90" * text_bytes
    file = file.ljust(symbols_at, b"\0") + symbols + symbol_names + strings
    file = file.ljust(sections_at, b"\0") + sections
    with open(path, "wb") as out:
        out.write(file)


class Recording:
    def __init__(self, folder, extra=0, events=("cpu-clock",)):
        self.folder = folder
        self.events = events
        self.bits = perf.IP | perf.TID | perf.TIME | perf.CPU | perf.PERIOD | extra
        if len(events) > 1:
            self.bits |= perf.IDENTIFIER
        self.records = []
        self.time = 1_000_000_000_000
        self.features = {
            perf.HOSTNAME: perf.pstr("machine"),
            perf.ARCH: perf.pstr("x86_64"),
            perf.CPUS: struct.pack("<II", 4, 4),
        }
        self.boot()

    def trailer(self, pid):
        trailer = struct.pack("<IIQII", pid, pid, 0, 0, 0)
        return trailer + (struct.pack("<Q", perf.FIRST_ID) if self.bits & perf.IDENTIFIER else b"")

    def boot(self):
        for pid, name in ((PERF1, "perf"), (PERF2, "perf"), (BASH, "bash")):
            self.records.append(perf.name_record(pid, pid, name, self.trailer(pid), perf.EXEC))
            for start, binary in ((PROGRAM, name), (LIBC, "libc"), (KERNEL, "[kernel]")):
                place, path = (pid, pid, start, MAP_BYTES, 0), os.path.join(self.folder, binary)
                self.records.append(perf.mapping_record(place, path, self.trailer(pid)))

    def cgroup(self, number, path):
        body = struct.pack("<Q", number) + perf.padded(path) + self.trailer(0)
        self.records.append(perf.record(19, 0, body))

    def sample(self, pid, ip, period, event=0, chain=None, cpu=0, **details):
        self.time += details.get("after", 1000)
        body = struct.pack("<Q", perf.FIRST_ID + event) if self.bits & perf.IDENTIFIER else b""
        body += struct.pack("<QIIQIIQ", ip, pid, pid, self.time, cpu, 0, period)
        if self.bits & perf.CALLCHAIN:
            body += struct.pack(f"<Q{1 + len(chain)}Q", 1 + len(chain), perf.USER_CONTEXT, *chain)
        if self.bits & perf.WEIGHTS:
            body += struct.pack("<IHH", details.get("weight", 0), details.get("latency", 0), 0)
        if self.bits & perf.TRANSACTION:
            body += struct.pack("<Q", details.get("transaction", 0))
        if self.bits & perf.CGROUP:
            body += struct.pack("<Q", details.get("cgroup", 0))
        if self.bits & perf.CODE_PAGE:
            body += struct.pack("<Q", details.get("page", 0))
        self.records.append(perf.record(9, perf.USER, body))

    def attribute(self, event):
        return perf.attribute(1, event, 1000, self.bits)

    def write(self, name):
        attributes = [self.attribute(event) for event in range(len(self.events))]
        description = struct.pack("<II", len(self.events), perf.ATTR_BYTES)
        for event, called in enumerate(self.events):
            description += attributes[event] + struct.pack("<I", 1) + perf.pstr(called)
            description += struct.pack("<Q", perf.FIRST_ID + event)
        features = {**self.features, perf.DESCRIPTION: description}
        perf.write(os.path.join(self.folder, name), attributes, self.records, features)


def topology(sockets):
    """CPU_TOPOLOGY: lists of CPUs by socket and by core, then core and socket of each CPU."""
    payload = 2 * (struct.pack("<I", 1) + perf.pstr("0-3"))
    for cpu, socket in enumerate(sockets):
        payload += struct.pack("<II", cpu, socket)
    return payload


def write_details(folder):
    extra = perf.CALLCHAIN | perf.WEIGHTS | perf.TRANSACTION | perf.CGROUP | perf.CODE_PAGE
    recording = Recording(folder, extra)
    recording.features[perf.TOPOLOGY] = topology([0, 0, 1, 1])
    recording.cgroup(1, "/")
    recording.cgroup(77, "/system.slice/ssh.service")
    rows = [
        {"cgroup": 1, "weight": 7, "latency": 3, "transaction": 2 | 4, "page": 4096},
        {"cgroup": 77, "weight": 7, "latency": 3, "transaction": 1 | 5 << 32, "page": 4096},
        {"cgroup": 78, "weight": 300, "latency": 40, "transaction": 2 | 8 | 16, "page": 2 << 20},
        {"cgroup": 0, "weight": 0, "latency": 0, "transaction": 0, "page": 0},
        {"cgroup": 77, "weight": 300, "latency": 3, "transaction": 2 | 32 | 64, "page": 1 << 30},
    ]
    for place, (pid, ip, chain) in enumerate(CUMULATE * 3):
        recording.sample(
            pid, ip, 1000, chain=chain, cpu=CPUS[place % 10], after=30_000_000, **rows[place % 5]
        )
    recording.write("details.data")


def write_link(folder, name, is_group):
    recording = Recording(folder, events=("cpu-clock", "task-clock"))
    if is_group:
        group = struct.pack("<I", 1) + perf.pstr("{anon_group}") + struct.pack("<II", 0, 2)
        recording.features[perf.GROUPS] = group
    for event, samples in enumerate((COMMON + LEADER, COMMON + OTHER)):
        for pid, ip in samples:
            recording.sample(pid, ip, 1, event)
    recording.write(name)


def main():
    folder = os.path.realpath(sys.argv[1])
    for name, symbols in SYMBOLS.items():
        write_binary(os.path.join(folder, name), symbols)
    recording = Recording(folder, perf.CALLCHAIN)
    for pid, ip, chain in CUMULATE:
        recording.sample(pid, ip, 1000, chain=chain)
    recording.write("cumulate.data")
    for name, after in (("output.data", 1000), ("parts.data", 1_000_000_000)):
        recording = Recording(folder)
        for (pid, ip, _), cpu in zip(CUMULATE, CPUS):
            recording.sample(pid, ip, 100, cpu=cpu, after=after)
        recording.write(name)
    recording = Recording(folder, events=("cpu-clock", "task-clock"))
    for event in range(2):
        for pid, ip in FILTER:
            recording.sample(pid, ip, 100, event)
    recording.write("filter.data")
    write_link(folder, "link.data", False)
    write_link(folder, "group.data", True)
    write_details(folder)


main()
