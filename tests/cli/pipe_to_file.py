#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A recording made for a pipe as a file with the same events.
"""Rewrites a perf.data of pipe mode as one of file mode.

usage: pipe_to_file.py PIPE FILE

perf report decides before it has read a pipe's first record whether there are call chains, and so
never shows children of a pipe; of the file it does. Only the description of the events moves, from
records to the header; what the recording machine said of itself is left out.
"""
import struct
import sys

PIPE_HEADER_BYTES, FILE_HEADER_BYTES = 16, 104
RECORD_ATTR, RECORD_FEATURE = 64, 80


def records(stream):
    at = PIPE_HEADER_BYTES
    while at < len(stream):
        kind, _, size = struct.unpack_from("<IHH", stream, at)
        if size < 8 or at + size > len(stream):
            sys.exit(f"record at {at} has {size} bytes")
        yield kind, stream[at : at + size]
        at += size


def main():
    with open(sys.argv[1], "rb") as pipe:
        stream = pipe.read()
    attrs, ids, data = [], [], b""
    for kind, record in records(stream):
        if kind == RECORD_ATTR:
            attr_bytes = struct.unpack_from("<I", record, 12)[0]
            attrs.append(record[8 : 8 + attr_bytes])
            ids.append(record[8 + attr_bytes :])
        elif kind != RECORD_FEATURE:
            data += record
    ids_at = FILE_HEADER_BYTES
    attrs_at = ids_at + sum(map(len, ids))
    data_at = attrs_at + sum(len(attr) + 16 for attr in attrs)
    with open(sys.argv[2], "wb") as file:
        file.write(b"PERFILE2")
        file.write(struct.pack("<QQ", FILE_HEADER_BYTES, len(attrs[0]) + 16))
        file.write(struct.pack("<QQ", attrs_at, data_at - attrs_at))
        file.write(struct.pack("<QQ", data_at, len(data)))
        file.write(bytes(48))  # no event types, no features
        file.write(b"".join(ids))
        for attr, own in zip(attrs, ids):
            file.write(attr + struct.pack("<QQ", ids_at, len(own)))
            ids_at += len(own)
        file.write(data)


if __name__ == "__main__":
    main()
