"""Scans: prefixes."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
from tensor_probe import check, normal

X = normal(6, 4)
MASK = normal(6, 4, seed=1) > -0.5
CASES = {
    "cumsum": lambda x: [x.cumsum(0), x.cumsum(1), x.flip(0).cumsum(0).flip(0)],
    "cumprod": lambda x: [x.cumprod(0), (x * MASK).cumprod(0)],
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "cummax": lambda x: [x.cummax(0)[0], x.cummin(0)[1]],
    "exclusive": lambda x: torch.cat([torch.zeros(1, 4, dtype=x.dtype), x.cumsum(0)[:-1]]),
    "mean so far": lambda x: x.cumsum(0) / torch.arange(1, 7)[:, None],
    "normalised by exponentials": lambda x: (x.exp() * x).cumsum(0) / x.exp().cumsum(0),
    "in place": lambda x: x.clone().cumsum_(0),
    "a scalar": lambda x: x[0, 0].cumsum(0),
}
LOOSE = {"cummax", "cumprod"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


@pytest.mark.fallback
def test_a_total_less_a_suffix_is_causal_by_cancellation_only():
    run = check(lambda x: x.sum(0, keepdim=True) - x.flip(0).cumsum(0).flip(0) + x, X, exact=False)
    assert run.outputs[0].along(0)[1].tolist() == [5] * 6
