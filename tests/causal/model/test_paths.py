"""The paths through a model: modes, lengths, boundaries, axes, tokens, several inputs, structured outputs, caches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
from torch import nn


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def status(model, *inputs, **keywords):
    return ap.check_model(model, *inputs, **keywords).status.name


def x(n=8, d=4, batch=1):
    return torch.randn(batch, n, d)


def attend(x, mask):
    return (x @ x.mT).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num() @ x


# -- modes --------------------------------------------------------------------------------------------------------


def test_batch_statistics_leak_in_training_only():
    norm = nn.BatchNorm1d(4)
    norm.eval()
    model = nn.Sequential(nn.Linear(4, 4), nn.Flatten(0, 1), norm, nn.Unflatten(0, (1, 8)))
    assert status(model, x(), sequence_axis=1) == "PROVED"
    verdict = ap.check_model(model, x(), modes=("eval", "train"))
    assert verdict.status.name == "REFUTED"
    assert [r["status"] for r in verdict.details["runs"]] == ["PROVED", "REFUTED"]
    assert "train mode" in verdict.witness.describe()
    assert verdict.witness.replay()
    assert not norm.training
    assert torch.equal(norm.running_mean, torch.zeros(4))  # every run was undone
    assert int(norm.num_batches_tracked) == 0
    assert any("2.running_mean" in r for r in verdict.reasons)


def test_dropout_is_noise_with_a_fixed_seed():
    state = torch.get_rng_state()
    verdict = ap.check_model(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), x(), modes="train", sequence_axis=1)
    assert verdict.status.name == "PROVED", verdict
    assert any("random" in a for a in verdict.assumptions)
    assert ap.check_model(nn.Sequential(nn.LSTM(4, 4, 2, batch_first=True, dropout=0.5)), x(), modes="train")
    torch.set_rng_state(state)
    before = torch.rand(3)
    torch.set_rng_state(state)
    ap.check_model(nn.Dropout(0.5), torch.ones(1, 8, 4), modes="train", sequence_axis=1)
    assert torch.equal(torch.rand(3), before)  # the caller's random numbers are untouched


# -- lengths ------------------------------------------------------------------------------------------------------


def switching(x):
    """Causal below 12 positions, and a leak above, as some sparse attention is."""
    return x.cumsum(1) if x.shape[1] < 12 else x.cumsum(1) + x.mean(1, keepdim=True)


def test_lengths_find_an_algorithm_that_switches():
    assert status(switching, x()) == "PROVED"
    verdict = ap.check_model(switching, x(), lengths=(8, 16))
    assert verdict.status.name == "REFUTED"
    assert [(r["n"], r["status"]) for r in verdict.details["runs"]] == [(8, "PROVED"), (16, "REFUTED")]
    assert verdict.boundary.n == 16


def test_lengths_with_make_input():
    made = []

    def make_input(n):
        made.append(n)
        return torch.randn(1, n, 4)

    verdict = ap.check_model(lambda x: x.cumsum(1), lengths=(4, 6), make_input=make_input, boundary="strict")
    assert made == [4, 6]
    assert verdict.status.name == "REFUTED"  # a cumulative sum holds its own position
    assert status(lambda x: x.cumsum(1), lengths=(4, 6), make_input=make_input, boundary=ap.Boundary.prefix) == "PROVED"


# -- boundaries ---------------------------------------------------------------------------------------------------


def test_strict_and_lagged():
    def shifted(k):
        return lambda x: torch.cat([torch.zeros_like(x[:, :k]), x[:, :-k]], 1).cumsum(1)

    assert status(shifted(1), x(), boundary="strict") == "PROVED"
    assert status(shifted(2), x(), boundary=ap.Boundary.lagged(8, 2)) == "PROVED"
    verdict = ap.check_model(shifted(1), x(), boundary="lag:2")
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.query - verdict.witness.position == 1


def test_packed_documents():
    b = ap.Boundary.documents([3, 5])
    mask = torch.from_numpy(b.to_array())
    verdict = ap.check_model(lambda x: attend(x, mask), x(), boundary=b)
    assert verdict.status.name == "PROVED", verdict
    prefix = torch.ones(8, 8, dtype=torch.bool).tril()
    leak = ap.check_model(lambda x: attend(x, prefix), x(), boundary="documents:3,5")
    assert leak.status.name == "REFUTED"
    assert leak.witness.query >= 3 > leak.witness.position


def test_times_and_relations():
    b = ap.Boundary.from_times([1, 1, 5, 5], [2, 5, 5, 0])
    mask = torch.from_numpy(b.to_array())
    assert status(lambda x: attend(x, mask), x(4), boundary=b) == "PROVED"
    assert status(lambda x: attend(x, torch.ones(4, 4, dtype=torch.bool)), x(4), boundary=b) == "REFUTED"
    holes = ap.Boundary.relation(np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 0, 1]], bool))
    holed = torch.from_numpy(holes.to_array())
    assert status(lambda x: attend(x, holed), x(4), boundary=holes) == "PROVED"
    leaky = holed.clone()
    leaky[0, 1] = True
    verdict = ap.check_model(lambda x: attend(x, leaky), x(4), boundary=holes)
    assert (verdict.status.name, verdict.witness.query, verdict.witness.position) == ("REFUTED", 0, 1)


def test_bidirectional_forbids_nothing():
    assert status(lambda x: x.flip(1), x(), boundary="bidirectional") == "PROVED"


def test_outputs_of_another_length():
    pool = nn.AvgPool1d(2)
    halves = ap.Boundary.relation(np.arange(8)[None, :] <= 2 * np.arange(4)[:, None] + 1)
    assert status(lambda x: pool(x.mT).mT, x(), boundary=halves) == "PROVED"
    early = ap.Boundary.relation(np.arange(8)[None, :] <= 2 * np.arange(4)[:, None])
    assert status(lambda x: pool(x.mT).mT, x(), boundary=early) == "REFUTED"
    tail = ap.Boundary.prefix(8, queries=3)
    assert status(lambda x: x.cumsum(1)[:, -3:], x(), boundary=tail) == "PROVED"
    assert status(lambda x: x.cumsum(1)[:, -3:].flip(1), x(), boundary=tail) == "REFUTED"


def test_axes():
    assert status(lambda x: x.cumsum(0), torch.randn(8, 3), sequence_axis=0) == "PROVED"
    assert status(lambda x: x.cumsum(-1).mT, torch.randn(1, 3, 8), sequence_axis=2, output_axis=1) == "PROVED"
    assert status(lambda x: x.cumsum(-1), torch.randn(1, 3, 8), sequence_axis=-1, output_axis=-1) == "PROVED"
    assert status(lambda x: x.flip(-1), torch.randn(1, 3, 8), sequence_axis=-1) == "REFUTED"


# -- tokens -------------------------------------------------------------------------------------------------------


class Tokens(nn.Module):
    def __init__(self, vocabulary=11):
        super().__init__()
        self.embed, self.gru, self.head = nn.Embedding(vocabulary, 4), nn.GRU(4, 4, batch_first=True), nn.Linear(4, 11)

    def forward(self, tokens, backwards=False):
        h = self.embed(tokens)
        return self.head(self.gru(h.flip(1) if backwards else h)[0])


def test_the_vocabulary_is_inferred_from_the_embedding():
    tokens = torch.randint(0, 11, (1, 8))
    assert status(Tokens(), tokens) == "PROVED"
    model = Tokens()
    verdict = ap.check_model(lambda t: model(t, backwards=True), tokens)
    assert verdict.status.name == "REFUTED"
    assert max(w.max() for w in verdict.witness.inputs) < 11
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(lambda t: model(t, backwards=True))


# -- several inputs and structured outputs ------------------------------------------------------------------------


def test_the_chosen_one_of_several_inputs():
    def cross(query, memory):
        return query.cumsum(1) + memory.mean(1, keepdim=True)

    memory = torch.randn(1, 5, 4)
    verdict = ap.check_model(cross, x(), memory)
    assert verdict.status.name == "PROVED", verdict
    assert status(lambda m, q: cross(q, m), memory, x(), vary=1) == "PROVED"
    assert status(cross, x(), torch.randn(1, 8, 4), vary=1) == "REFUTED"
    assert status(cross, {"query": x(), "memory": memory}, vary="query") == "PROVED"


def test_a_proof_that_needs_the_other_input_says_so():
    def gated(x, gate):
        return x + gate * x.flip(1)

    verdict = ap.check_model(gated, x(), torch.zeros(1, 8, 4))
    assert verdict.status.name == "PROVED_IF"
    assert any("other inputs keep the values given" in c.text for c in verdict.conditions)


@dataclass
class Result:
    loss: None
    logits: torch.Tensor


class Pair(NamedTuple):
    logits: torch.Tensor
    weights: torch.Tensor


@pytest.mark.parametrize("wrap", [lambda y: {"logits": y}, lambda y: (y,), lambda y: Result(None, y), lambda y: [y, 3]])
def test_structured_outputs(wrap):
    assert status(lambda x: wrap(x.cumsum(1)), x()) == "PROVED"
    assert status(lambda x: wrap(x.flip(1)), x()) == "REFUTED"


def test_the_outputs_that_are_not_checked_are_named():
    verdict = ap.check_model(lambda x: Pair(x.cumsum(1), x.mean(1)), x())
    assert verdict.status.name == "PROVED"
    assert any("not checked: output.weights" in r for r in verdict.reasons), verdict


# -- decoding -----------------------------------------------------------------------------------------------------


class Cached(nn.Module):
    """A running mean with a cache of transformers' shape; `bug` counts the cached positions wrongly."""

    def __init__(self, bug=0):
        super().__init__()
        self.bug = bug

    def forward(self, x, past_key_values=None, use_cache=False):
        total, count = past_key_values if past_key_values is not None else (torch.zeros_like(x[:, :1]), 0)
        sums = total + x.cumsum(1)
        ends = torch.arange(1, x.shape[1] + 1)[:, None] + count
        return Output(sums / ends, (sums[:, -1:], count + x.shape[1] + (self.bug if count + x.shape[1] >= 5 else 0)))


@dataclass
class Output:
    logits: torch.Tensor
    past_key_values: tuple


def test_decoding_with_a_cache_is_compared_with_the_full_pass():
    verdict = ap.check_model(Cached(), x())
    assert verdict.status.name == "PROVED", verdict
    assert any("past_key_values agrees with the full pass" in e.detail for e in verdict.evidence)
    wrong = ap.check_model(Cached(bug=1), x())
    assert any("first differs from the full pass at position 5" in r for r in wrong.reasons), wrong
    assert any(e.ok is False for e in wrong.evidence)


def test_recurrent_state_is_compared_with_the_full_pass():
    verdict = ap.check_model(nn.LSTM(4, 4, batch_first=True), x(100))
    assert any("its hidden state agrees with the full pass" in e.detail for e in verdict.evidence), verdict


# -- models in other clothes --------------------------------------------------------------------------------------


class Shifting(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        return self.linear(x).cumsum(1) * self.scale


WRAPS = {
    "script": torch.jit.script,
    "trace": lambda m: torch.jit.trace(m, torch.zeros(1, 8, 4)),
    "fx": torch.fx.symbolic_trace,
    "weight norm": lambda m: (nn.utils.parametrizations.weight_norm(m.linear), m)[1],
    "spectral norm": lambda m: (nn.utils.spectral_norm(m.linear), m)[1],
    "method": lambda m: m.forward,
    "partial": lambda m: __import__("functools").partial(m),
    "autocast": lambda m: lambda x: torch.autocast("cpu", torch.bfloat16)(m)(x),
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.filterwarnings("ignore")
def test_wrapped_models(wrap):
    model = WRAPS[wrap](Shifting())
    verdict = ap.check_model(model, x(), modes=("eval", "train"))
    assert verdict.status.name == "PROVED", verdict
    assert status(lambda x: model(x.flip(1)).flip(1), x()) == "REFUTED"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_compiled_and_exported_models():
    assert status(torch.compile(Shifting()), x()) == "PROVED"
    assert status(torch.compile(lambda x: x.flip(1) * 2), x()) == "REFUTED"
    assert status(torch.export.export(Shifting(), (x(),)).module(), x()) == "PROVED"


def test_dynamic_quantisation_leaks_through_its_scale():
    """The scale of the quantised activations comes from the largest value of the whole sequence."""

    def quantised(x):
        scale = x.abs().amax() / 127
        return (x / scale).round() * scale

    verdict = ap.check_model(quantised, x())
    assert verdict.status.name == "REFUTED"
    assert "amax" in verdict.details["blame"]["entry"]["operation"]
