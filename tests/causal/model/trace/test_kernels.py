"""How results look where nothing is computed: as they would be, each in memory of its own unless it shares some."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.trace import kernels

OFFSETS = torch.tensor([3, 6, 9, 12], dtype=torch.int32)


@pytest.mark.parametrize(
    ("a", "b", "dtype"),
    [
        ((12, 32), (4, 32, 24), torch.float32),
        ((12, 32), (4, 24, 32), torch.float16),
        ((12, 32), (4, 21, 32), torch.float32),
        ((24, 16), (16, 32), torch.bfloat16),
        ((4, 8, 32), (4, 32, 24), torch.float32),
        ((4, 8, 32), (32, 12), torch.float32),
    ],
)
def test_a_grouped_product_of_any_type_looks_as_its_kernel_makes_it(a, b, dtype):
    x, y = torch.zeros(a, dtype=dtype), torch.zeros(b, dtype=dtype)
    if len(a) == 2 and len(b) == 3 and b[1] != a[1]:
        y = y.mT
    offsets = None if len(a) == len(b) == 3 else OFFSETS
    real = torch._grouped_mm(x, y, offs=offsets)
    looks = kernels.grouped_product(x, y, offsets)
    assert looks.is_meta
    assert (looks.shape, looks.stride(), looks.dtype) == (real.shape, real.stride(), real.dtype)


def test_experts_too_large_to_be_run_on_zeros_are_proved(monkeypatch):
    monkeypatch.setattr(kernels, "MOST", 0)
    w = torch.randn(4, 32, 24)

    def model(x):
        y = torch._grouped_mm(x[0], w, offs=OFFSETS)
        y.add_(1.0)
        return y[None]

    verdict = ap.check_model(model, torch.randn(1, 12, 32), sequence_axis=1, replay="never")
    assert verdict.status.name == "PROVED", verdict
    assert any("without values" in e.detail for e in verdict.evidence), verdict.evidence


def test_a_result_that_shares_memory_with_an_operand_is_no_memory_of_its_own():
    def model(x):
        shown = []
        for _ in range(2):  # the second time, the shape is known
            y = x.cumsum(1)
            torch.ops.aten._unsafe_view(y, (1, 8, 4)).copy_(x.flip(1))
            shown.append(y)
        return shown[1]

    assert ap.check_model(model, torch.randn(1, 8, 4)).status.name == "REFUTED"
    assert ap.check_model(model, torch.randn(1, 8, 4), replay="never").status.name == "UNDECIDED"


def test_equal_calls_ask_for_a_shape_once(monkeypatch):
    asked = []
    stand_in = kernels._fresh_looks
    monkeypatch.setattr(kernels, "_fresh_looks", lambda value, given: asked.append(1) or stand_in(value, given))

    def model(x):
        for _ in range(5):
            x = x + x.cumsum(1)
        return x

    assert ap.check_model(model, torch.randn(1, 8, 4), replay="never").status.name == "PROVED"
    assert len(asked) == 2  # one sum, one running sum


def test_a_view_that_fails_is_caught_as_it_would_be():
    def model(x):
        y = x.mT
        try:
            return y.view(1, 8, 4).cumsum(1)
        except RuntimeError:  # as real tensors do, since these rows are columns
            return x.flip(1)

    assert ap.check_model(model, torch.randn(1, 8, 4)).status.name == "REFUTED"
    assert ap.check_model(model, torch.randn(1, 8, 4), replay="never").status.name == "UNDECIDED"
