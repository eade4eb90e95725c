"""Writes that no schema declares, and destinations whose elements share memory: what they leave behind is followed."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.distributed as dist
from attnproof.causal.model.trace import Rule
from leaks import never_proved, only_first
from tensor_probe import check

N = 6


@pytest.fixture
def alone(tmp_path):
    """A group of one process."""
    if not (dist.is_available() and dist.is_gloo_available()):
        pytest.skip("PyTorch was built without gloo")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def not_proved(leak):
    """Asserts it of a causal model to whose output 0 `leak(x)`, of the size of one vector, is added."""

    def model(x):
        return only_first(x.cumsum(1), leak(x))

    for replay in ("auto", "never"):
        torch.manual_seed(0)
        assert ap.check_model(model, torch.randn(1, N, 3), replay=replay).status.name in ("REFUTED", "UNDECIDED")


def filled(send):
    """A constant into which a collective sends position 1."""

    def leak(x):
        o = torch.zeros(3)
        send(o, x[0, 1].contiguous())
        return o

    return leak


def late(x):
    o, sent = torch.zeros(3), torch.zeros(3)
    work = dist.all_gather_into_tensor(o, sent, async_op=True)
    sent.copy_(x[0, 1])
    work.wait()
    return o


COLLECTIVES = {
    "all_gather_into_tensor": filled(lambda o, v: dist.all_gather_into_tensor(o, v)),
    "all_gather": filled(lambda o, v: dist.all_gather([o], v)),
    "all_to_all_single": filled(lambda o, v: dist.all_to_all_single(o, v)),
    "gather": filled(lambda o, v: dist.gather(v, [o])),
    "scatter": filled(lambda o, v: dist.scatter(o, [v])),
    "reduce_scatter_tensor": filled(lambda o, v: dist.reduce_scatter_tensor(o, v)),
    "not waited for": late,
}


@pytest.mark.parametrize("name", COLLECTIVES)
@pytest.mark.filterwarnings("ignore")
def test_a_collective_writes_what_its_schema_does_not_declare(name, alone):
    not_proved(COLLECTIVES[name])


@torch.library.custom_op("attnproof_writes::stowed", mutates_args=())
def stowed(o: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """An operation that writes an argument and does not say so."""
    o.copy_(x[0, 1])
    return torch.zeros(3)


def test_an_operation_of_others_may_write_all_it_is_given():
    def leak(x):
        o = torch.zeros(3)
        stowed(o, x)
        return o

    not_proved(leak)


@torch.library.custom_op("attnproof_writes::tripled", mutates_args=())
def tripled(x: torch.Tensor) -> torch.Tensor:
    return 3 * x


def test_what_it_makes_of_constants_alone_stays_constant_and_a_rule_is_believed():
    def model(x):
        mask = torch.triu(torch.full((N, N), -torch.inf), 1)
        tripled(mask)
        return (torch.zeros(N, N) + mask).softmax(-1) @ x

    x = torch.randn(2, N, 3)
    assert ap.check_model(model, x).status.name == "PROVED"
    honest = Rule(("attnproof_writes::tripled",), lambda call: call["x"].shadow)
    assert ap.check_model(lambda x: x.cumsum(1) + tripled(x), x, rules=[honest]).status.name == "PROVED"


@pytest.mark.filterwarnings("ignore")
def test_a_higher_order_operator_may_write_what_it_captured():
    def leak(x):
        o = torch.zeros(3)

        def branch(v):
            o.add_(v[0, 1])
            return v.sum() * 0

        torch.ops.higher_order.cond(torch.tensor(True), branch, branch, (x,))
        return o

    not_proved(leak)


# -- destinations that overlap themselves -----------------------------------------------------------------------------


def written(write, count=3, dtype=torch.float64):
    """What stands in a row of zeros after `write(row, x)`."""

    def function(x):
        row = torch.zeros(count, dtype=dtype)
        write(row, x)
        return torch.view_as_real(row) if row.is_complex() else row

    return function


def pair(x):
    return x[:2, :2].mT


def set_over(y, x):
    torch.empty(0, dtype=y.dtype).set_(y.untyped_storage(), 0, (2, 2), (1, 1)).copy_(pair(x))


OVERLAPS = {
    "copy_ into as_strided": written(lambda y, x: y.as_strided((2, 2), (1, 1)).copy_(pair(x))),
    "copy_ into unfold": written(lambda y, x: y.unfold(0, 2, 1).copy_(pair(x))),
    "copy_ of a second row": written(lambda y, x: y.unfold(0, 2, 1)[:, :].copy_(x[:2, :2])),
    "add_": written(lambda y, x: y.unfold(0, 2, 1).add_(pair(x))),
    "mul_ after ones": written(lambda y, x: y.fill_(1).unfold(0, 2, 1).mul_(pair(x))),
    "masked_fill_ by data": written(lambda y, x: y.unfold(0, 2, 1).masked_fill_(pair(x) > 0, 1.0)),
    "out=": written(lambda y, x: torch.add(pair(x), 1, out=y.unfold(0, 2, 1))),
    "setitem": written(lambda y, x: y.unfold(0, 2, 1).__setitem__(torch.arange(2), pair(x))),
    "index_put_ of an expanded row": written(lambda y, x: y[:1].expand(6).index_put_((torch.arange(6),), x[:, 0])),
    "scatter_": written(lambda y, x: y.unfold(0, 2, 1).scatter_(0, torch.tensor([[0, 0], [1, 1]]), pair(x))),
    "cumsum_": written(lambda y, x: y.copy_(x[:3, 0]).unfold(0, 2, 1).cumsum_(1)),
    "resize_ of a view": written(lambda y, x: y.unfold(0, 2, 1).resize_(2, 2).copy_(pair(x))),
    "set_": written(set_over),
    "real parts": written(
        lambda y, x: torch.view_as_real(y).as_strided((2, 2), (1, 1)).copy_(pair(x)), dtype=torch.complex128
    ),
    "bits": written(lambda y, x: y.view(torch.int64).unfold(0, 2, 1).copy_(pair(x).contiguous().view(torch.int64))),
    "one target twice": written(lambda y, x: torch._foreach_add_([y, y], [x[1, :3], x[0, :3]])),
    "targets side by side": written(lambda y, x: torch._foreach_copy_([y[:2], y[1:]], [x[0, :2], x[1, :2]])),
}


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("name", OVERLAPS)
def test_a_byte_written_twice_depends_on_both(name, values):
    torch.manual_seed(0)
    check(OVERLAPS[name], torch.randn(N, 3, dtype=torch.float64), exact=False, values=values)


def test_a_leak_through_a_destination_that_overlaps_itself_is_not_proved():
    def leak(x):
        y = torch.zeros(3)
        y.as_strided((2, 2), (1, 1)).copy_(x[0, :2, :2].mT)
        return y[1]

    not_proved(leak)


def test_windows_that_do_not_overlap_are_written_as_precisely_as_ever():
    def blocks(x):
        y = torch.zeros(N, dtype=x.dtype)
        y.unfold(0, 2, 2).copy_(x[:, 0].reshape(3, 2))
        return y

    check(blocks, torch.randn(N, 3, dtype=torch.float64))


# -- tensors that hold other tensors, and views ---------------------------------------------------------------------


def nested_write(x):
    base = torch.ones(4)
    sizes, strides = torch.tensor([[2], [2]]), torch.tensor([[1], [1]])
    torch._nested_view_from_buffer(base, sizes, strides, torch.tensor([0, 2])).mul_(x[0, 1, 0])
    return only_first(x, base[0])


def sparse_write(x):
    values = torch.ones(2)
    sparse = torch.sparse_coo_tensor(torch.tensor([[0, 1]]), values, (2,), is_coalesced=True)
    sparse.mul_(x[0, 1, 0])
    return only_first(x, sparse._values()[0])


@pytest.mark.parametrize("leak", [nested_write, sparse_write])
@pytest.mark.filterwarnings("ignore")
def test_a_write_into_a_tensor_of_tensors_is_never_proved(leak):
    never_proved(leak)


def shifted(x):
    lagged = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1)
    return lagged.flip(1).contiguous()


def added(x):
    y = shifted(x)
    y[:, 1:] += y[:, :-1]  # runs element by element: a running sum from the end
    return y.flip(1)


def copied(x):
    y = shifted(x)
    y[:, 1:].copy_(y[:, :-1])
    return y.flip(1)


@pytest.mark.parametrize("model", [added, copied])
def test_a_write_through_overlapping_views_is_never_proved(model):
    x = torch.randn(3, 20, 1, dtype=torch.float64)
    assert ap.check_model(model, x).status.name in ("REFUTED", "UNDECIDED")
    assert ap.check_model(model, x, replay="never").status.name == "UNDECIDED"


def test_writes_to_other_rows_of_the_same_memory_are_followed():
    def scan(x):
        y = x.clone()
        for t in range(1, x.shape[1]):
            y[:, t] += y[:, t - 1]
        return y

    assert ap.check_model(scan, torch.randn(2, N, 3)).status.name == "PROVED"


@pytest.mark.parametrize("write", [lambda y: y.pow_(2), lambda y: y.square_(), lambda y: y.float_power_(2)])
def test_powers_in_place_are_followed(write):
    assert ap.check_model(lambda x: write(x.double().cumsum(1)), torch.randn(1, 6, 2)).status.name == "PROVED"
