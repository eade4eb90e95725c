"""Reading and writing at indices, constant ones and ones that are data."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
import torch.nn.functional as F
from attnproof.causal import trace
from tensor_probe import check, normal

X = normal(6, 4)
C = normal(6, 4, seed=1)
MASK = C > 0
I = torch.tensor([4, 0, 2])
TABLE = normal(5, 3, seed=2)


def index(x, high=6):
    """Whole numbers read out of data, one per position."""
    return (x[:, 0].abs() * 7).long() % high


def at(x, i):
    return i[:, None].expand(-1, x.shape[1])


CONSTANT = {
    "index": lambda x: [
        x[I],
        x[:, torch.tensor([3, 1])],
        x[I, torch.tensor([0, 1, 2])],
        x[None][:, I],
        x[[0, 5]],
        x[MASK[:, 0]],
        x[MASK],
    ],
    "index between": lambda x: [
        x.reshape(6, 2, 2)[:, torch.tensor([1, 0])],
        x.reshape(6, 2, 2)[I, :, torch.tensor([1, 0, 1])],
    ],
    "gather": lambda x: [
        x.gather(0, at(x, I)),
        torch.take_along_dim(x, at(x, I), 0),
        x.gather(1, torch.tensor([[0], [1], [2], [3], [0], [1]])),
        x[0, 0].gather(0, torch.tensor([0, 0])),
        x[0].gather(0, torch.tensor(1)),
    ],
    "index_select": lambda x: [
        x.index_select(0, I),
        x.index_select(1, I[1:]),
        F.embedding(I, x),
        x[0, 0].index_select(0, torch.tensor([0])),
        x.index_select(1, torch.tensor(2)),
        F.embedding(torch.tensor(2), x),
    ],
    "take": lambda x: x.take(torch.tensor([0, 0])),
    "masked_select": lambda x: [x.masked_select(MASK), x[MASK.nonzero(as_tuple=True)]],
    "scatter": lambda x: [
        torch.zeros_like(x).scatter(0, at(x, I), x),
        x.scatter(0, at(x, I), 0.0),
        x.scatter(0, at(x, I), C),
        x.scatter(0, at(x, I)[:0, 0], C),
        x.scatter(1, at(x, I)[1:, :1], C),
    ],
    "scatter_add": lambda x: [
        C.scatter_add(0, at(x, I), x),
        C.scatter_reduce(0, at(x, I), x, "sum"),
        C.scatter_add(0, at(x, torch.tensor([1, 1, 1])), x),
    ],
    "index_add": lambda x: [
        C.index_add(0, I, x[:3]),
        C.index_copy(0, I, x[:3]),
        x.index_fill(0, I, 0.0),
        C.index_reduce(0, I, x[:3], "prod"),
    ],
    "index_put": lambda x: [
        C.index_put((I,), x[:3]),
        C.index_put((I,), x[:3], accumulate=True),
        x.index_put((MASK,), torch.tensor(0.0, dtype=x.dtype)),
        torch.ops.aten._unsafe_index_put(C, [I], x[:3]),
    ],
    "unsafe": lambda x: torch.ops.aten._unsafe_index(x, [I]),
    "in place": lambda x: [x.clone().index_put_((I,), C[:3]), torch.ops.aten._index_put_impl_(x.clone(), [I], C[:3])],
}
DATA = {
    "index by data": lambda x: [TABLE[index(x, 5)], x[index(x)], x[torch.arange(6), index(x, 4)]],
    "index by data and a constant": lambda x: x.reshape(6, 2, 2)[I, :, index(x, 2)[:3]],
    "gather by data": lambda x: [x.gather(0, at(x, index(x))), x.gather(1, index(x, 4)[:, None])],
    "look-up": lambda x: [F.embedding(index(x, 5), TABLE), x.index_select(0, index(x)), F.one_hot(index(x), 6)],
    "look-up of one": lambda x: x.index_select(1, index(x, 4)[2]),
    "bags": lambda x: [
        F.embedding_bag(index(x, 5).reshape(3, 2), TABLE),
        F.embedding_bag(index(x, 5), TABLE, torch.tensor([0, 2])),
    ],
    "weighted bags": lambda x: F.embedding_bag(
        torch.tensor([[0, 1], [2, 3], [4, 0]]), TABLE, per_sample_weights=x[:, 0].reshape(3, 2), mode="sum"
    ),
    "empty bag": lambda x: F.embedding_bag(index(x, 5), TABLE, torch.tensor([0, 2, 2])),
    "scatter by data": lambda x: [
        C.scatter(0, at(x, index(x)), x),
        C.scatter_add(1, index(x, 4)[:, None], x[:, :1]),
        C.scatter(0, at(x, index(x))[:2, :2], x),
        C.scatter(0, at(x, index(x)), 1.0),
    ],
    "index_add by data": lambda x: [
        C.index_add(0, index(x), x),
        C.index_copy(0, torch.sort(x[:, 0])[1], x),
        C.index_fill(0, index(x), 0.0),
    ],
    "index_put by data": lambda x: [
        C.index_put((index(x),), x),
        C.index_put((index(x),), torch.tensor(1.0, dtype=x.dtype)),
    ],
    "masked writes": lambda x: [
        x.clone().index_put_((x > 0,), torch.tensor(0.0, dtype=x.dtype)),
        C.clone().index_put_((x[:, 0] > 0,), torch.tensor(0.0, dtype=x.dtype)),
    ],
    "take by data": lambda x: [x.take(index(x)), torch.ops.aten.put(C, index(x), x[:, 0])],
}
CASES = {**CONSTANT, **DATA}
LOOSE = {*DATA, "index_add", "take"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


def test_an_index_read_out_of_data_is_never_a_constant():
    run = trace.run(lambda x: C[index(x)], (X,), sequence_axis=0)
    assert run.outputs[0].along(0)[1].tolist() == [0, 1, 2, 3, 4, 5]


def test_the_same_place_written_twice_keeps_both():
    run = trace.run(lambda x: C.index_put((torch.tensor([1, 1]),), x[[2, 5]]), (X,), sequence_axis=0)
    assert [int(v) for v in (run.outputs[0].along(0)[0][1], run.outputs[0].along(0)[1][1])] == [2, 5]


def test_a_shape_that_depends_on_values_is_reported():
    for f in (
        lambda x: x[x > 0],
        lambda x: (x > 0).nonzero(),
        lambda x: x.masked_select(x > 0),
        lambda x: torch.unique(x),
    ):
        run = trace.run(f, (X,), sequence_axis=0)
        assert not run.complete
        assert "shape" in run.reads[0].operation.name
