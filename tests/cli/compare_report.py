#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Holds bpfprof report against perf report.
"""Compares perf report and bpfprof report of one file, entry by entry.

usage: compare_report.py PERF BPFPROF FILE [--ours FILE | --graphs] [report options]

With --ours, bpfprof reads the same events from another file. With --graphs, every chain of every
entry's call graph is compared, too (-g folded,0); their order is not, where perf's depends on where
things are in its memory. Groups of events and hierarchies (--group, --hierarchy) may be asked for.

Every line of perf's table must be in ours with the same figures, to 0.01 point, and ours must have
no other lines; frames without a name too, address by address. What is known to differ:

- Files that are deleted: ours may still name what is in them, perf does not. Left out, if symbols
  are among the keys.
- PLT entries that no relocation of .rela.plt names (.plt.got): perf 6.1 takes them for _init, or finds
  nothing, by the shape of its tree; ours never takes them for _init. Those of .plt.sec ours names and
  perf 6.1 does not. Left out: _init, entries that only ours has, and lines without a name in the
  same file.
- With --symfs perf looks for [vdso] there as well; ours knows the one of this machine. Left out.
- With symbols, but not files among the keys, perf's comparison is no order (addresses without a name
  are compared by themselves, names by file first), so its tree has some lines twice: "foo" of
  one program as 1.10% and as 9.54%. There the sums of equal lines are compared, and not the
  letter of code without file, which is that of whoever came first.
- Addresses in no file (what a frame pointer that was used for something else led to): perf may print
  one of them twice in a group of events, and its letter is that of whoever came first in memory.
  The sums are compared, and not the letter.
- Data as a caller (what a frame pointer that was used for something else led to): perf prints how far
  into it ("vtable for X+0x40"), ours the name. Both have one line for it.
- perf cuts names of threads that are longer than the column ("perf-ex"); ours does not.
- Branches: perf tells ends without a name apart by where they were in memory, and then prints where
  they are in their file, so that some lines are there twice; equal lines are summed. It prints
  cycles above 32,767 as negative numbers.
"""
import re
import subprocess
import sys
from collections import Counter, defaultdict

SEPARATOR = "~"
TOLERANCE = 0.0101


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    if not done.stdout.strip():
        print(f"{' '.join(command)} prints nothing: {done.stderr.strip()}")
    return done.stdout


def hierarchy_row(titles, line, path):
    """The cells of a line of a hierarchy, with all keys above it; `path` is of the line before."""
    cells = [cell.strip() for cell in line.split(SEPARATOR)]
    depth = (len(line) - len(line.lstrip(" ")) - 1) // 3
    figures = len(titles) - 1
    path[depth:] = ["+".join(cells[figures:])]
    return [*cells[:figures], " / ".join(path)]


def tables(text):
    """Event -> (titles, rows of cells)."""
    found, event, titles, path = {}, None, None, []
    for line in text.split("\n"):
        if line.startswith("# Samples:"):
            event, titles = line.split("'")[1], None
        elif line.startswith("#"):
            if event and SEPARATOR in line and not set(line) <= set("# ." + SEPARATOR):
                titles = [cell.strip() for cell in line[2:].split(SEPARATOR)]
                found[event] = (titles, [])
        elif titles and line.strip() and " / " in titles[-1]:
            found[event][1].append(hierarchy_row(titles, line, path))
        elif titles and line.strip():
            found[event][1].append([cell.strip() for cell in line.split(SEPARATOR)])
    return found


def is_figure(title):
    return title in ("Children", "Self", "Overhead", "Samples", "Period", "sys", "usr")


def figures(cell):
    """One, or one for each event of a group."""
    return [-1.0 if value == "N/A" else float(value.rstrip("%")) for value in cell.split()]


def key(title, cell):
    if title == "Basic Block Cycles" and cell.startswith("-") and cell != "-":
        return str(int(cell) + 2**16)
    return cell


def grouped(titles, rows):
    """Keys -> sorted list of figures; a name may stand for several functions."""
    found = defaultdict(list)
    for row in rows:
        cells = [key(title, cell) for title, cell in zip(titles, row) if not is_figure(title)]
        keys = tuple(part for cell in cells for part in cell.split(" / "))
        cells = [cell for title, cell in zip(titles, row) if is_figure(title)]
        found[keys].append([value for cell in cells for value in figures(cell)])
    return {keys: sorted(rows) for keys, rows in found.items()}


def perf_key(keys, theirs):
    """What perf calls these keys of ours: the same, or with a thread name that perf has cut. Symbols
    are whole ("[.] main"); one may well begin as another does."""
    if keys in theirs:
        return keys
    for other in theirs:
        if len(other) == len(keys) and all(
            mine == name
            or (len(name) >= 7 and not name.startswith("[") and mine.startswith(name))
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


class Sum(list):
    """Figures that are sums of those of several lines, each of which was rounded."""

    lines = 1


def tolerance(*rows):
    lines = sum(row.lines if isinstance(row, Sum) else 1 for row in rows)
    return max(TOLERANCE, 0.005 * lines + 0.0001)


def close(one, other):
    return len(one) == len(other) and all(
        len(a) == len(b) and all(abs(x - y) <= tolerance(a, b) for x, y in zip(a, b))
        for a, b in zip(one, other)
    )


def compare(theirs, ours, differences):
    agreed = 0
    left = under_perf_keys(ours, theirs)
    for keys, rows in theirs.items():
        mine = left.pop(keys, None)
        if mine is None:
            differences.append(f"only perf: {keys} {rows}")
        elif not close(rows, mine):
            differences.append(f"{keys}: perf {rows}, bpfprof {mine}")
        else:
            agreed += len(rows)
    differences.extend(f"only bpfprof: {keys} {rows}" for keys, rows in left.items())
    return agreed


def place_of(titles, cells):
    """(file, symbol) of a line."""
    cell = dict(zip(titles, cells))
    return cell.get("Shared Object"), cell.get("Symbol")


def unsure_places(sides, has_symfs):
    """(file, symbol) of lines that need not agree, of tables with both columns."""
    perf, ours = ({place_of(titles, row) for row in rows} for titles, rows in sides)
    slips = {place for place in ours - perf if place[1].endswith("@plt")}
    slips |= {place for place in ours | perf if place[1] == "[.] _init"}
    files = {file for file, _ in slips}
    return {
        (file, symbol)
        for file, symbol in ours | perf
        if file.endswith("(deleted)")
        or (file == "[vdso]" and has_symfs)
        or (file, symbol) in slips
        or (file in files and re.fullmatch(r"\[.\] 0x[0-9a-f]{16}", symbol))
    }


def is_unsure_path(path, unsure):
    """The same of a line of a hierarchy."""
    *above, last = path.split(" / ")
    return any(last == symbol and any(file in part for part in above) for file, symbol in unsure)


def without_unsure(titles, sides, unsure):
    if " / " in titles[-1]:
        return [[row for row in rows if not is_unsure_path(row[-1], unsure)] for rows in sides]
    if "Symbol" not in titles:
        return sides
    if "Shared Object" not in titles:
        unsure = {(None, symbol) for _, symbol in unsure}
    return [[row for row in rows if place_of(titles, row) not in unsure] for rows in sides]


def summed(found):
    sums = {}
    for keys, rows in found.items():
        keys = tuple(re.sub(r"^\[.\] ", "", key) for key in keys)
        rows = sums.get(keys, []) + rows
        both = Sum(sum(column) for column in zip(*rows))
        both.lines = sum(row.lines if isinstance(row, Sum) else 1 for row in rows)
        sums[keys] = [both]
    return sums


def is_nowhere(keys):
    """Whether it is the line of an address in no file."""
    return "[unknown]" in keys and any(re.fullmatch(r"\[.\] 0x[0-9a-f]{16}", key) for key in keys)


def nowhere_summed(found):
    nowhere = {keys: rows for keys, rows in found.items() if is_nowhere(keys)}
    return {**{keys: found[keys] for keys in found.keys() - nowhere.keys()}, **summed(nowhere)}


def graphs(program, path, options):
    """How often each entry has each chain: Counter of (entry, chain)."""
    command = [program, "report", *options, "--stdio", "--no-inline", "-q", "-i", path]
    found, entry = Counter(), None
    for line in run(command).split("\n"):
        if line.startswith(" "):
            entry = " ".join(line.split())
        elif line.strip():
            found[entry, line.strip()] += 1
    return found


def compare_graphs(sources, options, differences):
    words = "folded,0"
    if "-g" in options:
        words += "," + options.pop(options.index("-g") + 1)
        options.remove("-g")
    sides = [
        graphs(*source, [*options, *more, "-g", words])
        for source, more in zip(sources, EXTRA)
    ]
    for name, one, other in (("perf", *sides), ("bpfprof", *sides[::-1])):
        differences.extend(f"only {name}: {chain} of {entry}" for entry, chain in one - other)
    return sum((sides[0] & sides[1]).values())


def without_offset(title, cell):
    """The cell without how far into data a caller is."""
    if title == "Symbol" or " / " in title:
        return re.sub(r"(\[.\] [^/]+)\+0x[0-9a-f]+(?= / |$)", r"\1", cell)
    return cell


def report(program, path, options):
    common = ["--stdio", "--no-inline", "-g", "none", "-t", SEPARATOR, "-i", path]
    return {
        event: (titles, [[*map(without_offset, titles, row)] for row in rows])
        for event, (titles, rows) in tables(run([program, "report", *options, *common])).items()
    }


def finish(agreed, differences):
    for line in differences[:20]:
        print(line)
    print(f"{agreed} lines agree, {len(differences)} differ")
    return bool(differences) or agreed == 0


# Code without symbol is named by its function else, where perf has a line for each address.
EXTRA = ([], ["--strict-perf"])


def both_reports(sources, options):
    return [report(*source, [*options, *more]) for source, more in zip(sources, EXTRA)]


def compare_event(titles, sides, unsure, differences):
    sides = without_unsure(titles, sides, unsure)
    found = [nowhere_summed(grouped(titles, rows)) for rows in sides]
    if "Source Symbol" in titles or ("Symbol" in titles and "Shared Object" not in titles):
        found = [summed(side) for side in found]
    return compare(*found, differences)


def compare_tables(sources, options, differences):
    both = both_reports(sources, options)
    if both[0].keys() != both[1].keys():
        sys.exit(f"events differ: perf {list(both[0])}, bpfprof {list(both[1])}")
    symfs = options[options.index("--symfs") :][:2] if "--symfs" in options else []
    by_place, agreed = None, 0
    for event, (titles, rows) in both[0].items():
        if both[1][event][0] != titles:
            sys.exit(f"columns differ: perf {titles}, bpfprof {both[1][event][0]}")
        sides = [rows, both[1][event][1]]
        found = compare_event(titles, sides, set(), events_differences := [])
        if events_differences:
            group = [word for word in options if "group" in word]
            by_place = by_place or both_reports(sources, ["-s", "dso,sym", *symfs, *group])
            unsure = unsure_places([side[event] for side in by_place], bool(symfs))
            found = compare_event(titles, sides, unsure, differences)
        agreed += found
    return agreed


def main():
    perf, bpfprof, path, *options = sys.argv[1:]
    sources = [(perf, path), (bpfprof, path)]
    differences = []
    if options[:1] == ["--ours"]:
        sources[1] = (bpfprof, options[1])
        options = options[2:]
    if options[:1] == ["--graphs"]:
        agreed = compare_graphs(sources, options[1:], differences)
    else:
        agreed = compare_tables(sources, options, differences)
    return finish(agreed, differences)


if __name__ == "__main__":
    sys.exit(main())
