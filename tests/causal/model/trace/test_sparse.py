"""Sparse constants count as the dense ones that they stand for; sparse tensors that are anything else do not."""

from __future__ import annotations

import itertools

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from torch import nn

pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
N = 6
X = torch.randn(1, N, N, generator=torch.Generator().manual_seed(0))
PAST = torch.ones(N, N).tril() / torch.arange(1, N + 1)[:, None]
KINDS = {
    "coo": torch.Tensor.to_sparse_coo,
    "twice": lambda a: torch.sparse_coo_tensor(
        *(torch.cat([p, p], -1) for p in (a.nonzero().T, a[a != 0] / 2)), a.shape
    ),
    "csr": torch.Tensor.to_sparse_csr,
    "csc": torch.Tensor.to_sparse_csc,
}
PRODUCTS = {
    "mm": lambda a, x: a @ x,
    "sparse.mm": torch.sparse.mm,
    "addmm": lambda a, x: torch.addmm(x, a, x, beta=0.5, alpha=2),
    "mv": lambda a, x: torch.stack([torch.mv(a, c) for c in x.T], 1),
    "to_dense": lambda a, x: a.to_dense() @ x,
}


class Product(nn.Module):
    """A product with a sparse tensor that the model holds."""

    def __init__(self, a, product, does=None):
        super().__init__()
        self.register_buffer("a", a)
        self.product, self.does = product, does

    def forward(self, x):
        if self.does is not None:
            self.does(self, x[0])
        return self.product(self.a, x[0])[None]


@pytest.mark.parametrize("replay", ["auto", "never"])
@pytest.mark.parametrize(
    ("kind", "product"), sorted({*itertools.product(KINDS, PRODUCTS)} - {("csc", "mv")})
)  # no kernel
def test_a_product_with_a_sparse_constant_uses_where_it_is_0(kind, product, replay):
    for a, proved in ((PAST, True), (PAST + torch.eye(N).roll(1, 1).triu() * 0.5, False)):
        verdict = ap.check_model(Product(KINDS[kind](a), PRODUCTS[product]), X, replay=replay)
        assert verdict.status.name == ("PROVED" if proved else "UNDECIDED" if replay == "never" else "REFUTED"), verdict


def test_numbers_stored_for_one_place_may_cancel_in_floats_alone():
    """(1e16 + 1) - 1e16 is 0 in floats; a product that adds in another order depends on what stands at its place."""
    for stored, proved in (((1e16, 1.0, -1e16), False), ((1.0, -1.0, 0.0), False), ((0.0, 0.0, 0.0), True)):
        places = torch.tensor([[0, 0, 0, *range(N)], [5, 5, 5, *range(N)]])
        a = torch.sparse_coo_tensor(places, torch.tensor([*stored, *[1.0] * N], dtype=torch.float64), (N, N))
        verdict = ap.check_model(Product(a, torch.mm), X.double(), sequence_axis=1, output_axis=1, replay="never")
        assert verdict.status.name == ("PROVED" if proved else "UNDECIDED"), verdict


def swapped(m, x):
    torch.utils.swap_tensors(m.a, (PAST * x[-1].relu()[:, None]).to_sparse())


CHANGES = {
    "its values are written": lambda m, x: m.a._values().mul_(x[-1].sum()),
    "it is multiplied in place": lambda m, x: m.a.mul_(x[-1].sum()),
    "it is written": lambda m, x: m.a.copy_(m.a * x[-1].sum()),
    "it gets a memory": lambda m, x: setattr(m.a, "data", (PAST * x.sum(0)).to_sparse()),
    "its places are written": lambda m, x: m.a._indices()[1].mul_((x[-1].sum() > 0).long()),
    "the same without a graph is written": lambda m, x: m.a.detach()._values().mul_(x[-1].sum()),
    "it is emptied": lambda m, x: m.a.zero_() if x[-1].sum() > 0 else None,
    "another is put in its place": swapped,
    "it is made of data": lambda m, x: setattr(m, "a", (PAST * x.sum(0)).to_sparse()),
    "NumPy writes its values": lambda m, x: m.a._values().numpy().__setitem__(0, float(x[-1].sum())),
}


@pytest.mark.parametrize("replay", ["auto", "never"])
@pytest.mark.parametrize("how", CHANGES)
def test_a_sparse_tensor_that_data_change_is_no_constant(how, replay):
    verdict = ap.check_model(Product(PAST.to_sparse(), torch.mm, CHANGES[how]), X, replay=replay)
    assert verdict.status.name in ("UNDECIDED", "REFUTED"), verdict


@pytest.mark.parametrize("replay", ["auto", "never"])
@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_a_write_into_what_its_values_share_memory_with_counts(kind, replay):
    values = torch.ones(N)
    places = torch.arange(N)
    a = {
        "coo": lambda: torch.sparse_coo_tensor(torch.stack([places, places]), values, (N, N)),
        "csr": lambda: torch.sparse_csr_tensor(torch.arange(N + 1), places, values, (N, N)),
    }[kind]()
    assert a.to_dense().diagonal().tolist() == [1.0] * N

    def f(x):
        values.copy_(x[0, :, 0].flip(0))
        return (a @ torch.ones(N, N))[None] + 0 * x

    verdict = ap.check_model(f, X, replay=replay)
    assert verdict.status.name == ("UNDECIDED" if replay == "never" else "REFUTED"), verdict


def parameter(learns):
    return nn.Parameter(PAST.to_sparse(), requires_grad=learns)


def of_a_parameter(model):
    """A sparse tensor whose numbers lie where a dense parameter's do."""
    dense = PAST.to_sparse()
    model.numbers = nn.Parameter(dense.values())
    return torch.sparse_coo_tensor(dense.indices(), model.numbers.detach(), dense.shape)


LEARNT = {
    "a parameter": lambda model: parameter(True),
    "a parameter that is frozen": lambda model: parameter(False),
    "of a parameter": of_a_parameter,
}


@pytest.mark.parametrize("make", LEARNT.values(), ids=LEARNT)
def test_a_sparse_parameter_is_any_numbers(make):
    class Learned(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = make(self)

        def forward(self, x):
            return torch.sparse.mm(self.a, x[0])[None]

    assert ap.check_model(Learned(), X).status.name == "UNDECIDED"
