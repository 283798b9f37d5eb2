# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writing perf.data files: what the writers of made-up recordings (*_recording.py, spread.py) share.
#
# The format is in tools/perf/Documentation/perf.data-file-format.txt, records and numbers in
# include/uapi/linux/perf_event.h.
"""Records, attributes and the file around them. Events have the ids 100, 101, …"""
import os
import re
import struct
import subprocess

IP, TID, TIME, ADDR, CALLCHAIN, CPU, PERIOD = 1, 2, 4, 8, 1 << 5, 1 << 7, 1 << 8
WEIGHT, DATA_SOURCE, PHYSICAL, DATA_PAGE = 1 << 14, 1 << 15, 1 << 19, 1 << 22
BRANCH_STACK, IDENTIFIER, TRANSACTION = 1 << 11, 1 << 16, 1 << 17
CGROUP, CODE_PAGE, WEIGHTS = 1 << 21, 1 << 23, 1 << 24
KERNEL, USER, EXEC, BUILD_ID = 1, 2, 1 << 13, 1 << 14
FIRST_ID = 100
NOBODY = 2**32 - 1
USER_CONTEXT, KERNEL_CONTEXT, DEFERRED_CONTEXT = 2**64 - 512, 2**64 - 128, 2**64 - 640
# mmap, comm, task, sample_id_all, exclude_guest, mmap2, comm_exec
FLAGS = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 20 | 1 << 23 | 1 << 24
DEFER_CHAINS = 1 << 38
HOSTNAME, ARCH, CPUS, DESCRIPTION, TOPOLOGY, BRANCHES = 3, 6, 7, 12, 13, 15
GROUPS, TIMES, PMU_CAPS = 17, 21, 28
HEADER_BYTES, ATTR_BYTES = 104, 128


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def segments(binary):
    """(file offset, address, size, protection as mmap takes it) of what is loaded of a binary."""
    found = []
    for line in output("readelf", "-lW", binary).split("\n"):
        cells = line.split()
        if cells[:1] == ["LOAD"]:
            flags = "".join(cells[6:-1])
            protection = sum(bit for letter, bit in (("R", 1), ("W", 2), ("E", 4)) if letter in flags)
            found.append([*(int(cells[i], 16) for i in (1, 2, 5)), protection])
    return found


def code_segment(binary):
    """(file offset, address, size) of the code of a binary, None if there is none."""
    code = [segment[:3] for segment in segments(binary) if segment[3] & 4]
    return code[0] if code else None


def functions(binary):
    """(address, name) of the functions that a binary's tables of symbols define."""
    # readelf: nm takes twenty times as long to start
    rows = [line.split() for line in output("readelf", "-sW", binary).split("\n")]
    found = [row for row in rows if len(row) >= 8 and row[3] in ("FUNC", "IFUNC") and row[6] != "UND"]
    return [(int(row[1], 16), row[7].split("@")[0]) for row in found]


def build_id_of(binary):
    found = re.search(r"Build ID: ([0-9a-f]+)", output("readelf", "-n", binary))
    return bytes.fromhex(found.group(1)) if found else b""


def kernel_symbols():
    with open("/proc/kallsyms", encoding="ascii") as lines:
        rows = [line.split() for line in lines]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def padded(text):
    data = os.fsencode(text) + b"\0"
    return data + b"\0" * (-len(data) % 8)


def pstr(text):
    """A string of a feature section."""
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 64)
    return struct.pack("<I", len(data)) + data


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def name_record(pid, tid, text, trailer=b"", misc=0):
    return record(3, misc, struct.pack("<II", pid, tid) + padded(text) + trailer)


def mapping_record(place, path, trailer=b"", misc=USER, build_id=b""):
    """Of executable memory; `place` is pid, tid, start, bytes, offset in the file."""
    body = struct.pack("<IIQQQ", *place)
    if build_id:
        misc |= BUILD_ID
        body += struct.pack("<BBH", len(build_id), 0, 0) + build_id.ljust(20, b"\0")
    else:
        body += struct.pack("<IIQQ", 0, 0, 0, 0)
    return record(10, misc, body + struct.pack("<II", 5, 2) + padded(path) + trailer)


def attribute(kind, config, period, sample_type, flags=FLAGS, branch_type=0):
    """perf_event_attr; the type is that of perf_event.h: 0 hardware, 1 software."""
    read_format = 4 if flags else 0  # PERF_FORMAT_ID
    attr = struct.pack("<IIQQQQQ", kind, ATTR_BYTES, config, period, sample_type, read_format, flags)
    return (attr + struct.pack("<IIQQQ", 0, 0, 0, 0, branch_type)).ljust(ATTR_BYTES, b"\0")


def write(path, attributes, records, features):
    """`features` are bits and their sections."""
    ids = b"".join(struct.pack("<Q", FIRST_ID + i) for i in range(len(attributes)))
    attrs = b""
    for i, attr in enumerate(attributes):
        attrs += attr + struct.pack("<QQ", HEADER_BYTES + 8 * i, 8)
    data = b"".join(records)
    attrs_at = HEADER_BYTES + len(ids)
    data_at = attrs_at + len(attrs)
    at = data_at + len(data) + 16 * len(features)
    table, sections = b"", b""
    for bit in sorted(features):
        table += struct.pack("<QQ", at + len(sections), len(features[bit]))
        sections += features[bit]
    header = b"PERFILE2" + struct.pack("<QQ", HEADER_BYTES, ATTR_BYTES + 16)
    header += struct.pack("<QQQQQQ", attrs_at, len(attrs), data_at, len(data), 0, 0)
    header += struct.pack("<QQQQ", sum(1 << bit for bit in features), 0, 0, 0)
    with open(path, "wb") as out:
        out.write(header + ids + attrs + data + table + sections)
