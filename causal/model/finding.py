"""What is known of one mode and length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..boundary import Boundary
from ..verdict import Condition, Evidence, Status
from .blame import Blame
from .program import Program, Seen
from .reach import Reach
from .witness import ModelWitness

if TYPE_CHECKING:
    from .trace.records import Operation, Trace


@dataclass(frozen=True)
class Attempt:
    """One abstract run under one policy: the trace, which output it is about, and what it left."""

    policy: dict[str, Any]
    trace: Trace
    output: int
    reach: Reach

    @property
    def closed(self) -> bool:
        """Whether it proves the boundary under its policy."""
        return self.reach.closed and self.trace.complete

    @property
    def masks(self) -> list[Any]:
        """The finite masks that it rests on (a denominator that is not 0 is an assumption, no condition)."""
        return [c for c in self.trace.conditions if c.kind == "finite-mask"]


@dataclass
class Finding:
    """What is known of one mode and length."""

    program: Program
    boundary: Boundary
    mode: str
    seen: Seen
    status: Status = Status.UNDECIDED
    evidence: list[Evidence] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    witness: ModelWitness | None = None
    attempt: Attempt | None = None
    blame: Blame | None = None
    probe: dict[str, Any] | None = None
    forwards: int = 0
    seconds: float = 0.0

    @property
    def starved(self) -> tuple[int, ...]:
        """Queries whose softmax sees nothing."""
        if self.attempt is None:
            return ()
        return tuple(sorted({row for _, row in self.attempt.trace.starved if row < self.boundary.queries}))


def worst(statuses: Sequence[Status]) -> Status:
    """The status that several findings together deserve."""
    order = (Status.REFUTED, Status.UNDECIDED, Status.PROVED_IF, Status.PROVED)
    return next(s for s in order if s in statuses)


def operations_named(finding: Finding) -> list[Operation]:
    """Operations without a rule in this finding."""
    return [] if finding.attempt is None else list(finding.attempt.trace.unknown)
