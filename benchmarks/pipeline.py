"""check_pipeline at scale, and what having the pytest plugin installed costs an unrelated run.

    python benchmarks/pipeline.py [--rows 1000000] [--columns 20] [--repeats 15]

Prints, from one run: calls of the function against the promised 60 and against one call per row (what a truncation test
of every row would need); the share of the whole time that the function itself took, and the memory in frames; what a
call of a quick function on a small table costs beside the function; a strategy beside brute force, which cuts after
every row as freqtrade's look-ahead analysis does after every signal; a leak at one time of day, hour by hour; and the
start-up of pytest with and without the plugin, interleaved, as a median difference in milliseconds of processor time.
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
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        began = time.perf_counter()
        verdict = ap.check_pipeline(timed(function), data)
        total = time.perf_counter() - began
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / data.memory_usage().sum()
        print(
            f"  {name}: {verdict.status.name}, {spent[1]:.0f} calls (promised: at most 60; one per row: {rows:,}), "
            f"{total:.1f} s in all, {spent[0] / total:.0%} of it in the function, "
            f"{total / spent[0]:.2f} × the calls (promised: 3), memory grew by at most {peak:.1f} frames"
        )


def small() -> None:
    import attnproof as ap
    import pandas as pd

    random = np.random.default_rng(0)
    plain = pd.DataFrame(random.normal(size=(120, 5)).cumsum(0), columns=list("abcde"))
    words = pd.DataFrame({"x": random.normal(size=300), "y": random.normal(size=300), "n": random.integers(0, 9, 300)})
    words = words.assign(side=random.choice(["buy", "sell"], 300), sort=random.choice(["x", "yy"], 300), z=words["x"])
    for name, data in (("120 × 5 numbers", plain), ("300 × 6 with text", words)):
        began = time.process_time()
        for _ in range(200):
            data.copy()
        one = (time.process_time() - began) / 200
        began = time.process_time()
        verdict = ap.check_pipeline(lambda d: d.copy(), data)
        calls = verdict.details["calls"]
        over = (time.process_time() - began) / calls - one
        print(f"{name}: {calls} calls, {1000 * over:.2f} ms of processor time per call beside the function")


def strategy(rows: int = 3000) -> None:
    """Columns that leak, found with few calls, and by cutting after every row."""
    import attnproof as ap
    import pandas as pd

    random = np.random.default_rng(0)
    times = pd.date_range("2024-01-01", periods=rows, freq="15min")
    prices = pd.DataFrame(
        {"close": 100 + random.normal(size=rows).cumsum(), "volume": random.random(rows)}, index=times
    )

    def signals(d: Any) -> Any:
        close, hour = d["close"], d.index.hour
        mean = close.rolling(20).mean()
        return pd.DataFrame(
            {
                "mean": mean,
                "enter": close > mean,
                "enter_late": close > close.rolling(5, center=True).mean(),
                "exit": close.shift(-1) < close,
                "normal": (close - close.mean()) / close.std(),
                "at_14": close.where(hour != 14, close.shift(-1)),
                "daily_high": d["volume"].groupby(d.index.date).transform("max"),
            }
        )

    began = time.process_time()
    verdict = ap.check_pipeline(signals, prices)
    ours = time.process_time() - began
    found = {column.name for column in verdict.columns if column.status.name == "REFUTED"}
    began = time.process_time()
    whole, brute = signals(prices), set()
    for cut in range(1, rows):
        short = signals(prices.iloc[:cut])
        last = slice(max(0, cut - 5), cut)
        brute |= {
            n for n in whole.columns if not short[n].iloc[last].equals(whole[n].iloc[last].astype(short[n].dtype))
        }
    print(
        f"a strategy on {rows} rows: {len(found)} of {len(whole.columns)} columns leak, "
        f"{verdict.details['calls']} calls, {ours:.1f} s; "
        f"brute force: {len(brute)}, {rows} calls, {time.process_time() - began:.1f} s; "
        f"{'the same' if found == brute else f'different: {found ^ brute}'}"
    )
    hours = range(24)
    seen = [ap.check_pipeline(lambda d, h=h: _peek(d, h), prices["close"]).status.name == "REFUTED" for h in hours]
    print(f"a leak at one hour of the day alone: {sum(seen)} of 24 found")


def _peek(close: Any, hour: int) -> Any:
    return close.where(close.index.hour != hour, close.shift(-1))


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
    small()
    strategy()
    scale(arguments.rows, arguments.columns)
    start_up(arguments.repeats)


if __name__ == "__main__":
    main()
