"""The tracer's transfer functions against the rules that Rocq proves sound (T23), on random small shadows.

`compare` runs the functions of `causal/model/trace/transfer/` and the program extracted from `rocq/transfer.v` on the
same shadows. Needs coqc and ocamlfind.
"""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..causal.model.trace.domain import FIXED, NONE_HI, NONE_LO, POSITIVE, Shadow, full
from ..causal.model.trace.transfer import contractions, elementwise, normalising, reductions, scans
from .differential import run_program, toolchain
from .rocq_build import LIBRARY, WARNINGS

SOURCES = Path(__file__).parent / "rocq"
FILES = ("transfer.v", "transfer_extraction.v", "transfer_decide.ml")
LARGEST_RANK = 6


class Scores:
    """A run for the transfer functions: `marks` says which masked scores are exactly 0; `used` what of it was asked."""

    finite_masks = True
    last = LARGEST_RANK

    def __init__(self, marks: np.ndarray) -> None:
        self.marks, self.used = marks, np.zeros_like(marks)

    def masked_zero(self, where: np.ndarray, *, constant: float | None = None, alone: bool = False) -> np.ndarray:
        """Those of `where` that are marked."""
        self.used = np.broadcast_to(where, self.marks.shape) & self.marks
        return self.used

    def masked_below(self, operand: Held, where: np.ndarray, axes: tuple[int, ...]) -> bool:
        """Yes: lowered scores lie below the others of their rows."""
        return True

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None  # conditions that are recorded and change no shadow


class Held(NamedTuple):
    """An operand: a shadow whose constants have been looked at."""

    shadow: Shadow

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its tensor."""
        return self.shadow.shape

    def known(self) -> Shadow:
        """Itself."""
        return self.shadow


def random_shadow(rng: np.random.Generator, shape: tuple[int, ...], fixed: bool) -> Shadow:
    """Kinds and intervals at random; `fixed`: with constants that nobody looked at. Constants have no interval."""
    kind = rng.choice([0, 0, 1, 2, 4, 5, 5, 6, 7, 3] if fixed else [0, 0, 1, 2, 4, 5, 5, 6, 7], shape).astype(np.uint8)
    ends = np.sort(rng.integers(0, LARGEST_RANK + 1, (2, *shape)), axis=0).astype(np.int32)
    none = (kind >= FIXED) | (rng.random(shape) < 0.1)
    return Shadow(shape, np.where(none, NONE_LO, ends[0]), np.where(none, NONE_HI, ends[1]), kind)


def answers(rule: str, rows: Shadow, marks: np.ndarray) -> tuple[Shadow, np.ndarray]:
    """What the tracer says of a rule for rows of operands (cases, n), and the marks that it used."""
    cases, n = rows.shape
    run: Any = Scores(marks)
    lo, hi, kind = full(rows)
    one, flat = [Shadow((cases,), lo[:, i], hi[:, i], kind[:, i]) for i in range(n)], (cases,)
    if rule == "exponential":
        run = Scores(marks[:, 0])
    held: Any = [Held(s) for s in one]
    whole: Any = Held(rows)
    made: dict[str, Callable[[], Shadow]] = {
        "joined": lambda: reductions.reduced(rows, (1,), flat) if n > 3 else elementwise.pointwise(flat, one),
        "added": lambda: elementwise.total(one[0], one[1], flat, True),
        "multiplied": lambda: elementwise.product(run, held[0], held[1], flat),
        "exponential": lambda: elementwise.exponential(run, one[0]),
        "selected": lambda: elementwise.select(run, held[0], held[1], held[2], flat),
        "summed": lambda: reductions.total(rows, (1,), flat),
        "contracted": lambda: contractions.matrix_product(run, *_factors(rows), (cases, 1, 1)),
        "matrix_product": lambda: _crossed_product(run, rows),
        "softmaxed": lambda: normalising.softmax(run, rows, 1, False),
        "safe_softmaxed": lambda: normalising.softmax(run, rows, 1, True),
        "scanned": lambda: scans.prefix(rows, 1),
        "running_sum": lambda: scans.running_sum(rows, 1),
        "running_product": lambda: scans.running_product(run, whole, 1),
        "peaked": lambda: reductions.largest(run, whole, (1,), flat),
    }
    found = made[rule]()
    return found, run.used.reshape(cases, -1) if run.used.size == marks.size else run.used.reshape(cases, 1)


def _factors(rows: Shadow) -> tuple[Any, Any]:
    """The first half of each row as a matrix of one row, the second as one of one column."""
    cases, n = rows.shape
    first, second = (cases, 1, n // 2), (cases, n // 2, 1)
    left, right = ([part[:, at] for part in full(rows)] for at in (slice(0, n // 2), slice(n // 2, n)))
    return Held(Shadow(first, *(p.reshape(first) for p in left))), Held(
        Shadow(second, *(p.reshape(second) for p in right))
    )


def crossed(rng: np.random.Generator, cases: int, n: int) -> Shadow:
    """Every row of one matrix beside every column of another, whose product is then compared whole; n / 2 is shared."""
    side, k = math.isqrt(cases), n // 2
    left, right = (full(random_shadow(rng, (side, k), fixed=False)) for _ in range(2))
    parts = (
        np.concatenate([np.repeat(a, side, axis=0), np.tile(b, (side, 1))], axis=1)
        for a, b in zip(left, right, strict=True)
    )
    return Shadow((side * side, n), *parts)


def _crossed_product(run: Any, rows: Shadow) -> Shadow:
    side, k = math.isqrt(rows.shape[0]), rows.shape[1] // 2
    parts = [part.reshape(side, side, 2 * k) for part in full(rows)]
    left: Any = Held(Shadow((side, k), *(part[:, 0, :k] for part in parts)))
    right: Any = Held(Shadow((k, side), *(part[0, :, k:].T for part in parts)))
    found = full(contractions.matrix_product(run, left, right, (side, side)))
    return Shadow((side * side,), *(part.reshape(-1) for part in found))


RULES: dict[str, tuple[int, ...]] = {
    "joined": (1, 2, 3, 5),
    "added": (2,),
    "multiplied": (2,),
    "exponential": (1,),
    "selected": (3,),
    "summed": (1, 3, 4),
    "contracted": (2, 4, 6),
    "matrix_product": (2, 4, 6),
    "softmaxed": (1, 2, 4),
    "safe_softmaxed": (1, 3),
    "scanned": (1, 4),
    "running_sum": (1, 3),
    "running_product": (1, 3),
    "peaked": (2, 4),
}


def random_rows(rng: np.random.Generator, rule: str, cases: int, n: int) -> Shadow:
    """Operands for a rule, a row each."""
    if rule == "matrix_product":
        return crossed(rng, cases, n)
    return random_shadow(rng, (cases, n), fixed=rule in ("joined", "scanned"))


def compare(cases: int, seed: int = 0) -> tuple[int, list[str]]:
    """Shadows compared, and the first differences; `cases` for each rule and size."""
    rng = np.random.default_rng(seed)
    words: list[str] = []
    ours: list[np.ndarray] = []
    named: list[str] = []
    for rule, sizes in RULES.items():
        for n in sizes:
            rows = random_rows(rng, rule, cases, n)
            if rule == "running_sum":  # what it says of others is what `scanned` says
                lo, hi, _ = full(random_shadow(rng, (cases, n), fixed=False))
                rows = Shadow(rows.shape, lo, hi, np.full(rows.shape, POSITIVE, np.uint8))
            found, used = answers(rule, rows, rng.random(rows.shape) < 0.5)
            said = np.stack([np.asarray(part, np.int64).reshape(len(used), -1) for part in full(found)], -1)
            marked = np.broadcast_to(used, rows.shape)
            table = np.stack([np.asarray(part, np.int64) for part in (*full(rows), marked)], -1)
            for row, answer in zip(table, said, strict=True):
                words.append(f"{rule} {n} " + " ".join(map(str, row.ravel().tolist())))
                ours.append(answer)
                named.extend([words[-1]] * len(answer))
    theirs = np.array(_decide("\n".join(words)).split(), np.int64).reshape(-1, 3)
    mine = np.concatenate(ours)
    if mine.shape != theirs.shape:
        return 0, [f"{len(mine)} shadows against {len(theirs)}"]
    wrong = np.flatnonzero((mine != theirs).any(1))
    return len(mine), [f"{named[i]}: {mine[i].tolist()}, proved {theirs[i].tolist()}" for i in wrong[:5]]


def _decide(text: str) -> str:
    """What the extracted rules say, built anew (seconds)."""
    rocq = toolchain()
    with tempfile.TemporaryDirectory(prefix="attnproof-") as name:
        home = Path(name)
        for file in FILES:
            shutil.copy(SOURCES / file, home / file)
        for file in FILES[:2]:
            run_program([rocq.coqc, "-q", *WARNINGS, "-R", ".", LIBRARY, file], home)
        built = ["ocamlfind", "ocamlopt", "-w", "-a", "-o", "decide", "rules.mli", "rules.ml", "transfer_decide.ml"]
        run_program(built, home)
        return run_program([home / "decide"], home, stdin=text)


def main() -> int:
    """Compare, and print how many shadows were; 1 when one differs."""
    compared, different = compare(2700)
    sys.stdout.write("\n".join([f"{compared} shadows of the tracer compared with the proved rules", *different]) + "\n")
    return 1 if different or compared < 100_000 else 0


if __name__ == "__main__":
    sys.exit(main())
