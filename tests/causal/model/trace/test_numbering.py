"""A run that serves as the first of its routes takes every outcome as it is."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.trace.memory import UNSEEN
from attnproof.causal.model.trace.numbering import Numbering, Table
from attnproof.causal.model.trace.records import Operation

READ = Operation("aten._local_scalar_dense", "", "model.py:1")


def numbering(number, outcomes, monkeypatch):
    found = Numbering(Table(), outcomes)
    monkeypatch.setattr(found, "of", lambda shadows, tensor: number)
    return found


@pytest.mark.parametrize("number", [UNSEEN, 3])
def test_what_is_read_is_what_is_there(number, monkeypatch):
    run = numbering(number, {}, monkeypatch)
    assert [run.read(None, None, value, READ) for value in (True, False, True)] == [True, False, True]


def test_a_number_that_has_two_values_is_lost(monkeypatch):
    run = numbering(3, {}, monkeypatch)
    run.read(None, None, True, READ)
    assert not run.lost
    run.read(None, None, False, READ)
    assert run.lost


def test_other_outcomes_are_taken_as_asked(monkeypatch):
    run = numbering(3, {3: False}, monkeypatch)
    assert [run.read(None, None, True, READ) for _ in range(2)] == [False, False]
    assert run.asked == {3: False}
    assert not run.lost
