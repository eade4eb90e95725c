"""Draws that use up random numbers as their values ask for: each element is drawn from a stream of its own."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from torch import nn
from torch.nn import functional as F

N = 6


DRAWS = {
    "rrelu": nn.RReLU(),
    "rrelu in place": lambda x: F.rrelu(x.clone(), training=True, inplace=True),
    "poisson": lambda x: torch.poisson(x.abs() * 5),
    "poisson from the end": lambda x: torch.poisson(x.flip(1).abs() * 5).flip(1),
    "binomial": lambda x: torch.binomial(torch.full_like(x, 50.0), x.sigmoid()),
    "gamma": lambda x: torch._standard_gamma(x.abs() + 1),
    "dirichlet": lambda x: torch._sample_dirichlet(x.abs() + 0.5),
    "a later draw": lambda x: x + 0 * torch.poisson(x.abs()).sum() + torch.rand(1, N, 2),
}


@pytest.mark.parametrize("name", DRAWS)
def test_each_element_is_drawn_from_a_stream_of_its_own(name):
    verdict = ap.check_model(DRAWS[name], torch.randn(1, N, 2), sequence_axis=1, modes=("train",))
    assert verdict.status.name == "PROVED", verdict
    assert any("has a stream of its own" in a for a in verdict.assumptions)
    assert all(e.ok is not False for e in verdict.evidence)


@pytest.mark.parametrize(
    "model",
    [
        lambda x: torch.poisson(x.flip(1).abs() * 5),
        lambda x: nn.RReLU()(x) + x.flip(1),
        lambda x: torch._sample_dirichlet((x.abs() + 0.5).mT.contiguous()).mT,
    ],
)
def test_a_leak_through_a_draw_is_found(model):
    verdict = ap.check_model(model, torch.randn(1, N, 2), modes=("train",))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


def test_a_draw_moves_with_its_own_rate():
    from attnproof.causal.model import draws

    rates = torch.full((4, 3), 5.0)
    with torch.random.fork_rng([]), draws.apart():
        torch.manual_seed(0)
        first = torch.poisson(rates)
        rates[0, 0] = 50.0
        torch.manual_seed(0)
        second = torch.poisson(rates)
    assert first[0, 0] != second[0, 0]
    assert torch.equal(first.reshape(-1)[1:], second.reshape(-1)[1:])
    assert len(first.unique()) > 2
