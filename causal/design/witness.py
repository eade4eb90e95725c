"""The counterexample of a family: a member of concrete size that looks ahead, and its replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..verdict import Witness

__all__ = ["FamilyWitness"]


class FamilyWitness(Witness):
    """A member of the family, of concrete size, that looks ahead (or hides a position that `covers` claims to show).

    `support` (r, n) and `visible` (n, r) are the member's matrices; `projection` is the witness that `check_projection`
    found for them, None where completeness is what fails.
    """

    kind: ClassVar[str] = "family"

    def __init__(
        self,
        query: int,
        position: int,
        slot: int | None,
        n: int,
        parameters: Mapping[str, Any],
        support: np.ndarray,
        visible: np.ndarray,
        projection: Witness | None,
    ) -> None:
        self.query, self.position, self.slot, self.n = query, position, slot, n
        self.parameters = dict(parameters)
        self.support, self.visible, self.projection = np.array(support, bool), np.array(visible, bool), projection
        self.inputs = projection.inputs if projection is not None else (None, None)
        self.outputs = projection.outputs if projection is not None else (None, None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FamilyWitness) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def changes(self) -> list[tuple[str, str, str]]:
        """Those of the projection's witness."""
        return [] if self.projection is None else self.projection.changes()

    def replay(self) -> bool:
        """A leak: the projection's witness replays. A gap: the slot named does not show the position to the query."""
        if self.projection is not None:
            return self.projection.replay()
        r = len(self.support)
        named = self.slot is not None and 0 <= self.slot < r
        return not (named and self.visible[self.query, self.slot] and self.support[self.slot, self.position])

    def describe(self) -> str:
        """A sentence with the size, the pair and the values."""
        with_these = "".join(f", {name} = {value}" for name, value in self.parameters.items())
        where = f"at n = {self.n}{with_these}"
        if self.projection is None:
            seen = bool((self.visible[self.query] & self.support[:, self.position]).any())
            other = "another slot does" if seen else "no slot does"
            return f"{where}, slot {self.slot} does not show position {self.position} to query {self.query} ({other})"
        pair = f"slot {self.slot} shows position {self.position} to query {self.query}"
        return f"{where}, {pair}: {self.projection.describe()}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "kind": self.kind,
            "query": self.query,
            "position": self.position,
            "slot": self.slot,
            "n": self.n,
            "parameters": self.parameters,
            "support": self.support.astype(int).tolist(),
            "visible": self.visible.astype(int).tolist(),
            "projection": None if self.projection is None else self.projection.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FamilyWitness:
        """The witness that `to_dict` wrote."""
        projection = data["projection"] and Witness.from_dict(data["projection"])
        slots = len(data["support"])
        support = np.array(data["support"], bool).reshape(slots, data["n"])
        visible = np.array(data["visible"], bool).reshape(data["n"], slots)
        query, position, slot, n = (data[k] for k in ("query", "position", "slot", "n"))
        return cls(query, position, slot, n, data["parameters"], support, visible, projection)
