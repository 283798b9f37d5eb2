# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads a pprof file by its published field numbers, checks that what refers to something finds it,
and prints the sums of its columns, the functions that samples were in and those that all began with.

usage: read_pprof.py FILE
"""

import gzip
import sys

SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = 1, 2, 3, 4, 5, 6


def read_number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def read_message(data):
    """The values of a message by field number."""
    found, at = {}, 0
    while at < len(data):
        key, at = read_number(data, at)
        assert key & 7 in (0, 2), f"no kind of field: {key}"
        value, at = read_number(data, at)
        if key & 7 == 2:
            assert at + value <= len(data), "a field is cut"
            value, at = data[at : at + value], at + value
        found.setdefault(key >> 3, []).append(value)
    return found


def read_numbers(data):
    numbers, at = [], 0
    while at < len(data):
        number, at = read_number(data, at)
        numbers.append(number)
    return numbers


def messages(profile, field):
    return [read_message(data) for data in profile.get(field, [])]


def main():
    with gzip.open(sys.argv[1]) as file:
        profile = read_message(file.read())
    strings = [text.decode() for text in profile[STRING]]
    assert strings[0] == ""
    types = [(strings[kind[1][0]], strings[kind[2][0]]) for kind in messages(profile, SAMPLE_TYPE)]
    functions = {row[1][0]: strings[row[2][0]] for row in messages(profile, FUNCTION)}
    mappings = {row[1][0] for row in messages(profile, MAPPING)} | {0}
    locations = {}
    for row in messages(profile, LOCATION):
        assert row.get(2, [0])[0] in mappings
        locations[row[1][0]] = [functions[read_message(line)[1][0]] for line in row.get(4, [])]
    sums, leaves, roots = [0] * len(types), {}, {}
    for sample in messages(profile, SAMPLE):
        names = [locations[place] for place in read_numbers(sample[1][0])]
        values = read_numbers(sample[2][0])
        assert names and len(values) == len(types)
        sums = [a + b for a, b in zip(sums, values)]
        leaf = names[0][0] if names[0] else "?"
        leaves[leaf] = leaves.get(leaf, 0) + values[0]
        root = names[-1][-1] if names[-1] else "?"
        roots[root] = roots.get(root, 0) + values[0]
        for label in map(read_message, sample.get(3, [])):
            assert strings[label[1][0]] in ("thread", "pid", "tid")
    for (kind, unit), total in zip(types, sums):
        print(kind, unit, total)
    for kind, counts in (("leaf", leaves), ("root", roots)):
        for name, count in sorted(counts.items(), key=lambda row: -row[1]):
            print(kind, name, count)


main()
