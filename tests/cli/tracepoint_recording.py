#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes a perf.data of tracepoints, with the formats that tell how to read them.
"""Writes a perf.data of made-up tracepoints, as one would be recorded by another kernel.

usage: tracepoint_recording.py OUT [OPTION=VALUE...]

order=big   what the tracepoints say has the byte order of another machine
long=4      … and its longs have 32 bits
hostile=1   a format with which libtraceevent reads beyond what there is
hostile=wide  … that makes 100,000 bytes of four
samples=N   how many of each tracepoint (default 3)
"""
import struct
import sys

sys.dont_write_bytecode = True
import perf_data as perf

TRACEPOINT, RAW, TRACING_DATA = 2, 1 << 10, 1
COMMON = (
    ("unsigned short common_type", 0, 2, 0),
    ("unsigned char common_flags", 2, 1, 0),
    ("unsigned char common_preempt_count", 3, 1, 0),
    ("int common_pid", 4, 4, 1),
)
# Name, fields from byte 8 on (type and name, bytes, sign, what struct makes of it), what is printed.
EVENTS = (
    ("numbers", (("int a", 4, 1, "i"), ("unsigned int b", 4, 0, "I"), ("u64 c", 8, 0, "Q"), ("s8 d", 1, 1, "b")),
     '"a=%d b=%u c=%llx d=%d sum=%d %s", REC->a, REC->b, REC->c, REC->d, REC->a + (REC->b << 1) - 3,'
     ' REC->a > 0 ? "more" : "less"'),
    ("words", (("char comm[16]", 16, 0, "16s"), ("__data_loc char[] name", 4, 0, "I")),
     '"comm=%s name=%s\tbehind a tab", REC->comm, __get_str(name)'),
    ("choices", (("unsigned long flags", "L", 0, "L"), ("int state", 4, 1, "i")),
     '"flags=%s state=%s", __print_flags(REC->flags, "|", { 0x1, "ONE" }, { 0x2, "TWO" }, { 0x40, "MANY" }),'
     ' __print_symbolic(REC->state, { 0, "idle" }, { 1, "busy" })'),
    ("bytes", (("u8 mac[6]", 6, 0, "6s"), ("__data_loc u32[] list", 4, 0, "I")),
     '"mac=%pM hex=%s list=%s", REC->mac, __print_hex(REC->mac, 6),'
     ' __print_array(__get_dynamic_array(list), 3, 4)'),
    ("unreadable", (("int a", 4, 1, "i"),), '"%s", no_such_function(REC->a)'),
)
HOSTILE = (("endless", (("u64 words[2]", 16, 0, "16s"),), '"%s", __print_array(REC->words, 2000000000, 8)'),)
WIDE = (("wide", (("int a", 4, 1, "i"),), '"%100000d", REC->a'),)


class Tracing:
    def __init__(self, options):
        self.order = ">" if options.get("order") == "big" else "<"
        self.long = int(options.get("long", 8))
        self.events = {"1": HOSTILE, "wide": WIDE}.get(options.get("hostile"), EVENTS)

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def bytes_of(self, field):
        return self.long if field[1] == "L" else field[1]

    def form_of(self, field):
        return ("I" if self.long == 4 else "Q") if field[3] == "L" else field[3]

    def format(self, number):
        name, fields, words = self.events[number]
        text = f"name: {name}\nID: {100 + number}\nformat:\n"
        for field in COMMON:
            text += "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % field
        at = 8
        for field in fields:
            text += f"\n\tfield:{field[0]};\toffset:{at};\tsize:{self.bytes_of(field)};\tsigned:{field[2]};"
            at += self.bytes_of(field)
        return (text + f"\n\nprint fmt: {words}\n").encode()

    def section(self):
        page = (
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
            f"\tfield: local_t commit;\toffset:8;\tsize:{self.long};\tsigned:1;\n"
            f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
            f"\tfield: char data;\toffset:{8 + self.long};\tsize:4080;\tsigned:1;\n"
        ).encode()
        data = b"\x17\x08\x44tracing0.6\0" + struct.pack("BB", self.order == ">", self.long) + self.pack("I", 4096)
        data += b"header_page\0" + self.pack("Q", len(page)) + page
        data += b"header_event\0" + self.pack("Q", 4) + b"none"
        data += self.pack("I", 0) + self.pack("I", 1) + b"made\0" + self.pack("I", len(self.events))
        for number in range(len(self.events)):
            text = self.format(number)
            data += self.pack("Q", len(text)) + text
        return data + self.pack("IIQ", 0, 0, 0)

    def raw(self, number, turn):
        fields = self.events[number][1]
        fixed = 8 + sum(self.bytes_of(field) for field in fields)
        body, behind = self.pack("HBBi", 100 + number, 0, 0, 4242), b""
        for place, field in enumerate(fields):
            if field[0].startswith("__data_loc char"):
                behind = f"name {turn}".encode() + b"\0"
            elif field[0].startswith("__data_loc"):
                behind = self.pack("III", turn, 2, 4_000_000_000)
            if field[0].startswith("__data_loc"):
                body += self.pack("I", len(behind) << 16 | fixed)
            elif field[3].endswith("s"):
                body += self.pack(field[3], bytes(range(65 + turn, 65 + turn + 6)))
            else:
                body += self.pack(self.form_of(field), (-turn if field[2] else 1 + turn * 33) * (place + 1))
        return body + behind


def main():
    out, *rest = sys.argv[1:]
    options = dict(pair.split("=") for pair in rest)
    tracing = Tracing(options)
    bits = perf.IP | perf.TID | perf.TIME | perf.CPU | perf.PERIOD | RAW | perf.IDENTIFIER
    count = len(tracing.events)
    attributes = [perf.attribute(TRACEPOINT, 100 + number, 1, bits) for number in range(count)]
    records = [perf.name_record(4242, 4242, "maker", struct.pack("<IIQIIQ", 4242, 4242, 1, 0, 0, perf.FIRST_ID))]
    for turn in range(int(options.get("samples", 3))):
        for number in range(count):
            raw = tracing.raw(number, turn)
            raw += b"\0" * (-(len(raw) + 4) % 8)
            body = struct.pack("<QQIIQIIQI", perf.FIRST_ID + number, 0x1000, 4242, 4242,
                               1_000_000_000 * (turn + 1) + number, 0, 0, 1, len(raw))
            records.append(perf.record(9, perf.KERNEL, body + raw))
    names = struct.pack("<II", count, perf.ATTR_BYTES)
    for number in range(count):
        names += attributes[number] + struct.pack("<I", 1) + perf.pstr("made:" + tracing.events[number][0])
        names += struct.pack("<Q", perf.FIRST_ID + number)
    perf.write(out, attributes, records, {TRACING_DATA: tracing.section(), perf.DESCRIPTION: names})


main()
