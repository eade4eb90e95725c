"""Every primitive against brute force: what moves with a position lies inside the interval, and kinds hold."""

from __future__ import annotations

from needs import need

need("jax")

import jax
import pytest
from attnproof.causal.model.trace.domain import Shadow
from attnproof.causal.model.trace.jaxpr import interpreter  # noqa: F401  (registers the rules)
from attnproof.causal.model.trace.jaxpr.registry import BINDINGS, Binding
from jaxpr_cases import CASES, X
from jaxpr_probe import wrong

try:
    from jax.extend.core import jaxprs_in_params
except ImportError:  # JAX before 0.10
    from jax.core import jaxprs_in_params

SINCE = {"stack": (0, 10), "unstack": (0, 10), "tile": (0, 9)}  # made of other primitives in releases of JAX before
RELEASE = tuple(map(int, jax.__version__.split(".")[:2]))
PAIRS = [(name, k) for name, cases in CASES.items() for k in range(len(cases))]


@pytest.mark.parametrize(("name", "k"), PAIRS)
def test_no_change_outside_the_interval_moves_an_element(name, k):
    assert wrong(CASES[name][k], X, draws=2) == ""


def names(jaxpr):
    inner = [j for e in jaxpr.eqns for j in jaxprs_in_params(e.params)]
    return {e.primitive.name for e in jaxpr.eqns}.union(*(names(getattr(j, "jaxpr", j)) for j in inner))


@pytest.mark.parametrize("name", CASES)
def test_the_programs_run_the_primitive_that_they_are_named_for(name):
    found = set().union(*(names(jax.make_jaxpr(f)(X).jaxpr) for f in CASES[name]))
    assert (name in found) == (SINCE.get(name, (0, 0)) <= RELEASE)


def test_every_primitive_with_a_rule_has_a_program():
    elsewhere = {"copy_p", "ragged_dot"}  # what other releases of JAX call copy and ragged_dot_general
    assert set(BINDINGS) - elsewhere == set(CASES)
    assert len(CASES) >= 120


@pytest.mark.parametrize("change", [{"lo": 1}, {"hi": -1}])
def test_the_probe_sees_an_interval_that_is_too_small(change, monkeypatch):
    honest = BINDINGS["dot_general"].rule

    def narrow(call):
        s = honest(call)
        return Shadow(s.shape, s.lo + change.get("lo", 0), s.hi + change.get("hi", 0), s.kind)

    monkeypatch.setitem(BINDINGS, "dot_general", Binding(rule=narrow))
    assert "moves with" in wrong(CASES["dot_general"][0], X)
