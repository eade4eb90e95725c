"""`torch`'s scan: step by step, by the same induction as JAX's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..control import stepped
from ..primitives import primitive

if TYPE_CHECKING:
    from ..equation import Equation
    from ..shadow import LengthShadow


@dataclass(frozen=True)
class Step:
    """One step as a graph: it takes what is carried, a row of each array, and what stays as it is."""

    graph: Any
    carried: int
    rows: int

    def ordered(self, given: Sequence[LengthShadow]) -> list[LengthShadow]:
        """Operands in the graph's order, of those that stand as JAX has them: what stays as it is first."""
        held = len(given) - self.carried - self.rows
        return [*given[held:], *given[:held]]


@primitive("aten.scan")
def scan(e: Equation) -> list[LengthShadow]:
    """Step by step where they are few; else what is carried before step k keeps to a guess in k."""
    step: Step = e.params["jaxpr"]
    held = len(e.operands) - step.carried - step.rows
    return stepped(e, held, step.carried, e.operands[held + step.carried].shape[0], False)
