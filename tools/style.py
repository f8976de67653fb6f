#!/usr/bin/env python3
"""Measures bodies of functions: blank lines, comments, lengths, and closures that are used once; and files above 500 lines.

It reads all Rust sources but tests and examples. A body is what stands between a function's braces; a line counts as comment where it begins
with `//`. A closure is one that `let` names; used once means that its name stands once more in the body. `--closures` prints each of
those, `--long` each function above 40 lines, and `--file PART` looks at files whose path contains PART alone.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from prose import tracked
from shape import ROOT, without_comments, without_tests

LONG_FILE = 500
LONG_FUNCTION = 40


@dataclass
class Function:
    """A function with its body, line by line, and the same without comments and strings."""

    path: str
    name: str
    line: int
    body: list
    code: str

    def closures(self):
        """Names of closures of the body that are used once."""
        named = re.findall(r"\blet\s+(?:mut\s+)?(\w+)\s*(?::[^=;]+)?=\s*(?:move\s+)?\|", self.code)
        uses = lambda name: len(re.findall(rf"\b{name}\b", self.code)) - 1
        return [name for name in named if uses(name) == 1]


def sources(part):
    """Paths of the sources that git knows."""
    paths = sorted(set(tracked("crates/**/src/**.rs", "crates/*/src/*.rs")))
    return [path for path in paths if part in path and not path.endswith(("tests.rs", "test.rs")) and "/tests/" not in path]


def functions(path):
    """Functions of a file, without its tests."""
    text = without_tests((ROOT / path).read_text())
    code = without_comments(text)
    for found in re.finditer(r"\bfn\s+(\w+)", code):
        begin = re.compile(r"[{;]").search(code, found.end())
        if not begin or begin.group() == ";":
            continue
        end, depth = begin.start(), 0
        while end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
            if depth == 0:
                break
        line = code.count("\n", 0, found.start()) + 1
        body = text[begin.end():end - 1].strip("\n").split("\n")
        yield Function(path, found.group(1), line, body, code[begin.end():end - 1])


def main():
    """Prints the figures."""
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asks.add_argument("--closures", action="store_true", help="print closures that are used once")
    asks.add_argument("--long", action="store_true", help=f"print functions above {LONG_FUNCTION} lines")
    asks.add_argument("--file", default="", help="only files whose path contains this")
    asked = asks.parse_args()

    paths = sources(asked.file)
    every = [own for path in paths for own in functions(path)]
    lines = [line.strip() for own in every for line in own.body]
    lengths = sorted(len(own.body) for own in every)
    closures = [(own, name) for own in every for name in own.closures()]
    blank = sum(not line for line in lines) / len(lines)
    comments = sum(line.startswith("//") for line in lines) / len(lines)

    print(f"functions            {len(every):>6}")
    print(f"lines, median        {lengths[len(lengths) // 2]:>6}   at most 10")
    print(f"lines, p90           {lengths[int(0.9 * len(lengths))]:>6}   at most 30")
    print(f"lines, longest       {lengths[-1]:>6}")
    print(f"blank lines          {100 * blank:>5.1f}%   at least 3 %")
    print(f"comments             {100 * comments:>5.1f}%   at least 3 %")
    print(f"closures used once   {len(closures):>6}   under 60")
    long_files = [(path, (ROOT / path).read_text().count("\n")) for path in paths]
    for path, count in sorted(long_files, key=lambda own: -own[1]):
        if count > LONG_FILE:
            print(f"{path}: {count} lines")
    if asked.long:
        for own in sorted(every, key=lambda own: -len(own.body)):
            if len(own.body) > LONG_FUNCTION:
                print(f"{own.path}:{own.line}: {own.name}: {len(own.body)} lines")
    if asked.closures:
        for own, name in closures:
            print(f"{own.path}:{own.line}: {own.name}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
