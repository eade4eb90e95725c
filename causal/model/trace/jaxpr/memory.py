"""What was found for equal equations: layers alike are gone through once.

A rule is a function of its equation's parameters, of its operands' shadows and types, and of the numbers of constants.
Equal shadows are told by their content (large ones by being the same), constants by being the same operand; two
constants that the same primitive makes of the same operands are one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..deferred import LARGE

if TYPE_CHECKING:
    from ..domain import Shadow
    from .calls import JaxCall
    from .operands import JaxOperand


class Memory:
    """Of one run: shadows by their content, and results of equations by what they were made of."""

    def __init__(self) -> None:
        self._shadows: dict[bytes, Shadow] = {}
        self._known: dict[int, Shadow] = {}  # by their addresses: those that stand for their content
        self._found: dict[Hashable, Any] = {}
        self._kept: list[Any] = []  # alive, since addresses are given away again

    def one(self, shadow: Shadow) -> Shadow:
        """The shadow that stands for all of the same content."""
        if id(shadow) in self._known:
            return shadow
        digest = hashlib.blake2b(repr(shadow.shape).encode(), digest_size=16)
        for part in (shadow.lo, shadow.hi, shadow.kind):
            digest.update(f"{part.shape}{part.dtype}".encode())
            if part.size < LARGE:
                digest.update(np.ascontiguousarray(part).data)
            else:  # put off, and the same one where it was found for an equal equation
                digest.update(f"at {id(part)}".encode())
                self._kept.append(part)
        found = self._shadows.setdefault(digest.digest(), shadow)
        self._known[id(found)] = found
        return found

    def constant(self, value: Any, dtype: Any, made: JaxOperand) -> JaxOperand:
        """The operand that stands for a number, or for the very array, of the program; `made` where there is none."""
        if getattr(value, "shape", ()):
            self._kept.append(value)
            key: Hashable = id(value)
        else:
            key = (str(dtype), np.asarray(value).tobytes()) if isinstance(dtype, np.dtype) else object()
        found: JaxOperand = self._found.setdefault(("constant", key), made)
        return found

    def key(self, call: JaxCall) -> Hashable:
        """What the results of an equation depend on; None where that cannot be told."""
        try:
            params = tuple(sorted(call.params.items(), key=lambda item: item[0]))
            hash(params)
        except TypeError:
            return None
        masks = call.run.ledger.weakest  # how far one may be scaled down
        dtypes = tuple(map(str, call.dtypes))
        return (call.name, params, tuple(call.shapes), dtypes, masks, *map(self._of, call.operands))

    def _of(self, operand: JaxOperand) -> Hashable:
        if operand.is_constant:
            self._kept.append(operand)
            return id(operand)
        shadow = operand.shadow = self.one(operand.shadow)
        return id(shadow), str(operand.dtype), operand.sources, operand.valued, operand.signed, operand.scaled

    def get(self, key: Hashable) -> Any:
        """What was found for an equal equation, or None."""
        return None if key is None else self._found.get(key)

    def put(self, key: Hashable, found: Any) -> None:
        """Keep what was found."""
        if key is not None:
            self._found[key] = found
