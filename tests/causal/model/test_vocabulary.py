"""How many tokens there are is told by the tables that they reach, and no replay asks for a row that is not there."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
import torch.nn.functional as F
from model_checks import status
from torch import nn

ELEVEN, SIXTEEN, TWO = nn.Embedding(11, 4), nn.Embedding(16, 4), nn.Embedding(2, 4)
TABLE = nn.Parameter(torch.randn(11, 4))
TOKENS = torch.tensor([[3, 1, 9, 0, 5, 2, 7, 4]])

REACHED = {
    "as they are": lambda t: ELEVEN(t),
    "shifted": lambda t: ELEVEN(F.pad(t[:, :-1], (1, 0), value=10)),
    "in two parts": lambda t: torch.cat([ELEVEN(t[:, :4]), ELEVEN(t[:, 4:])], 1),
    "with an offset": lambda t: SIXTEEN(t + 5),
    "modulo": lambda t: ELEVEN(t * 3 % 11),
    "where": lambda t: ELEVEN(torch.where(t < 0, 0, t)),
    "copied": lambda t: ELEVEN(torch.zeros_like(t).copy_(t)),
    "as another type": lambda t: ELEVEN(t.int()),
    "with a table of types": lambda t: ELEVEN(t[:, :]) + TWO((t > 3).long()),
    "by brackets": lambda t: TABLE[t],
    "by index_select": lambda t: TABLE.index_select(0, t[0])[None],
}


@pytest.mark.parametrize("name", REACHED)
def test_the_vocabulary_is_inferred_from_the_table_that_tokens_reach(name):
    verdict = ap.check_model(lambda t: REACHED[name](t).flip(1), TOKENS)
    assert verdict.status.name == "REFUTED", verdict
    used = {int(token) for w in verdict.witness.inputs for token in w.reshape(-1)}
    assert max(used) <= 10
    assert ap.check_model(lambda t: REACHED[name](t).cumsum(1), TOKENS).status.name == "PROVED"


@pytest.mark.parametrize("name", REACHED)
def test_all_the_rows_count(name):
    """A leak that shows with the last token alone is found: no smaller table of types bounds the tokens."""
    verdict = ap.check_model(lambda t: REACHED[name](t) + (t == 10).float().flip(1)[..., None], TOKENS)
    assert verdict.status.name == "REFUTED", verdict


ASKED = {
    "no table": lambda t: t.float()[..., None],
    "a row before the first": lambda t: ELEVEN(t - 1),
    "places in the sequence": lambda t: t.float()[0][t[0].argsort()][None, :, None],
}


@pytest.mark.parametrize("name", ASKED)
def test_where_no_table_tells_it_is_asked(name):
    with pytest.raises(ValueError, match="no embedding tells their bound; pass vocabulary="):
        ap.check_model(ASKED[name], TOKENS + 1)


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
