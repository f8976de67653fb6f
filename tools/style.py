#!/usr/bin/env python3
"""Measures bodies of functions: blank lines, comments, lengths, and closures that are used once; and files above 500 lines.

It reads all Rust sources but tests and examples. A body is what stands between a function's braces; a line counts as comment where it begins
with `//`. A closure is one that `let` names; used once means that its name stands once more in the body. `--closures` prints each of
those, `--long` each function above 40 lines, and `--file PART` looks at files whose path contains PART alone. `--check` fails where a
function, of a test too, takes a tuple: its parts have no names where it is called.
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

# Files that may still have functions that take a tuple. The list only shrinks.
EXCEPTIONS = set()


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


def closing(code, begin):
    """Index behind the bracket that closes the one at `begin`."""
    depth, at = 0, begin
    while at < len(code):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        at += 1
        if depth == 0:
            break
    return at


def parameters(code):
    """Line, name of the function, and text of each parameter of each function."""
    for found in re.finditer(r"\bfn\s+(\w+)", code):
        at, depth = found.end(), 0
        while at < len(code) and (code[at] != "(" or depth):
            if code[at:at + 2] == "->":
                at += 1
            else:
                depth += {"<": 1, ">": -1}.get(code[at], 0)
            at += 1
        inside = code[at + 1:closing(code, at) - 1].replace("->", "  ")
        start, depth = 0, 0
        for end, letter in enumerate(inside + ","):
            depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                line = code.count("\n", 0, found.start()) + 1
                yield line, found.group(1), " ".join(inside[start:end].split())
                start = end + 1


def is_tuple(parameter):
    """Whether a parameter is a tuple, may be one, or is taken apart as one. Values that `proptest` draws are no parameters."""
    pattern, _, kind = parameter.partition(":")
    if re.search(r"\bin\b", pattern):
        return False
    kind = re.sub(r"^\s*&?('\w+ )?(mut )?(Option<)?&?", "", kind)
    return bool(re.match(r"(mut )?&?\(", pattern)) or bool(re.match(r"\((?!\)|dyn |impl )", kind))


def tuple_parameters():
    """Functions that take a tuple, each with its place."""
    for path in sorted(set(tracked("*.rs", "**/*.rs")) - EXCEPTIONS):
        for line, name, parameter in parameters(without_comments((ROOT / path).read_text())):
            if is_tuple(parameter):
                yield f"{path}:{line}: {name}: {parameter}"


def main():
    """Prints the figures."""
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asks.add_argument("--closures", action="store_true", help="print closures that are used once")
    asks.add_argument("--long", action="store_true", help=f"print functions above {LONG_FUNCTION} lines")
    asks.add_argument("--check", action="store_true", help="fail where a function takes a tuple")
    asks.add_argument("--file", default="", help="only files whose path contains this")
    asked = asks.parse_args()
    if asked.check:
        taken = list(tuple_parameters())
        print("\n".join(taken) if taken else "No function takes a tuple.")
        return int(bool(taken))

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
