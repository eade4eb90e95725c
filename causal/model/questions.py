"""The questions that a check of a PyTorch model asks: one for each length and mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from .arguments import (
    axis_of_positions,
    cut_or_repeated,
    inputs_of_lengths,
    length_as_asked,
    made_for_training,
    resolved_boundary,
    resolved_vocabulary,
    subject_of,
)
from .dense import is_alone
from .outputs import choose
from .program import Program
from .question import Question
from .setting import Setting, need_torch
from .vocabulary import inferred

if TYPE_CHECKING:
    from .asked import Asked


def questions(asked: Asked) -> Iterator[Question]:
    """One question after the other, the models that they are about having been run once."""
    need_torch()
    axis = axis_of_positions(asked.model, asked.sequence_axis)
    resized = partial(cut_or_repeated, asked.inputs, asked.vary, axis)
    for n, given in inputs_of_lengths(asked.inputs, asked.lengths, asked.make_input, resized):
        subject = subject_of(asked.model, given, asked.vary, axis, asked.output_axis)
        length_as_asked(subject, n, asked.boundary, asked.lengths)
        for mode in asked.modes:
            program = Program.of(subject)
            made_for_training(program.modules)
            program, seen = program.acquainted(mode, asked.rules, asked.replay)
            about = resolved_boundary(asked.boundary, program.n)
            shorter = partial(program.one_shorter, mode, seen.ran)
            which = choose(
                seen.result, subject.output_axis, about, asked.boundary is not None, asked.outputs, shorter, seen.ran
            )
            setting, seen = Setting(mode=mode, apart=seen.apart), replace(seen, result=None)
            if seen.lent or (seen.ran and not is_alone(which.rows)):  # what was put back, or the next run may write
                which = replace(which, rows=program.about(which.paths).run(program.input, setting))
            told = partial(inferred, program, setting, seen.tables)
            bound = resolved_vocabulary(subject, asked.vocabulary, lambda x: int(x.long().max()), told)
            program = program.about(which.paths)
            yield Question(
                program,
                about,
                seen,
                which,
                mode,
                bound,
                asked.parameters,
                asked.rules,
                asked.limits,
                asked.replay,
                asked.unused,
            )
