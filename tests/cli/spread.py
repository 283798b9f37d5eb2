#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes a perf.data whose samples are spread over the code of one file.
#
# usage: spread.py OUT FILE COUNT [PATH]     the file as mapped at PATH (default: FILE)
#        spread.py OUT kernel COUNT          over the running kernel's text
#        spread.py OUT jit PID ADDRESS...    at these addresses (hex) in anonymous memory of PID
import random
import struct
import sys

sys.dont_write_bytecode = True
import perf_data as perf

PID, BASE = 99999, 0x10000000000


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


def mapped(pid, start, size, offset, name):
    return perf.mapping_record((pid, pid, start, size, offset), name)


def named(pid):
    return perf.name_record(pid, pid, "spread")


def samples(pid, addresses, space):
    return [perf.record(9, space, struct.pack("<QIIQ", address, pid, pid, 1000 + i))
            for i, address in enumerate(sorted(addresses))]


def of_file(path, count, shown):
    segments = list(executable_segments(path))
    total = sum(size for _, size in segments)
    records, addresses = [named(PID)], set()
    for offset, size in segments:
        page = offset & ~4095
        records.append(mapped(PID, BASE + page, (offset + size - page + 4095) & ~4095, page, shown))
        addresses |= {BASE + offset + random.randrange(size) for _ in range(count * size // total)}
    return records + samples(PID, addresses, perf.USER)


def of_kernel(count):
    symbols = perf.kernel_symbols()
    start, end = symbols["_text"], symbols["_etext"]
    body = struct.pack("<IIQQQ", perf.NOBODY, 0, start, end - start, start)
    kernel = perf.record(1, perf.KERNEL, body + perf.padded("[kernel.kallsyms]_text"))
    return [kernel, named(PID)] + samples(PID, [random.randrange(start, end) for _ in range(count)], perf.KERNEL)


def of_jit(pid, addresses):
    return [named(pid), mapped(pid, min(addresses) & ~4095, 1 << 20, 0, "//anon")] + \
        samples(pid, addresses, perf.USER)


def write(path, records):
    attribute = perf.attribute(1, 0, 1, perf.IP | perf.TID | perf.TIME, flags=0)
    perf.write(path, [attribute], records, {})


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
