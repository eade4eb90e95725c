"""Losses: those of each element or row stay apart, sums and means depend on everything."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from tensor_probe import check, normal

X = normal(6, 4)
NEAR = normal(6, 4, seed=1)
TARGET = torch.tensor([0, 1, 2, 3, 0, 1])
WEIGHT = torch.tensor([0.5, 1.0, 2.0, 0.25], dtype=torch.float64)
ELEMENTS = {
    "squares": F.mse_loss,
    "smooth": F.smooth_l1_loss,
    "huber": F.huber_loss,
    "margins": lambda x, y, reduction: F.soft_margin_loss(x, y.sign(), reduction=reduction),
    "logits": lambda x, y, reduction: F.binary_cross_entropy_with_logits(
        x, y.sigmoid(), WEIGHT, pos_weight=WEIGHT + 1, reduction=reduction
    ),
    "probabilities": lambda x, y, reduction: F.binary_cross_entropy(x.sigmoid(), y.sigmoid(), reduction=reduction),
}
ROWS = {
    "rows": lambda x, how: F.cross_entropy(x, TARGET, WEIGHT, reduction=how),
    "one row": lambda x, how: F.nll_loss(x[1], TARGET[1], reduction=how),
    "later axes": lambda x, how: F.cross_entropy(x.mT[None], TARGET[None], reduction=how),
    "pictures": lambda x, how: F.nll_loss(x.T.reshape(1, 4, 2, 3), TARGET.reshape(1, 2, 3), WEIGHT, reduction=how),
    "smoothed": lambda x, how: F.cross_entropy(x, TARGET, label_smoothing=0.1, reduction=how),
    "ignored": lambda x, how: F.cross_entropy(x, TARGET, ignore_index=1, reduction=how),
    "weights of data": lambda x, how: F.nll_loss(NEAR, TARGET, x[0].square(), reduction=how),
    "targets of data": lambda x, how: F.nll_loss(NEAR, (x[:, 0] > 0).long(), reduction=how),
}
SETS = torch.tensor([[0, 2, -1, 0], [3, -1, 0, 0], [1, 2, 3, -1], [0, -1, 1, 1], [2, 0, -1, 3], [1, -1, 0, 0]])
LENGTHS = torch.full((6,), 4)
ROWS |= {
    "sets": lambda x, how: F.multilabel_margin_loss(x, SETS, reduction=how),
    "a set": lambda x, how: F.multilabel_margin_loss(x[2], SETS[0], reduction=how),
    "sets of data": lambda x, how: F.multilabel_margin_loss(NEAR, (x > 0).long() * 2 - 1, reduction=how),
    "alignments": lambda x, how: F.ctc_loss(
        torch.stack([x, x * 2, x.abs(), -x]).log_softmax(-1), TARGET[:, None].clamp(1), LENGTHS, LENGTHS // 4,
        reduction=how,
    ),
    "alignments on end": lambda x, how: F.ctc_loss(
        torch.stack([x, x * 2, x.abs(), -x]).log_softmax(-1), TARGET.clamp(1), (4,) * 6, (1,) * 6, reduction=how
    ),
    "one alignment": lambda x, how: F.ctc_loss(
        x.log_softmax(-1), TARGET[1:3], torch.tensor(6), torch.tensor(2), reduction=how
    ),
    "alignments with targets of data": lambda x, how: F.ctc_loss(
        normal(4, 6, 4).log_softmax(-1), (x[:, :1] > 0).long() + 1, LENGTHS, LENGTHS // 4, reduction=how
    ),
}  # fmt: skip
if hasattr(F, "linear_cross_entropy"):
    CHUNKS = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    ROWS |= {
        "scores of a layer": lambda x, how: F.linear_cross_entropy(x, normal(4, 4), TARGET, reduction=how),
        "scores of weights from data": lambda x, how: F.linear_cross_entropy(
            NEAR, x[:4], TARGET, reduction=how, options=CHUNKS
        ),
        "scores in chunks": lambda x, how: F.linear_cross_entropy(
            x, normal(4, 4), TARGET, reduction=how, options=CHUNKS
        ),
    }
CASES = {
    **{f"{name}, {how}": lambda x, f=f, how=how: f(x, NEAR, reduction=how)
       for name, f in ELEMENTS.items() for how in ("none", "mean", "sum")},
    **{f"{name}, {how}": lambda x, f=f, how=how: f(x, how) for name, f in ROWS.items() for how in ("none", "mean")},
}  # fmt: skip

LOOSE = {"targets of data, none", "ignored, none", "sets of data, none"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE and "none" in name)


@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_the_loss_of_each_token_is_causal_and_their_mean_is_not(reduction):
    tokens, target = torch.randn(1, 6, 4), TARGET[None]

    def loss(x):
        found = F.cross_entropy(x.cumsum(1).mT, target, reduction=reduction)
        return found if reduction == "none" else found.expand(1, 6)

    assert ap.check_model(loss, tokens).status.name == ("PROVED" if reduction == "none" else "REFUTED")
