#!/usr/bin/env python3
"""Measures prose: sentence lengths, words of the private language, and doc comments whose first words name nothing.

It reads the hand-written pages (README, docs, pages of causes) and the doc comments of all crates. Generated parts of pages, tables, code
and headings are left out. `--check` fails where a doc comment begins with a head that names nothing. `--long` prints each sentence
above 35 words, `--words` each place of a private word, and `--file PART` looks at files whose path contains PART alone.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

from shape import ROOT

# Words that have a meaning of their own here and nowhere else.
PRIVATE = ("told", "tells", "came", "beside", "whose", "genuine")

# First words of a doc comment that name nothing, or send the reader elsewhere.
BAD_HEADS = ("The same", "That of", "Those", "See the module's", "What goes", "What came", "It ", "This one", "As above")

# Files that may still have such heads. The list only shrinks.
EXCEPTIONS = set()

# A sentence above this number of words is printed by --long.
LONGEST = 35

# Pages that a command writes, and texts of others.
GENERATED = re.compile(r"^(CHANGELOG\.md|LICENSE|docs/how-true/|target/)")


@dataclass
class Sentence:
    """A sentence with its place."""

    path: str
    line: int
    text: str

    def words(self):
        """Number of words; code in backticks is one."""
        return len(re.findall(r"[\w`][\w`'./%:-]*", self.text))


def tracked(*patterns):
    """Files that git knows."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if not GENERATED.match(name)]


def plain(text):
    """Markdown with links, emphasis and code as plain words."""
    text = re.sub(r"`[^`]+`", "`x`", text)
    text = re.sub(r"!?\[([^]]*)\](\([^)]*\)|\[[^]]*\])?", r"\1", text)
    return text.replace("**", "").replace("*", "")


def paragraphs(lines):
    """Runs of prose with the number of their first line; a list item begins one."""
    run, first, in_code, in_generated = [], 0, False, False
    for number, line in lines:
        text = line.strip()
        if text.startswith("```"):
            in_code = not in_code
        marker = re.match(r"<!-- (/?)[\w -]+-->", text)
        if marker:
            in_generated = not marker.group(1)
        is_prose = text and not in_code and not in_generated and not marker
        is_prose = is_prose and not re.match(r"[#|<>]|```|-{3,}", text)
        item = re.match(r"([-*+]|\d+\.)\s+", text)
        if run and (not is_prose or item):
            yield first, " ".join(run)
            run = []
        if is_prose:
            first = first if run else number
            run.append(text[item.end():] if item else text)
    if run:
        yield first, " ".join(run)


def sentences(path, lines):
    """Sentences of a page or a doc comment."""
    for number, text in paragraphs(lines):
        for part in re.split(r"(?<=[.!?])[\"')]*\s+(?=[A-Z`0-9(\"'])", plain(text)):
            if re.search(r"\w", part):
                yield Sentence(path, number, part.strip())


def comments(path):
    """Doc comments of a Rust file: runs of lines with their numbers."""
    run = []
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        found = re.match(r"\s*//[/!](?!/)\s?(.*)", line)
        if found:
            run.append((number, found.group(1)))
        elif run:
            yield run
            run = []
    if run:
        yield run


def lengths(found):
    """Median, 90th percentile and longest of the sentences' lengths, words."""
    counts = sorted(own.words() for own in found)
    at = lambda share: counts[min(len(counts) - 1, int(share * len(counts)))]
    return at(0.5), at(0.9), counts[-1]


def row(name, found):
    """A line of the table of lengths."""
    if found:
        median, most, longest = lengths(found)
        above = sum(own.words() > LONGEST for own in found)
        print(f"{name:<44} {len(found):>6} {median:>7} {most:>4} {longest:>8} {above:>9}")


def by_file(found):
    """Sentences by path."""
    files = {}
    for own in found:
        files.setdefault(own.path, []).append(own)
    return files


def main():
    """Prints the tables."""
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asks.add_argument("--check", action="store_true", help="fail where a doc comment begins with a head that names nothing")
    asks.add_argument("--long", action="store_true", help=f"print each sentence above {LONGEST} words")
    asks.add_argument("--words", action="store_true", help="print each place of a private word")
    asks.add_argument("--file", default="", help="only files whose path contains this")
    asked = asks.parse_args()
    is_meant = lambda path: asked.file in path
    pages = [path for path in tracked("*.md") if is_meant(path)]
    sources = [path for path in tracked("crates/*.rs", "crates/**/*.rs") if is_meant(path)]

    prose, docs, heads = [], [], []
    for path in pages:
        prose += sentences(path, enumerate((ROOT / path).read_text().splitlines(), 1))
    for path in sources:
        for comment in comments(path):
            docs += sentences(path, comment)
            if comment[0][1].startswith(BAD_HEADS) and path not in EXCEPTIONS:
                heads.append(f"{path}:{comment[0][0]}: {comment[0][1]}")
    if asked.check:
        print("\n".join(heads) if heads else "Each doc comment begins with what it is about.")
        return int(bool(heads))

    print(f"{'words of a sentence':<44} {'number':>6} {'median':>7} {'p90':>4} {'longest':>8} {'above ' + str(LONGEST):>9}")
    row("all pages", prose)
    row("all doc comments", docs)
    for path, found in sorted(by_file(prose).items(), key=lambda own: -lengths(own[1])[1]):
        row(path, found)

    counts = Counter()
    for own in prose + docs:
        for word in re.findall(r"\w+", own.text.lower()):
            if word in PRIVATE:
                counts[word, own.path] += 1
                if asked.words:
                    print(f"{own.path}:{own.line}: {word}: {own.text[:120]}")
    print("\nprivate words")
    for word in PRIVATE:
        total = sum(count for (own, _), count in counts.items() if own == word)
        most = Counter({path: count for (own, path), count in counts.items() if own == word}).most_common(4)
        print(f"{word:<10} {total:>5}  " + ", ".join(f"{path} {count}" for path, count in most))
    print(f"\ndoc comments whose head names nothing: {len(heads)}")
    if asked.long:
        for own in sorted(prose + docs, key=lambda own: -own.words()):
            if own.words() > LONGEST:
                print(f"{own.path}:{own.line}: {own.words()} words: {own.text[:200]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
