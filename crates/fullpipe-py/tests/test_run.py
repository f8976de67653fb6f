"""Scenarios and their results, beside those of the command."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from html.parser import HTMLParser

import pytest

import fullpipe


@pytest.mark.parametrize(
    "options",
    [{}, {"variant": "reno"}, {"set": {"path.delay.forward": "30ms", "seed": 7}}, {"set": ["path.loss=1e-3"]}],
    ids=["all", "variant", "set", "list"],
)
def test_a_run_equals_the_commands_byte_for_byte(scenario, command, tmp_path, options):
    results = fullpipe.load(scenario, **options).run(out=tmp_path / "python")
    arguments = ["--variant=" + options["variant"]] if "variant" in options else []
    sets = options.get("set", [])
    sets = sets if isinstance(sets, list) else [f"{key}={value}" for key, value in sets.items()]
    arguments += [f"--set={one}" for one in sets]
    call = command("run", scenario, *arguments, "--quiet", "--json", "--out", tmp_path / "command")
    assert call.returncode == 0, call.stderr
    assert results.json == call.stdout
    for folder, _, files in os.walk(tmp_path / "command"):
        for file in files:
            if file != "run.json":
                theirs = os.path.join(folder, file)
                ours = os.path.join(tmp_path, "python", os.path.relpath(theirs, tmp_path / "command"))
                assert open(ours, "rb").read() == open(theirs, "rb").read(), ours


def test_a_recipe_equals_the_commands(command):
    results = fullpipe.load("onl-reno-1flow", variant="reno").run()
    call = command("run", "onl-reno-1flow", "--variant", "reno", "--quiet", "--json")
    assert results.json == call.stdout


def test_kept_packets_are_counted_as_by_the_command(scenario, command):
    results = fullpipe.load(scenario, set=["report.packets.at=link"], variant="reno").run()
    call = command("run", scenario, "--packets=link", "--variant", "reno", "--quiet", "--json")
    assert results.json == call.stdout
    assert results[0].summary["packets"]["packets"] > 1000


def test_a_scenario_tells_its_runs_and_can_be_altered(scenario):
    loaded = fullpipe.load(scenario)
    assert [run.name for run in loaded.runs] == ["reno", "cubic"]
    assert loaded.runs[0].altered == {"flow.bulk.congestion": "reno"}
    altered = loaded.alter({"path.rate": "10Mbit"}, variant="cubic")
    assert [run.altered for run in altered.runs] == [{"path.rate": "10Mbit"}]
    assert [run.altered for run in pickle.loads(pickle.dumps(altered)).runs] == [{"path.rate": "10Mbit"}]
    again = fullpipe.loads(altered.runs[0].toml)
    slow, resolved = altered.run()[0].flow("bulk"), again.run()[0].flow("bulk")
    assert slow.bytes == resolved.bytes
    assert slow.mean_mbit < 10 < loaded.run()["cubic"].flow("bulk").mean_mbit


def test_findings_are_objects_and_shares_of_a_life(scenario):
    results = fullpipe.load(scenario).run()
    for run in results:
        for flow in run.flows:
            assert flow.limit == flow.findings[0]
            assert abs(sum(finding.share for finding in flow.findings) - 1) < 1e-9
            assert {finding.limit: finding.share for finding in flow.findings} == {
                name: share for name, share in flow.limits.items() if share > 0
            }
    small = {"flow.bulk.rcvbuf": "32KiB", "path.delay": {"forward": "20ms", "back": "20ms"}}
    window = fullpipe.load(scenario, set=small)
    assert window.run()[0].flows[0].limit.limit == "receive_window"


def test_results_are_a_table_in_a_notebook(scenario):
    cells = []

    class Reader(HTMLParser):
        def handle_data(self, data):
            cells.append(data)

    Reader().feed(fullpipe.load(scenario).run()._repr_html_())
    assert cells.count("bulk") == 2 and "reno" in cells and "cubic" in cells


@pytest.mark.parametrize(
    "text", ["title = 1\n", "nonsense", '[path]\nrate = "10"\n', "[path]\nrat = 1\n"], ids=["type", "syntax", "unit", "key"]
)
def test_exceptions_carry_the_commands_text(tmp_path, command, text):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    call = command("run", path)
    assert call.returncode == 2
    with pytest.raises(fullpipe.ScenarioError) as caught:
        fullpipe.load(path)
    assert str(caught.value) == call.stderr.rstrip()


def test_other_failures_are_the_commands_too(scenario, command, tmp_path):
    for arguments, ours in [
        (["run", "fink-2008"], lambda: fullpipe.load("fink-2008")),
        (["run", scenario, "--without", "nonsense"], lambda: fullpipe.load(scenario).run(without="nonsense")),
        (["run", scenario, "--as-kernel", "6.1"], lambda: fullpipe.load(scenario).run(as_kernel="6.1")),
    ]:
        with pytest.raises(fullpipe.ScenarioError) as caught:
            ours()
        assert "error: " + str(caught.value) == command(*arguments).stderr.rstrip()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    with pytest.raises(fullpipe.ScenarioError) as caught:
        fullpipe.load(scenario).run(out=tmp_path / "full")
    call = command("run", scenario, "--out", tmp_path / "full")
    assert (call.returncode, "error: " + str(caught.value)) == (2, call.stderr.rstrip())

    with pytest.raises(fullpipe.EnvironmentError) as caught:
        fullpipe.load(scenario).run(out="/proc/none/here")
    call = command("run", scenario, "--out", "/proc/none/here")
    assert (call.returncode, "error: " + str(caught.value)) == (3, call.stderr.rstrip())


def test_other_threads_go_on_during_a_run(scenario):
    ticks, ended = [], threading.Event()

    def tick():
        while not ended.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    fullpipe.load(scenario, set=["duration=60s", "flow.bulk.duration=60s", "path.rate=1Gbit"]).run()
    over = time.monotonic()
    ended.set()
    thread.join()
    during = [one for one in ticks if begun < one < over]
    gaps = [b - a for a, b in zip(during, during[1:])]
    assert over - begun > 0.1 and len(during) > 5 and max(gaps) < (over - begun) / 2


LONG = """
import sys, fullpipe
scenario = fullpipe.load(sys.argv[1], set=["duration=3000s", "flow.bulk.duration=3000s", "path.rate=10Gbit"])
print("begun", flush=True)
try:
    scenario.run()
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_ctrl_c_stops_a_run(scenario):
    child = subprocess.Popen([sys.executable, "-c", LONG, str(scenario)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    sent = time.monotonic()
    assert child.stdout.readline() == "stopped\n"
    assert child.wait() == 0 and time.monotonic() - sent < 30


KEPT = LONG.replace("scenario.run()", "scenario.run(out=sys.argv[2], jobs=1)")


def test_what_was_simulated_before_ctrl_c_is_kept(scenario, tmp_path):
    child = subprocess.Popen([sys.executable, "-c", KEPT, scenario, tmp_path / "kept"], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "stopped\n" and child.wait() == 0
    summary = json.loads((tmp_path / "kept" / "summary.json").read_text())
    assert summary["partial"] and [run["variant"] for run in summary["runs"]] == ["reno"]
    assert 0 < summary["runs"][0]["duration_s"] < 3000
    assert (tmp_path / "kept" / "report.html").exists() and (tmp_path / "kept" / "reno" / "flows.parquet").exists()


def test_the_command_is_there_with_its_exit_codes(command, scenario):
    version, *kernels = command("--version").stdout.splitlines()
    assert version.split()[:2] == ["fullpipe", fullpipe.__version__]
    assert kernels[-1] == "validated against the real kernel: 6.12, 6.1"
    assert command("run", scenario, "--quiet").returncode == 0
    assert command("nonsense").returncode == 2
    assert json.loads(command("list", "--json").stdout)
    assert "fink-2007" in fullpipe.recipes()


def test_causes_are_those_of_the_document(scenario):
    results = fullpipe.load(scenario).run()
    for run in results:
        assert run.causes == run.summary.get("findings", [])
        if run.causes:
            assert run.causes[0]["code"] == run.headline["code"]
    assert [cause["run"] for cause in results.causes] == [run.name for run in results for _ in run.causes]
