"""Columns of exact numbers as integers and as residues modulo primes, strip by strip."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .entries import Entries

STRIP = 1 << 20  # elements per strip of columns, so that memory does not grow with the number of positions


def per_strip(size: int, strips: int = 1) -> int:
    """How many things of `size` elements are taken at a time: what some strips hold, and at least one."""
    return max(1, strips * STRIP // max(1, size))


# -- columns of exact numbers -----------------------------------------------------------------------------------------


class Columns:
    """Rows `slots` of a projection as columns of integers, each column up to a positive factor of its own.

    The factor changes nothing in T11: it scales a key or a value. `bits` bounds every integer: |x| < 2^bits.
    """

    def __init__(self, entries: Entries, slots: np.ndarray) -> None:
        self.block = entries.block(slots)
        self.is_float = self.block.dtype != object
        if not self.is_float:
            self.block = _integers(self.block)

    @property
    def count(self) -> int:
        """How many columns there are."""
        return int(self.block.shape[1])

    def strips(self, order: np.ndarray) -> Iterator[np.ndarray]:
        """The columns of `order`, some at a time."""
        wide = per_strip(len(self.block))
        for start in range(0, len(order), wide):
            yield order[start : start + wide]

    @cached_property
    def bits(self) -> int:
        """The number of bits that the integers of a column need at most."""
        if not self.is_float:
            return max((abs(int(x)).bit_length() for x in self._distinct.ravel()), default=0)
        return int(self._extents[0].max(initial=0))

    @property
    def units(self) -> np.ndarray:
        """For floats the exponent of the power of two of which all entries of a column are multiples."""
        return self._extents[1]

    @cached_property
    def _extents(self) -> tuple[np.ndarray, np.ndarray]:
        """For floats how many bits each column needs, and the exponent of its last one; (0, 0) for a zero column."""
        needed, units = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        for columns in self.strips(np.arange(self.count)):
            mantissa, exponent = _split(self._distinct[:, columns])
            used = mantissa != 0
            ends = np.frexp((mantissa & -mantissa).astype(np.float64))[1] + exponent  # of the last bit
            low = np.where(used, ends - 1, 1 << 20).min(axis=0, initial=1 << 20)
            top = np.where(used, exponent + 53, -(1 << 20)).max(axis=0, initial=-(1 << 20))  # a mantissa has 53 bits
            some = used.any(axis=0)
            needed[columns], units[columns] = np.where(some, top - low, 0), np.where(some, low, 0)
        return needed, units

    def residues(self, p: int, columns: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """The chosen columns modulo a prime p < 2³¹, int64 (rows, columns); floats have residues, 2 being a unit."""
        part = self.block[:, columns] if rows is None else self.block[np.ix_(rows, columns)]
        if not self.is_float:
            return np.array([int(x) % p for x in part.ravel()], np.int64).reshape(part.shape)
        if self.bits <= 53:  # each column a whole number of its own unit, which floats and int64 hold
            return modulo(np.ldexp(part.astype(np.float64), -self.units[columns]).astype(np.int64), p)
        mantissa, exponent = _split(part)
        least, most = (int(exponent.min()), int(exponent.max())) if exponent.size else (0, 0)
        powers = np.array([pow(2, e, p) for e in range(least, most + 1)], np.int64)
        return modulo(modulo(mantissa, p) * powers[exponent - least], p)

    @cached_property
    def kinds(self) -> tuple[np.ndarray, np.ndarray]:
        """The first row of each kind of equal rows, and the kind of each row, (k,)."""
        labels = row_labels(self.block, None)
        return np.unique(labels, return_index=True)[1], labels

    @cached_property
    def _distinct(self) -> np.ndarray:
        """The block without rows that repeat others, which say nothing new of a column."""
        return self.block if len(self.kinds[0]) == len(self.block) else self.block[self.kinds[0]]

    @cached_property
    def constant(self) -> np.ndarray:
        """Which columns are the same in all rows."""
        return self._all_equal(self._distinct[:1])

    @cached_property
    def zero(self) -> np.ndarray:
        """Which columns are zero."""
        return self._all_equal(np.zeros((1, self.count), np.int64))

    def _all_equal(self, row: np.ndarray) -> np.ndarray:
        """Which columns equal those of `row` (1, n) throughout; most are told from the first few rows."""
        left, start, size = np.arange(self.count), 0, 1
        while start < len(self._distinct) and len(left):
            part = self._distinct[start : start + size]
            alike = part == row if len(left) == self.count else part[:, left] == row[:, left]
            left = left[np.asarray(alike, bool).all(axis=0)]
            start, size = start + size, min(2 * size, per_strip(len(left)))
        found = np.zeros(self.count, bool)
        found[left] = True
        return found

    def row_labels(self, bias: np.ndarray | None) -> np.ndarray:
        """Equal numbers for slots with equal rows and equal bias, (k,)."""
        return self.kinds[1] if bias is None else row_labels(self.block, bias)


def row_labels(block: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """Equal numbers for equal rows of `block` with equal bias, by comparison with one row of each kind seen so far."""
    seen: dict[Any, list[tuple[int, int]]] = {}  # by the first few columns: (row, label)
    labels: list[int] = []
    for s, row in enumerate(block):
        key = (*row[:32].tolist(), None if bias is None else float(bias[s]))
        alike = seen.setdefault(key, [])
        label = next((label for u, label in alike if bool(np.all(block[u] == row))), None)
        if label is None:
            label = max(labels, default=-1) + 1
            alike.append((s, label))
        labels.append(label)
    return np.array(labels, np.int64)


def modulo(x: np.ndarray, p: int) -> np.ndarray:
    """`x % p` of int64, in a fraction of the time: NumPy divides by a fixed number without dividing.

    >>> modulo(np.array([-1, 7]), 5).tolist()
    [4, 2]
    """
    whole = x // p
    whole *= p
    return np.asarray(np.subtract(x, whole, out=whole))


def _split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Floats as mantissa · 2^exponent with whole mantissas, exactly."""
    fraction, exponent = np.frexp(x.astype(np.float64))
    return (fraction * 2.0**53).astype(np.int64), exponent.astype(np.int64) - 53


def _integers(block: np.ndarray) -> np.ndarray:
    whole = np.empty(block.shape, object)
    for j in range(block.shape[1]):
        factor = lcm(*(int(x.denominator) for x in block[:, j])) if len(block) else 1
        whole[:, j] = [int(x * factor) for x in block[:, j]]
    return whole


def primes() -> Iterator[int]:
    """The primes below 2³¹, largest first.

    >>> next(primes()) == 2**31 - 1
    True
    """
    candidate = 2**31 - 1
    while True:
        if _is_prime(candidate):
            yield candidate
        candidate -= 2


def _is_prime(m: int) -> bool:
    """Miller–Rabin with bases 2, 7, 61, which decide every odd number from 63 to 4,759,123,140 (Jaeschke, 1993)."""
    d, twos = m - 1, 0
    while d % 2 == 0:
        d, twos = d // 2, twos + 1
    for base in (2, 7, 61):
        x = pow(base, d, m)
        if x in (1, m - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % m
            if x == m - 1:
                break
        else:
            return False
    return True


def enough_primes(bits: int) -> Iterator[int]:
    """Primes whose product exceeds 2^bits: an integer below that in size is 0 iff it is 0 modulo all of them."""
    product = 1
    for p in primes():
        if product.bit_length() > bits + 1:
            return
        yield p
        product *= p
