"""What a verdict adds for the reader: what runs write, proofs about nothing, decoding, and what to try when open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..spans import shown
from ..verdict import Evidence, Status
from .decoding import decode
from .finding import Finding, Said
from .program import Program
from .proof import on_others, on_parameters
from .setting import ModelError
from .trace.records import BY_VALUES
from .witness import BEYOND_ROUNDING

if TYPE_CHECKING:
    from ..boundary import Boundary
    from .outputs import Outputs
    from .question import Question
    from .reach import Reach
    from .seen import Seen


def remarks(found: Finding) -> Said:
    """What a person should know besides the status."""
    question = found.question
    notes = _writes(question.seen) + _unchecked(question.outputs)
    if found.attempt is not None and found.status in (Status.PROVED, Status.PROVED_IF):
        notes += [f"no rule for {op}: counted as using all that it reads" for op in found.unknown]
        notes += vacuous(found.attempt.reach, question.boundary)
    said = Said(notes=tuple(notes))
    if question.runs and question.mode == "eval" and found.status is not Status.REFUTED:
        said += _decoded(question)
    return said


def _writes(seen: Seen) -> list[str]:
    """What a call writes into."""
    notes = [seen.unset] if seen.unset else []
    if seen.fixed_modes:
        names = _few(seen.fixed_modes)
        notes.append(f"the mode of {names} is built in (exported, traced or frozen): it ran as it was made")
    if seen.writes_input:
        which = ", ".join(map(str, seen.writes_input))
        notes.append(f"the model writes into its input {which}; every run got a copy")
    if seen.writes_state:
        names = _few(seen.writes_state)
        notes.append(f"a call changes the model's own {names}; every run started from the state as given")
    return notes


def _unchecked(outputs: Outputs) -> list[str]:
    """Which of the outputs nobody looked at."""
    if not outputs.unchecked:
        return []
    looked, others = (_few([f"output{path}" for path in paths]) for paths in (outputs.paths, outputs.unchecked))
    return [f"checked {'is' if len(outputs.paths) == 1 else 'are'} {looked}; not checked: {others}"]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def _decoded(question: Question) -> Said:
    """Decoding step by step against the full pass, for a model that keeps a cache."""
    program = question.program
    if not isinstance(program, Program):
        return Said()
    first = question.outputs.first
    full = question.outputs.rows[:, first.columns]
    try:
        found = decode(program.about([first.path]), full, question.setting, BEYOND_ROUNDING * 4 * question.seen.epsilon)
    except ModelError as error:
        return Said(notes=(str(error),))
    if found is None:
        return Said()
    evidence = Evidence("replay", found.first is None, found.describe())
    return Said(evidence=(evidence,), notes=() if found.first is None else (found.describe(),))


def vacuous(found: Reach, boundary: Boundary) -> list[str]:
    """Warnings about outputs that cannot see what they may: an over-masked model is causal and useless.

    >>> from attnproof import Boundary
    >>> from attnproof.causal.model.reach import Reach
    >>> earliest = latest = np.arange(3)
    >>> vacuous(Reach(earliest, latest, None), Boundary.prefix(3))
    ['warning: no output can depend on any position but its own, though the boundary allows the past']
    """
    if boundary.n < 2 or boundary.stands is None:
        return []
    stands = np.asarray(boundary.stands)
    some = found.latest >= 0
    if not some.any():
        return ["warning: no output can depend on the varied input at all"]
    may = np.array([bool(boundary.allowed_row(t)[: stands[t]].any()) for t in range(boundary.queries)])
    if not may.any():
        return []
    notes = []
    past = some & (found.earliest < stands)
    if not past[may].any():
        notes.append("warning: no output can depend on any position but its own, though the boundary allows the past")
    elif not past[may].all():
        blind = np.flatnonzero(may & ~past)
        notes.append(f"warning: outputs {shown(blind)} cannot depend on any earlier position")
    if boundary.horizon is not None and boundary.kind in ("prefix", "strict", "lagged"):
        lag = (boundary.horizon - found.latest)[some & (boundary.horizon >= 0)]
        if lag.size and lag.min() > 0:
            notes.append(f"warning: no output can depend on the last {int(lag.min())} positions that it may use")
    return notes


def reads_no_other(found: Finding) -> bool | None:
    """Whether a proof shows that no output depends on a position but its own, which over a batch proves nothing.

    None where that says nothing: a single position, no proof by a run, or a boundary that allows no other. A proof that
    rests on zeros, on finite masks or on other inputs knows of positions that are read but for those.
    """
    attempt, boundary = found.attempt, found.question.boundary
    if attempt is None or boundary.n < 2 or boundary.stands is None:
        return None
    stands = np.asarray(boundary.stands)
    if not any(boundary.allowed_row(t)[: stands[t]].any() for t in range(boundary.queries)):
        return None
    if attempt.masks or on_parameters(found.question, attempt) or on_others(found.question, attempt):
        return False
    earliest, latest = attempt.reach.earliest, attempt.reach.latest
    return bool(((latest < 0) | ((earliest == stands) & (latest == stands))).all())


EXPERTS = (
    "tokens are sorted or counted by expert in a way that is not followed back; where the library offers it, let each "
    "token gather its own experts' weights (transformers: experts_implementation='batched_mm') and check that"
)
NESTED = (
    "nested tensors pack the positions by a padding mask that depends on the input; build nn.TransformerEncoder with "
    "enable_nested_tensor=False"
)
CHOSEN = (
    "rows that a mask chooses are followed as long as each goes back where it came from and nothing asks how many "
    "there are; loop over every expert, without `if mask.any()` or `if rows.shape[0] == 0` around what it computes "
    "(transformers: experts_implementation='batched_mm'), and check that"
)
REMEDIES = {
    f"aten.nonzero {BY_VALUES}": CHOSEN,
    f"aten.index {BY_VALUES}": CHOSEN,
    f"aten.masked_select {BY_VALUES}": CHOSEN,
    "aten._grouped_mm": EXPERTS,
    "aten._nested_tensor_from_mask": NESTED,
    "aten._nested_tensor_from_mask_left_aligned": NESTED,
}


def remedies(operations: Iterable[str]) -> list[str]:
    """A sentence for each known way out, given the names of the operations that ran, and of those that were reads.

    >>> remedies(["aten.add", "aten._grouped_mm"])[0].split(";")[0]
    'tokens are sorted or counted by expert in a way that is not followed back'
    """
    return list(dict.fromkeys(REMEDIES[name] for name in operations if name in REMEDIES))
