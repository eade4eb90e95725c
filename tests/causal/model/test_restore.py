"""What is put back after a run that copies large tensors only before it writes them, and results in such memory."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.restore import SMALL, Held
from attnproof.causal.model.watch import may_write
from torch import nn

X = torch.randn(2, 8, 4)
LARGE = SMALL // 4 + 1  # numbers of float32


# -- large parameters that a call writes ---------------------------------------------------------------------------


def by_name(p):
    p.add_(1)


def through_data(p):
    p.data[1:].mul_(2)


def through_out(p):
    torch.add(p.detach(), 1, out=p.data)


def through_a_list(p):
    torch._foreach_add_([p.data], 1)


def through_running_statistics(p):
    table = p.data[:-1].view(LARGE // 2, 2).T
    nn.functional.batch_norm(torch.randn(8, LARGE // 2), table[0], table[1].abs(), training=True)


def through_numpy(p):
    p.detach().numpy()[3] += 1


def by_another_tensor(p):
    p.data = p.detach() + 1


@pytest.mark.parametrize(
    "write",
    [by_name, through_data, through_out, through_a_list, through_running_statistics, through_numpy, by_another_tensor],
)
def test_large_parameters_that_a_call_writes_are_put_back(write):
    class Writing(nn.Module):
        def __init__(self):
            super().__init__()
            self.p, self.still = nn.Parameter(torch.rand(LARGE)), nn.Parameter(torch.rand(LARGE))

        def forward(self, x):
            with torch.no_grad():
                write(self.p)
            return x.cumsum(1) * self.still[0]

    model = Writing()
    before, address = model.p.detach().clone(), model.p.data_ptr()
    ap.check_model(model, X)
    assert torch.equal(model.p, before)
    assert model.p.data_ptr() == address


def test_only_what_a_run_writes_is_copied():
    base, still = torch.zeros(LARGE), nn.Parameter(torch.zeros(LARGE))
    view = base[1:]
    held = Held([base, view, still])
    with held.restored(lazily=True):
        held.keep(view.view(-1))
        base += 1
        still.data += 1  # nobody says so
    assert not base.any()
    assert bool(still.any())
    assert held.changed


def test_what_an_operation_may_write_is_known_of_its_schema():
    aten, x, y = torch.ops.aten, torch.zeros(2), torch.zeros(2)
    assert list(may_write(aten.add.Tensor, (x, y), {})) == []
    assert [t is x for t in may_write(aten.add_.Tensor, (x, y), {})] == [True]
    assert [t is y for t in may_write(aten.add.out, (x, x), {"out": y})] == [True]
    assert len(list(may_write(aten.native_batch_norm.default, (x, x, x, y, y, True, 0.1, 1e-5), {}))) == 5


# -- results in memory that other runs write -----------------------------------------------------------------------


class Buffered(nn.Module):
    """A model that returns the buffer which it has written."""

    def __init__(self, leaks):
        super().__init__()
        self.register_buffer("held", torch.zeros(2, 8, 4))
        self.leaks = leaks

    def forward(self, x):
        self.held.copy_(x.flip(1) if self.leaks else x.cumsum(1))
        return self.held


def test_a_result_in_a_buffer_is_compared_as_it_was():
    leak = ap.check_model(Buffered(leaks=True), X)
    assert leak.status.name == "REFUTED", leak
    assert leak.witness.replay()
    causal = ap.check_model(Buffered(leaks=False), X)
    assert causal.status.name == "PROVED", causal
    assert causal.evidence[-1].detail == "eval mode, n = 8: a run of the model itself agrees with it"


def test_a_result_in_memory_of_numpys_is_compared_as_it_was():
    memory = torch.zeros(2, 8, 4).numpy()

    def workspace(x):
        return torch.from_numpy(memory).copy_(x.flip(1))

    assert ap.check_model(workspace, X).status.name == "REFUTED"


# -- what is equal and not the same --------------------------------------------------------------------------------


def by_layout(t):
    t.t_()


def by_offset(t):
    t.as_strided_((2, 2), (0, 0), 1)


def by_sign(t):
    t.neg_()


def by_payload(t):
    t.view(torch.int32).fill_(0x7FC00001)


@pytest.mark.parametrize("change", [by_layout, by_offset, by_sign, by_payload])
def test_what_compares_equal_is_put_back_all_the_same(change):
    number = float("nan") if change is by_payload else 0.0
    t = torch.full((2, 2), number)

    def looks():
        return t.stride(), t.storage_offset(), t.contiguous().view(torch.int32).tolist()

    before, held = looks(), Held([t])
    with held.restored():
        change(t)
        assert looks() != before
    assert looks() == before
    assert held.changed


# -- what a tensor holds besides its numbers -----------------------------------------------------------------------


class Weighted(nn.Module):
    """A model that does something with its weight before it uses it."""

    def __init__(self, does):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 4))
        self.register_buffer("eye", torch.eye(4).to_sparse())
        self.w.grad, self.does = torch.ones(4, 4), does

    def forward(self, x):
        self.does(self, x)
        return x.cumsum(1) @ self.w


def exchanges_constants(m, x):
    torch.utils.swap_tensors(m.w, nn.Parameter(torch.ones(4, 4)))


def exchanges_data(m, x):
    torch.utils.swap_tensors(m.w, nn.Parameter(x[0, :4].detach().clone()))


def forgets_its_gradient(m, x):
    m.w.grad = None


def adds_to_its_gradient(m, x):
    m.w.grad.add_(x[0, :4])


def takes_a_step(m, x):
    with torch.enable_grad():
        (x.detach() @ m.w).sum().backward()


def freezes_it(m, x):
    m.w.requires_grad_(False)


def scales_a_sparse_one(m, x):
    m.eye._values().mul_(2)


@pytest.mark.parametrize("replay", ["auto", "never"])
@pytest.mark.parametrize(
    ("does", "leaks"),
    [
        (exchanges_constants, False), (exchanges_data, True), (forgets_its_gradient, False), (freezes_it, False),
        (adds_to_its_gradient, False), (takes_a_step, False), (scales_a_sparse_one, False),
    ],
)  # fmt: skip
def test_an_exchanged_tensor_its_gradient_and_what_a_sparse_one_holds_are_put_back(does, leaks, replay):
    model = Weighted(does)
    w, memory, before = model.w, model.w.data_ptr(), model.w.detach().clone()
    verdict = ap.check_model(model, X, replay=replay)
    expected = ("REFUTED" if replay == "auto" else "UNDECIDED") if leaks else "PROVED"
    assert verdict.status.name.startswith(expected), verdict
    assert model.w is w
    assert (type(w), w.data_ptr(), w.requires_grad) == (nn.Parameter, memory, True)
    assert torch.equal(w, before)
    assert torch.equal(w.grad, torch.ones(4, 4))
    assert torch.equal(model.eye.to_dense(), torch.eye(4))
