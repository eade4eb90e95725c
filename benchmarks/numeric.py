"""`python -m benchmarks.numeric`: what the numeric layer costs, as ratios in one run, and the memory that it takes.

* Exact rank and determinant against SymPy's on dense 20 × 20 integers, and against FLINT's own.
* `mixing_spectrum` against the two thin QR factorisations that it cannot do without, `leverage` against one.
* The certified rank of a softmax, in seconds.
* Peak memory beside the inputs of every function at scale, against what its docstring states; `--full` takes the sizes
  that are promised (n = 1,000,000 with r = 64, n = 32,768 with d = 64: minutes, and 4 GiB).

Each pair runs alternately and the best time of each counts, so that other work on the machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy
from attnproof.numeric.optimum import projection_error, truncation_error
from attnproof.numeric.rank import certified_rank, certified_softmax_rank, exact_determinant, mixing_rank
from attnproof.numeric.retention import leverage
from attnproof.numeric.spectrum import mixing_spectrum
from attnproof.symbolic import rank as exact
from flint import fmpz_mat

MIB = 1 << 20


def best(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Best seconds of each call, run alternately."""
    seconds = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def pair(
    what: str, ours: Callable[[], Any], other: Callable[[], Any], rounds: int, promise: str, faster: bool
) -> dict[str, Any]:
    """One paired row; `faster` reads the ratio as theirs over ours, else as ours over theirs."""
    found = best({"ours": ours, "other": other}, rounds)
    ratio = found["other"] / found["ours"] if faster else found["ours"] / found["other"]
    return {"what": what, "ours_s": found["ours"], "other_s": found["other"], "ratio": ratio, "promise": promise}


def exact_rows(rounds: int) -> list[dict[str, Any]]:
    """The same dense integers, as a SymPy matrix, for all."""
    rows = np.random.default_rng(0).integers(-99, 100, (20, 20)).tolist()
    M = sympy.Matrix(rows)
    singular = M.copy()
    large = np.random.default_rng(0).integers(-99, 100, (300, 300)).tolist()
    singular[19, :] = singular[0, :] + singular[1, :]
    return [
        pair("symbolic.rank.rank / Matrix.rank, 20 × 20", lambda: exact.rank(M), M.rank, rounds, "≥ 100 ×", True),
        pair("the same, of rank 19", lambda: exact.rank(singular), singular.rank, rounds, "≥ 100 ×", True),
        pair(
            "symbolic.rank.rank / python-flint's own with building, 300 × 300",
            lambda: exact.rank(large),
            lambda: fmpz_mat(large).rank(),
            rounds,
            "≤ 1.5 ×",
            False,
        ),
        pair("certified_rank / Matrix.rank, 20 × 20", lambda: certified_rank(rows), M.rank, rounds, "≥ 100 ×", True),
        pair("symbolic.rank.det / Matrix.det, 20 × 20", lambda: exact.det(M), M.det, rounds, "≥ 100 ×", True),
        pair(
            "exact_determinant / Matrix.det, 20 × 20", lambda: exact_determinant(rows), M.det, rounds, "≥ 100 ×", True
        ),
    ]


def spectrum_rows(n: int, r: int, rounds: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    B, F = rng.standard_normal((n, r)), rng.standard_normal((r, n))

    def two() -> None:
        np.linalg.qr(B)
        np.linalg.qr(F.T)

    size = f"n = {n:,}, r = {r}"
    return [
        pair(f"mixing_spectrum / two QR, {size}", lambda: mixing_spectrum(B, F), two, rounds, "≤ 2 ×", False),
        pair(f"leverage / one QR, {size}", lambda: leverage(F), lambda: np.linalg.qr(F.T), rounds, "≤ 1.5 ×", False),
    ]


def certified_rows() -> list[dict[str, Any]]:
    rows = []
    for n in (64, 128):
        start = time.perf_counter()
        found = certified_softmax_rank(range(n), [j / n for j in range(n)])
        seconds = time.perf_counter() - start
        what = f"certified_softmax_rank, n = {n}: rank {found.rank} at {found.bits} bits"
        rows.append({"what": what, "ours_s": seconds, "promise": "< 1 s" if n == 64 else ""})
    return rows


def memory_rows(n: int, r: int, m: int, d: int) -> list[dict[str, Any]]:
    """Peak memory beside the inputs (NumPy's allocations, by tracemalloc), and what it may be."""
    rng = np.random.default_rng(0)
    B, F = rng.standard_normal((n, r)), rng.standard_normal((r, n))
    Q, K = rng.standard_normal((2, m, d))
    E, G = rng.standard_normal((2, r, m)) / m
    long, blocks = B.nbytes, max(16 * MIB, 64 * m * 8)
    tall = 8 * m * (d + r + 16)
    cases = [
        (f"mixing_spectrum, n = {n:,}, r = {r}", lambda: mixing_spectrum(B, F), 2.2 * long),
        (f"mixing_rank, n = {n:,}, r = {r}", lambda: mixing_rank(B, F), 2.2 * long),
        (f"leverage, n = {n:,}, r = {r}", lambda: leverage(F), 2.2 * long),
        (f"truncation_error, n = {m:,}, d = {d}, r = {r}", lambda: truncation_error(Q, K, r), 6 * blocks + 8 * tall),
        (f"projection_error, n = {m:,}, d = {d}, r = {r}", lambda: projection_error(Q, K, E, G), 6 * blocks + 8 * tall),
    ]
    rows = []
    for what, call, stated in cases:
        tracemalloc.start()
        start = time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        square = 8 * m * m if "error" in what else 8 * n * n
        rows.append(
            {
                "what": what,
                "ours_s": seconds,
                "peak_MiB": peak / MIB,
                "stated_MiB": stated / MIB,
                "square_MiB": square / MIB,
            }
        )
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "ours", "other", "ratio", "promise", "peak beside the input", "stated", "n × n would be")
    for row in rows:
        cells = [row["what"], f"{row['ours_s']:.3g} s"]
        cells.append(f"{row['other_s']:.3g} s" if "other_s" in row else "")
        cells.append(f"{row['ratio']:.3g} ×" if "ratio" in row else "")
        cells.append(row.get("promise", ""))
        cells += [f"{row[key]:,.0f} MiB" if key in row else "" for key in ("peak_MiB", "stated_MiB", "square_MiB")]
        table.add_row(*cells)
    Console(width=180).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the promised sizes for the memory rows")
    parser.add_argument("--quick", action="store_true", help="small sizes throughout, to see that it runs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args()
    rows = exact_rows(options.rounds)
    rows += spectrum_rows(5_000 if options.quick else 200_000, 64, options.rounds)
    rows += certified_rows()
    sizes = (
        (1_000_000, 64, 32_768, 64)
        if options.full
        else (5_000, 16, 500, 16)
        if options.quick
        else (200_000, 64, 4_096, 64)
    )
    rows += memory_rows(*sizes)
    if options.format == "json":
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        show(rows)


if __name__ == "__main__":
    main()
