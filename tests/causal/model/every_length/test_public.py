"""Published architectures in JAX: proved for every length, and their leaking twins refuted."""

from __future__ import annotations

from needs import need

need("jax")
need("flax")
need("equinox")
need("z3")
need("cvc5")

import attnproof as ap
import pytest
from length_models import given
from length_public import PUBLIC

FINITE = {"GPT-2", "Llama", "Gemma 2", "T5's decoder", "MPT"}  # masks of large finite numbers


@pytest.mark.parametrize("name", PUBLIC)
def test_proved_for_every_length(name):
    verdict = ap.check_model(PUBLIC[name](False), given("full"), sequence_axis=1, lengths="all", replay="never")
    assert verdict.status.name == ("PROVED_IF" if name in FINITE else "PROVED"), verdict.reasons
    assert verdict.about.endswith("every n ≥ 1"), verdict.about


@pytest.mark.parametrize("name", PUBLIC)
def test_a_leaking_twin_is_refuted(name):
    verdict = ap.check_model(PUBLIC[name](True), given("full"), sequence_axis=1, lengths="all", tries=30)
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
