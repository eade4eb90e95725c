"""Refutation by replay, where only parameters that are moved a little open the leak."""

from __future__ import annotations

import attnproof as ap
from needs import need

torch = need("torch")
from attnproof.causal.model import proof, search
from model_checks import x
from torch import nn
from torch.nn import functional as F


def test_a_jittered_witness_refutes_only_where_stored_values_prove_nothing():
    """ReLU(−1 + tiny·x) is dead at the stored weights, no abstract zero shows it, and training opens it."""
    dead = nn.Linear(4, 4)
    with torch.no_grad():
        dead.weight.mul_(1e-3)
        dead.bias.fill_(-0.1)
    verdict = ap.check_model(lambda x: x + F.relu(dead(x)).flip(1), x(), parameters="any")
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.setting.jitter > 0


class TooWeak(nn.Module):
    """Attention under a mask of −100, which leaves weights for what is masked."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.q, self.k = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        hidden = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        return (self.q(x) @ self.k(x).mT).masked_fill(hidden, -100.0).softmax(-1) @ x


def test_a_mask_that_is_too_weak_is_overcome_by_larger_inputs():
    verdict = ap.check_model(TooWeak(), torch.randn(1, 6, 4, generator=torch.Generator().manual_seed(0)))
    assert verdict.status.name == "REFUTED", verdict
    assert verdict.witness.replay()


def counting_padding(tokens):
    """As XLM's: as many positions at the end are hidden as there are tokens of padding, wherever they stand."""
    lengths = (tokens != 7).sum(1)
    hidden = torch.arange(tokens.shape[1])[None] >= lengths[:, None]
    return F.one_hot(tokens, 32).double().cumsum(1).masked_fill(hidden[..., None], 0.0)


def test_a_leak_by_the_number_of_padding_tokens_is_found():
    tokens = torch.randint(8, 32, (1, 24), generator=torch.Generator().manual_seed(0))
    verdict = ap.check_model(counting_padding, tokens, vocabulary=32)
    assert verdict.status.name == "REFUTED", verdict
    assert verdict.witness.replay()


def test_a_plain_leak_is_found_before_other_proofs_are_tried(monkeypatch):
    tried = []
    attempt = proof.attempt
    monkeypatch.setattr(proof, "attempt", lambda question, policy: (tried.append(policy), attempt(question, policy))[1])
    assert ap.check_model(lambda x: x + x.flip(1), x()).status.name == "REFUTED"
    assert len(tried) == 1


def test_what_was_tried_before_other_proofs_is_not_tried_again(monkeypatch):
    def opaque(x):
        mean = x.mean(1, keepdim=True)
        return x + (mean - mean)

    seen = []
    run = search.Search.run
    monkeypatch.setattr(
        search.Search, "run", lambda self, x, s: (seen.append((x.numpy().tobytes(), s.describe())), run(self, x, s))[1]
    )
    assert ap.check_model(opaque, x()).status.name == "UNDECIDED"
    first = [what for what in seen if what[1] == "float64"][:4]
    assert len(set(first)) == 4  # as given, and three cuts, of which two were tried before


def test_a_run_that_is_known_to_need_values_is_not_tried_without(monkeypatch):
    from attnproof.causal.model.trace import frontend

    asked = []
    run = frontend.run

    def counted(*args, values=True, **kwargs):
        asked.append(values)
        return run(*args, values=values, **kwargs)

    monkeypatch.setattr(frontend, "run", counted)
    verdict = ap.check_model(lambda x: x.flip(1) if x.sum() < 1e9 else x, x())
    assert verdict.status.name == "REFUTED"
    assert "blame" in verdict.details
    assert asked.count(False) <= 2, asked  # the first of all, and the first attempt where its answer stays open
