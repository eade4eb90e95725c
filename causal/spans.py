"""Ascending whole numbers held as runs: a million starved queries take no more memory than one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np


class Runs(Sequence[int]):
    """An immutable ascending sequence of whole numbers, equal to any tuple, list or range of the same numbers.

    >>> some = Runs.of([0, 1, 2, 7])
    >>> some.runs, len(some), some[-1], 3 in some, some == (0, 1, 2, 7)
    (((0, 3), (7, 8)), 4, 7, False, True)
    """

    def __init__(self, runs: Iterable[tuple[int, int]]) -> None:
        self.runs: tuple[tuple[int, int], ...] = tuple((int(first), int(past)) for first, past in runs)
        self._starts = [0]
        for first, past in self.runs:
            self._starts.append(self._starts[-1] + past - first)

    @classmethod
    def of(cls, numbers: Any) -> Runs:
        """From ascending numbers, an array or any iterable of them."""
        array = np.asarray(numbers if isinstance(numbers, np.ndarray) else list(numbers), np.int64)
        if not array.size:
            return cls(())
        if array[-1] - array[0] == array.size - 1:
            return cls([(int(array[0]), int(array[-1]) + 1)])
        breaks = np.flatnonzero(np.diff(array) != 1)
        firsts, lasts = array[np.append(0, breaks + 1)], array[np.append(breaks, array.size - 1)]
        return cls(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        k = index + len(self) if index < 0 else index
        if not 0 <= k < len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} numbers")
        run = bisect_right(self._starts, k) - 1
        return self.runs[run][0] + k - self._starts[run]

    def __iter__(self) -> Iterator[int]:
        for first, past in self.runs:
            yield from range(first, past)

    def __contains__(self, number: object) -> bool:
        return any(first <= number < past for first, past in self.runs)  # type: ignore[operator]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Runs):
            return self.runs == other.runs
        if isinstance(other, (tuple, list, range)):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self)) if len(self) < 1000 else hash(self.runs)

    def __repr__(self) -> str:
        return repr(tuple(self)) if len(self) <= 16 else f"Runs({self.runs!r})"


def spans_of(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Ascending whole numbers as runs (first, past the last).

    >>> spans_of([0, 1, 2, 7])
    ((0, 3), (7, 8))
    """
    return (numbers if isinstance(numbers, Runs) else Runs.of(numbers)).runs


def shown(numbers: Iterable[int], most: int = 6) -> str:
    """Ascending whole numbers in words.

    >>> shown([0, 1, 2, 3, 7])
    '0–3, 7'
    """
    runs = spans_of(numbers)
    words = [str(a) if past == a + 1 else f"{a}–{past - 1}" for a, past in runs[:most]]
    return ", ".join([*words, f"… ({len(runs)} runs)"] if len(runs) > most else words)
