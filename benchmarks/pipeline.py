"""check_pipeline at scale, and what having the pytest plugin installed costs an unrelated run.

    python benchmarks/pipeline.py [--rows 1000000] [--columns 20] [--repeats 15]

Prints, from one run: calls of the function against the promised 60 and against one call per row (what a truncation test
of every row would need); the share of the whole time that the function itself took; and the start-up of pytest with and
without the plugin, interleaved, as a median difference in milliseconds of processor time.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np


def scale(rows: int, columns: int) -> None:
    import attnproof as ap
    import pandas as pd

    random = np.random.default_rng(0)
    data = pd.DataFrame(random.normal(size=(rows, columns)).cumsum(0), columns=[f"c{i}" for i in range(columns)])
    spent = array("d", [0.0, 0.0])  # seconds and calls; a list would be put back before every call

    def timed(function: Any) -> Any:
        def run(d: Any) -> Any:
            began = time.perf_counter()
            result = function(d)
            spent[0] += time.perf_counter() - began
            spent[1] += 1
            return result

        return run

    def trailing(d: Any) -> Any:
        return d.ewm(span=20).mean()

    def one_leak(d: Any) -> Any:
        return trailing(d).assign(c3=d["c3"].rolling(5, center=True).mean())

    print(f"{rows:,} rows × {columns} columns")
    for name, function in (("trailing", trailing), ("one column centred", one_leak)):
        spent[0] = spent[1] = 0.0
        began = time.perf_counter()
        verdict = ap.check_pipeline(timed(function), data)
        total = time.perf_counter() - began
        print(
            f"  {name}: {verdict.status.name}, {spent[1]:.0f} calls (promised: at most 60; one per row: {rows:,}), "
            f"{total:.1f} s in all, {spent[0] / total:.0%} of it in the function, "
            f"{total / (spent[0] / spent[1]):.0f} × one call"
        )


def start_up(repeats: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_it.py").write_text("def test_it(): pass\n")
        # -p itself searches all entry points, whatever it loads: compare with an empty plugin
        Path(folder, "empty_plugin.py").write_text("")
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled once, as on any machine
        plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        times: dict[str, list[float]] = {"without": [], "with": []}
        for repeat in range(repeats + 1):
            for name, more in (("without", "empty_plugin"), ("with", "attnproof.plugin")):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([*plain, "-p", more], cwd=folder, env=environment, check=True, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                if repeat:  # the first pair warms the caches
                    times[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        difference = [1000 * (b - a) for a, b in zip(times["without"], times["with"], strict=True)]
        print(
            f"pytest on one empty test: {1000 * statistics.median(times['without']):.0f} ms of processor time without, "
            f"{statistics.median(difference):+.1f} ms with the plugin ({repeats} pairs, medians; promised: under 10)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    scale(arguments.rows, arguments.columns)
    start_up(arguments.repeats)


if __name__ == "__main__":
    main()
