"""Results: what came out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union

from . import _fullpipe


@dataclass(frozen=True)
class Finding:
    """What held a flow back for a part of its life."""

    run: str
    flow: str
    #: Name of the limit, as in summary.json.
    limit: str
    #: What it is called where people read it.
    label: str
    #: Share of the flow's life, 0 to 1.
    share: float
    #: Of a limit that is cwnd: what cut it, and where; none where nothing did.
    cut: Optional[str] = None

    def __str__(self) -> str:
        text = f"{self.run}, {self.flow}: held back by {self.label} for {self.share:.1%} of its life"
        return f"{text} ({self.cut})" if self.cut else text


class Flow(Mapping[str, Any]):
    """A flow of a run: the object of summary.json, with its keys as attributes, too."""

    def __init__(self, own: Dict[str, Any], findings: List[Finding]) -> None:
        self._own = own
        #: What held it back, largest share first.
        self.findings = findings

    def __getitem__(self, key: str) -> Any:
        return self._own[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self._own[key]
        except KeyError:
            raise AttributeError(f"summary.json has no {key} of this flow") from None

    @property
    def limit(self) -> Optional[Finding]:
        """What held it back for most of its life."""
        return self.findings[0] if self.findings else None

    def __repr__(self) -> str:
        return f"<fullpipe.Flow {self['name']}: {self['mean_mbit']:.1f} Mb/s>"


class Trace:
    """The tables of a run's trace. They can be read through the Arrow PyCapsule interface by pyarrow, pandas and polars."""

    def __init__(self, core: _fullpipe.Outcome, run: int, packets: Any) -> None:
        self._core, self._run = core, run
        # The directory of its table of packets, which goes with the last one who can read it.
        self._packets = packets
        self._tables: Dict[str, _fullpipe.Table] = {}

    @property
    def names(self) -> List[str]:
        """The tables that there are: flows, stages, events, counters, and packets where the scenario has `report.packets`."""
        return self._core.tables(self._run)

    def table(self, name: str) -> _fullpipe.Table:
        """The table of that name."""
        if name not in self._tables:
            self._tables[name] = self._core.table(self._run, name)
        return self._tables[name]

    @property
    def flows(self) -> _fullpipe.Table:
        """Samples of the flows."""
        return self.table("flows")

    @property
    def stages(self) -> _fullpipe.Table:
        """Samples of the places where packets wait."""
        return self.table("stages")

    @property
    def events(self) -> _fullpipe.Table:
        """What happened to flows."""
        return self.table("events")

    @property
    def counters(self) -> _fullpipe.Table:
        """Counters of the hosts, where they have changed."""
        return self.table("counters")

    @property
    def packets(self) -> _fullpipe.Table:
        """Trains of packets, which `report.packets` of the scenario asks for; else ScenarioError says how to ask."""
        return self.table("packets")


class Run:
    """One run."""

    def __init__(self, core: _fullpipe.Outcome, index: int, own: Dict[str, Any], packets: Any) -> None:
        #: The run's object of summary.json.
        self.summary = own
        #: The variant, and the sweep point and engine where there are several.
        self.name: str = own["variant"]
        #: What held its flows back.
        self.findings: List[Finding] = [
            Finding(self.name, flow, limit, label, share, cut) for flow, limit, label, share, cut in core.findings(index)
        ]
        #: Its flows in the scenario's order.
        self.flows: List[Flow] = [
            Flow(flow, [one for one in self.findings if one.flow == flow["name"]]) for flow in own["flows"]
        ]
        #: Its trace.
        self.trace = Trace(core, index, packets)

    @property
    def headline(self) -> Optional[Dict[str, Any]]:
        """The answer: `text` in one line, and its parts (`rate_mbit`, `share`, `limit`, `place`, `setting`, `grade`)."""
        return self.summary.get("headline")

    @property
    def causes(self) -> List[Dict[str, Any]]:
        """The findings of summary.json, the headline's first: `code`, `cause`, `share_of_time`, `confidence`, `evidence`, `remedy`."""
        return list(self.summary.get("findings", []))

    @property
    def expectations(self) -> List[Dict[str, Any]]:
        """The scenario's expectations with their verdicts."""
        return list(self.summary["expectations"])

    @property
    def passed(self) -> bool:
        """Whether all of them hold."""
        return all(one["passed"] for one in self.expectations)

    def flow(self, name: str) -> Flow:
        """The flow of that name."""
        for flow in self.flows:
            if flow["name"] == name:
                return flow
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"<fullpipe.Run {self.name}: {len(self.flows)} flows>"


class Results:
    """What came out of a scenario."""

    def __init__(self, core: _fullpipe.Outcome, packets: Any = None) -> None:
        self._core = core
        #: The bytes of summary.json, as text.
        self.json: str = core.json()
        #: The document of summary.json.
        self.summary: Dict[str, Any] = json.loads(self.json)
        #: The runs in the scenario's order.
        self.runs: List[Run] = [
            Run(core, index, run, packets) for index, run in enumerate(self.summary["runs"])
        ]
        #: Where the results were kept; none where that was not asked.
        self.directory: Optional[str] = core.directory

    @property
    def headline(self) -> Optional[Dict[str, Any]]:
        """The answer of all runs: of one run its own, of several the worst and the best one."""
        return self.summary.get("headline")

    @property
    def findings(self) -> List[Finding]:
        """What held the flows of all runs back."""
        return [finding for run in self.runs for finding in run.findings]

    @property
    def causes(self) -> List[Dict[str, Any]]:
        """The findings of all runs, each with the name of its `run`."""
        return [{"run": run.name, **cause} for run in self.runs for cause in run.causes]

    @property
    def passed(self) -> bool:
        """Whether all expectations of the scenario hold."""
        return all(run.passed for run in self.runs)

    def __getitem__(self, which: Union[int, str]) -> Run:
        if isinstance(which, int):
            return self.runs[which]
        for run in self.runs:
            if run.name == which:
                return run
        raise KeyError(which)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"<fullpipe.Results {self.summary['scenario']['name']}: {len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        head = ("run", "flow", "congestion control", "mean, Mb/s", "retransmitted", "held back by")
        rows = [_row(run, flow) for run in self.runs for flow in run.flows]
        title = escape(self.summary["scenario"]["title"])
        cells = "".join(f"<th>{name}</th>" for name in head)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><caption>{title}</caption><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _row(run: Run, flow: Flow) -> List[str]:
    limit = flow.limit
    return [
        run.name,
        flow["name"],
        flow["congestion"],
        f"{flow['mean_mbit']:.1f}",
        str(flow["retransmitted_segments"]),
        f"{limit.label}, {limit.share:.1%}" if limit else "",
    ]
