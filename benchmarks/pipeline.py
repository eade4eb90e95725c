"""check_pipeline at scale, and what having the pytest plugin installed costs an unrelated run.

    python benchmarks/pipeline.py [--rows 1000000] [--columns 50] [--repeats 15] [--freqtrade PYTHON]

Prints, from one run: what a call of a quick function on a small table costs beside the function; a strategy beside
brute force, which cuts after every row, and beside freqtrade's look-ahead analysis, which cuts at trades (`pip install
freqtrade` in an environment of its own, whose Python is named); a leak at one time of day, hour by hour; on a large
table the calls of the function against the promised 60, the whole time against that of so many calls, the longest time
without progress, and the memory in frames; and the start-up of pytest with and without the plugin, interleaved, as a
median difference in milliseconds of processor time.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np


def _trailing(d: Any) -> Any:
    return d.ewm(span=20).mean()


def _one_leak(d: Any) -> Any:
    return _trailing(d).assign(c3=d["c3"].rolling(5, center=True).mean())


def scale(rows: int, columns: int) -> None:
    print(f"{rows:,} rows × {columns} columns", flush=True)
    for name in ("_trailing", "_one_leak"):  # each in a process of its own, for memory is told by its highest mark
        process = get_context("spawn").Process(target=_scale, args=(rows, columns, name))
        process.start()
        process.join()


def _scale(rows: int, columns: int, name: str) -> None:
    import attnproof as ap
    import pandas as pd

    random, function = np.random.default_rng(0), globals()[name]
    data = pd.DataFrame(random.normal(size=(rows, columns)).cumsum(0), columns=[f"c{i}" for i in range(columns)])
    frame = data.memory_usage().sum()
    ap.check_pipeline(function, data[:200])  # what is imported and compiled is no part of it
    before, given = _peak(), data.copy()
    function(given)
    call, took = (_peak() - before) / frame, []
    for _ in range(3):
        began = time.process_time()
        function(given)
        took.append(time.process_time() - began)
    del given
    one = statistics.median(took)
    ticks = array("d", [time.process_time()])
    verdict = ap.check_pipeline(function, data, progress=lambda done, of: ticks.append(time.process_time()))
    ticks.append(time.process_time())
    total, silence, calls = ticks[-1] - ticks[0], np.diff(ticks).max(), verdict.details["calls"]
    print(
        f"  {name}: {verdict.status.name}, {calls} calls (promised: at most 60; one per row: {rows:,}), "
        f"{total:.1f} s of processor time, "
        f"{total / (calls * one):.2f} × calls × {one:.2f} s of one (promised: 3); longest silence {silence:.1f} s; "
        f"memory grew by at most {(_peak() - before) / frame:.1f} frames, of which one call takes {call:.1f} "
        "(promised: 2.5 beside it)",
        flush=True,
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def small() -> None:
    import attnproof as ap
    import pandas as pd

    random = np.random.default_rng(0)
    plain = pd.DataFrame(random.normal(size=(120, 5)).cumsum(0), columns=list("abcde"))
    words = pd.DataFrame({"x": random.normal(size=300), "y": random.normal(size=300), "n": random.integers(0, 9, 300)})
    words = words.assign(side=random.choice(["buy", "sell"], 300), sort=random.choice(["x", "yy"], 300), z=words["x"])
    ap.check_pipeline(lambda d: d.copy(), plain)  # what is imported is no part of it
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


def signals(d: Any) -> Any:
    import pandas as pd

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


def strategy(rows: int = 3000, freqtrade: str | None = None) -> None:
    """Columns that leak, found with few calls, by cutting after every row, and by freqtrade's look-ahead analysis."""
    import attnproof as ap
    import pandas as pd

    random = np.random.default_rng(0)
    times = pd.date_range("2024-01-01", periods=rows, freq="15min")
    prices = pd.DataFrame(
        {"close": 1000 + random.normal(size=rows).cumsum(), "volume": random.random(rows)}, index=times
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
    if freqtrade:
        for trades in (1, 20):
            theirs = _freqtrade(freqtrade, prices, trades)
            names = set(theirs["columns"]) & set(whole.columns)
            print(
                f"  freqtrade's look-ahead analysis of {theirs['trades']} trades: {len(names)} columns, "
                f"{theirs['entries']} entries and {theirs['exits']} exits, {theirs['seconds']:.1f} s; "
                f"{'the same columns' if names == brute else f'without {brute - names}, besides {names - brute}'}"
            )
    hours = range(24)
    seen = [ap.check_pipeline(lambda d, h=h: _peek(d, h), prices["close"]).status.name == "REFUTED" for h in hours]
    print(f"a leak at one hour of the day alone: {sum(seen)} of 24 found")


STRATEGY = """
import pandas as pd
from freqtrade.strategy import IStrategy

{signals}

class Beside(IStrategy):
    INTERFACE_VERSION, timeframe, minimal_roi, stoploss, startup_candle_count = 3, "15m", {{"0": 1000}}, -0.99, 0

    def populate_indicators(self, dataframe, metadata):
        made = signals(dataframe.set_index("date"))
        return dataframe.assign(**{{name: made[name].to_numpy() for name in made}})

    def populate_entry_trend(self, dataframe, metadata):
        dataframe.loc[dataframe["enter_late"], "enter_long"] = 1
        return dataframe

    def populate_exit_trend(self, dataframe, metadata):
        dataframe.loc[dataframe["exit"], "exit_long"] = 1
        return dataframe
"""


def _freqtrade(python: str, prices: Any, trades: int) -> dict[str, Any]:
    """What freqtrade, in its own environment, says of the strategy."""
    close = prices["close"].to_numpy()
    candles = {
        "open": close,
        "high": close + 1,
        "low": close - 1,
        "close": close,
        "volume": prices["volume"].to_numpy(),
    }
    with tempfile.TemporaryDirectory() as folder:
        table = prices.assign(**candles, date=prices.index.tz_localize("UTC"))[["date", *candles, "volume"]]
        table.reset_index(drop=True).to_feather(Path(folder, "BTC_USDT-15m.feather"))
        source = inspect.getsource(signals).replace("d: Any) -> Any", "d)")
        Path(folder, "strategy.py").write_text(STRATEGY.format(signals=source))
        script = Path(__file__).with_name("freqtrade_lookahead.py")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [python, str(script), folder, str(trades)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    said: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return said


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
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--freqtrade", metavar="PYTHON", help="a Python that has freqtrade installed")
    arguments = parser.parse_args()
    small()
    strategy(freqtrade=arguments.freqtrade)
    scale(arguments.rows, arguments.columns)
    start_up(arguments.repeats)


if __name__ == "__main__":
    main()
