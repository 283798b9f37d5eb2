#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Holds bpfprof report against perf report.
"""Compares perf report and bpfprof report of one file, entry by entry.

usage: compare_report.py PERF BPFPROF FILE [report options]

Every line of perf's table must be in ours with the same figures, to 0.01 point, and ours must have
no other lines. Two differences are known and looked at in their own way:

- A frame without a name: perf has one line for it as the innermost frame (by address in the file)
  and others as a caller (by virtual address, so by process). Ours has one line by address in the
  file. Its self must equal perf's, its children what perf script says: once for each sample that
  has it anywhere in its stack.
- Files that are deleted: ours may still name what is in them, perf does not. Left out, if symbols
  are among the keys.
- PLT entries that no relocation names lie in the range of _init, which has no size: perf finds it or
  nothing, by the shape of its tree. Left out: _init, and lines without a name in the same file.
- perf cuts names of threads that are longer than the column ("perf-ex"); ours does not.
"""
import os
import re
import subprocess
import sys
from collections import defaultdict

SEPARATOR = "~"
TOLERANCE = 0.0101


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def tables(text):
    """Event -> (titles, rows of cells)."""
    found, event, titles = {}, None, None
    for line in text.split("\n"):
        if line.startswith("# Samples:"):
            event, titles = line.split("'")[1], None
        elif line.startswith("#"):
            if event and SEPARATOR in line:
                titles = [cell.strip() for cell in line[2:].split(SEPARATOR)]
                found[event] = (titles, [])
        elif titles and line.strip():
            found[event][1].append([cell.strip() for cell in line.split(SEPARATOR)])
    return found


def is_figure(title):
    return title in ("Children", "Self", "Overhead", "Samples", "Period", "sys", "usr")


def figure(cell):
    return float(cell.rstrip("%"))


def address(cells):
    """The address of an unnamed symbol cell, else None."""
    for cell in cells:
        match = re.fullmatch(r"\[.\] (0x)?([0-9a-f]{16})", cell)
        if match:
            return int(match[2], 16)
    return None


def is_deleted(cells):
    return any(cell.endswith("(deleted)") for cell in cells)


def grouped(titles, rows):
    """Keys -> sorted list of figures; a name may stand for several functions."""
    found = defaultdict(list)
    for row in rows:
        keys = tuple(cell for title, cell in zip(titles, row) if not is_figure(title))
        found[keys].append([figure(cell) for title, cell in zip(titles, row) if is_figure(title)])
    return {keys: sorted(figures) for keys, figures in found.items()}


def shares_of_unnamed(perf, path):
    """Event -> (comm, dso, address) -> per cent of the period of samples with that frame."""
    text = run([perf, "script", "--no-inline", "-i", path, "-F", "comm,event,period,ip,sym,dso"])
    periods, totals = defaultdict(lambda: defaultdict(int)), defaultdict(int)
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line.strip()]
        if not lines:
            continue
        head = re.fullmatch(r"\s*(.*?)\s+(\d+)\s+(\S+):(?:\s+(.*))?", lines[0])
        if not head:
            continue
        comm, period, event = head[1], int(head[2]), head[3]
        totals[event] += period
        frames = lines[1:] if not head[4] else [head[4]]
        seen = set()
        for line in frames:
            match = re.fullmatch(r"\s*([0-9a-f]+) \[unknown\] \((.*)\)", line)
            if match:
                name = match[2] if match[2].startswith("[") else os.path.basename(match[2])
                seen.add((comm, name, int(match[1], 16)))
        for key in seen:
            periods[event][key] += period
    return {
        event: {key: 100.0 * period / totals[event] for key, period in of_event.items()}
        for event, of_event in periods.items()
    }


def perf_key(keys, theirs):
    """What perf calls these keys of ours: the same, or with a thread name that perf has cut."""
    if keys in theirs:
        return keys
    for other in theirs:
        if len(other) == len(keys) and all(
            mine == name or (len(name) >= 7 and mine.startswith(name))
            for name, mine in zip(other, keys)
        ):
            return other
    return keys


def under_perf_keys(ours, theirs):
    """Ours with perf's keys; names that perf has cut to the same one share their lines."""
    found = defaultdict(list)
    for keys, rows in ours.items():
        found[perf_key(keys, theirs)] += rows
    return {keys: sorted(rows) for keys, rows in found.items()}


def close(one, other):
    return len(one) == len(other) and all(
        len(a) == len(b) and all(abs(x - y) <= TOLERANCE for x, y in zip(a, b))
        for a, b in zip(one, other)
    )


def compare_named(theirs, ours, differences):
    agreed = 0
    left = under_perf_keys(ours, theirs)
    for keys, figures in theirs.items():
        mine = left.pop(keys, None)
        if mine is None:
            differences.append(f"only perf: {keys} {figures}")
        elif not close(figures, mine):
            differences.append(f"{keys}: perf {figures}, bpfprof {mine}")
        else:
            agreed += len(figures)
    differences.extend(f"only bpfprof: {keys} {figures}" for keys, figures in left.items())
    return agreed


def compare_unnamed(titles, theirs, ours, shares, differences):
    agreed = 0
    figures = [title for title in titles if is_figure(title)]
    own = figures.index("Self" if "Self" in figures else "Overhead")
    self_of = defaultdict(float)
    for keys, rows in theirs.items():
        for row in rows:
            self_of[keys] += row[own]
    for keys, rows in ours.items():
        # a frame may have a line for the kernel and one for user space
        wanted = self_of.pop(perf_key(keys, self_of), 0.0)
        if abs(sum(row[own] for row in rows) - wanted) > TOLERANCE * len(rows):
            differences.append(f"{keys}: self: perf {wanted}, bpfprof {rows}")
        elif shares is None or "Children" not in figures:
            agreed += 1
        else:
            place = {title: cell for title, cell in zip([t for t in titles if not is_figure(t)], keys)}
            key = (place["Command"], place["Shared Object"], address(keys))
            children = sum(row[figures.index("Children")] for row in rows)
            is_module = re.fullmatch(r"\[(?!kernel|unknown|vdso|JIT).*\]", key[1])
            if is_module and key not in shares:
                agreed += 1  # perf script tells these by virtual address
            elif abs(children - shares.get(key, 0.0)) > TOLERANCE * len(rows):
                differences.append(f"{keys}: children {children}, perf script {shares.get(key)}")
            else:
                agreed += 1
    differences.extend(
        f"only perf: {keys} self {own_share}" for keys, own_share in self_of.items() if own_share > TOLERANCE
    )
    return agreed


def is_plt_slip(titles, cells, files):
    """Whether the line is _init, or nameless in one of the files where _init was seen."""
    place = dict(zip(titles, cells))
    if place.get("Symbol") == "[.] _init":
        return True
    return address(cells) is not None and place.get("Shared Object") in files


def without_plt_slips(titles, sides):
    files = {
        dict(zip(titles, row)).get("Shared Object")
        for rows in sides
        for row in rows
        if dict(zip(titles, row)).get("Symbol") == "[.] _init"
    } - {None}
    return [[row for row in rows if not is_plt_slip(titles, row, files)] for rows in sides]


def main():
    perf, bpfprof, path, *options = sys.argv[1:]
    options = [*options, "--stdio", "--no-inline", "-g", "none", "-t", SEPARATOR, "-i", path]
    theirs, ours = tables(run([perf, "report", *options])), tables(run([bpfprof, "report", *options]))
    differences, named, unnamed, shares = [], 0, 0, None
    if theirs.keys() != ours.keys():
        sys.exit(f"events differ: perf {list(theirs)}, bpfprof {list(ours)}")
    for event, (titles, _) in theirs.items():
        if ours[event][0] != titles:
            sys.exit(f"columns differ: perf {titles}, bpfprof {ours[event][0]}")
        sides = [
            [row for row in side[event][1] if "Symbol" not in titles or not is_deleted(row)]
            for side in (theirs, ours)
        ]
        sides = without_plt_slips(titles, sides)
        parts = [
            [grouped(titles, [row for row in rows if (address(row) is None) == is_named]) for rows in sides]
            for is_named in (True, False)
        ]
        keys_of_script = {"Command", "Shared Object", "Symbol", "Children"}
        if keys_of_script <= set(titles) and parts[1][1] and "--max-stack" not in options:
            shares = shares or shares_of_unnamed(perf, path)
        named += compare_named(*parts[0], differences)
        unnamed += compare_unnamed(titles, *parts[1], shares and shares.get(event, {}), differences)
    for line in differences[:20]:
        print(line)
    print(f"{named} named and {unnamed} unnamed lines agree, {len(differences)} differ")
    return bool(differences) or named == 0


if __name__ == "__main__":
    sys.exit(main())
