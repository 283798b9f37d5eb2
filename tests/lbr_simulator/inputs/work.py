# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Work for Python's interpreter: recursion, JSON, regular expressions, sorting with a key."""
import json
import re


def tree(depth):
    return {"value": depth, "below": [tree(depth - 1) for _ in range(3)]} if depth else {"leaf": "x" * 20}


def count(node):
    return 1 + sum(count(below) for below in node.get("below", []))


def walk(left, found):
    if left:
        walk(left - 1, found)
        found.append(sorted(range(40), key=lambda number: -number * left % 17)[0])


for turn in range(4):
    text = json.dumps(tree(6))
    count(json.loads(text))
    re.findall(r'("\w+"): (\d+), "(be|lo)w', text)
    for _ in range(15):
        walk(60, [])
