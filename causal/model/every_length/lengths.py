"""Which lengths one recorded program stands for: every n from some one on, or those with the same remainder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .integers import solver

if TYPE_CHECKING:
    from .integers import Term, Truth

LEAST = (1, 2, 4, 8, 16, 32, 64)  # that a program may assume of its lengths
MOST_BLOCK = 128
MOST_RESIDUES = 16  # of a block, that are all proved


@dataclass(frozen=True)
class Lengths:
    """n = block · m + residue with m ≥ `least`, and n ≤ `most`; of a block of 1, m is n itself."""

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

    def of(self, variable: Term) -> Term:
        """n, as a term."""
        return solver.simplify(variable * self.block + self.residue)

    def premises(self, variable: Term) -> list[Truth]:
        """What is true of the variable."""
        return [variable >= self.least] + ([] if self.most is None else [self.of(variable) <= self.most])

    def describe(self) -> str:
        """'every n ≥ 4', or 'every n = 4·m + 1 ≥ 5'."""
        form = "" if self.block == 1 else f" = {self.block}·m" + (f" + {self.residue}" if self.residue else "")
        most = "" if self.most is None else f" and n ≤ {self.most}"
        return f"every n{form} ≥ {self.smallest}{most}"


def residues(block: int, n: int) -> list[Lengths]:
    """The remainders of a block, that of n first; only that one where they are many."""
    own = n % block
    every = [own, *(r for r in range(block) if r != own)] if block <= MOST_RESIDUES else [own]
    return [Lengths(block, r) for r in every]
