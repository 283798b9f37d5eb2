#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Holds the source frames of an ELF file against llvm-symbolizer's, at addresses spread over its code.

Usage: compare.py [-n COUNT] [--debug FOLDER] LINES ELF
Depth, files and lines must be equal for each address; names of inlined functions, too.
"""
import argparse, random, re, subprocess, sys, time


def code_ranges(path):
    """Address and size of the sections with code."""
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"\] (\S+) +(?:PROGBITS|NOBITS) +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +AX ", text)
    return [(int(a, 16), int(s, 16)) for name, a, s in rows]


def spread(path, count):
    ranges = code_ranges(path)
    total = sum(size for _, size in ranges)
    random.seed(1)
    addresses = []
    for at in sorted(random.sample(range(total), min(count, total))):
        for start, size in ranges:
            if at < size:
                addresses.append(start + at)
                break
            at -= size
    return addresses


def chains(text):
    """Address to list of (name, place)."""
    answer, frames = {}, None
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        if re.fullmatch(r"0x[0-9a-f]+", line):
            frames = answer.setdefault(int(line, 16), [])
            i += 1
        elif line and i + 1 < len(lines):
            place = re.sub(r" \(discriminator \d+\)$", "", lines[i + 1])
            # LLVM 14 joins the unit's folder twice to files in it if that is relative; later ones don't.
            place = re.sub(r"^(\./[^/]+/)\1", r"\1", place)
            # Without a line it takes the file from the symbol table, which says a.o or so.
            frames.append((line, "??:0" if place.endswith(":0") and "/" not in place else place))
            i += 2
        else:
            i += 1
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=10000)
    parser.add_argument("--symbolizer", default="llvm-symbolizer")
    parser.add_argument("--shown", default=5, type=int)
    parser.add_argument("--debug-file", help="what llvm-symbolizer is given")
    parser.add_argument("lines")
    parser.add_argument("elf")
    arguments = parser.parse_args()
    addresses = spread(arguments.elf, arguments.n)
    asked = "".join(f"0x{a:x}\n" for a in addresses)
    start = time.monotonic()
    theirs = subprocess.run(
        [arguments.symbolizer, "--obj=" + (arguments.debug_file or arguments.elf), "-a", "--inlines", "--no-demangle",
         "--output-style=GNU"], input=asked, capture_output=True, text=True, errors="surrogateescape", check=True).stdout
    their_s = time.monotonic() - start
    ours = subprocess.run([arguments.lines, arguments.elf], input=asked, capture_output=True, text=True,
                          errors="surrogateescape", check=True)
    theirs, mine = chains(theirs), chains(ours.stdout)
    wrong = {"depth": 0, "place": 0, "name": 0}
    shown, inlined = 0, 0
    for address in addresses:
        a, b = theirs[address], mine[address] or [("-", "??:0")]
        inlined += len(a) > 1
        kind = None
        if len(a) != len(b):
            kind = "depth"
        elif [p for _, p in a] != [p for _, p in b]:
            kind = "place"
        elif any(x != y for (x, _), (y, _) in list(zip(a, b))[:-1]):
            kind = "name"
        if kind:
            wrong[kind] += 1
            if shown < arguments.shown:
                shown += 1
                print(f"{kind} at 0x{address:x}:\n  theirs {a}\n  ours   {b}")
    print(f"{arguments.elf}: {len(addresses)} addresses, {inlined} inlined, {sum(wrong.values())} differ "
          f"{wrong if any(wrong.values()) else ''}; ours {ours.stderr.strip()}; theirs {their_s:.3f} s")
    return 1 if any(wrong.values()) else 0


sys.exit(main())
