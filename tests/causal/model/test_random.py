"""Random stacks of layers whose truth is known by construction: causal ones are proved, one leaking layer is found.

What cuts across the files of the model's wing stands here.
"""

from __future__ import annotations

import attnproof as ap
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

torch = need("torch")
from torch import nn
from torch.nn import functional as F

D, N = 4, 10


class Block(nn.Module):
    """A layer given by a function of itself and x, with two linear maps to use."""

    def __init__(self, act):
        super().__init__()
        self.a, self.b = nn.Linear(D, D), nn.Linear(D, D)
        self.rnn = nn.GRU(D, D, batch_first=True)
        self.conv = nn.Conv1d(D, D, 3)
        self.gate = nn.Parameter(torch.zeros(D))
        self.act = act

    def forward(self, x):
        return self.act(self, x)


def attention(fill):
    def act(m, x):
        scores = m.a(x) @ m.b(x).mT
        mask = torch.ones(N, N, dtype=torch.bool).triu(1)
        return x + scores.masked_fill(mask, fill).softmax(-1) @ x if fill is not None else x + scores.softmax(-1) @ x

    return act


def best_three(m, x):
    scores = (m.a(x) @ m.b(x).mT).masked_fill(torch.ones(N, N, dtype=torch.bool).triu(1), -torch.inf)
    least = scores.topk(3, -1).values[..., -1:]
    return x + scores.masked_fill(scores < least, -torch.inf).softmax(-1) @ x


def in_place(m, x):
    y = m.a(x).clone()
    y[:, 1:] += m.b(x)[:, :-1]
    return y


def blocks_of_two(m, x):
    """Two halves, the second with a summary of the first."""
    first, second = x.chunk(2, 1)
    return torch.cat([m.a(first), m.b(second) + first.mean(1, keepdim=True)], 1)


CAUSAL = {
    "mlp": lambda m, x: x + m.b(F.gelu(m.a(x))),
    "attention": attention(-torch.inf),
    "finite": attention(-1e9),
    "sdpa": lambda m, x: x + F.scaled_dot_product_attention(m.a(x), m.b(x), x, is_causal=True),
    "convolution": lambda m, x: m.conv(F.pad(x.mT, (2, 0))).mT,
    "gru": lambda m, x: m.rnn(x)[0],
    "mean": lambda m, x: x.cumsum(1) / torch.arange(1.0, N + 1)[:, None],
    "largest": lambda m, x: x + x.cummax(1).values,
    "norm": lambda m, x: F.layer_norm(x, (D,)),
    "backwards twice": lambda m, x: m.a(x.flip(1)).flip(1),
    "tril": lambda m, x: torch.ones(N, N).tril() @ m.a(x),
    "in place": in_place,
    "halves": blocks_of_two,
    "route": lambda m, x: torch.where(x > 0, m.a(x), m.b(x)),
    "best three": best_three,
    "top two": lambda m, x: x + m.a(x).topk(2, -1).values.sum(-1, keepdim=True),
}

LEAKS = {
    "unmasked": attention(None),
    "off by one": lambda m, x: x + m.conv(F.pad(x.mT, (1, 1))).mT,
    "mean": lambda m, x: x - x.mean(1, keepdim=True),
    "gate at zero": lambda m, x: x + m.gate * m.a(x).flip(1),
    "selector": lambda m, x: torch.where(x[:, -1:] > x[:, :1], x, m.a(x)),
    "last row only": lambda m, x: torch.cat([x[:, :-2], x[:, -2:-1] + 0.1 * x[:, -1:], x[:, -1:]], 1),
    "tiny": lambda m, x: x + 1e-6 * x.flip(1),
    "in place": lambda m, x: x.clone().index_add_(1, torch.tensor([2]), m.a(x)[:, 5:6]),
}


def stack(names, table):
    torch.manual_seed(len(names))
    return nn.Sequential(*(Block(table[name]) for name in names))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(sorted(CAUSAL)), min_size=1, max_size=4))
def test_causal_stacks_are_proved(names):
    verdict = ap.check_model(stack(names, CAUSAL), torch.randn(1, N, D), sequence_axis=1)
    wanted = "PROVED_IF" if "finite" in names else "PROVED"
    assert verdict.status.name == wanted, verdict


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(set(CAUSAL) - {"mean"})), max_size=2),
    st.sampled_from(sorted(LEAKS)),
    st.lists(st.sampled_from(["mlp", "attention", "gru"]), max_size=1),
)
def test_one_leaking_layer_is_found(before, leak, after):
    names = [*before, f"leak {leak}", *after]
    table = {**CAUSAL, f"leak {leak}": LEAKS[leak]}
    verdict = ap.check_model(stack(names, table), torch.randn(1, N, D))
    if leak == "gate at zero":
        assert verdict.status.name == "PROVED_IF", verdict
        assert any("gate" in c.text for c in verdict.conditions)
        return
    assert verdict.status.name == "REFUTED", verdict
    assert verdict.witness.replay()


@pytest.mark.parametrize("leak", sorted(LEAKS))
def test_each_leak_is_blamed_on_its_layer(leak):
    table = {**CAUSAL, "leak": LEAKS[leak]}
    verdict = ap.check_model(stack(["mlp", "leak", "mlp"], table), torch.randn(1, N, D))
    if leak != "gate at zero":
        assert verdict.details["blame"]["entry"]["module"].split(".")[0] == "1", verdict
