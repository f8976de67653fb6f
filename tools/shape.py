#!/usr/bin/env python3
"""Says whether the crates and their folders depend on each other in one direction.

A file depends on the file that declares what its paths name: `crate::a::B` on the file of `B`, also where `a` passes `B` on by
`pub use`. Declaring a module and passing on a name are no dependency, and tests are left out. Files that depend on each other in a
circle must be of one folder; "lib" is the folder's own mod.rs. Methods that another folder's `impl` adds are not looked at. `--graph`
prints what each folder directly below `src` depends on, `--why A B` the lines that make A depend on B.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each crate may depend on: the picture of ARCHITECTURE.md.
PICTURE = {
    "fullpipe-base": set(),
    "fullpipe-observe": {"fullpipe-base"},
    "fullpipe-measure": {"fullpipe-observe"},
    "fullpipe-guest": {"fullpipe-base", "fullpipe-observe"},
    "fullpipe-sim": {"fullpipe-base"},
    "fullpipe-trace": {"fullpipe-base"},
    "fullpipe-scenario": {"fullpipe-base", "fullpipe-trace", "fullpipe-sim"},
    "fullpipe-linux": {
        "fullpipe-base", "fullpipe-trace", "fullpipe-sim", "fullpipe-observe", "fullpipe-guest",
        "fullpipe-scenario",
    },
    "fullpipe-analysis": {"fullpipe-base", "fullpipe-trace", "fullpipe-scenario"},
    "fullpipe-report": {"fullpipe-analysis"},
    "fullpipe": {
        "fullpipe-base", "fullpipe-trace", "fullpipe-sim", "fullpipe-scenario", "fullpipe-linux", "fullpipe-analysis",
        "fullpipe-report", "fullpipe-observe",
    },
    "fullpipe-cli": {"fullpipe", "fullpipe-measure"},
    "fullpipe-blind": {"fullpipe"},
    "fullpipe-py": {"fullpipe", "fullpipe-cli"},
}


# Circles that are known, by crate and folder: the list only shrinks. A circle of fewer of these is progress, and then this list
# has to follow.
KNOWN_CIRCLES = {}


def without_comments(text):
    """The code with comments and the contents of strings blanked, line by line as before."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', re.S)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def without_tests(text):
    """The code without what stands behind #[cfg(test)]."""
    out, at = [], 0
    for found in re.finditer(r"#\[cfg\((?:test|all\(test[^]]*)\)\]", text):
        if found.start() < at:
            continue
        out.append(text[at:found.start()])
        end, depth = found.end(), 0
        while end < len(text):
            if text[end] == "{":
                depth += 1
            elif text[end] == "}":
                depth -= 1
                if depth == 0:
                    break
            elif text[end] == ";" and depth == 0:
                break
            end += 1
        out.append(re.sub(r"[^\n]", " ", text[found.start():end + 1]))
        at = end + 1
    out.append(text[at:])
    return "".join(out)


def flattened(tree, prefix=()):
    """The paths of a use tree, each with the name under which it is known."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        path, _, alias = tree.partition(" as ")
        parts = prefix + tuple(part.strip() for part in path.split("::") if part.strip())
        if parts and parts[-1] == "self":
            parts = parts[:-1]
        yield parts, (alias.strip() or (parts[-1] if parts else ""))
        return
    head = prefix + tuple(part.strip() for part in tree[:brace].split("::") if part.strip())
    depth, start, body = 0, 0, tree[brace + 1:tree.rindex("}")]
    for at, letter in enumerate(body + ","):
        if letter in "{(":
            depth += 1
        elif letter in "})":
            depth -= 1
        elif letter == "," and depth == 0:
            if body[start:at].strip():
                yield from flattened(body[start:at], head)
            start = at + 1


class Crate:
    """The modules of a crate, and what each uses."""

    def __init__(self, name, source):
        self.name, self.source = name, source
        self.file, self.text = {}, {}
        for path in sorted(source.rglob("*.rs")):
            relative = path.relative_to(source)
            if path.name == "tests.rs" or "tests" in relative.parts[:-1] or relative.parts[0] in ("bin", "main.rs"):
                continue
            parts = relative.with_suffix("").parts
            if parts[-1] in ("mod", "lib"):
                parts = parts[:-1]
            self.file[parts] = relative
            self.text[parts] = without_tests(without_comments(path.read_text()))
        self.passed_on = defaultdict(dict)
        self.globs = defaultdict(list)
        self.uses = defaultdict(list)
        for module, text in self.text.items():
            self.read(module, text)

    def absolute(self, module, parts):
        """The path from the crate's root, or None where it leads outside."""
        if parts[0] == "crate":
            return parts[1:]
        base = module
        if parts[0] in ("self", "super"):
            while parts and parts[0] in ("self", "super"):
                base = base[:-1] if parts[0] == "super" else base
                parts = parts[1:]
            return base + parts
        return module + parts if module + parts[:1] in self.file else None

    def read(self, module, text):
        used = []
        for found in re.finditer(r"(?:^|[\s;{}])(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", text):
            line = text.count("\n", 0, found.start(2)) + 1
            for parts, alias in flattened(" ".join(found.group(2).split())):
                target = self.absolute(module, parts) if parts else None
                if target is None:
                    continue
                if found.group(1):
                    if parts[-1] == "*":
                        self.globs[module].append(target[:-1])
                    else:
                        self.passed_on[module][alias] = target
                else:
                    used.append((target, line))
        body = re.sub(r"(?:^|(?<=[\s;{}]))(?:pub(?:\([^)]*\))?\s+)?use\s+[^;]+;", lambda m: re.sub(r"[^\n]", " ", m.group()), text)
        for found in re.finditer(r"(?<![\w:])((?:crate|super|self)(?:::\w+)+)", body):
            target = self.absolute(module, tuple(found.group(1).split("::")))
            used.append((target, body.count("\n", 0, found.start()) + 1))
        # Paths that begin with a child module or with a module's name that is in scope.
        known = {target[-1]: target for target, _ in used if target and target in self.file}
        for found in re.finditer(r"(?<![\w:.])([a-z_]\w*)((?:::\w+)+)", body):
            head, rest = found.group(1), tuple(found.group(2).split("::")[1:])
            base = known.get(head) or (module + (head,) if module + (head,) in self.file else None)
            if base:
                used.append((base + rest, body.count("\n", 0, found.start()) + 1))
        self.uses[module] = used

    def declared_in(self, path, seen=()):
        """The module whose file declares what a path names."""
        if path in seen:
            return None
        for length in range(len(path), -1, -1):
            if path[:length] in self.file:
                module, rest = path[:length], path[length:]
                break
        if not rest or rest[0] == "*":
            return module
        if rest[0] in self.passed_on[module]:
            return self.declared_in(self.passed_on[module][rest[0]] + rest[1:], seen + (path,))
        if re.search(rf"\b(?:struct|enum|trait|type|fn|const|static|union|macro_rules!)\s+{rest[0]}\b", self.text[module]):
            return module
        for glob in self.globs[module]:
            found = self.declared_in(glob + rest, seen + (path,))
            if found is not None and re.search(rf"\b{rest[0]}\b", self.text[found]):
                return found
        return module

    @cache
    def edges(self):
        """For each module those that it depends on, with the lines."""
        edges = defaultdict(lambda: defaultdict(list))
        for module, used in self.uses.items():
            for target, line in used:
                to = self.declared_in(target)
                if to is not None and to != module:
                    edges[module][to].append(line)
        return edges

    def top(self, module, folder=()):
        """The folder or file of the crate's root, or of a folder in it, that a module is of. None: it is of another."""
        if module[:len(folder)] != folder:
            return None
        return module[len(folder)] if len(module) > len(folder) else "lib"

    def tops(self, folder=()):
        """For each folder or file of the crate's root, or of a folder in it, how many edges lead to each other one."""
        tops = defaultdict(lambda: defaultdict(int))
        for module, targets in self.edges().items():
            for to in targets:
                a, b = self.top(module, folder), self.top(to, folder)
                if a is not None and b is not None and a != b:
                    tops[a][b] += 1
        return tops

    def report_circles(self, folder):
        """Prints the circles that cross a folder in this one; how many of them are not known."""
        wrong, tops, place = 0, self.tops(folder), "/".join((self.name, *folder))
        for circle in circles(tops):
            # Files of one folder may depend on each other.
            if not any(self.source.joinpath(*folder, top).is_dir() for top in circle):
                continue
            if circle == KNOWN_CIRCLES.get(place):
                print(f"{place}: the known circle of {len(circle)}: {', '.join(sorted(circle))}")
                continue
            wrong += 1
            print(f"{place}: these depend on each other in a circle: {', '.join(sorted(circle))}")
            for top in sorted(circle):
                back = {to: count for to, count in tops[top].items() if to in circle}
                print(f"    {top} -> " + ", ".join(f"{to} {count}" for to, count in sorted(back.items())))
        return wrong


def circles(edges):
    """Sets of folders of which each leads to each other one."""
    reached = {}
    for start in edges:
        found, ahead = set(), [start]
        while ahead:
            for to in edges.get(ahead.pop(), ()):
                if to not in found:
                    found.add(to)
                    ahead.append(to)
        reached[start] = found
    return {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in edges if a in reached[a]}


def crate_edges():
    """The crates of the workspace that each of them depends on, tests and build scripts left out."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packages = json.loads(output)["packages"]
    names = {package["name"] for package in packages}
    return {
        package["name"]: {other["name"] for other in package["dependencies"] if other["kind"] is None} & names
        for package in packages
    }


def main():
    crates = {name: Crate(name, ROOT / "crates" / name / "src") for name in PICTURE}
    if len(sys.argv) == 4 and sys.argv[1] == "--why":
        for crate in crates.values():
            for module, targets in crate.edges().items():
                for to, lines in targets.items():
                    if crate.top(module) == sys.argv[2] and crate.top(to) == sys.argv[3]:
                        print(f"{crate.name} {crate.file[module]}:{lines[0]} -> {crate.file[to]}")
        return 0

    wrong = 0
    for name, crate in crates.items():
        tops = crate.tops()
        if "--graph" in sys.argv:
            print(f"== {name}")
            for top, targets in sorted(tops.items()):
                print(f"  {top} -> " + ", ".join(f"{to} {count}" for to, count in sorted(targets.items())))
        for folder in sorted({module[:length] for module in crate.file for length in range(len(module))}):
            wrong += crate.report_circles(folder)
    for crate, found in crate_edges().items():
        for other in sorted(found - PICTURE.get(crate, set())):
            wrong += 1
            print(f"{crate} depends on {other}, which the picture of ARCHITECTURE.md does not show")
    print("The shape holds." if wrong == 0 else f"{wrong} places break the shape. `tools/shape.py --why A B` names the lines.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
