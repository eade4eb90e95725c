"""`python -m benchmarks.projection`: what checking a projection costs, as ratios in one run.

* The support scan against one `array.sum()` over the same memory: the price of looking at every entry once.
* Its extra memory against the input.
* Sparse arrays of every format against sums over all that they hold.
* The exact criterion and whole commands in seconds of processor time.

Each pair runs alternately and the best processor time of each counts, so that other work on the machine disturbs both
alike. The last figures are in docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import attnproof as ap
import numpy as np

SLOTS, POSITIONS = 256, 1_000_000


def best(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Best seconds of each call, run alternately."""
    seconds = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            seconds[name] = min(seconds[name], time.process_time() - start)
    return seconds


def of_process(arguments: list[str], rounds: int) -> float:
    """Least processor seconds of a Python process with these arguments."""
    seconds = float("inf")
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = min(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return seconds


def dense(slots: int, positions: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((slots, positions), dtype=np.float32)


def blocks(slots: int, positions: int) -> np.ndarray:
    """Slot s reads its own stretch of positions and nothing else."""
    matrix = np.zeros((slots, positions), np.float32)
    size = positions // slots
    for s in range(slots):
        matrix[s, s * size : (s + 1) * size] = 1 / size
    return matrix


def scans(slots: int, positions: int, rounds: int) -> list[dict[str, Any]]:
    """The support criterion on a large matrix, dense and block-structured, in both layouts."""
    rows = []
    for structure, build in (("dense", dense), ("blocks", blocks)):
        for layout, limit in (("slots-first", 1.2), ("positions-first", 1.5)):
            matrix = build(slots, positions)
            if layout == "positions-first":
                matrix = np.ascontiguousarray(matrix.T)

            def check(x: np.ndarray = matrix, layout: str = layout) -> ap.Verdict:
                return ap.check_projection(x, layout=layout, visible="largest")

            seconds = best({"sum": matrix.sum, "check": check}, rounds)
            tracemalloc.start()
            check()
            extra = tracemalloc.get_traced_memory()[1] / matrix.nbytes
            tracemalloc.stop()
            rows.append(
                {
                    "what": f"support scan, {structure}, {layout}",
                    "baseline": "array.sum()",
                    "baseline_seconds": seconds["sum"],
                    "seconds": seconds["check"],
                    "ratio": seconds["check"] / seconds["sum"],
                    "promise": limit,
                    "extra_memory": extra,
                }
            )
    return rows


def other_passes(slots: int, positions: int, rounds: int) -> list[dict[str, Any]]:
    """All visible; two arrays by time; the nearest safe projection under a rule: each against reading its bytes."""
    M, B = dense(slots, positions), blocks(slots, positions)
    rule, turned = ap.largest_safe_mask(B), np.ascontiguousarray(M.T)
    times = np.random.default_rng(1).permutation(positions).astype(float)
    boundary = ap.Boundary.from_times(times, times)
    cases: list[tuple[str, Callable[[], Any], Callable[[], Any], float]] = [
        ("support scan, dense, all visible", M.sum, lambda: ap.check_projection(M), 1.2),
        ("support scan, blocks, all visible", B.sum, lambda: ap.check_projection(B), 1.2),
        (
            "two arrays by time",
            lambda: (M.sum(), B.sum()),
            lambda: ap.check_projection(M, B, boundary=boundary, visible="largest"),
            1.5,
        ),
        ("nearest safe projection, slots-first", M.sum, lambda: ap.nearest_safe_projection(M, visible=rule), 3.0),
        (
            "nearest safe projection, positions-first",
            turned.sum,
            lambda: ap.nearest_safe_projection(turned, visible=rule, layout="positions-first"),
            3.0,
        ),
    ]
    rows = []
    for what, total, call, limit in cases:
        seconds = best({"sum": total, "call": call}, rounds)
        row = {"what": what, "baseline": "array.sum()", "baseline_seconds": seconds["sum"], "seconds": seconds["call"]}
        rows.append({**row, "ratio": seconds["call"] / seconds["sum"], "promise": limit})
    return rows


def sparse(slots: int, positions: int, rounds: int) -> list[dict[str, Any]]:
    """As many entries as positions, each slot its own stretch, against sums over all that a sparse array holds."""
    rows = []
    for kind, (array, held) in formats(slots, positions).items():

        def read(held: tuple[np.ndarray, ...] = held) -> None:
            for part in held:
                part.sum()

        seconds = best({"read": read, "call": lambda a=array: ap.check_projection(a, visible="largest")}, rounds)
        row = {"what": f"sparse, {kind}, {positions:,} entries", "baseline": "sums of what it holds"}
        row |= {"baseline_seconds": seconds["read"], "seconds": seconds["call"]}
        rows.append({**row, "ratio": seconds["call"] / seconds["read"], "promise": 3.0})
    return rows


def formats(slots: int, positions: int) -> dict[str, tuple[Any, tuple[np.ndarray, ...]]]:
    """Sparse arrays of SciPy, PyTorch and JAX, and the arrays that each holds."""
    import jax.numpy as jnp
    import scipy.sparse
    import torch
    from jax.experimental.sparse import BCOO

    places = np.repeat(np.arange(slots), positions // slots), np.arange(positions)
    values = np.random.default_rng(0).standard_normal(positions)
    found: dict[str, tuple[Any, tuple[np.ndarray, ...]]] = {}
    coo = scipy.sparse.coo_array((values, places), shape=(slots, positions))
    found["SciPy coo"] = coo, (coo.data, *coo.coords)
    for kind in ("csr", "csc"):
        array = coo.asformat(kind)
        found[f"SciPy {kind}"] = array, (array.data, array.indices, array.indptr)
    tensor = torch.sparse_coo_tensor(torch.tensor(np.array(places)), torch.tensor(values), (slots, positions))
    tensor = tensor.coalesce()
    found["PyTorch coo"] = tensor, (tensor.values().numpy(), tensor.indices().numpy())
    rows, columns = tensor.to_sparse_csr(), tensor.to_sparse_csc()
    found["PyTorch csr"] = rows, tuple(x.numpy() for x in (rows.values(), rows.crow_indices(), rows.col_indices()))
    held = columns.values(), columns.ccol_indices(), columns.row_indices()
    found["PyTorch csc"] = columns, tuple(x.numpy() for x in held)
    both = jnp.asarray(np.array(places, np.int32).T)
    bcoo = BCOO((jnp.asarray(values, jnp.float32), both), shape=(slots, positions))
    found["JAX BCOO"] = bcoo, (np.asarray(bcoo.data), np.asarray(bcoo.indices))
    return found


def one_decision(positions: int) -> ap.Boundary:
    """A single query that may use the first half of the positions."""
    return ap.Boundary.from_times(np.arange(positions), [positions // 2 - 1])


def grid(positions: int, side: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """E = a_i + b_j, F = f_i, where a and f speak of the past alone: safe by T11, with very many equal pair sums."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-64, 65, (side, positions)).astype(np.float32) / 64 for _ in range(2))
    f = rng.standard_normal((side, positions)).astype(np.float32)
    a[:, positions // 2 :], f[:, positions // 2 :] = 0, 0
    return (a[:, None] + b[None]).reshape(side * side, positions), np.repeat(f, side, axis=0)


def hypercube(positions: int, sides: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """E = a sum of some of `sides` directions, F by the first of them alone, which speaks of the past: safe by T11."""
    rng = np.random.default_rng(2)
    directions = rng.integers(-64, 65, (sides, positions)).astype(np.float32) / 64
    carried = rng.standard_normal((2, positions)).astype(np.float32)
    directions[0, positions // 2 :], carried[:, positions // 2 :] = 0, 0
    corners = np.arange(2**sides)[:, None] >> np.arange(sides) & 1
    return corners.astype(np.float32) @ directions, carried[corners[:, 0]]


def exact(slots: int = 256, positions: int = 4096) -> list[dict[str, Any]]:
    """The exact criterion at its promised sizes, safe and leaking."""
    boundary = one_decision(positions)
    E = dense(slots, positions)
    past = E.copy()
    past[:, positions // 2 :] = 0
    keys, values = grid(positions)
    nudged_keys, nudged_values, balanced = keys.copy(), values.copy(), values.copy()
    nudged_keys[37, -1] += 1
    nudged_values[37, 5] += 1
    balanced[37, 5] += 1
    balanced[38, 5] -= 1
    cube_keys, cube_values = hypercube(positions)
    triangle = np.tri(slots, dtype=bool)
    last = ap.Boundary.from_times(np.arange(positions), [positions // 2 - 1] * slots)
    equal = np.repeat(past[:1], slots, axis=0)
    cases = [
        ("generic, every slot visible", E, E, None, None, 0.06, "REFUTED"),
        ("generic keys, past values", past, E, boundary, None, 2.0, "REFUTED"),
        ("generic keys, equal value rows", equal, E, boundary, None, 2.0, "PROVED_IF"),
        ("the same, a triangular mask of 256 visible sets", equal, E, last, triangle, 1.0, "PROVED_IF"),
        ("16 × 16 grid, safe", values, keys, boundary, None, 0.3, "PROVED_IF"),
        ("hypercube of 8 sides, safe", cube_values, cube_keys, boundary, None, 0.3, "PROVED_IF"),
        ("16 × 16 grid, a key perturbed", values, nudged_keys, boundary, None, 0.3, "REFUTED"),
        ("16 × 16 grid, a value perturbed", nudged_values, keys, boundary, None, 0.3, "REFUTED"),
        ("16 × 16 grid, two values perturbed", balanced, keys, boundary, None, 0.3, "REFUTED"),
    ]
    rows = []
    for what, F, K, where, mask, limit, expected in cases:
        seconds, verdict = float("inf"), None
        for _ in range(3):
            start = time.process_time()
            verdict = ap.check_projection(F, K, boundary=where, visible=mask)
            seconds = min(seconds, time.process_time() - start)
        if verdict.status.name != expected:
            raise AssertionError(f"{what}: {verdict.headline()}, expected {expected}")
        rows.append({"what": f"exact criterion, {what}", "seconds": seconds, "promise": limit, "status": expected})
    return rows


def commands(rounds: int) -> list[dict[str, Any]]:
    """`import attnproof` against `import numpy`, and whole commands, each in fresh processes."""
    numpy, ours = (of_process(["-c", f"import {module}"], rounds) for module in ("numpy", "attnproof"))
    row = {"what": "import attnproof", "baseline": "import numpy", "baseline_seconds": numpy, "seconds": ours}
    rows: list[dict[str, Any]] = [{**row, "ratio": ours / numpy, "promise": 1.3}]
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/F.npy", np.eye(4, 6))
        small = of_process(["-m", "attnproof", "check", f"{folder}/F.npy", "--visible", "largest"], rounds)
    rows.append({"what": "attnproof check, a small file", "seconds": small, "promise": 0.4})
    verify = ["-m", "attnproof", "verify", "--accept", "undecided"]
    first = of_process([*verify, *(f"T{k}" for k in range(1, 19))], 2)
    rows.append({"what": "attnproof verify T1 … T18", "seconds": first, "promise": 6.0})
    rows.append({"what": "T19 … T26 beside them", "seconds": of_process(verify, 2) - first, "promise": 3.0})
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="checking a projection")
    for heading in ("what", "seconds", "against", "ratio", "promised", "extra memory"):
        table.add_column(heading, justify="left" if heading in ("what", "against") else "right")
    for row in rows:
        ratio = row.get("ratio")
        measured = ratio if ratio is not None else row["seconds"]
        colour = "green" if measured <= row["promise"] else "red"
        table.add_row(
            row["what"],
            f"{row['seconds']:.3g}",
            f"{row['baseline']} {row['baseline_seconds']:.3g}" if ratio is not None else "",
            "" if ratio is None else f"[{colour}]{ratio:.2f}[/]",
            f"≤ {row['promise']:g}{'' if ratio is not None else ' s'}",
            "" if "extra_memory" not in row else f"{100 * row['extra_memory']:.1f} %",
        )
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.projection", description=__doc__.splitlines()[0])
    parser.add_argument("--slots", type=int, default=SLOTS)
    parser.add_argument("--positions", type=int, default=POSITIONS, help="for the support scan")
    parser.add_argument("--rounds", type=int, default=7, help="how often each pair runs; the best counts")
    parser.add_argument("--json", metavar="FILE", help="also write the rows to a file")
    arguments = parser.parse_args()
    ap.check_projection(np.zeros((1, 2)), visible="largest")  # imports are paid once
    passes = other_passes(arguments.slots, arguments.positions, arguments.rounds)
    rows = [
        *scans(arguments.slots, arguments.positions, arguments.rounds),
        *passes,
        *sparse(64, 10 * arguments.positions, arguments.rounds),
        *exact(),
        *commands(arguments.rounds),
    ]
    show(rows)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"schema_version": 1, "rows": rows}, file, indent=2)


if __name__ == "__main__":
    main()
