"""Random heads against the oracle of the tests: no verdict may be wrong.

    python -m benchmarks.fuzz_heads --heads 1000000 --seed 0

A head has up to five slots over up to four positions, small dyadic entries, planted cancellations (equal rows, shifts,
products, signs), columns of wild scales, and a mask or a bias in some. PROVED and PROVED_IF by T10 or T11 must be safe
by (1) and (2′) in fractions (`tests/oracle.py`), REFUTED must not be and its witness must replay, and what the support
criterion proves must be safe, too. The exit status is 1 when something is wrong.

The input that breaks a PROVED_IF in floats is a second search, whose outcome no verdict depends on and which takes most
of the time: `--breaking-inputs` runs it, too, and replays what it finds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import attnproof as ap
import heads
import numpy as np
import oracle
from attnproof.causal.projection import rounding

SCALES = [1.0, 1.0, 1.0, 2.0**-1074, 1e-30, 1e30, 1e300]
KINDS = ("random", "product", "shift", "equal rows", "cancel", "symmetric")


def head(rng: np.random.Generator) -> tuple[str, np.ndarray, np.ndarray, int]:
    """The kind of structure, E and F, and how many positions the one query may use."""
    kind = KINDS[rng.integers(len(KINDS))]
    r, n = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    cut = int(rng.integers(0, n + 1))
    E, F = (rng.choice([-1.0, 0, 0, 0.5, 1, 2], (r, n)) for _ in range(2))
    if kind == "product":
        E, F = heads.product(*(rng.choice([-1.0, 0, 1, 2], (2, n)) for _ in range(3)), cut)
    elif kind != "random":
        E, F = heads.planted(kind, E, F, cut, 1 if kind == "symmetric" and rng.integers(2) else -1)
    if rng.integers(2):
        E, F = E * rng.choice(SCALES, n), F * rng.choice(SCALES, n)
    if not rng.integers(3):
        (E if rng.integers(2) else F)[rng.integers(len(E)), rng.integers(n)] += rng.choice([1.0, -1.0, 1e-30])
    return kind, E, F, cut


def judge(seed: int) -> tuple[str, str | None]:
    """How one head went, and what is wrong with its verdict."""
    rng = np.random.default_rng(seed)
    kind, E, F, cut = head(rng)
    r, n = E.shape
    sees = rng.random((1, r)) < 0.8 if rng.integers(2) else np.ones((1, r), bool)
    positions_first = bool(rng.integers(2))
    given = (F.T, E.T) if positions_first else (F, E)
    layout = "positions-first" if positions_first else "slots-first"
    boundary = ap.Boundary.from_times(np.arange(n), [cut - 1])
    verdict = ap.check_projection(*given, layout=layout, visible=sees, boundary=boundary)
    exact = [[[Fraction(x) for x in row] for row in matrix.tolist()] for matrix in (E, F)]
    safe = oracle.safe_projection(*exact, sees.tolist(), [[j < cut for j in range(n)]])
    status = verdict.status.name
    if (status == "REFUTED") == safe:
        return f"{kind} {status}", f"{verdict.headline()}, and by definition it is {'safe' if safe else 'not'}"
    witnesses = [verdict.witness, *(condition.counterexample for condition in verdict.conditions)]
    if not all(witness.replay() for witness in witnesses if witness is not None):
        return f"{kind} {status}", "a witness does not replay"
    return f"{kind} {status}", None


def main() -> int:
    """Run, report, and say by the exit status whether something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heads", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--breaking-inputs", action="store_true", help="search those of PROVED_IF, too")
    options = parser.parse_args()
    if not options.breaking_inputs:
        rounding.breaking_input = lambda *_: None
    counts: Counter[str] = Counter()
    wrong = 0
    started = time.perf_counter()
    for seed in range(options.seed, options.seed + options.heads):
        kind, fault = judge(seed)
        counts[kind] += 1
        if fault:
            wrong += 1
            print(f"{seed}: {fault}", flush=True)
    print(f"{options.heads} heads from seed {options.seed}, {time.perf_counter() - started:.0f} s")
    for kind, count in sorted(counts.items()):
        print(f"{count:8d}  {kind}")
    print(f"wrong: {wrong}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
