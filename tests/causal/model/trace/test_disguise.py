"""A program that asks where its tensors lie is told of real ones, or run on them: none of these leaks is proved."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.trace.twins import same_place
from torch import nn

N = 8
CPU = torch.device("cpu")


def never(model):
    return ap.check_model(model, torch.randn(1, N, 4), sequence_axis=1, replay="never")


PLACES = {
    "device": lambda x: x.device == CPU,
    "is_cpu": lambda x: x.is_cpu,
    "is_meta": lambda x: not x.is_meta,
    "get_device": lambda x: x.get_device() == -1,
    "type": lambda x: x.type() == "torch.FloatTensor",
    "a constant": lambda x: torch.arange(3).device == CPU,
    "storage": lambda x: x.untyped_storage().device == CPU,
    "typed storage": lambda x: x.storage().device == CPU,
    "a constant's storage": lambda x: torch.arange(3).untyped_storage().device == CPU,
    "type of storage": lambda x: x.storage_type() is torch.FloatStorage,
    "storage of a type": lambda x: isinstance(x.storage(), torch.FloatStorage),
    "name of a storage's type": lambda x: x.storage().type() == "torch.FloatStorage",
    "as a tensor": lambda x: torch.as_tensor(x) is x and torch.asarray(x) is x,
    "dlpack": lambda x: x.__dlpack_device__()[0] == 1,
    "same tensor": lambda x: x.to("cpu") is x,
    "text": lambda x: "meta" not in repr(torch.ones(2)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_a_program_that_leaks_on_real_tensors_alone_is_not_proved(place):
    assert never(lambda x: x.flip(1) if PLACES[place](x) else x.cumsum(1)).status.name == "UNDECIDED"


@pytest.mark.filterwarnings("ignore:TypedStorage")
@pytest.mark.parametrize("place", [p for p in PLACES if p != "dlpack"])
def test_a_program_that_leaks_on_other_tensors_alone_is_proved(place):
    assert never(lambda x: x.cumsum(1) if PLACES[place](x) else x.flip(1)).status.name == "PROVED"


def test_a_kernel_that_refuses_what_its_shape_function_takes_is_run_where_the_program_catches_that():
    def model(x):
        try:
            torch.linalg.inv(x.half() @ x.half().mT)
        except RuntimeError:
            return x.flip(1)
        return x.cumsum(1)

    assert never(model).status.name == "UNDECIDED"


def test_devices_of_one_kind_are_told_apart():
    assert same_place("cpu", CPU)
    assert same_place("cuda:1", torch.device("cuda", 1))
    assert not same_place("cuda:0", torch.device("cuda", 1))
    assert not same_place("cuda:0", CPU)


HIDDEN = {}  # from a check, which puts back what it finds


def test_constants_in_a_hidden_cache_hold_their_numbers_afterwards():
    assert never(lambda x: eval("HIDDEN").setdefault(0, torch.ones(N, N).tril()) @ x).status.name == "PROVED"
    assert torch.equal(HIDDEN[0], torch.ones(N, N).tril())


def test_data_in_a_hidden_cache_leave_it_open_and_are_told_from_numbers():
    verdict = never(lambda x: eval("HIDDEN").setdefault(1, x * 2).flip(1) + x)
    assert verdict.status.name == "UNDECIDED"
    assert "it keeps a tensor of shape (1, 8, 4)" in str(verdict)
    assert HIDDEN[1].isnan().all()


def test_what_lies_on_the_meta_device_stays_there():
    with torch.device("meta"):
        model = nn.GRU(4, 4, batch_first=True)
    parameters = list(model.parameters())
    assert ap.check_model(model, torch.randn(1, N, 4), outputs=0).status.name == "PROVED"
    assert all(p.is_meta and p is q for p, q in zip(parameters, model.parameters(), strict=True))
