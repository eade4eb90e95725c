"""In double precision a write into the program's own smaller tensor is refused, not lost in a wider copy."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import check_model

OWN = torch.zeros(2, 8, 4)
ROWS = [torch.zeros(2, 4) for _ in range(8)]


def into_out(x):
    torch.add(x, x.flip(1), out=OWN)
    return OWN.clone()


def into_a_list(x):
    torch._foreach_copy_(ROWS, list(x.flip(1).unbind(1)))
    return torch.stack(ROWS, 1)


@pytest.mark.parametrize("model", [into_out, into_a_list, lambda x: OWN.copy_(x.flip(1)).clone()])
def test_a_leak_through_a_buffer_of_ones_own_is_refuted(model):
    verdict = check_model(model, torch.linspace(-1, 1, 64).sin().reshape(2, 8, 4))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert verdict.witness.setting.precision == "native"
