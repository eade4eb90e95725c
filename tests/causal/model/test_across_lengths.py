"""The same prefix at two lengths: outputs that depend on how long the sequence is are told, and change no verdict."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from torch import nn

X = torch.randn(1, 8, 4, generator=torch.Generator().manual_seed(0))


def rotated(base):
    """Causal attention whose queries and keys are turned by angles with a base that may grow with the length."""

    def run(x):
        angle = torch.arange(x.shape[1])[:, None] / base(x.shape[1]) ** (torch.arange(2) / 2)
        turned = torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (2, 2))) * torch.exp(1j * angle)).flatten(2)
        scores = turned @ turned.mT + torch.full((x.shape[1],) * 2, -torch.inf).triu(1)
        return scores.softmax(-1) @ x

    return run


DEPEND = {
    "dynamic rotary base": rotated(lambda n: 100.0 * max(1.0, n / 8)),
    "counted from the end": lambda x: x.cumsum(1) + torch.arange(x.shape[1]).flip(0)[:, None],
    "divided by the length": lambda x: x.cumsum(1) / x.shape[1],
}
STEADY = {
    "fixed rotary base": rotated(lambda n: 100.0),
    "running sum": lambda x: x.cumsum(1),
    "recurrent": nn.GRU(4, 4, batch_first=True),
    "an output as wide as the sequence": lambda x: ((x @ x.mT).tril(), x.cumsum(1)),
}


@pytest.mark.parametrize("name", DEPEND)
def test_a_dependence_on_the_length_is_told(name):
    verdict = ap.check_model(DEPEND[name], X, lengths=(8, 12))
    assert verdict.status.name == "PROVED"
    (note,) = [r for r in verdict.reasons if "depend on the length" in r]
    assert note.startswith("eval mode: outputs at the first 8 positions differ between n = 8 and n = 12")
    assert not ap.check_model(DEPEND[name], X).reasons


@pytest.mark.parametrize("name", STEADY)
def test_nothing_is_told_where_a_prefix_stays_what_it_is(name):
    verdict = ap.check_model(STEADY[name], X, lengths=(8, 12, 5), outputs=0 if name == "recurrent" else None)
    assert verdict.status.name == "PROVED"
    assert not [r for r in verdict.reasons if "depend on the length" in r], verdict.reasons


def test_inputs_of_a_program_are_made_for_each_length_and_the_prefix_is_cut_from_the_longer():
    def made(n):
        return (torch.randn(1, n, 4),)

    assert not ap.check_model(lambda x: x.cumsum(1), lengths=(6, 9), make_input=made).reasons
    (note,) = ap.check_model(DEPEND["divided by the length"], lengths=(6, 9), make_input=made).reasons
    assert "between n = 6 and n = 9" in note
