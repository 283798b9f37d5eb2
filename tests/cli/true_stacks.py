#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Holds recorded user stacks against those that are true, as the sources of the workloads tell them
# (tests/workloads/known.h says how), and writes FOLDER/NAME for each workload: a line of figures
# that ends with "true" or "untrue", and examples of what is wrong or cut.
#
# usage: true_stacks.py FILE FOLDER NAME...
#
#   FILE    what `script -F comm,pid,tid,ip,sym,dso` printed; with `provenance` a stack that is
#           complete is one also if its outermost function has no name (in a stripped C library)
#   NAME    PROGRAM.MODE
#
# Untrue is a workload with a wrong stack, with fewer that are whole than chance explains, or with fewer
# than LEAST_SAMPLES (50) samples. LEAST_WHOLE="PERCENT [NAME=PERCENT]..." says how much must be whole of
# all and of single ones, in place of what their sources say. In the two innermost frames of a stack libgcc's way into a handler excuses what stands
# above it: see RESUMES.
import os
import re
import sys

LEAST = int(os.environ.get("LEAST_SAMPLES", "50"))
WORKLOADS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workloads")
# What starts a process or a thread: nothing stands above it.
ROOTS = {"_start", "_dl_start_user", "clone", "__clone", "clone3", "__clone3", "__GI___clone3",
         "_dl_start", "__GI___clone"}
# While these put the handler's registers in place of those that they have saved themselves, call
# frame information leads from them into the handler's frame with a mixture of both (to libdw, too).
RESUMES = {"_Unwind_Resume", "_Unwind_RaiseException", "_Unwind_Resume_or_Rethrow",
           "_Unwind_ForcedUnwind"}
# What the kernel has a handler return to. Whatever is above was interrupted where it was.
SIGNAL_RETURNS = {"__restore_rt", "__kernel_rt_sigreturn"}
KERNEL = 0xFFFF800000000000
EXAMPLES = 3


def comment_of(program):
    """The first comment of a workload's source, or of the source that it includes."""
    for suffix in (".c", ".cc", ".rs"):
        path = os.path.join(WORKLOADS, program + suffix)
        if os.path.exists(path):
            break
    with open(path, encoding="utf-8") as file:
        text = file.read()
    included = re.search(r'^#include "(\w+)\.c"', text, re.M)
    if included:
        return comment_of(included.group(1))
    return re.match(r"(?:\s*/\*.*?\*/)+", text, re.S).group(0)


def of_mode(comment, word, mode):
    """What lines "WORD MODE: VALUE" say."""
    return re.findall(r"^[ */]*%s %s: (.*)$" % (word, re.escape(mode)), comment, re.M)


def least_whole(name):
    """What LEAST_WHOLE says of a workload; None if nothing."""
    words = os.environ.get("LEAST_WHOLE", "").split()
    single = dict(word.split("=") for word in words[1:])
    return float(single.get(name, words[0])) if words else None


def is_by_chance(cut, expected):
    """Whether so many may be cut where so many are on average. To say no where it is so happens less
    than once in a million times (five standard deviations, and what small numbers need)."""
    return cut <= expected + 5 * expected**0.5 + 4


class Truth:
    """Which stacks are true for one mode: as letters, a frame each, outermost first."""

    def __init__(self, name):
        program, _, mode = name.partition(".")
        comment = comment_of(program)
        lines = re.findall(r"^[ */]*stacks [\w.]+: (.*)$", comment, re.M)
        names = {name for line in lines for word in line.split()
                 for name in re.sub(r"\{\d+\}$|\+$", "", word).split("|")}
        self.letters = {name: chr(0x4E00 + i)
                        for i, name in enumerate(sorted(names - {"*", ".", "?", "~"}))}
        self.lines = of_mode(comment, "stacks", mode or program)
        if not self.lines:
            sys.exit(f"true_stacks.py: {name}: its source names no stacks")
        self.cut = of_mode(comment, "cut", mode or program)
        whole = of_mode(comment, "whole", mode or program) or ["99"]
        self.whole = least_whole(name) or float(whole[0].rstrip("%"))
        words = [line.split() for line in self.lines]
        self.true = re.compile("|".join(self.beginning(line) for line in words))
        # A stack that was cut lacks its outermost frames, however many.
        self.rest = re.compile("|".join(self.beginning(line[start:], 0) for line in words
                                        for start in range(len(line))))

    def beginning(self, words, least=None):
        """A pattern for a line of the comment and its beginnings. Where the line says N frames,
        `least` are enough."""
        if "~" in words:
            at = words.index("~")
            return self.beginning(words[:at], least) + self.beginning(words[at + 1:], least)
        others = self.letter(".") + "*"
        pattern = others
        for word in reversed(words):
            if word == "*":
                pattern = others + pattern
            elif word.endswith("}"):
                letter, count = self.letter(word[:word.index("{")]), int(word[word.index("{") + 1:-1])
                first = count if least is None else least
                pattern = "(?:%s{%d,%d}%s|%s{0,%d}%s)" % (letter, first, count, pattern, letter,
                                                          count, others)
            else:
                plus = word.endswith("+")
                options = "|".join(self.letter(name) for name in word.rstrip("+").split("|"))
                pattern = "(?:(?:%s)%s%s|%s)" % (options, "+" if plus else "", pattern, others)
        return pattern

    def letter(self, name):
        return {".": "-", "?": "J"}.get(name) or self.letters[name]

    def as_letters(self, frames):
        """Frames innermost first as letters outermost first; None if one cannot be a caller."""
        letters = []
        for depth, (name, binary) in enumerate(frames):
            name = re.sub(r"( \[clone)?\.(cold|part|isra|constprop)[.0-9]*\]?$", "", name)
            if (name.endswith("@plt") and depth > 0
                    and frames[depth - 1][0] not in SIGNAL_RETURNS):
                return None
            if name == "[unknown]" and not binary.startswith("/"):
                return None if depth > 0 else "-"  # not in any mapping
            is_jit = binary.startswith(("//", "/tmp/perf-"))
            letters.append("J" if is_jit else self.letters.get(name, "-"))
        return "".join(reversed(letters))

    def judge(self, frames, is_complete):
        """"whole", "cut" or "wrong"; the innermost frame alone comes from the registers."""
        letters = self.as_letters(frames)
        root = frames[-1][0]
        is_nameless = root == "[unknown]" or root.startswith("[fn ")
        is_root = root in ROOTS or (is_nameless and is_complete)
        if letters is not None and is_root and self.true.fullmatch(letters):
            return "whole"
        if len(frames) == 1 or (letters is not None and self.rest.fullmatch(letters)):
            return "cut"
        is_resuming = any(name in RESUMES for name, _ in frames[:2])
        return "cut" if is_resuming else "wrong"


def samples_of(path):
    """(thread's name, user frames innermost first, is it complete) of each sample."""
    name, frames, is_complete = None, [], False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            frame = re.match(r"\s+([0-9a-f]+) (.*) \((.*)\)( .*)?$", line)
            if frame and int(frame.group(1), 16) < KERNEL:
                frames.append((frame.group(2), frame.group(3)))
            elif not frame and line.strip():
                name, frames, is_complete = line.split()[0], [], ", complete]" in line
            elif not line.strip() and name:
                yield name, frames, is_complete
                name = None
    if name:
        yield name, frames, is_complete


def report_on(name, stacks):
    """What is to be said of one workload."""
    truth = Truth(name)
    judged = {"whole": [], "cut": [], "wrong": []}
    for frames, is_complete in stacks:
        judged[truth.judge(frames, is_complete)].append(frames)
    share = 100 * len(judged["whole"]) / max(len(stacks), 1)
    expected = (100 - truth.whole) / 100 * len(stacks)
    is_true = (not judged["wrong"] and len(stacks) >= LEAST
               and (bool(truth.cut) or is_by_chance(len(judged["cut"]), expected)))
    lines = [f"{name:20} {len(stacks):6} samples {share:6.2f}% whole {len(judged['cut']):6} cut"
             f" {len(judged['wrong']):4} wrong: {'true' if is_true else 'untrue'}"]
    for verdict in ("wrong",) if truth.cut else ("wrong", "cut"):
        for frames in judged[verdict][:EXAMPLES]:
            lines.append(f"  {verdict}: " + " < ".join(frame[0] for frame in frames[:40]))
    return "\n".join(lines) + "\n"


def main():
    stacks = {}
    for name, frames, is_complete in samples_of(sys.argv[1]):
        if frames:
            stacks.setdefault(name, []).append((frames, is_complete))
    os.makedirs(sys.argv[2], exist_ok=True)
    for name in sys.argv[3:]:
        with open(os.path.join(sys.argv[2], name), "w", encoding="utf-8") as file:
            file.write(report_on(name, stacks.get(name, [])))


main()
