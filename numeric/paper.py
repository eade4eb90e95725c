"""The slots that the Linformer paper's own bound asks for, read at face value (THEORY, "The paper's own bounds").

The second theorem of Linformer (Wang et al., 2020) allows k = min{Θ(9 d log d / ε²), 5 Θ(log n / ε²)} slots for
relative error ε. The constants in Θ are hidden: with Θ = 1 and natural logarithms this is a reading, not a theorem.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Asked(NamedTuple):
    """`slots` by the smaller branch, `by` which one ("width" or "length"), and whether it is more than n."""

    slots: int
    by: str
    exceeds: bool


def slots_asked(n: int, d: int, epsilon: float) -> Asked:
    """Slots for n positions, width d and relative error ε > 0, face value. ValueError for sizes below 2 or ε ≤ 0.

    >>> slots_asked(512, 64, 0.25)
    Asked(slots=500, by='length', exceeds=False)
    >>> slots_asked(512, 64, 0.2).exceeds
    True
    """
    if n < 2 or d < 2 or not epsilon > 0:
        raise ValueError(f"n = {n}, d = {d}, epsilon = {epsilon} do not fit; choose n, d ≥ 2 and epsilon > 0")
    width, length = 9 * d * math.log(d) / epsilon**2, 5 * math.log(n) / epsilon**2
    slots = math.ceil(min(width, length))
    return Asked(slots, "width" if width < length else "length", slots > n)


def least_epsilon(n: int, d: int) -> float:
    """The ε below which the bound, at face value, asks for more slots than there are positions.

    >>> round(least_epsilon(512, 64), 3)
    0.247
    """
    slots_asked(n, d, 1.0)
    return math.sqrt(min(9 * d * math.log(d), 5 * math.log(n)) / n)
