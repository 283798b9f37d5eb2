#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Holds chains against the truth, call by call.

usage: score.py NAME [CHAINS]...      NAME.truth.gz; CHAINS as chains.py prints them

Prints a table's cells: the samples, how deep their stacks are (the 10th, 50th, 90th of 100, the
deepest), then for each CHAINS complete/main/**wrong** in percent, and frames:

complete  every caller down to _start, clone3 or what a coroutine began with
main      nothing wrong, and every caller down to main or the thread's function
wrong     a caller that is not the true one at that place (also where callers were left out)
frames    true callers before the first wrong one, on average
"""
import gzip
import sys


def signal_ends(name):
    """Where handlers return to: a frame of its own that may be listed, and that no call made."""
    with gzip.open(name + ".returns.gz", "rt") as file:
        pairs = [line.split() for line in file]
    return {back for back, call in pairs if call == "0"}


def score(truth, chains, passed_over):
    count = complete = main = wrong = frames = 0
    for true, listed in zip(truth, chains, strict=True):
        reach, true = int(true[4]), [caller.lstrip("S").split(">")[0] for caller in true[5:]]
        listed = [call for call in listed if call != "-" and call not in passed_over]
        right = 0
        while right < min(len(true), len(listed)) and true[right] == listed[right]:
            right += 1
        count += 1
        frames += right
        if right < len(listed):
            wrong += 1
            continue
        complete += right == len(true)
        main += right >= reach
    count = count or 1
    return {"complete": 100 * complete / count, "main": 100 * main / count, "wrong": 100 * wrong / count,
            "frames": frames / count}


def depths(truth):
    sorted_depths = sorted(int(line[3]) for line in truth) or [0]
    last = len(sorted_depths) - 1
    return "/".join(str(sorted_depths[last * part // 100]) for part in (10, 50, 90, 100))


def main():
    with gzip.open(sys.argv[1] + ".truth.gz", "rt") as file:
        truth = [line.split() for line in file]
    cells = ["%d" % len(truth), depths(truth)]
    for path in sys.argv[2:]:
        with open(path) as file:
            chains = [line.split() for line in file]
        if len(truth) != len(chains):
            raise SystemExit("%s: %d chains of %d samples" % (path, len(chains), len(truth)))
        cells.append("%(complete).1f/%(main).1f/**%(wrong).2f**/%(frames).2f" % score(truth, chains, signal_ends(sys.argv[1])))
    print(" | ".join(cells))


if __name__ == "__main__":
    main()
