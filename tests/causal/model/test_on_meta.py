"""Parameters on meta, buffers for real: what a proof needs of a model."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")

from attnproof.causal.model import parameters_on_meta
from attnproof.causal.model.on_meta import LARGE, has_valueless_buffers
from torch import nn


class Masked(nn.Module):
    """A parameter, a buffer that is computed, and a plain attribute."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3))
        self.register_buffer("mask", torch.full((3, 3), -torch.inf).triu(1))
        self.places = torch.arange(3)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_buffers_and_attributes_hold_their_numbers_and_parameters_none(device):
    with parameters_on_meta(), torch.device(device):
        model = Masked()
    assert model.weight.is_meta
    assert model.mask.equal(torch.full((3, 3), -torch.inf).triu(1))
    assert model.places.tolist() == [0, 1, 2]
    assert not has_valueless_buffers(model)


def test_tensors_that_are_asked_for_on_meta_by_name_hold_their_numbers():
    with parameters_on_meta():
        norm, ones = nn.BatchNorm1d(2, device="meta"), torch.ones(2, device="meta")
    assert norm.weight.is_meta
    assert norm.running_var.tolist() == ones.tolist() == [1, 1]


def test_tied_parameters_stay_one():
    with parameters_on_meta():
        table, head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
        head.weight = table.weight
    assert head.weight is table.weight
    assert isinstance(head.weight, nn.Parameter)
    assert head.weight.requires_grad


def test_no_memory_is_taken_for_what_is_large():
    rows = 2**40 // 4
    with parameters_on_meta():
        experts = [nn.Parameter(make(rows)) for make in (torch.empty, torch.zeros, torch.randn)]
        full = torch.full((rows,), 1.0)
        small = torch.zeros(LARGE // 8)
    assert all(p.is_meta and p.numel() == rows for p in [*experts, full])
    assert not small.is_meta


def test_afterwards_everything_is_as_before_also_when_the_model_raises():
    with pytest.raises(ZeroDivisionError), parameters_on_meta():
        raise ZeroDivisionError
    assert not nn.Linear(2, 2).weight.is_meta
    assert torch.ones(2, device="meta").is_meta


def test_a_model_made_on_meta_has_buffers_without_values():
    with torch.device("meta"):
        assert has_valueless_buffers(Masked())
    assert not has_valueless_buffers(Masked())
