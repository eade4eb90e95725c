"""Which positions each output can depend on, against boundaries of every kind."""

from __future__ import annotations

import attnproof as ap
import numpy as np
from needs import need

torch = need("torch")
from model_checks import status, x
from torch import nn


def attend(x, mask):
    return (x @ x.mT).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num() @ x


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
