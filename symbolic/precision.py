"""FLINT's working precision, set for a block and put back, in a way that threads do not disturb.

FLINT keeps one precision per process. `precision` sets it under one lock for the whole package, so blocks in two
threads wait for each other. The precision decides only how narrow an enclosure is, never whether it holds: code
elsewhere that changes it can cost width, not truth.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flint import ctx

_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Ball arithmetic at `bits` bits inside the block, in this thread alone; the former precision returns afterwards.

    Raises ValueError for fewer than 2 bits or what is no whole number.

    >>> from flint import arb
    >>> with precision(200):
    ...     third = arb(1) / 3
    >>> third.rel_accuracy_bits() > 190
    True
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or bits < 2:
        raise ValueError(f"bits = {bits!r} is no precision; pass a whole number of at least 2")
    with _LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before
