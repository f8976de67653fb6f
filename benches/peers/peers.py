#!/usr/bin/env python3
"""The scenarios of this directory on fullpipe, ns-3 and ns-2, one after the other, as a table and as JSON.

Each run is a process of its own: its CPU time is all of it, from start to end; fullpipe's includes its trace,
report and tables at their defaults, and it runs each scenario with its kernel and with 6.12. Runs end by
themselves at their limit of CPU seconds and count as far as they came. Short runs are repeated for a median, in
turns, so that a busy machine meets them all.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import process
import record
import scenario

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = ["a", "b", "c", "d", "e"]
NS3_LIBRARIES = ["core", "network", "internet", "point-to-point", "applications", "traffic-control"]
# What a peer prints.
LINE = re.compile(r"\b(simulated_s|data_packets|retransmitted|delivered_bytes) ([0-9.e+]+)$", re.M)


class Fullpipe:
    """fullpipe, with the scenario's kernel or with another one."""

    def __init__(self, name, kernel, binary, build, cpu_limit):
        self.name, self.binary, self.build, self.cpu_limit = name, binary, build, cpu_limit
        hosts = ["sender", "receiver"] if kernel else []
        self.options = [word for host in hosts for word in ("--set", f"hosts.{host}.kernel={kernel}")]

    def run(self, letter, resolved):
        """One run; its document says what was sent and delivered."""
        with tempfile.TemporaryDirectory(dir=self.build) as directory:
            out = pathlib.Path(directory) / "run"
            path = HERE / f"{letter}.toml"
            command = [self.binary, "run", path, "--quiet", "--json", "--out", out, *self.options]
            measured = process.measure(command, self.cpu_limit)
        if measured.status != 0:
            raise RuntimeError(f"fullpipe ended with {measured.status}: {measured.stderr}")
        run = json.loads(measured.stdout)["runs"][0]
        ring = next(stage for stage in run["stages"] if stage["name"] == "sender.tx_ring")
        did = {
            "simulated_s": run["duration_s"],
            "data_packets": ring["entered"],
            "retransmitted": sum(flow["retransmitted_segments"] for flow in run["flows"]),
            "delivered_bytes": sum(flow["bytes"] for flow in run["flows"]),
        }
        return row(self.name, letter, did, measured)


class Peer:
    def __init__(self, name, command, cpu_limit):
        self.name, self.command, self.cpu_limit = name, command, cpu_limit

    def run(self, letter, resolved):
        """One run; the peer prints what it did."""
        words = scenario.arguments(resolved, self.cpu_limit)
        measured = process.measure(self.command + words, self.cpu_limit)
        did = {key: float(value) for key, value in LINE.findall(measured.stdout + measured.stderr)}
        if measured.status != 0 or len(did) != 4:
            raise RuntimeError(f"{self.name} ended with {measured.status}: {measured.stderr[-2000:]}")
        return row(self.name, letter, did, measured)


def row(simulator, letter, did, measured):
    """What a run comes down to."""
    packets = did["data_packets"]
    return {
        "scenario": letter,
        "simulator": simulator,
        "simulated_s": round(did["simulated_s"], 3),
        "cpu_s": round(measured.cpu_s, 2),
        "data_packets": int(packets),
        "packets_per_cpu_s": round(packets / measured.cpu_s),
        "peak_mb": round(measured.peak_bytes / 1e6, 1),
        "throughput_mbit": round(did["delivered_bytes"] * 8e-6 / did["simulated_s"], 1),
        "retransmitted_percent": round(100 * did["retransmitted"] / max(packets, 1), 4),
    }


def build_ns3(build):
    """Compiles ns3.cc where it is newer than the program."""
    source, program = HERE / "ns3.cc", build / "ns3"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
        command = ["g++", "-std=c++17", "-O2", "-o", program, source, *libraries]
        subprocess.run(command, check=True)
    return program


def simulators(arguments):
    """The simulators that were asked for, ready to run."""
    build = arguments.build
    build.mkdir(parents=True, exist_ok=True)
    limit = arguments.cpu_limit
    make = {
        "fullpipe": lambda: [
            Fullpipe(record.FULLPIPE, None, arguments.fullpipe, build, limit),
            Fullpipe(record.TODAY, "6.12", arguments.fullpipe, build, limit),
        ],
        "ns-3": lambda: [Peer("ns-3", [build_ns3(build)], limit)],
        "ns-2": lambda: [Peer("ns-2", ["ns", HERE / "ns2.tcl"], limit)],
    }
    return [simulator for name in arguments.simulators for simulator in make[name]()]


def repeat(simulators, letter, resolved, arguments):
    """The runs of one scenario, in turns; a simulator that needs long runs once."""
    runs = {simulator.name: [] for simulator in simulators}
    for number in range(arguments.repeats):
        for simulator in simulators:
            done = runs[simulator.name]
            if done and done[0]["cpu_s"] > arguments.short:
                continue
            print(f"{letter}: {simulator.name}, run {number + 1}", file=sys.stderr, flush=True)
            done.append(simulator.run(letter, resolved))
    return runs


def median(runs):
    """One row of medians."""
    merged = dict(runs[0], runs=len(runs))
    for key, value in runs[0].items():
        if not isinstance(value, str):
            merged[key] = statistics.median(run[key] for run in runs)
    return merged


def machine():
    """The processor and its cores."""
    found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{found[1] if found else 'unknown processor'}, {os.cpu_count()} cores"


def commit():
    """What fullpipe was built from."""
    git = ["git", "-C", HERE, "describe", "--always", "--dirty"]
    return subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["fullpipe", "ns-3", "ns-2"]
    parser.add_argument("--fullpipe", type=pathlib.Path, required=True, help="the fullpipe program")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="where ns3.cc is compiled")
    parser.add_argument("--json", type=pathlib.Path, help="where all runs and the medians go")
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    parser.add_argument("--simulators", nargs="+", choices=names, default=names)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--short", type=float, default=20, help="CPU seconds of what is repeated")
    parser.add_argument("--cpu-limit", type=int, default=60, help="CPU seconds per run of a peer")
    parser.add_argument("--record", type=pathlib.Path, metavar="README.md", help="where the table is kept")
    return parser.parse_args()


def main():
    arguments = parse()
    chosen = simulators(arguments)
    runs, rows = [], []
    for letter in arguments.scenarios:
        resolved = scenario.resolve(arguments.fullpipe, HERE / f"{letter}.toml")
        done = repeat(chosen, letter, resolved, arguments)
        runs += [run for of_one in done.values() for run in of_one]
        rows += record.add_ratios([median(of_one) for of_one in done.values()])
        # Each scenario's result is kept as it comes: the whole takes a while.
        if arguments.json:
            arguments.json.write_text(json.dumps({"medians": rows, "runs": runs}, indent=1) + "\n")
    print(record.whole(rows), end="")
    if arguments.record:
        made = f"{datetime.date.today().isoformat()}, commit {commit()}, {machine()}"
        record.record(arguments.record, rows, made)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, subprocess.CalledProcessError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        sys.exit(3)
