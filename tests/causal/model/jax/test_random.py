"""Random programs for JAX against brute force: no element moves with a position outside its interval."""

from __future__ import annotations

from needs import need

need("jax")

import pytest
from attnproof.causal.model.trace.domain import full
from jaxpr_probe import claimed, wrong
from jaxpr_programs import program


@pytest.mark.parametrize("seed", range(60))
def test_no_change_outside_the_interval_moves_an_element(seed):
    assert wrong(*program(seed), draws=2) == ""


def test_the_programs_are_no_trivial_ones():
    """Some of their elements reach no position, some a few, some all."""
    widths = set()
    for seed in range(20):
        f, x = program(seed)
        for output in claimed(f, x).outputs:
            lo, hi, _ = full(output.shadow)
            widths |= set((hi - lo + 1).clip(0).reshape(-1).tolist())
    assert widths >= {0, 1, 2, 3, 4, 5}
