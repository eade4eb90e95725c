"""Fresh tensors: what they depend on, and what the run is told."""

from __future__ import annotations

import numpy as np
from attnproof.causal.model.trace.domain import FIXED, NONE_HI, PLAIN, VARIES, ZERO, Shadow, full, ranked, uniform
from attnproof.causal.model.trace.transfer import creation
from shadow_probe import Run, constant

S = ranked((6, 4), 0, np.arange(6))


def test_numbers_between_ends_depend_on_the_ends():
    assert creation.constant((3,), []).is_fixed
    assert creation.constant((3,), [uniform((), FIXED)]).is_fixed
    s = creation.constant((3,), [ranked((1,), 0, np.array([2])), uniform((), FIXED)])
    assert s.along(0)[1].tolist() == [2, 2, 2]
    assert (s.kind == VARIES).all()


def test_one_number_throughout():
    assert (full(creation.filled((2, 3), constant(0.0).known()))[2] == ZERO).all()
    s = creation.filled((2, 3), uniform((), VARIES, 4, 4))
    assert s.along(0)[0].tolist() == [4, 4]


def test_memory_that_nobody_has_written_may_depend_on_everything():
    s = creation.unwritten(Run(last=7), (2, 3))
    assert (full(s)[0] == 0).all()
    assert (full(s)[1] == 7).all()
    assert creation.unwritten(Run(), (0, 3)).is_fixed


def test_draws_depend_on_their_distribution_element_by_element():
    run = Run()
    assert not creation.drawn(run, (6, 4)).depends
    assert (creation.drawn(run, (6, 4), [S], steered=True).hi[:, 0] == np.arange(6)).all()
    assert (creation.drawn(run, (6, 4)).kind == VARIES).all()
    assert run.told == ["noise", "steered noise", "noise"]


def test_a_row_that_is_drawn_as_one_depends_on_all_of_it():
    run = Run()
    rows = creation.drawn_by_rows(run, (6, 9), S)
    assert (full(rows)[1] == np.arange(6)[:, None]).all()
    columns = creation.drawn_by_rows(run, (4, 6), ranked((4, 6), 1, np.arange(6)), steered=True)
    assert (full(columns)[0] == 0).all()
    assert (full(columns)[1] == 5).all()
    assert run.told == ["noise", "steered noise"]


def test_dropout_keeps_zeros_and_its_mask_depends_on_nothing():
    run = Run()
    kind = np.where(np.eye(6, 4), ZERO, PLAIN).astype(np.uint8)
    x = Shadow((6, 4), np.asarray(S.lo), np.asarray(S.hi), kind)
    out, mask = creation.dropout(run, x)
    assert (full(out)[2] == np.where(np.eye(6, 4), ZERO, VARIES)).all()
    assert (full(out)[1] == np.arange(6)[:, None]).all()
    assert (full(mask)[1] == NONE_HI).all()
    assert (mask.kind == VARIES).all()
    assert run.told == ["noise"]
