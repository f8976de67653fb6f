"""The compiled part of the package; use what `fullpipe` itself has."""

from typing import Any, Dict, List, Optional, Sequence, Tuple, final

__all__ = [
    "__version__",
    "Error",
    "ScenarioError",
    "EnvironmentError",
    "Scenario",
    "Outcome",
    "Table",
    "Sweep",
    "Store",
    "Finished",
    "command",
    "recipes",
]

__version__: str

class Error(Exception):
    """What fullpipe cannot do; its text is the command's."""

class ScenarioError(Error):
    """The scenario, or what was asked of it, makes no sense (exit code 2 of the command)."""

class EnvironmentError(Error):
    """This machine cannot, or lacks something (exit code 3 of the command)."""

_Parts = Tuple[str, str, Optional[str], Optional[str]]

def command(arguments: Sequence[str]) -> int: ...
def recipes() -> List[Tuple[str, str]]: ...

@final
class Scenario:
    name: str
    title: str
    seed: int
    text: str
    sets: List[str]
    variants: List[str]
    plans: List[Tuple[str, str, str, str]]
    keeps_packets: bool
    @staticmethod
    def load(named: str, sets: Sequence[str], variants: Sequence[str]) -> Scenario: ...
    @staticmethod
    def text_of(
        name: str, text: str, beside: Optional[str], sets: Sequence[str], variants: Sequence[str]
    ) -> Scenario: ...
    def altered(self, sets: Sequence[str], variants: Optional[Sequence[str]]) -> Scenario: ...
    def parts(self) -> _Parts: ...
    def run(
        self,
        engines: Sequence[str],
        as_kernel: Optional[str],
        without: Sequence[str],
        jobs: Optional[int],
        out: Optional[str],
        packets: Optional[str],
    ) -> Outcome: ...

@final
class Outcome:
    directory: Optional[str]
    def json(self) -> str: ...
    def findings(self, run: int) -> List[Tuple[str, str, str, float, Optional[str]]]: ...
    def table(self, run: int, name: str) -> Table: ...
    def tables(self, run: int) -> List[str]: ...

@final
class Table:
    """A table of a trace, read through the Arrow PyCapsule interface: `pyarrow.table(t)`, `polars.DataFrame(t)`."""

    column_names: List[str]
    num_rows: int
    meanings: Dict[str, Tuple[str, str]]
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Optional[Any] = None) -> Any: ...

@final
class Sweep:
    runs: int
    manifest: str
    def __new__(
        cls,
        parts: _Parts,
        sets: Sequence[str],
        variants: Sequence[str],
        engine: str,
        as_kernel: Optional[str],
        without: Sequence[str],
    ) -> Sweep: ...
    @staticmethod
    def text(text: str, axes: Optional[Dict[str, Any]], seeds: Optional[int]) -> str: ...
    @staticmethod
    def toml(value: Any) -> str: ...
    def record(self, run: int) -> str: ...
    def work(self, store: Store, runs: Sequence[int], jobs: int) -> None: ...

@final
class Store:
    def __new__(cls, sweep: Sweep, directory: str) -> Store: ...
    def rest(self, retry: bool) -> List[int]: ...
    def append(self, line: str) -> None: ...
    def close(self) -> None: ...

@final
class Finished:
    passed: bool
    runs: int
    failed: int
    missing: int
    again: int
    def __new__(cls, directory: str) -> Finished: ...
    def records(self, start: int, most: int) -> List[str]: ...
