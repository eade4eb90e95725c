"""Lengths that a proof leaves out are tried where a model is likely to take them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from attnproof.causal.model.every_length.lengths import Lengths
from attnproof.causal.model.every_length.outside import outside
from attnproof.causal.verdict import Status


@pytest.mark.parametrize(
    ("ranges", "taken", "refuted"),
    [
        ([Lengths(3, 0, 2, 12)], lambda n: n % 3 == 0, True),  # blocks of three
        ([Lengths(5, 1, 2, 16)], lambda n: n % 5 == 1, True),
        ([Lengths(least=2, most=16)], lambda n: n in (32, 64, 128), True),  # programs for powers of two
        ([Lengths(least=2, most=16)], lambda n: n == 18, True),
        ([Lengths(least=2, most=16)], lambda n: False, False),
        ([Lengths(3, 0, 2, 12)], lambda n: False, False),
    ],
)
def test_a_leak_above_a_proof_is_found_where_the_model_takes_few_lengths(ranges, taken, refuted):
    last = ranges[0].most

    def at(n):
        return SimpleNamespace(status=Status.REFUTED) if n > last and taken(n) else None

    found = outside([ranges], "some", at)
    assert (found.refuted is not None) is refuted
    assert not found.conditions


def test_a_range_that_ends_where_the_model_does_not_is_a_condition():
    def at(n):
        return SimpleNamespace(status=Status.PROVED) if n % 3 == 0 else None

    assert outside([[Lengths(3, 0, 2, 12)]], "some", at).conditions
