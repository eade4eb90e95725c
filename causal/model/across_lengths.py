"""Does an output depend on how long the sequence is? The same prefix, run at two lengths.

A model may be causal at each length and still give another output at a position once more positions follow: a rotary
base that grows with the length, positions counted from the end, a sum divided by n. No boundary forbids that, since no
value is read; who trains at one length and decodes at another wants to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..verdict import Status
from .setting import ModelError
from .witness import BEYOND_ROUNDING

if TYPE_CHECKING:
    from .finding import Finding
    from .outputs import Checked
    from .question import Question


def by_length(findings: Sequence[Finding]) -> Iterator[str]:
    """A note for each mode in which the prefix of a longer input gives other outputs when it is run alone."""
    for mode in dict.fromkeys(f.question.mode for f in findings):
        some = [f for f in findings if f.question.mode == mode and f.status is not Status.REFUTED]
        questions = sorted((f.question for f in some if _comparable(f.question)), key=lambda q: q.program.n)
        for longer in questions[1:]:
            if said := _differs(questions[0], longer):
                yield said


def _comparable(question: Question) -> bool:
    """Whether position t of the output is about position t of the input, and the same in every run."""
    about = question.boundary
    chain = about.kind in ("prefix", "strict", "lagged") and about.queries == about.n
    return chain and question.runs and not question.seen.random


def _differs(short: Question, longer: Question) -> str:
    """What to say where the outputs differ on the same prefix; "" where they do not, or cannot be compared."""
    n, m = short.program.n, longer.program.n
    variation, axis = longer.program.variation, longer.program.subject.sequence_axis
    x = np.take(variation.host(longer.program.input), range(n), axis)
    cut = short.program.variation.back(x, short.program.input, variation.type_of(longer.program.input), short.setting)
    pairs = [(a, b) for a in short.outputs.checked for b in longer.outputs.checked if a.path == b.path and _alike(a, b)]
    if n == m or not pairs:
        return ""
    try:
        alone = short.program.numbers(cut, short.setting).astype(np.float64)
    except ModelError:
        return ""
    within = variation.host(longer.outputs.rows)[:n].astype(np.float64)
    worst = 0.0
    for a, b in pairs:
        before, after = alone[:, a.columns], within[:, b.columns]
        both = np.isfinite(before) & np.isfinite(after)
        largest = float(np.abs(before[both]).max(initial=0.0))
        gap = float(np.abs(before - after)[both].max(initial=0.0))
        if gap > BEYOND_ROUNDING * 4 * short.seen.epsilon * max(largest, 1e-30):
            worst = max(worst, gap)
    if not worst:
        return ""
    return (
        f"{short.mode} mode: outputs at the first {n} positions differ between n = {n} and n = {m} on the same prefix, "
        f"by up to {worst:.2g}: they depend on the length (as by a rotary base that grows with it, or positions "
        "counted from the end)"
    )


def _alike(a: Checked, b: Checked) -> bool:
    """Whether both have as many numbers at each position."""
    return bool(a.columns.stop - a.columns.start == b.columns.stop - b.columns.start)
