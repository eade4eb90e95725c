"""Which lengths one recorded program stands for: every n from some one on, or those with the same remainder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
from jax import export

from ..trace.jaxpr.frontend import bodies
from .integers import NotLinear

if TYPE_CHECKING:
    from ..jax.program import JaxProgram

LEAST = (1, 2, 4, 8, 16, 32, 64)  # that a program may assume of its lengths
MOST_BLOCK = 128
MOST_RESIDUES = 16  # of a block, that are all proved


@dataclass(frozen=True)
class Lengths:
    """n = block · m + residue with m ≥ `least`; of a block of 1, n itself, up to `most`."""

    block: int = 1
    residue: int = 0
    least: int = 1
    most: int | None = None

    @property
    def variable(self) -> str:
        """The name of what runs."""
        return "n" if self.block == 1 else "m"

    @property
    def smallest(self) -> int:
        """The smallest n."""
        return self.block * self.least + self.residue

    def holds(self, n: int) -> bool:
        """Whether n is one of them."""
        return n >= self.smallest and n % self.block == self.residue and (self.most is None or n <= self.most)

    def symbol(self) -> Any:
        """n as JAX writes it."""
        v = self.variable
        text = v if self.block == 1 else f"{self.block}*{v}" + (f" + {self.residue}" if self.residue else "")
        limits = [f"{v} >= {self.least}"] + ([] if self.most is None else [f"{v} <= {self.most}"])
        return export.symbolic_shape(text, constraints=limits)[0]

    def describe(self) -> str:
        """'every n ≥ 4', or 'every n = 4·m + 1 ≥ 5'."""
        form = "" if self.block == 1 else f" = {self.block}·m" + (f" + {self.residue}" if self.residue else "")
        most = "" if self.most is None else f" and n ≤ {self.most}"
        return f"every n{form} ≥ {self.smallest}{most}"


def whole_ranges(program: JaxProgram) -> Iterator[Lengths]:
    """All lengths from some one on, the fewest assumptions first; up to the size of a table, if it must be."""
    n = program.n
    for least in LEAST:
        if least <= n:
            yield Lengths(least=least)
    sizes = {d for g in program.recording.given if g.role == "parameter" for d in g.value.shape if d >= n}
    for least in (1, 2, 8):
        for size in sorted(sizes):
            if least <= n:
                yield Lengths(least=least, most=size)


def blocks(program: JaxProgram) -> list[int]:
    """The sizes of blocks that the program may cut its positions into."""
    found: set[int] = set()
    _reshapes(program.recording.program.jaxpr, found)
    return sorted(b for b in found if 2 <= b <= MOST_BLOCK)


def _reshapes(jaxpr: Any, found: set[int]) -> None:
    for e in jaxpr.eqns:
        if e.primitive.name in ("reshape", "broadcast_in_dim", "split"):
            before = set(e.invars[0].aval.shape) if e.invars and hasattr(e.invars[0].aval, "shape") else set()
            found |= set(e.outvars[0].aval.shape) - before
        for inner in bodies(e.params):
            _reshapes(getattr(inner, "jaxpr", inner), found)


def residues(block: int, n: int) -> list[Lengths]:
    """The remainders of a block, that of n first; only that one where they are many."""
    own = n % block
    every = [own, *(r for r in range(block) if r != own)] if block <= MOST_RESIDUES else [own]
    return [Lengths(block, r) for r in every]


def sized(inputs: Any, other: Any, n: int, more: int, symbol: Any) -> Any:
    """The inputs as shapes in which what grows with n is a symbol, given the same for `more` positions.

    NotLinear where a size grows with n otherwise.
    """

    def one(x: Any, y: Any) -> Any:
        if not hasattr(x, "shape"):
            return x
        shape = []
        for a, b in zip(x.shape, y.shape, strict=True):
            if (a, b) == (n, more):
                shape.append(symbol)
            elif a == b:
                shape.append(a)
            else:
                raise NotLinear(f"an input of shape {tuple(x.shape)} for n = {n} has shape {tuple(y.shape)} for {more}")
        return jax.ShapeDtypeStruct(tuple(shape), x.dtype)

    return jax.tree.map(one, inputs, other)
