#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes a perf.data whose samples are spread over the code of one file.
#
# usage: spread.py OUT FILE COUNT [PATH]     the file as mapped at PATH (default: FILE)
#        spread.py OUT kernel COUNT          over the running kernel's text
#        spread.py OUT jit PID ADDRESS...    at these addresses (hex) in anonymous memory of PID
#
# The format is in tools/perf/Documentation/perf.data-file-format.txt.
import os
import random
import struct
import sys

PID, BASE = 99999, 0x10000000000
USER, KERNEL = 2, 1


def executable_segments(path):
    with open(path, "rb") as file:
        head = file.read(1 << 16)
    wide = head[4] == 2
    order = "<" if head[5] == 1 else ">"
    table, = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)
    count, = struct.unpack_from(order + "H", head, 56 if wide else 44)
    for i in range(count):
        if wide:
            kind, flags, offset, _, _, size = struct.unpack_from(order + "IIQQQQ", head, table + 56 * i)
        else:
            kind, offset, _, _, size, _, flags = struct.unpack_from(order + "7I", head, table + 32 * i)
        if kind == 1 and flags & 1:
            yield offset, size


def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    name = os.fsencode(name) + b"\0"
    return name + b"\0" * (-len(name) % 8)


def mapped(pid, start, size, offset, name):
    return record(10, USER, struct.pack("<IIQQQIIQQII", pid, pid, start, size, offset, 0, 0, 0, 0, 5, 2)
                  + text(name))


def named(pid):
    return record(3, 0, struct.pack("<II", pid, pid) + text("spread"))


def samples(pid, addresses, space):
    return [record(9, space, struct.pack("<QIIQ", address, pid, pid, 1000 + i))
            for i, address in enumerate(sorted(addresses))]


def of_file(path, count, shown):
    segments = list(executable_segments(path))
    total = sum(size for _, size in segments)
    records, addresses = [named(PID)], set()
    for offset, size in segments:
        page = offset & ~4095
        records.append(mapped(PID, BASE + page, (offset + size - page + 4095) & ~4095, page, shown))
        addresses |= {BASE + offset + random.randrange(size) for _ in range(count * size // total)}
    return records + samples(PID, addresses, USER)


def of_kernel(count):
    where = {}
    with open("/proc/kallsyms") as lines:
        for line in lines:
            address, _, name = line.split()[:3]
            if name in ("_text", "_etext"):
                where[name] = int(address, 16)
    start, end = where["_text"], where["_etext"]
    kernel = record(1, KERNEL, struct.pack("<IIQQQ", 0xffffffff, 0, start, end - start, start)
                    + text("[kernel.kallsyms]_text"))
    return [kernel, named(PID)] + samples(PID, [random.randrange(start, end) for _ in range(count)], KERNEL)


def of_jit(pid, addresses):
    return [named(pid), mapped(pid, min(addresses) & ~4095, 1 << 20, 0, "//anon")] + \
        samples(pid, addresses, USER)


def write(path, records):
    # cpu-clock; IP, TID, TIME
    attribute = struct.pack("<IIQQQQQ", 1, 128, 0, 1, 7, 0, 0).ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    body = b"".join(records)
    header = b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, 144, 248, len(body), 0, 0) + b"\0" * 32
    with open(path, "wb") as file:
        file.write(header + attribute + body)


def main():
    out, what = sys.argv[1:3]
    random.seed(1)
    if what == "kernel":
        write(out, of_kernel(int(sys.argv[3])))
    elif what == "jit":
        write(out, of_jit(int(sys.argv[3]), [int(word, 16) for word in sys.argv[4:]]))
    else:
        write(out, of_file(what, int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else what))


main()
