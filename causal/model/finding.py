"""What each stage says, and what is found in the end of one mode and length: frozen parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..verdict import Condition, Evidence, Status

if TYPE_CHECKING:
    from .blame import Blame
    from .proof import Attempt
    from .question import Question
    from .trace.records import Operation
    from .witness import ModelWitness


@dataclass(frozen=True)
class Said:
    """What one stage adds to a finding; stages are laid side by side with `+`."""

    evidence: tuple[Evidence, ...] = ()
    assumptions: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    forwards: int = 0

    def __add__(self, other: Said) -> Said:
        return Said(
            self.evidence + other.evidence,
            self.assumptions + other.assumptions,
            self.conditions + other.conditions,
            self.reasons + other.reasons,
            self.notes + other.notes,
            self.forwards + other.forwards,
        )


@dataclass(frozen=True)
class Finding:
    """The answer to one question, and how it came about; `output` is the path of the one that does or may leak,
    `unused` (where asked for) the pairs of an output and an allowed position that no run showed it to use.
    """

    question: Question
    status: Status
    said: Said
    attempt: Attempt | None = None
    witness: ModelWitness | None = None
    blame: Blame | None = None
    output: str | None = None
    probe: Mapping[str, Any] | None = None
    unused: Sequence[Sequence[int]] | None = None
    seconds: float = 0.0

    @property
    def starved(self) -> tuple[int, ...]:
        """Queries whose softmax sees nothing."""
        if self.attempt is None:
            return ()
        queries = self.question.boundary.queries
        return tuple(sorted({row for _, row in self.attempt.trace.starved if row < queries}))

    @property
    def unknown(self) -> tuple[Operation, ...]:
        """Operations without a rule."""
        return () if self.attempt is None else self.attempt.trace.unknown


def worst(statuses: Sequence[Status]) -> Status:
    """The status that several findings together deserve."""
    order = (Status.REFUTED, Status.UNDECIDED, Status.PROVED_IF, Status.PROVED)
    return next(s for s in order if s in statuses)
