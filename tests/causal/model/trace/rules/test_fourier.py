"""Fourier transforms: the whole axis."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
from tensor_probe import check, normal

X = normal(6, 4)
CASES = {
    "real": lambda x: [
        torch.fft.rfft(x, dim=0),
        torch.fft.irfft(torch.fft.rfft(x, dim=0), n=6, dim=0),
        torch.fft.rfft(x, dim=1),
    ],
    "complex": lambda x: [
        torch.fft.fft(x, dim=1),
        torch.fft.ifft(torch.fft.fft(x, dim=1), dim=1).real,
        torch.fft.fft2(x),
        torch.fft.fftshift(x, 0),
    ],
}
LOOSE = {"real", "complex"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


@pytest.mark.fallback
def test_a_padded_filter_is_causal_by_cancellation_only():
    kernel = normal(6, 1)

    def f(x):
        return torch.fft.irfft(torch.fft.rfft(x, 12, dim=0) * torch.fft.rfft(kernel, 12, dim=0), 12, dim=0)[:6]

    assert check(f, X, exact=False).outputs[0].along(0)[1].tolist() == [5] * 6
