#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes of what `perf script` or `bpfprof script -F tid,time,ip,dso` printed a line a sample: the
addresses of the calls, newest first, without the leaf; - if there are none.

usage: chains.py NAME [--returns] <SCRIPT

NAME.perf.data is the recording, of which NAME.mappings keeps what perf says of its mappings. Perf names the calls; with --returns what was printed are return
addresses, as bpfprof's stitched chains hold them, and NAME.returns.gz says which call is before each.
"""
import gzip
import os
import re
import subprocess
import sys

HEADER = re.compile(r"^\s*\d+\s+\d+\.\d+:")
FRAME = re.compile(r"^\s+([0-9a-f]+) .*\((.*)\)(?: \[\S+\])?$")
MAPPING = re.compile(r"MMAP2? .*: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*\]: \S+ (.*)$")


def list_mappings(name):
    """The lines that tell of mappings: perf prints all samples with them, so it is asked once."""
    recording, kept = name + ".perf.data", name + ".mappings"
    if not os.path.exists(kept) or os.path.getmtime(kept) < os.path.getmtime(recording):
        done = subprocess.run(["perf", "script", "-i", recording, "--show-mmap-events", "-F", "comm"],
                              capture_output=True, text=True, check=True)
        with open(kept, "w") as file:
            file.writelines(line for line in done.stdout.splitlines(True) if MAPPING.search(line))
    with open(kept) as file:
        return file.readlines()


def mappings(name):
    """(start, bytes, file offset) of each executable mapping, by path."""
    found = {}
    for line in list_mappings(name):
        match = MAPPING.search(line.rstrip("\n"))
        if match:
            start, size = int(match[1], 16), int(match[2], 16)
            found.setdefault(match[4], []).append((start, size, int(match[3], 16)))
    return found


def absolute(places, path, address):
    """Both programs print an address in a file as its place there."""
    for start, size, offset in places.get(path, []):
        if offset <= address < offset + size:
            return address - offset + start
    return address


def read_script(lines):
    """A list of (address, path) for each sample."""
    chain = None
    for line in lines:
        match = FRAME.match(line)
        if HEADER.match(line):
            if chain is not None:
                yield chain
            chain = []
        elif match and chain is not None:
            chain.append((int(match[1], 16), match[2]))
    if chain is not None:
        yield chain


def main():
    name = sys.argv[1]
    calls = {}
    if "--returns" in sys.argv:
        with gzip.open(name + ".returns.gz", "rt") as file:
            calls = dict(tuple(int(word, 16) for word in line.split()) for line in file)
    places = mappings(name)
    for chain in read_script(sys.stdin):
        addresses = [absolute(places, path, address) for address, path in chain[1:]]
        print(" ".join("%x" % (calls.get(address) or address) for address in addresses) or "-")


if __name__ == "__main__":
    main()
