# ruff: noqa: E501 - tables of calls
"""Constants, fresh memory, random draws."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
import torch.nn.functional as F
from attnproof.causal import trace
from tensor_probe import check, claimed, normal

X = normal(6, 4)
CASES = {
    "constants": lambda x: [
        x + torch.arange(4), x + torch.linspace(0, 1, 4), x[:, :4] @ torch.eye(4, dtype=x.dtype), x + torch.full((4,), 2.0), x * torch.zeros_like(x) + 1,
        x + torch.ones_like(x), x + x.new_zeros(4), x + x.new_ones(4), x + x.new_full((4,), 3.0), x + torch.full_like(x, 2.0), x + torch.logspace(0, 1, 4),
        x + torch.hann_window(4), x + torch.hamming_window(4), x + torch.bartlett_window(4), x + torch.blackman_window(4), x + torch.kaiser_window(4),
        x[:, 0] + torch.tril_indices(3, 3)[0], x[:, 0] + torch.triu_indices(3, 3)[1], x + torch.fft.fftfreq(4), x[:, :3] + torch.fft.rfftfreq(4), x + torch.range(0, 3),
        x + torch.ops.aten._efficientzerotensor([6, 4], dtype=torch.float64),
    ],
    "shapes only": lambda x: [torch.zeros_like(x), torch.ones_like(x[:2]), x.clone().zero_(), x.clone().fill_(2.0), x.new_zeros(x.shape)],
    "fill by data": lambda x: [torch.zeros(3, dtype=x.dtype).fill_(x[2, 1]), torch.ops.aten.fill(torch.zeros(2, dtype=x.dtype), x[1, 0])],
}  # fmt: skip
LOOSE = {"constants", "shapes only"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


def seeded(f):
    def g(x):
        torch.manual_seed(0)
        return f(x)

    return g


NOISE = {
    "draws": lambda x: [torch.rand(6, 4) + x, torch.randn(4) * x, torch.randint(0, 3, (4,)) + x, torch.randperm(4) * x, torch.rand_like(x) + x, torch.randn_like(x) + x, torch.randint_like(x, 3) + x],
    "in place draws": lambda x: [torch.empty(4).normal_() + x, torch.empty(4).uniform_() + x, torch.empty(4).exponential_() + x, torch.zeros(4).random_(5) + x,
                                 torch.zeros(4).geometric_(0.5) + x, torch.zeros(4).cauchy_() + x, torch.zeros(4).log_normal_() + x, torch.zeros(4).bernoulli_(0.5) + x],
    "draws from data": lambda x: [torch.bernoulli(x.sigmoid()) + x, torch.normal(x, 1.0), torch.poisson(x.abs()) + x, torch.multinomial(x.abs() + 1, 2) + x[:, :2],
                                  torch.binomial(torch.full((6, 4), 3.0, dtype=x.dtype), x.sigmoid()), torch._standard_gamma(x.abs() + 1)],
    "draws of open length": lambda x: [F.rrelu(x, training=True), F.rrelu(x.clone(), training=True, inplace=True), torch._sample_dirichlet(x.abs() + 1)],
    "dropout": lambda x: [F.dropout(x, 0.5, True), torch.native_dropout(x, 0.5, True)[0]],
}  # fmt: skip


@pytest.mark.parametrize("name", NOISE)
def test_noise_depends_on_nothing_but_what_it_is_drawn_from(name):
    run, _ = claimed(seeded(NOISE[name]), X)
    assert any("random" in a for a in run.assumptions)
    for output in run.outputs:
        assert output.along(0)[1].tolist() == [0, 1, 2, 3, 4, 5]


def test_noise_has_no_known_value():
    run = trace.run(seeded(lambda x: torch.where(torch.rand(6, 4) > 0.5, x, x.flip(0))), (X,), sequence_axis=0)
    assert run.outputs[0].along(0)[1].tolist() == [5, 4, 3, 3, 4, 5]


FRESH = {
    "empty": lambda x: [torch.empty_like(x) * 1.0, torch.empty(6, 4) * 1.0, x.new_empty(6, 4) * 1.0],
    "strided": lambda x: [torch.empty_strided((6, 4), (4, 1)) * 1.0, x.new_empty_strided((6, 4), (4, 1)) * 1.0],
    "permuted": lambda x: torch.empty_permuted((6, 4), (0, 1)) * 1.0,
    "resized": lambda x: [torch.zeros(2).resize_(6, 4) + 0, torch.zeros(2).resize_as_(x) + 0],
}


@pytest.mark.parametrize("name", FRESH)
def test_memory_that_nobody_wrote_may_hold_anything(name):
    run = trace.run(FRESH[name], (X,), sequence_axis=0)
    for output in run.outputs:
        assert output.along(0)[1].tolist() == [5] * 6


def test_memory_that_was_written_holds_what_was_written():
    def f(x):
        out = torch.empty_like(x)
        for t in range(6):
            out[t] = x[t]
        return out

    check(f, X)
