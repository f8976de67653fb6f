"""Sweeps: many runs of one scenario, on any executor of `concurrent.futures`."""

from __future__ import annotations

import json
import os
import queue
import tempfile
from collections import deque
from concurrent.futures import Executor, Future
from functools import cached_property, lru_cache
from typing import Any, Deque, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union

from . import _fullpipe
from .scenario import Changes, Names, Scenario, changes, load, names

#: Everything that a worker needs: the scenario's name, text, directory and recipe; changes, variants, engine, kernel, keys that it
#: may do otherwise. Plain data, so that it can be sent anywhere.
Task = Tuple[Any, Tuple[str, ...], Tuple[str, ...], str, Optional[str], Tuple[str, ...]]


#: Records that are read at a time.
_TOGETHER = 1000


class SweepResults:
    """What came out of a sweep."""

    def __init__(self, core: _fullpipe.Finished, directory: str, temporary: Any) -> None:
        self._core = core
        #: Runs that are not there.
        self.missing: int = core.missing
        #: Runs that failed; their records say why.
        self.failed: int = core.failed
        #: Records of runs that are there already.
        self.again: int = core.again
        #: Whether everything holds that the scenario expects.
        self.passed: bool = core.passed
        #: The sweep's directory, with report.html, cells.json and results.csv; without `out` it goes with this object.
        self.directory: str = directory
        self._temporary = temporary

    @cached_property
    def summary(self) -> Dict[str, Any]:
        """The document of cells.json, read when it is asked for: cells, competition, and what is expected of two variants."""
        with open(os.path.join(self.directory, "cells.json"), encoding="utf-8") as file:
            document: Dict[str, Any] = json.load(file)
        return document

    @property
    def cells(self) -> List[Dict[str, Any]]:
        """Repetitions of a point put together, as in cells.json."""
        cells: List[Dict[str, Any]] = self.summary["cells"]
        return cells

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        """The records, one per run, in the sweep's order; few of them are in memory at one time."""
        for start in range(0, len(self), _TOGETHER):
            for line in self._core.records(start, _TOGETHER):
                yield json.loads(line)

    @cached_property
    def records(self) -> List[Dict[str, Any]]:
        """All records, as the lines of the directory have them."""
        return list(self)

    def rows(self) -> List[Dict[str, Any]]:
        """One flat row per run and flow, for `pandas.DataFrame` or `polars.DataFrame`."""
        return [
            {"run": record["run"], "variant": record["variant"], **record["at"], "seed": record["seed"], **flow}
            for record in self
            for flow in (record.get("facts") or {}).get("flows", [])
        ]

    def __len__(self) -> int:
        return self._core.runs

    def __repr__(self) -> str:
        return f"<fullpipe.SweepResults: {len(self)} runs, {self.failed} failed, {self.missing} missing>"


def sweep(
    scenario: Union[str, os.PathLike[str], Scenario],
    axes: Optional[Mapping[Any, Any]] = None,
    seeds: Optional[int] = None,
    *,
    set: Changes = None,
    variant: Names = None,
    engine: str = "sim",
    as_kernel: Optional[str] = None,
    without: Names = None,
    executor: Optional[Executor] = None,
    out: Union[str, os.PathLike[str], None] = None,
    retry: bool = False,
    jobs: Optional[int] = None,
    chunk: int = 1,
    ahead: int = 1000,
) -> SweepResults:
    """Runs every point of a scenario's axes with every variant, `seeds` times each.

    `axes` replaces the scenario's `[sweep]`: key to a list of values, or to a range as scenarios have it; a tuple of keys changes them
    together. Each finished run is kept at once in `out`, and a sweep that was stopped goes on with the rest. In the end the directory
    has what `fullpipe sweep` writes: `cells.json`, `results.csv` and `report.html`.

    Without `executor` the runs are made by `jobs` threads here. With one, tasks of `chunk` runs are submitted to it, no more than `ahead`
    at a time; a run whose worker is lost is made again where the executor does that (Dask does, ProcessPoolExecutor raises; then
    the same call with the same `out` goes on).
    """
    core = scenario._core if isinstance(scenario, Scenario) else load(scenario)._core
    task = _task(core, axes, seeds, changes(set), names(variant), engine, as_kernel, names(without))
    plan = _plan(task)
    temporary = None if out is not None else tempfile.TemporaryDirectory(prefix="fullpipe-sweep-")
    directory = os.fspath(out) if out is not None else temporary.name  # type: ignore[union-attr]
    store = _fullpipe.Store(plan, directory)
    try:
        rest = store.rest(retry)
        if executor is None:
            plan.work(store, rest, jobs or os.cpu_count() or 1)
        else:
            _spread(executor, task, store, rest, max(chunk, 1), max(ahead, 1))
    finally:
        store.close()
    return SweepResults(_fullpipe.Finished(directory), directory, temporary)


def _task(
    core: _fullpipe.Scenario,
    axes: Optional[Mapping[Any, Any]],
    seeds: Optional[int],
    sets: List[str],
    variants: List[str],
    engine: str,
    as_kernel: Optional[str],
    without: List[str],
) -> Task:
    name, text, beside, recipe = core.parts()
    if axes is not None or seeds is not None:
        named = None if axes is None else {_key(key): _points(own) for key, own in axes.items()}
        text = _fullpipe.Sweep.text(text, named, seeds)
    sets, variants = core.sets + sets, variants or core.variants
    return ((name, text, beside, recipe), tuple(sets), tuple(variants), engine, as_kernel, tuple(without))


def _key(key: Any) -> str:
    return key if isinstance(key, str) else ", ".join(key)


def _points(own: Any) -> Any:
    return own if isinstance(own, (dict, list)) else list(own)


@lru_cache(maxsize=8)
def _plan(task: Task) -> _fullpipe.Sweep:
    """The sweep of a task; a worker reads it once."""
    return _fullpipe.Sweep(*task)


def run_task(task: Task, runs: Sequence[int], version: str) -> List[str]:
    """What a worker does: makes these runs, and returns their records as lines of JSON. Raises RuntimeError where it has not the
    version of fullpipe that asks for them."""
    if version != _fullpipe.__version__:
        own = _fullpipe.__version__
        raise RuntimeError(f"a worker has fullpipe {own}, the sweep is made with {version}: install the same on both")
    plan = _plan(task)
    return [plan.record(run) for run in runs]


def _spread(executor: Executor, task: Task, store: _fullpipe.Store, rest: List[int], chunk: int, ahead: int) -> None:
    """Has an executor make runs, and keeps the record of each once, as it comes."""
    waiting: Deque[List[int]] = deque(rest[start : start + chunk] for start in range(0, len(rest), chunk))
    ended: queue.SimpleQueue[Future[List[str]]] = queue.SimpleQueue()
    running: Set[Future[List[str]]] = set()
    lost: List[BaseException] = []

    def keep(future: Future[List[str]]) -> None:
        running.discard(future)
        error = None if future.cancelled() else future.exception()
        if error is not None:
            lost.append(error)
        elif not future.cancelled():
            for line in future.result():
                store.append(line)

    try:
        while running or waiting and not lost:
            while waiting and len(running) < ahead and not lost:
                try:
                    future = executor.submit(run_task, task, waiting.popleft(), _fullpipe.__version__)
                except RuntimeError as why:  # The pool is broken, or shut down.
                    lost.append(why)
                    break
                running.add(future)
                future.add_done_callback(ended.put)
            if running:
                keep(ended.get())
    except BaseException:
        for future in list(running):
            future.cancel()
        while not ended.empty():
            keep(ended.get())
        raise
    if lost:
        raise lost[0]
