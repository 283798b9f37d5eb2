# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads what the simulator logged; the records are described in model.h."""
import array
from collections import namedtuple

START, MAP, THREAD, SAMPLE, END = 1, 2, 3, 4, 5
VERSION = 1
RINGS = (8, 16, 32, 64, 128)
SIGNAL = 1 << 63

Map = namedtuple("Map", "time start bytes offset path")
Thread = namedtuple("Thread", "time tid parent")
# callers: (from, to, return address), newest first; entries: (from, to) of the largest ring
Sample = namedtuple("Sample", "time tid ip depth lowest held entries callers chain")
End = namedtuple("End", "time calls returns misfits")


def signed(word):
    return word - (1 << 64) if word >> 63 else word


def read_sample(words):
    time, tid, ip, depth, lowest, held, counts = words[:7]
    entries, callers, walked = counts & 0xFFFF, counts >> 16 & 0xFFFFFFFF, counts >> 48
    first = 7 + 2 * entries
    last = first + 3 * callers
    return Sample(time, tid, ip, signed(depth), signed(lowest),
                  {size: held >> 8 * i & 0xFF for i, size in enumerate(RINGS)},
                  list(zip(words[7:first:2], words[8:first:2])),
                  list(zip(words[first:last:3], words[first + 1 : last : 3], words[first + 2 : last : 3])),
                  words[last : last + walked])


class Log:
    """The records of a log in order, and what its first and last say."""

    def __init__(self, path):
        words = array.array("Q")
        with open(path, "rb") as file:
            words.frombytes(file.read())
        self.records, self.end, at = [], None, 0
        while at < len(words):
            kind, count = words[at] & 0xFF, words[at] >> 8
            self._take(kind, words[at + 1 : at + 1 + count].tolist())
            at += 1 + count
        if self.end is None:
            raise SystemExit("%s: the program did not end, or is still running" % path)

    def _take(self, kind, words):
        if kind == START:
            version, self.pid, self.period = words
            if version != VERSION:
                raise SystemExit("log of version %d, not %d" % (version, VERSION))
        elif kind == MAP:
            path = b"".join(word.to_bytes(8, "little") for word in words[4:]).rstrip(b"\0").decode()
            self.records.append(Map(*words[:4], path))
        elif kind == THREAD:
            self.records.append(Thread(*words))
        elif kind == SAMPLE:
            self.records.append(read_sample(words))
        elif kind == END:
            self.end = End(*words)

    def samples(self):
        return [record for record in self.records if isinstance(record, Sample)]

    def maps(self):
        return [record for record in self.records if isinstance(record, Map)]
