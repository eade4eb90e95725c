"""Every primitive against brute force: what moves with a position lies inside the interval, and kinds hold."""

from __future__ import annotations

from needs import need

need("jax")

import jax
import pytest
from attnproof.causal.model.trace.jaxpr import interpreter  # noqa: F401  (registers the rules)
from attnproof.causal.model.trace.jaxpr.registry import BINDINGS
from jaxpr_cases import CASES, X
from jaxpr_probe import claimed, wrong

PAIRS = [(name, k) for name, cases in CASES.items() for k in range(len(cases))]


@pytest.mark.parametrize(("name", "k"), PAIRS)
def test_no_change_outside_the_interval_moves_an_element(name, k):
    assert wrong(CASES[name][k], X, draws=3) == ""


def test_the_programs_run_the_primitives_that_they_are_named_for():
    missing = {}
    for name, cases in CASES.items():
        counts = [claimed(f, X).operations for f in cases]
        text = "".join(str(jax.make_jaxpr(f)(X)) for f in cases)
        if not any(name in c for c in counts) and name not in text:
            missing[name] = sorted({k for c in counts for k in c})
    assert missing == {}
    assert sum(bool(cases) for cases in CASES.values()) >= 120
    print(sorted(set(BINDINGS) - set(CASES)))
