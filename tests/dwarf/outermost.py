#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Holds the names of functions against llvm-symbolizer's, at addresses spread over the code of a file.

Usage: outermost.py [-n COUNT] BPFPROF SPREAD ELF      (SPREAD: tests/cli/spread.py)
Where names differ, both have to be in the symbol table of the file, or of its debug file, for code that holds
the address and begins at the same place: aliases. Where the compiler has made a clone of a function, or put its
unlikely parts elsewhere, the symbol says so with a suffix; llvm-symbolizer takes the name before it from DWARF, if
that is in a separate file. llvm-symbolizer does
not name what has a symbol in a separate file, but no DWARF; what has no symbol has no function of its either.
"""
import argparse, collections, os, re, subprocess, sys, tempfile

CLONE = re.compile(r"(\.(cold|constprop|isra|part|lto_priv)(\.\d+)*)+$")
BASE = 0x10000000000  # of spread.py


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def segments(path):
    """File offset, address and size of what is loaded to be run."""
    rows = re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E", run("readelf", "-lW", path))
    return [tuple(int(word, 16) for word in row) for row in rows]


def debug_file(path):
    found = re.search(r"Build ID: (\w+)", run("readelf", "-n", path))
    place = found and f"/usr/lib/debug/.build-id/{found[1][:2]}/{found[1][2:]}.debug"
    return place if place and os.path.exists(place) else None


def starts(path):
    """Name to the addresses that it stands for, of both symbol tables."""
    places, sizeless = collections.defaultdict(set), set()
    for file in filter(None, (path, debug_file(path))):
        for line in run("readelf", "-sW", file).splitlines():
            row = line.split()
            if len(row) >= 8 and row[3] in ("FUNC", "IFUNC", "NOTYPE", "OBJECT") and row[6] != "UND":
                name = row[7].split("@")[0]
                places[name].add(int(row[1], 16))
                if row[2] == "0":
                    sizeless.add(name)
    return places, sizeless


def our_names(bpfprof, spread, path, count):
    with tempfile.TemporaryDirectory() as folder:
        recording = folder + "/perf.data"
        run(sys.executable, spread, recording, path, str(count))
        text = run(bpfprof, "script", "--no-cache", "--raw-names", "-i", recording, "-F", "ip,sym")
    names, parts = {}, segments(path)
    for address, name in re.findall(r"^\s*([0-9a-f]+) (.*)$", text, re.M):
        offset = int(address, 16) - BASE
        for start, linked, size in parts:
            if start <= offset < start + size:
                names[offset - start + linked] = name.strip()
    return names


def their_names(path, addresses):
    """The last name of each chain: what the others are inlined in."""
    text = run("llvm-symbolizer", "--obj=" + path, "-a", "--inlines", "--no-demangle", "--output-style=GNU",
               input="".join(f"0x{address:x}\n" for address in addresses))
    names = {}
    for block in re.split(r"^(?=0x)", text, flags=re.M)[1:]:
        lines = block.rstrip("\n").split("\n")
        names[int(lines[0], 16)] = lines[-2]
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=10000)
    parser.add_argument("bpfprof")
    parser.add_argument("spread")
    parser.add_argument("elf")
    arguments = parser.parse_args()
    ours = our_names(arguments.bpfprof, arguments.spread, arguments.elf, arguments.n)
    theirs = their_names(arguments.elf, list(ours))
    places, sizeless = starts(arguments.elf)
    tally = collections.Counter()
    for address, mine in sorted(ours.items()):
        other = theirs[address].split("@")[0]
        name = mine.split("@")[0]
        if name == other:
            tally["equal"] += 1
        elif "@plt" in mine or (mine == "[unknown]" or mine.startswith("[fn ")) and (other == "??" or other in sizeless):
            tally["without symbol"] += 1
        elif places[name] & places[other]:
            tally["alias"] += 1
        elif CLONE.sub("", name) == CLONE.sub("", other) or places[CLONE.sub("", name)] & places[other]:
            tally["clone"] += 1
        elif other == "??" and places[name]:
            tally["without DWARF"] += 1
        else:
            tally["different"] += 1
            if tally["different"] <= 8:
                print(f"0x{address:x}: ours {mine} {[hex(a) for a in places[name]]}, "
                      f"theirs {other} {[hex(a) for a in places[other]]}")
    print(f"{arguments.elf}: {len(ours)} addresses, {dict(tally)}")
    return 1 if tally["different"] or not tally["equal"] else 0


sys.exit(main())
