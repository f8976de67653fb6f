"""How long a sweep takes on two worker processes beside one: prints the ratio, which is to be 0.6 at most.

On a machine that has other work the ratio of times says little. The CPU seconds beside them do: they are equal where two workers
do nothing twice, and what this process takes itself cannot be shared.
"""

import argparse
import concurrent.futures
import multiprocessing
import resource
import time

import fullpipe

SETS = ["duration=60s", "flow.bulk.duration=60s"]
AXES = {"path.loss": {"from": 1e-5, "to": 1e-3, "points": 4, "scale": "log"}}


def cpu() -> "list[float]":
    """CPU seconds of this process, and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return [one.ru_utime + one.ru_stime for one in used]


def seconds(scenario: str, workers: int, seeds: int) -> float:
    """Of a sweep whose processes are there already."""
    before = cpu()
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context) as executor:
        warm = [executor.submit(time.sleep, 0.5) for _ in range(workers)]
        concurrent.futures.wait(warm)
        begun = time.perf_counter()
        results = fullpipe.sweep(scenario, AXES, seeds, set=SETS, executor=executor)
        took = time.perf_counter() - begun
    assert results.missing == results.failed == 0
    own, theirs = (after - earlier for earlier, after in zip(before, cpu()))
    print(f"{workers} workers: {took:.2f} s; CPU {own:.2f} s here, {theirs:.2f} s in workers", flush=True)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="scenarios/sweeps/loss-delay.toml")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    ratios = []
    for _ in range(arguments.times):
        one, two = (seconds(arguments.scenario, workers, arguments.seeds) for workers in (1, 2))
        ratios.append(two / one)
        print(f"ratio {two / one:.3f}", flush=True)
    print(f"median ratio {sorted(ratios)[len(ratios) // 2]:.3f}")


if __name__ == "__main__":
    main()
