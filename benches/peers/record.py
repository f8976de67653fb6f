"""The table of results: in Markdown, and kept between its marks in a text, with rows of earlier runs that were not
run again."""

import re

# Columns: the key of a row, and its head.
COLUMNS = {
    "scenario": "",
    "simulator": "simulator",
    "runs": "runs",
    "simulated_s": "simulated s",
    "cpu_s": "CPU s",
    "data_packets": "data packets",
    "packets_per_cpu_s": "packets per CPU s",
    "ratio": "fullpipe is faster by",
    "peak_mb": "peak memory, MB",
    "throughput_mbit": "throughput, Mb/s",
    "retransmitted_percent": "sent again, %",
}
TEXTS = ("scenario", "simulator", "runs")
MARKED = re.compile(r"<!-- peers -->\n(.*)<!-- /peers -->", re.S)
KEPT = re.compile(r"^Kept from (.*?): (.*)\.$", re.M)
FULLPIPE = "fullpipe"
TODAY = "fullpipe 6.12"
# The order of the rows of a scenario.
ORDER = [FULLPIPE, TODAY, "ns-3", "ns-2"]


def number(value):
    """A count with separators, a share or a time with what matters of it."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4g}"


def table(rows):
    """The rows in Markdown."""
    lines = ["| " + " | ".join(COLUMNS.values()) + " |", "|---|---|" + "--:|" * (len(COLUMNS) - 2)]
    for row in rows:
        cells = [str(row[key]) for key in TEXTS]
        numbers = list(COLUMNS)[len(TEXTS) :]
        cells += ["" if row.get(key) is None else number(row[key]) for key in numbers]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def add_ratios(rows):
    """The rows, those of peers with how many times as many packets per CPU second fullpipe does."""
    rates = {row["scenario"]: row["packets_per_cpu_s"] for row in rows if row["simulator"] == FULLPIPE}
    for row in rows:
        row.pop("ratio", None)
        if row["scenario"] in rates and row["simulator"] not in (FULLPIPE, TODAY):
            row["ratio"] = round(rates[row["scenario"]] / row["packets_per_cpu_s"], 2)
    return rows


def summary(rows):
    """What a packet of scenario e costs in fullpipe against one of scenario a."""
    rates = {row["scenario"]: row["packets_per_cpu_s"] for row in rows if row["simulator"] == FULLPIPE}
    if "a" not in rates or "e" not in rates:
        return ""
    return f"A packet of (e) costs fullpipe {rates['a'] / rates['e']:.2f} times what one of (a) costs.\n"


def pace(rows):
    """How fast time passes in scenario d with the profile of today."""
    found = [row for row in rows if (row["scenario"], row["simulator"]) == ("d", TODAY)]
    if not found:
        return ""
    speed = found[0]["simulated_s"] / found[0]["cpu_s"]
    return f"(d) with 6.12: {speed:.2f} simulated seconds per CPU second.\n"


def whole(rows):
    """The table and what is said of it."""
    return f"{summary(rows)}\n{table(rows)}\n\n{pace(rows)}"


def parsed(text):
    """The rows of a table that was written by `table`."""
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or len(cells) != len(COLUMNS) or not re.fullmatch("[a-z]", cells[0]):
            continue
        row = dict(zip(COLUMNS, cells))
        for key in COLUMNS.keys() - set(TEXTS):
            row[key] = float(row[key].replace(",", "")) if row[key] else None
        rows.append(row)
    return rows


def name(row):
    return f"{row['simulator']} {row['scenario']}"


def earlier(text, rows):
    """The rows that `text` has beside `rows`, each with when and on what it was made."""
    made = {one: when for when, names in KEPT.findall(text) for one in names.split(", ")}
    first = text.strip().splitlines()[0].rstrip(".") if text.strip() else ""
    new = {name(row) for row in rows}
    return [(row, made.get(name(row), first)) for row in parsed(text) if name(row) not in new]


def record(readme, rows, made):
    """Writes the table, `made` then and there, between its marks in a text; rows that were not run now stay."""
    text = readme.read_text()
    found = MARKED.search(text)
    if not found:
        raise RuntimeError(f"{readme}: no line <!-- peers -->")
    kept = earlier(found[1], rows)
    both = sorted(
        rows + [row for row, _ in kept], key=lambda row: (row["scenario"], ORDER.index(row["simulator"]))
    )
    by_time = {}
    for row, when in kept:
        by_time.setdefault(when, []).append(name(row))
    notes = "".join(f"Kept from {when}: {', '.join(names)}.\n" for when, names in by_time.items())
    result = f"<!-- peers -->\n\n{made}.\n{notes}{whole(add_ratios(both))}\n<!-- /peers -->"
    written = readme.with_suffix(".new")
    written.write_text(text[: found.start()] + result + text[found.end() :])
    written.replace(readme)
