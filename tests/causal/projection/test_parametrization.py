"""Training keeps a safe design safe, and without the parametrization it does not: on real text, by both checkers."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from attnproof.causal.boundary import Boundary
from attnproof.causal.design.blocks import completed_blocks, decaying, dyadic
from attnproof.causal.model.check import check_model
from attnproof.causal.projection.check import check_projection
from attnproof.causal.projection.parametrization import keep_safe, safe_support
from attnproof.causal.verdict import Status
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T10", "T13", "T16")
torch = need("torch")

N, WIDTH = 32, 16


def text():
    """English prose that every Python ships: the language reference, as `help('topics')` shows it."""
    from pydoc_data.topics import topics

    prose = " ".join(topics[name] for name in sorted(topics)[:12])
    letters = sorted(set(prose))
    numbers = {letter: i for i, letter in enumerate(letters)}
    return torch.tensor([numbers[letter] for letter in prose]), len(letters)


class Model(torch.nn.Module):
    """A one-layer character model: a compressed head over the tokens so far, and a residual."""

    def __init__(self, letters, member, safe):
        super().__init__()
        self.embed = torch.nn.Embedding(letters, WIDTH)
        self.place = torch.nn.Parameter(torch.randn(N, WIDTH) * 0.1)
        self.q, self.k, self.v = (torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.out = torch.nn.Linear(WIDTH, letters)
        self.E = torch.nn.Parameter(torch.tensor(member.F, dtype=torch.float32))
        self.F = torch.nn.Parameter(torch.tensor(member.F, dtype=torch.float32))
        self.register_buffer("visible", torch.tensor(member.visible))
        if safe:
            keep_safe(self, "E", member.support)
            keep_safe(self, "F", member.support)

    def head(self, x):
        scores = self.q(x) @ (self.E @ self.k(x)).transpose(-1, -2) / WIDTH**0.5
        sees = self.visible.any(-1, keepdim=True)
        weights = torch.softmax(scores.masked_fill(~self.visible & sees, float("-inf")), -1)
        return x + torch.where(sees, weights @ (self.F @ self.v(x)), 0.0)  # queries that see nothing get 0

    def forward(self, tokens):
        return self.out(self.head(self.embed(tokens) + self.place))


def train(safe, steps=60):
    torch.manual_seed(0)
    tokens, letters = text()
    member = completed_blocks(4).matrices(N)
    model = Model(letters, member, safe)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        starts = torch.randint(0, len(tokens) - N - 1, (16,))
        rows = torch.stack([tokens[s : s + N + 1] for s in starts])
        loss = torch.nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert np.mean(losses[-5:]) < 0.9 * losses[0]
    return model, member


@pytest.fixture(scope="module")
def twins():
    return {safe: train(safe) for safe in (True, False)}


@pytest.mark.parametrize("safe", [True, False])
def test_trained_twins_on_real_text(twins, safe):
    model, member = twins[safe]
    E, F = model.E.detach().numpy(), model.F.detach().numpy()
    assert np.abs(F - member.F).max() > 0.01  # it did train
    verdict = check_projection(F, E, layout="slots-first", visible=member.visible)
    assert verdict.status is (Status.PROVED if safe else Status.REFUTED)
    if safe:
        assert verdict.claims == ("T10",)
    else:
        assert verdict.witness.replay()


@pytest.mark.parametrize("safe", [True, False])
def test_the_model_checker_says_the_same_of_the_trained_models(twins, safe):
    """With the parametrization for whatever numbers training may reach, not only for these."""
    model, _ = twins[safe]
    torch.manual_seed(1)
    verdict = check_model(model.head, torch.randn(1, N, WIDTH))
    assert verdict.status is (Status.PROVED if safe else Status.REFUTED)
    if safe:
        assert any("parameters may be any numbers" in assumption for assumption in verdict.assumptions)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000))
def test_the_largest_support_is_brute_force_s(n, r, seed):
    random = np.random.default_rng(seed)
    visible = random.random((n, r)) < 0.5
    boundary = [Boundary.prefix(n), Boundary.strict(n), Boundary.bidirectional(n)][seed % 3]
    expected = [[all(boundary.allowed(t, j) for t in range(n) if visible[t, s]) for j in range(n)] for s in range(r)]
    assert safe_support(visible, n, boundary).tolist() == expected


def test_designs_read_within_the_largest_support_of_their_own_masks():
    for design in (completed_blocks(3), dyadic(), decaying([0.5], 2)):
        member = design.matrices(13)
        assert not (member.support & ~safe_support(member.visible, 13)).any()


def test_nothing_outside_the_support_survives_not_even_nan():
    layer = torch.nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        layer.weight[0, 2] = float("nan")
    keep_safe(layer, "weight", torch.tensor([[True, True, False], [True, True, True]]))
    assert layer.weight[0, 2].item() == 0
    layer.weight.sum().backward()
    assert layer.parametrizations.weight.original.grad[0].tolist() == [1.0, 1.0, 0.0]
    with torch.no_grad():
        layer.parametrizations.weight.original.fill_(float("inf"))
    assert layer.weight.tolist() == [[float("inf"), float("inf"), 0.0], [float("inf")] * 3]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("wait", [[True]]), AttributeError, r"name = 'wait' is no parameter of Linear; it has weight, bias"),
        (("weight", [[1.0, 1.0, 0.0]] * 2), ValueError, r"support has dtype torch.float64; pass booleans"),
        (
            ("weight", [[True, True]] * 3),
            ValueError,
            r"support has shape \(3, 2\), weight has \(2, 3\); transpose it where",
        ),
    ],
)
def test_bad_input_gets_one_sentence(arguments, error, message):
    with pytest.raises(error, match=message):
        keep_safe(torch.nn.Linear(3, 2), *arguments)


def test_missing_torch_names_the_extra(monkeypatch):
    layer = torch.nn.Linear(3, 2)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'attnproof\[torch\]'"):
        keep_safe(layer, "weight", [[True]])
