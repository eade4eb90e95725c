"""Lengths that a proof leaves out: whether the model takes them, and what it does there.

A record holds for a range of lengths, or for some remainders: Python branched on n, a table ends, blocks must fit. Most
models raise at the others. Where one does not, it may do something else there, so that some of these lengths are
checked one by one: a leak refutes, and what stays unknown is a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

from ...verdict import Condition, Status

if TYPE_CHECKING:
    from ...verdict import Verdict
    from .lengths import Lengths

MOST = 8  # lengths below and between those of the proof that are looked at
FARTHEST = 4096  # positions of an input that is made for this
RUNNING = 4  # lengths above the last one at which the model is checked, of those that it takes


@dataclass(frozen=True)
class Outside:
    """What the model does at lengths that the proof leaves out: a verdict that refutes it, or conditions."""

    refuted: Verdict | None = None
    conditions: tuple[Condition, ...] = ()


def outside(proved: Sequence[Sequence[Lengths]], said: str, at: Callable[[int], Verdict | None]) -> Outside:
    """Looks at lengths that are not `proved` in every mode; `at` gives the verdict at one, None where it raises."""

    def is_proved(n: int) -> bool:
        return all(any(r.holds(n) for r in ranges) for ranges in proved)

    every = [r for ranges in proved for r in ranges]
    start, period = max(r.smallest for r in every), lcm(*(r.block for r in every))
    last = min((r.most for r in every if r.most is not None), default=None)
    end = start + period if last is None else min(start + period, last + 1)
    left_out = [n for n in range(2, end) if not is_proved(n)]
    needed = len(left_out) > MOST
    for n in left_out[:MOST]:
        found = at(n)
        if found is not None and found.status is Status.REFUTED:
            return Outside(refuted=found)
        needed = needed or (found is not None and (n > start or not _holds(found)))
    above, raises = ([], True) if last is None else _above(last, every, at)
    refuted = next((v for v in above if v.status is Status.REFUTED), None)
    if refuted is not None or (raises and not needed):
        return Outside(refuted)
    return Outside(conditions=(Condition(f"the lengths of inputs are among those that were proved, {said}"),))


def _above(last: int, ranges: Sequence[Lengths], at: Callable[[int], Verdict | None]) -> tuple[list[Verdict], bool]:
    """What the model does at some lengths above the last one, and whether that is all, since it raises at the others.

    PyTorch tells a table's size less one, so that the next length may hold as well.
    """
    if last + 3 > FARTHEST:
        return [], False
    found: dict[int, Verdict] = {}
    for n in _farther(last, ranges):
        verdict = at(n)
        if verdict is not None:
            found[n] = verdict
            if verdict.status is Status.REFUTED or len(found) == RUNNING:
                break
    return list(found.values()), all(n == last + 1 and _holds(v) for n, v in found.items())


def _farther(last: int, ranges: Sequence[Lengths]) -> list[int]:
    """Lengths above the last one: the next, the next two with each remainder that was proved, and powers of two, for
    which programs are often made.
    """
    tried = [last + 2, last + 1, last + 3]
    for r in ranges:
        first = last + 1 + (r.residue - last - 1) % r.block
        tried += [first, first + r.block]
    power = 1 << last.bit_length()
    tried += [2 * last + 2, power, 2 * power, 4 * power]
    return [n for n in dict.fromkeys(tried) if n <= FARTHEST]


def _holds(verdict: Verdict) -> bool:
    return verdict.status in (Status.PROVED, Status.PROVED_IF)
