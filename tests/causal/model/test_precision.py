"""In double precision, writes into smaller tensors are refused, not lost; what shared memory goes on sharing it."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import check_model
from attnproof.causal.model.precision import parameters_as
from attnproof.causal.model.setting import Setting

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


# -- what shares memory with a parameter goes on sharing it --------------------------------------------------------


class Flat(torch.nn.Module):
    """Writes into its weight through a view of it; `leaks`: what comes last in the input."""

    def __init__(self, leaks):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(4, 4))
        self.flat, self.leaks = self.w.data.view(-1), leaks

    def forward(self, x):
        self.flat[:4] = x[0, -1] if self.leaks else 1.0
        return x.cumsum(1) @ self.w


def test_a_leak_through_a_view_of_a_parameter_is_refuted():
    x = torch.randn(1, 8, 4)
    leak = check_model(Flat(leaks=True), x)
    assert leak.status.name == "REFUTED", leak
    assert leak.witness.replay()
    assert check_model(Flat(leaks=False), x).status.name == "PROVED"


class Twice(torch.nn.Module):
    """Two parameters in one memory, whose difference is nothing."""

    def __init__(self, halves):
        super().__init__()
        base = torch.randn(8, 4)
        self.a = torch.nn.Parameter(base[:6] if halves else base[:4])
        self.b = torch.nn.Parameter(base[2:] if halves else base[:4])

    def forward(self, x):
        z = x.flip(1)
        return x.cumsum(1) + (z @ self.a[-4:] - z @ self.b[:4])


@pytest.mark.parametrize("halves", [False, True])
def test_parameters_in_one_memory_are_jittered_as_one(halves):
    verdict = check_model(Twice(halves), torch.randn(1, 8, 4))
    assert verdict.status.name == "UNDECIDED", verdict


def test_what_lies_in_one_memory_comes_back_to_it():
    flat = Flat(leaks=False)
    memory = flat.w.data_ptr()
    with parameters_as([flat], Setting(precision="float64", jitter=0.1), [flat.flat]):
        assert flat.w.dtype == flat.flat.dtype == torch.float64
        assert flat.w.data_ptr() == flat.flat.data_ptr() != memory
        assert torch.equal(flat.w.detach().view(-1), flat.flat)
    assert flat.w.dtype == flat.flat.dtype == torch.float32
    assert flat.w.data_ptr() == flat.flat.data_ptr() == memory
