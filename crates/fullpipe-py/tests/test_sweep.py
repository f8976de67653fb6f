"""Sweeps here, on processes and on a cluster, beside the command's."""

import concurrent.futures
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import fullpipe

AXES = {"path.loss": [0.0, 1e-3], ("path.delay.forward", "path.delay.back"): [["5ms", "5ms"], ["20ms", "20ms"]]}
RUNS = 2 * 2 * 2 * 2


def spawned(workers):
    """Processes that were not forked, which starts them as on every system."""
    context = multiprocessing.get_context("spawn")
    return concurrent.futures.ProcessPoolExecutor(workers, mp_context=context)


def lines(directory):
    found = []
    for file in sorted(os.listdir(directory)):
        if file.endswith(".jsonl"):
            found += open(os.path.join(directory, file)).read().splitlines()
    return sorted(found, key=lambda line: json.loads(line)["run"])


@pytest.fixture
def whole(scenario, tmp_path):
    """What threads here make of it."""
    results = fullpipe.sweep(scenario, AXES, 2, out=tmp_path / "whole")
    assert (len(results), results.missing, results.failed, results.again) == (RUNS, 0, 0, 0)
    return results


def test_records_equal_those_of_the_command(scenario, whole, command, tmp_path):
    text = json.load(open(tmp_path / "whole" / "sweep.json"))["scenario"]
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "small.toml").write_text(text)
    call = command("sweep", tmp_path / "theirs" / "small.toml", "--out", tmp_path / "command", "--quiet", "--json")
    assert call.returncode == 0, call.stderr
    assert lines(tmp_path / "command") == lines(tmp_path / "whole")
    files = sorted(os.listdir(tmp_path / "whole"))
    assert files == ["cells.json", "report.html", "results-1-of-1.jsonl", "results.csv", "sweep.json"]
    for name in set(files) - {"results-1-of-1.jsonl"}:
        assert (tmp_path / "command" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert json.loads(call.stdout) == whole.summary and whole.summary["cells"] == whole.cells
    assert list(whole) == whole.records and len(whole) == len(whole.records) == RUNS
    assert {row["path.loss"] for row in whole.rows()} == {0.0, 1e-3}


def test_a_sweep_goes_on_where_it_was_stopped(scenario, whole, tmp_path):
    kept = lines(whole.directory)
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "sweep.json").write_bytes((tmp_path / "whole" / "sweep.json").read_bytes())
    torn = "\n".join(kept[:5]) + "\n" + kept[5][:40]
    (tmp_path / "part" / "results-1-of-1.jsonl").write_text(torn)
    results = fullpipe.sweep(scenario, AXES, 2, out=tmp_path / "part")
    assert lines(tmp_path / "part") == kept and results.again == 0
    with pytest.raises(fullpipe.ScenarioError, match="has the results of another sweep|another scenario"):
        fullpipe.sweep(scenario, AXES, 3, out=tmp_path / "part")


def test_spawned_processes_make_the_same(scenario, whole, tmp_path):
    with spawned(2) as executor:
        fullpipe.sweep(scenario, AXES, 2, executor=executor, out=tmp_path / "spawned", chunk=3, ahead=2)
    assert lines(tmp_path / "spawned") == lines(whole.directory)


def test_threads_of_python_and_a_recipe(tmp_path):
    loaded = fullpipe.load("fink-2007", variant="reno", set=["duration=2s"])
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        results = fullpipe.sweep(loaded, {"hosts.sender.hz": (250, 1000)}, executor=executor)
    assert results.records == fullpipe.sweep(loaded, {"hosts.sender.hz": (250, 1000)}).records
    assert len(results) == 2


def test_a_run_that_fails_is_told_and_stops_nothing(scenario):
    axes = {"path.loss": [0.0, 1e-3], "path.mtu": [1500, 9000]}
    broken = fullpipe.sweep(scenario, {**axes, "path.queue.limit": ["125kB", "8kB"]}, variant="reno")
    assert (len(broken), broken.failed, broken.missing) == (8, 2, 0)
    for record in broken.records:
        assert ("facts" in record) != ("failed" in record)


STOPPED = """
import concurrent.futures, multiprocessing, os, sys, fullpipe

if __name__ == "__main__":
    executor = None
    if sys.argv[3] == "processes":
        executor = concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    print("begun", flush=True)
    try:
        fullpipe.sweep(sys.argv[1], {"path.mtu": [1500, 3000, 9000]}, 40, executor=executor, out=sys.argv[2],
                       set=["duration=20s", "flow.bulk.duration=20s", "path.rate=200Mbit"], ahead=4)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@pytest.mark.parametrize("how", ["threads", "processes"])
def test_ctrl_c_stops_a_sweep_and_keeps_what_is_finished(scenario, tmp_path, how):
    script, out = tmp_path / "stopped.py", tmp_path / "stopped"
    script.write_text(STOPPED)
    child = subprocess.Popen([sys.executable, script, scenario, out, how], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    while not (out / "results-1-of-1.jsonl").exists() or not lines(out):
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "stopped\n" and child.wait(60) == 0
    kept = [json.loads(line)["run"] for line in lines(out)]
    assert 0 < len(kept) == len(set(kept)) < 240


def test_a_worker_of_another_version_makes_nothing():
    with pytest.raises(RuntimeError, match="a worker has fullpipe .*, the sweep is made with 0.0.0"):
        fullpipe.sweeps.run_task((("", "", None, None), (), (), "sim", None, ()), [0], "0.0.0")


def test_a_wrong_axis_is_said_before_a_run(scenario):
    with pytest.raises(fullpipe.ScenarioError, match="did you mean: .*path.rate"):
        fullpipe.sweep(scenario, {"path.rat": ["1Mbit"]})
    with pytest.raises(TypeError, match="object is no value of a scenario"):
        fullpipe.sweep(scenario, {"path.rate": [object()]})


def test_what_merge_writes_of_the_directory_is_what_there_is(whole, command, tmp_path):
    before = {name: (tmp_path / "whole" / name).read_bytes() for name in ("cells.json", "report.html", "results.csv")}
    assert command("merge", tmp_path / "whole").returncode == 0
    for name, text in before.items():
        assert (tmp_path / "whole" / name).read_bytes() == text, name


def test_what_is_expected_of_a_sweep_is_judged(scenario, tmp_path):
    expect = '\n[[expect]]\nmetric = "flow.bulk.bytes"\nof = {}\nwithin = "50 %"\n'
    for of, passed in (("15e6", True), ("1e3", False)):
        text = scenario.read_text() + expect.format(of)
        results = fullpipe.sweep(fullpipe.loads(text), {"path.loss": [0.0, 1e-9]})
        assert results.passed is passed
        assert [cell["expected"][0]["passed"] for cell in results.cells] == [passed] * 4


SLOW = ["duration=20s", "flow.bulk.duration=20s", "path.rate=200Mbit"]
ALL = 4 * RUNS


def killer(file, pid):
    """Kills a process in the middle: when some records are kept and most are not. Returns a thread, and how many there were."""
    seen = []

    def kill():
        while not seen:
            time.sleep(0.02)
            there = len(file.read_text().splitlines()) if file.exists() else 0
            if there >= 6:
                seen.append(there)
                os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread, seen


def test_a_killed_process_loses_nothing_that_was_kept(scenario, tmp_path):
    with spawned(2) as executor:
        list(executor.map(abs, range(4)))
        thread, seen = killer(tmp_path / "killed" / "results-1-of-1.jsonl", next(iter(executor._processes)))
        with pytest.raises(concurrent.futures.process.BrokenProcessPool):
            fullpipe.sweep(scenario, AXES, 8, set=SLOW, executor=executor, out=tmp_path / "killed")
        thread.join()
    before = lines(tmp_path / "killed")
    assert seen[0] <= len(before) < ALL
    with spawned(2) as executor:
        results = fullpipe.sweep(scenario, AXES, 8, set=SLOW, executor=executor, out=tmp_path / "killed")
    after = lines(tmp_path / "killed")
    assert [json.loads(line)["run"] for line in after] == list(range(ALL))
    assert set(before) <= set(after) and (results.again, results.missing, results.failed) == (0, 0, 0)


def test_a_cluster_of_dask_survives_the_loss_of_a_worker(scenario, tmp_path):
    distributed = pytest.importorskip("distributed", reason='skipped: pip install "dask[distributed]"')
    dask = pytest.importorskip("dask")
    # The scheduler waits five minutes for a worker of which it has not heard. Ten seconds will do on one host.
    short = {"distributed.scheduler.worker-ttl": "10s"}
    with dask.config.set(short), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster, distributed.Client(cluster) as client:
        first = next(iter(cluster.workers.values()))
        pid = client.run(os.getpid)[first.worker_address]
        thread, seen = killer(tmp_path / "dask" / "results-1-of-1.jsonl", pid)
        results = fullpipe.sweep(scenario, AXES, 8, set=SLOW, executor=client.get_executor(), out=tmp_path / "dask")
        thread.join()
    assert 6 <= seen[0] < ALL
    assert [record["run"] for record in results.records] == list(range(ALL))
    assert (results.again, results.missing, results.failed) == (0, 0, 0)
    here = fullpipe.sweep(scenario, AXES, 8, set=SLOW, out=tmp_path / "here")
    assert lines(tmp_path / "dask") == lines(here.directory)
