#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Holds chains against the truth, call by call.

usage: score.py NAME CHAINS      NAME.truth.gz; CHAINS as chains.py prints them

complete  every caller down to _start, clone3 or what a coroutine began with
main      nothing wrong, and every caller down to main or the thread's function
wrong     a caller that is not the true one at that place (also where callers were left out)
frames    true callers before the first wrong one, on average, of how many there were
"""
import gzip
import sys


def score(truth, chains):
    count = complete = main = wrong = frames = total = 0
    for true, listed in zip(truth, chains, strict=True):
        reach, true = int(true[4]), [caller.lstrip("S").split(">")[0] for caller in true[5:]]
        listed = [] if listed == ["-"] else listed
        right = 0
        while right < min(len(true), len(listed)) and true[right] == listed[right]:
            right += 1
        count += 1
        frames += right
        total += len(true)
        if right < len(listed):
            wrong += 1
            continue
        complete += right == len(true)
        main += right >= reach
    count = count or 1
    return {"samples": count, "complete": 100 * complete / count, "main": 100 * main / count,
            "wrong": 100 * wrong / count, "frames": frames / count, "of": total / count}


def main():
    with gzip.open(sys.argv[1] + ".truth.gz", "rt") as file:
        truth = [line.split() for line in file]
    with open(sys.argv[2]) as file:
        chains = [line.split() for line in file]
    if len(truth) != len(chains):
        raise SystemExit("%d samples, but %d chains" % (len(truth), len(chains)))
    print("samples %(samples)d complete %(complete).2f main %(main).2f wrong %(wrong).3f "
          "frames %(frames).2f of %(of).2f" % score(truth, chains))


if __name__ == "__main__":
    main()
