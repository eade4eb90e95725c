"""T25: rows that are moved by an order which depends on data are safe where nothing depends on where they stand."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from ..symbolic import derivation
from ..symbolic.derivation import Derivation
from .claim import Claim, expect

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

ROWS = 4


def framed(order: Sequence[int], rows: Sequence[int]) -> list[int]:
    """Rows moved by an order, multiplied by the number of their group (their parity), and moved back."""
    moved = [rows[i] * (rows[i] % 2 + 2) for i in order]
    return [moved[list(order).index(i)] for i in range(len(rows))]


def scattered(order: Sequence[int], rows: Sequence[int], targets: Sequence[int], target: int) -> int:
    """The sum of the rows of one target, in the moved order."""
    return sum(rows[i] for i in order if targets[i] == target)


def with_capacity(order: Sequence[int], rows: Sequence[int], room: int) -> list[int]:
    """The same with room for so many rows per group: rows that come later in the order get 0."""
    taken: dict[int, int] = {}
    kept = [0] * len(rows)
    for i in order:
        group = rows[i] % 2
        taken[group] = taken.get(group, 0) + 1
        kept[i] = rows[i] * (group + 2) if taken[group] <= room else 0
    return kept


def derive() -> Derivation:
    """Each order tried on four rows; then all of them in Rocq; and what breaks with room for few."""
    orders = list(permutations(range(ROWS)))
    return Derivation(
        "T25: frames of reference",
        (
            derivation.cases(
                "rows moved by any order, multiplied by their group's number, moved back: no row depends on it",
                lambda: ((order, rows) for order in orders for rows in ([3, 1, 4, 1], [2, 7, 1, 8])),
                lambda order, rows: framed(order, rows) == [x * (x % 2 + 2) for x in rows],
                f"every order of {ROWS} rows",
            ),
            derivation.cases(
                "sums over the rows of one target do not depend on the order",
                lambda: ((order, target) for order in orders for target in (0, 1)),
                lambda order, target: scattered(order, [3, 1, 4, 1], [0, 1, 0, 1], target) == [7, 2][target],
                f"every order of {ROWS} rows",
            ),
            derivation.lemma(
                "The same for all sizes and orders; two runs that agree on a row, or a target's rows, agree there.",
                "a permutation and its inverse cancel; a sum over a permutation is the sum",
                "rowwise_frame, grouped_frame, scattered_frame",
            ),
            derivation.cases(
                "with room for one row per group a later row takes the place of an earlier one",
                lambda: (((0, 1), (1, 0)),),
                lambda first, second: with_capacity(first, [1, 3], 1)[0] != with_capacity(second, [1, 3], 1)[0],
                "rows 1 and 3, sorted by two scores",
            ),
        ),
    )


def property_check(rng: random.Random) -> str:
    """Random rows and orders that depend on them: a row's result never depends on others; with little room it does."""
    count, leaks = 400, 0
    for _ in range(count):
        n = rng.randint(2, 8)
        rows = [rng.randint(-9, 9) for _ in range(n)]
        other = [rows[0], *(rng.randint(-9, 9) for _ in range(n - 1))]
        outputs, tight = [], []
        for run in (rows, other):
            order = sorted(range(n), key=_by_group(run, rng))
            outputs.append(framed(order, run)[0])
            tight.append(with_capacity(sorted(range(n), key=_by_score(run)), run, 1)[0])
        expect(outputs[0] == outputs[1], f"row 0 of {rows} and {other}: {outputs}")
        leaks += tight[0] != tight[1]
    expect(0 < leaks < count, f"{leaks} of {count} leak with room for one row")
    return f"{count} random sequences, sorted by group: no row depends on others; with room for one {leaks} do"


def _by_group(rows: Sequence[int], rng: random.Random) -> Any:
    return lambda i: (rows[i] % 2, rng.random())


def _by_score(rows: Sequence[int]) -> Any:
    return lambda i: -rows[i]


CLAIM = Claim(
    id="T25",
    title="Frames of reference",
    statement="Rows moved by any order, worked on by row, group or target, and moved back do not depend on the order.",
    latex=r"\pi^{-1}\,f(\pi X)=f(X)",
    source="ours",
    derive=derive,
    property=property_check,
    theorems=("rowwise_frame", "grouped_frame", "scattered_frame"),
    reading=(
        "The order may depend on all rows, as in a layer of experts; a capacity, or a function of the place after "
        "sorting, breaks it. Sums are exact in real numbers; in floats their order is that of the rows."
    ),
)
