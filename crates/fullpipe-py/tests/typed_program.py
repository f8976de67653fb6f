"""A program that uses the package with its types; mypy reads it and a test runs it."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Dict, List

import fullpipe


def rates(results: fullpipe.Results) -> Dict[str, float]:
    """Mean rates, Mb/s, by run."""
    return {run.name: sum(flow["mean_mbit"] for flow in run.flows) for run in results}


def main(path: str) -> None:
    scenario: fullpipe.Scenario = fullpipe.load(path, set={"path.delay.forward": "20ms"})
    results = scenario.run(jobs=1)
    finding: fullpipe.Finding = results.findings[0]
    cut: str = finding.cut if finding.cut is not None else "nothing"
    columns: List[str] = results[0].trace.flows.column_names
    print(rates(results), finding.share, cut, len(columns))
    with ThreadPoolExecutor(1) as executor:
        swept = fullpipe.sweep(scenario, {"path.loss": [0.0, 1e-3]}, seeds=1, executor=executor)
    print(len(swept), swept.passed, [record["seed"] for record in swept], swept.cells[0]["runs"])


if __name__ == "__main__":
    main(sys.argv[1])
