"""Scenarios: what is asked."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _fullpipe
from .results import Results

Changes = Union[Mapping[str, Any], Sequence[str], None]
Names = Union[str, Sequence[str], None]


@dataclass(frozen=True)
class PlannedRun:
    """One run that a scenario asks for."""

    #: Unique in the scenario: the variant, and the sweep point where there is one.
    name: str
    #: The variant; "base" where the scenario has none.
    variant: str
    #: The keys that the variant, the sweep point and `set` alter, with their values.
    altered: Dict[str, Any]
    #: The complete description, as scenario.resolved.toml has it.
    toml: str


class Scenario:
    """A checked scenario with the options that change it."""

    def __init__(self, core: _fullpipe.Scenario) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """Recipe name or file stem."""
        return self._core.name

    @property
    def title(self) -> str:
        """Title from the file."""
        return self._core.title

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return self._core.seed

    @property
    def text(self) -> str:
        """The text as it was written."""
        return self._core.text

    @property
    def runs(self) -> List[PlannedRun]:
        """The runs that it asks for, in its order."""
        plans = self._core.plans
        return [PlannedRun(name, variant, json.loads(set), toml) for name, variant, set, toml in plans]

    def alter(self, set: Changes = None, variant: Names = None) -> Scenario:
        """The same scenario with further changes, which win over earlier ones."""
        return Scenario(self._core.altered(changes(set), names(variant) if variant is not None else None))

    def run(
        self,
        engine: Names = "sim",
        *,
        as_kernel: Optional[str] = None,
        without: Names = None,
        jobs: Optional[int] = None,
        out: Union[str, os.PathLike[str], None] = None,
    ) -> Results:
        """Makes all runs. The options are those of `fullpipe run`; with `out` the results are kept in a new directory.

        Other threads of Python go on meanwhile. Ctrl-C stops the runs and raises KeyboardInterrupt; `out` then has what was simulated,
        marked partial, as after the command.
        """
        directory = os.fspath(out) if out is not None else None
        packets = None
        if directory is None and self._core.keeps_packets:
            packets = tempfile.TemporaryDirectory(prefix="fullpipe-packets-")
        beside = packets.name if packets is not None else None
        core = self._core.run(names(engine) or ["sim"], as_kernel, names(without), jobs, directory, beside)
        return Results(core, packets)

    def __repr__(self) -> str:
        return f"<fullpipe.Scenario {self.name}: {self.title}; {len(self._core.plans)} runs>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return _again, (self._core.parts(), self._core.sets, self._core.variants)


def _again(parts: Any, sets: List[str], variants: List[str]) -> Scenario:
    name, text, beside, recipe = parts
    if recipe is not None:
        return Scenario(_fullpipe.Scenario.load(recipe, sets, variants))
    return Scenario(_fullpipe.Scenario.text_of(name, text, beside, sets, variants))


def load(path: Union[str, os.PathLike[str]], set: Changes = None, variant: Names = None) -> Scenario:
    """Reads a scenario file, or a recipe by its name.

    `set` changes keys, as `--set` does: `{"path.delay.forward": "120ms"}` or `["path.delay.forward=120ms"]`. `variant` limits the
    runs to these variants.
    """
    return Scenario(_fullpipe.Scenario.load(os.fspath(path), changes(set), names(variant)))


def loads(
    text: str,
    set: Changes = None,
    variant: Names = None,
    *,
    name: str = "scenario.toml",
    beside: Union[str, os.PathLike[str], None] = None,
) -> Scenario:
    """Takes a scenario's text. Files that it names are looked for in the directory `beside`."""
    directory = os.fspath(beside) if beside is not None else None
    return Scenario(_fullpipe.Scenario.text_of(name, text, directory, changes(set), names(variant)))


def recipes() -> Dict[str, str]:
    """The built-in scenarios: name to title."""
    return dict(_fullpipe.recipes())


def changes(set: Changes) -> List[str]:
    """Changes as after `--set`. A text stands as it is; everything else as TOML writes it."""
    if set is None:
        return []
    if isinstance(set, Mapping):
        return [f"{key}={value if isinstance(value, str) else _fullpipe.Sweep.toml(value)}" for key, value in set.items()]
    return list(names(set))


def names(some: Union[str, Iterable[str], None]) -> List[str]:
    """A list of names from one, several or none."""
    if some is None:
        return []
    return [some] if isinstance(some, str) else list(some)
