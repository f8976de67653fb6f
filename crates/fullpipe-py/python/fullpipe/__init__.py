"""fullpipe: describe a path, its hosts and flows; run them; see what limits each flow.

>>> import fullpipe
>>> scenario = fullpipe.load("fink-2007", variant="reno")
>>> results = scenario.run()
>>> print(results.findings[0])
"""

from ._fullpipe import EnvironmentError, Error, ScenarioError, Table, __version__
from .results import Flow, Finding, Results, Run, Trace
from .scenario import PlannedRun, Scenario, load, loads, recipes
from .sweeps import SweepResults, sweep

__all__ = [
    "EnvironmentError",
    "Error",
    "Finding",
    "Flow",
    "PlannedRun",
    "Results",
    "Run",
    "Scenario",
    "ScenarioError",
    "SweepResults",
    "Table",
    "Trace",
    "__version__",
    "load",
    "loads",
    "recipes",
    "sweep",
]
