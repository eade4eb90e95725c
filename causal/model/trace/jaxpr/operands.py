"""The operands of an equation: shadows beside what JAX knows of an array, and constants computed when asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from jax import numpy as jnp

from ..domain import BIG, BIG_MASK, FIXED, MASKED, NEGINF, PLAIN, VARIES, ZERO, Array, Shadow, compress

if TYPE_CHECKING:
    from ..ledger import Ledger

REAL, WHOLE, COMPLEX = "real", "whole", "complex"
Names = frozenset[str]
NOBODY: Names = frozenset()


def sort_of(dtype: Any) -> str:
    """What a number format holds: "real", "complex", or "whole" numbers (truth values and random keys among them)."""
    if jnp.issubdtype(dtype, np.complexfloating):
        return COMPLEX
    return REAL if jnp.issubdtype(dtype, np.floating) else WHOLE


class JaxOperand:
    """An array of the program (see `transfer.context.Operand`).

    `compute` gives its numbers where they are the same in every run. `sources` and `valued` are the parameters that
    its zeros, and its other constants, were made of; `signed`: a known zero in it may be −0 or +0; `scaled`: what its
    numbers that a mask lowered were multiplied by since, at the least (0 where nobody knows).
    """

    __slots__ = (
        "_compute", "_ledger", "_number", "dtype", "finite_masks", "scaled", "shadow", "shape", "signed", "sources",
        "valued",
    )  # fmt: skip

    def __init__(
        self,
        ledger: Ledger,
        finite_masks: bool,
        shadow: Shadow,
        dtype: Any,
        compute: Callable[[], Any] | None = None,
        sources: Names = NOBODY,
        valued: Names = NOBODY,
        signed: bool = False,
        scaled: float = 0.0,
    ) -> None:
        self._ledger, self.finite_masks = ledger, finite_masks
        self.scaled = scaled if scaled < 1 and (shadow.kind == MASKED).any() else 1.0
        self.shadow, self.shape, self.dtype = shadow, shadow.shape, dtype
        self.sources, self.valued, self.signed = sources, valued, signed and sort_of(dtype) != WHOLE
        self._compute, self._number = compute, None

    @property
    def is_constant(self) -> bool:
        """Whether all its numbers are the same in every run, and can be had."""
        return self._compute is not None

    def number(self) -> Any:
        """The numbers, as JAX has them."""
        assert self._compute is not None
        if self._number is None:
            self._number = self._compute()
        return self._number

    def array(self) -> Array:
        """The numbers, on the host."""
        return np.asarray(self.number())

    def known(self) -> Shadow:
        """The shadow with every constant looked at; constants among data, which nobody computed, are any numbers."""
        if (self.shadow.kind == FIXED).any():
            s = self.shadow
            if self._compute is None:
                kind = np.where(s.kind == FIXED, np.uint8(VARIES), s.kind)
            else:
                kind = compress(np.where(s.kind == FIXED, self._kinds(), s.kind))
            self.shadow = Shadow(s.shape, s.lo, s.hi, kind)
            if (kind >= NEGINF).any():
                self._ledger.values_of(self)
        return self.shadow

    def _kinds(self) -> Array:
        numbers = self.array()
        kinds = np.full(numbers.shape, PLAIN, np.uint8)
        kinds[numbers == 0] = ZERO
        if sort_of(self.dtype) == REAL:
            low = (numbers <= BIG_MASK) & (numbers > -np.inf)
            if self.finite_masks and low.any():
                kinds[low] = BIG
                self._ledger.mask_seen(float(numbers[low].max()))
            kinds[numbers == -np.inf] = NEGINF
        return kinds
