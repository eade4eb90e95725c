"""What cancels in real arithmetic, beside brute force, and twins in which it does not."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")

from attnproof import check_model
from attnproof.causal import trace

N, D = 7, 2


def intervals(program, x, real=True):
    run = trace.run(program, (x,), real=real)
    assert run.complete
    return run, run.outputs[0].shadow


def contradicted(program, x, shadow):
    """An element that moves with a position outside its interval, by more than rounding."""
    lo, hi = (torch.from_numpy(a.copy()).expand(shadow.shape) for a in (shadow.lo, shadow.hi))
    y = program(x)
    for j in range(x.shape[1]):
        for scale in (0.5, 2.0):
            other = x.clone()
            other[:, j] += scale * torch.randn_like(other[:, j])
            moved = (program(other) - y).abs() > 1e-7 * (1 + y.abs())
            if (moved & ~((lo <= j) & (j <= hi))).any():
                return j
    return None


def suffix(h, axis=1):
    return h.flip(axis).cumsum(axis).flip(axis)


def filtered(h, kernel, n):
    return torch.fft.irfft(torch.fft.rfft(h, n=n, dim=1) * torch.fft.rfft(kernel, n=n, dim=0), n=n, dim=1)[:, :N]


KERNEL = torch.randn(N, D, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def lowered(h):
    return h - h.amax(1, keepdim=True)


def shifted(h, by):
    e = torch.exp(h - by)
    return (e * h).cumsum(1) / e.cumsum(1)


def through_logs(h):
    m = h.amax(1, keepdim=True)
    return (h - m).exp().cumsum(1).log() + m


def causal_products(h):
    """Weights of keys that are lowered by the largest key of all."""
    e = (h - h.amax((1, 2), keepdim=True)).exp()
    tril = torch.ones(N, N, dtype=h.dtype).tril()
    return (tril @ (e * h)) / (tril @ e)


def time_last(h, n=2 * N):
    """As layers do that have one kernel for each channel, and a skip connection."""
    spectrum = torch.fft.rfft(h.mT, n=n) * torch.fft.rfft(KERNEL.T, n=n)[None] + torch.fft.rfft(h.mT * 2.0, n=n)
    return torch.fft.irfft(spectrum * KERNEL[0, :, None], n=n)[..., :N].mT


CAUSAL = {
    "a total less a suffix": lambda h: h.sum(1, keepdim=True) - suffix(h),
    "a total without its axis": lambda h: h.sum(1)[:, None] - suffix(h),
    "the last of a scan": lambda h: h.cumsum(1)[:, -1:] - suffix(h) + h,
    "means": lambda h: h.mean(1, keepdim=True) * N - suffix(h),
    "time last": lambda h: (h.mT.sum(-1, keepdim=True) - suffix(h.mT, 2)).mT,
    "halves": lambda h: (0.5 * h.sum(1, keepdim=True) - suffix(h) / 2) * 3,
    "in place": lambda h: h.sum(1, keepdim=True).expand(1, N, D).clone().sub_(suffix(h)),
    "a maximum of all": lambda h: shifted(h, h.amax(1, keepdim=True)),
    "another shift": lambda h: shifted(h, h.sum(1, keepdim=True)),
    "logarithms": through_logs,
    "products with a triangle": causal_products,
    "a factor": lambda h: (lambda s: (h * s).cumsum(1) / s)(h.std(1, keepdim=True)),
    "a filter": lambda h: filtered(h, KERNEL, 2 * N),
    "a filter with the time last": time_last,
    "a filter just long enough": lambda h: filtered(h, KERNEL, 2 * N - 1),
    "a filter longer than that": lambda h: filtered(h, KERNEL, 2 * N + 3),
}  # fmt: skip
LEAKING = {
    "a suffix less a position": lambda h: h.sum(1, keepdim=True) - suffix(h).roll(-1, 1) * 2,
    "a total of something else": lambda h: (h + h.tanh()).sum(1, keepdim=True) - suffix(h),
    "a total of what was written since": lambda h: written(h),
    "means of another length": lambda h: h.mean(1, keepdim=True) * (N - 1) - suffix(h),
    "a maximum and a little": lambda h: lowered(h).exp().cumsum(1) / (lowered(h).exp().cumsum(1) + 1e-2),
    "two maxima": lambda h: lowered(h).exp().cumsum(1) / (h - h.amin(1, keepdim=True)).exp().cumsum(1),
    "a power": lambda h: lowered(h).exp().cumsum(1) / (2 * lowered(h)).exp().cumsum(1),
    "numbers of few digits": lambda h: (h.half().sum(1, keepdim=True) - suffix(h.half())).to(h.dtype),
    "a circular filter": lambda h: filtered(h, KERNEL, N),
    "a filter one too short": lambda h: filtered(h, KERNEL, 2 * N - 2),
    "a filter of both sides": lambda h: filtered(h, torch.cat([KERNEL, KERNEL]), 2 * N),
    "a turned spectrum": lambda h: torch.fft.irfft(torch.fft.rfft(h, n=2 * N, dim=1) * 1j, n=2 * N, dim=1)[:, :N],
    "a spectrum by frequency": lambda h: torch.fft.irfft(
        torch.fft.rfft(h, n=2 * N, dim=1) * torch.linspace(1, 0, N + 1, dtype=h.dtype)[:, None], n=2 * N, dim=1
    )[:, :N],
    "another length back": lambda h: torch.fft.irfft(torch.fft.rfft(h, n=2 * N, dim=1), n=2 * N + 2, dim=1)[:, :N],
}  # fmt: skip


def written(h):
    total = h.sum(1, keepdim=True)
    h = h.clone()
    other = suffix(h)
    h.mul_(2)
    return total - other + h.sum(1, keepdim=True) - suffix(h * 1.0)


def data():
    torch.manual_seed(0)
    return torch.randn(1, N, D, dtype=torch.float64)


def closes(shadow):
    _, hi = shadow.along(1)
    return bool((hi <= torch.arange(N).numpy()).all())


@pytest.mark.parametrize("name", CAUSAL)
def test_what_cancels_is_gone_under_a_condition(name):
    program, x = CAUSAL[name], data()
    run, shadow = intervals(program, x)
    assert closes(shadow)
    assert any(c.kind == "real-arithmetic" for c in run.conditions)
    assert contradicted(program, x, shadow) is None
    assert not closes(intervals(program, x, real=False)[1])


@pytest.mark.parametrize("name", LEAKING)
def test_what_does_not_cancel_stays(name):
    program, x = LEAKING[name], data()
    _, shadow = intervals(program, x)
    assert not closes(shadow)
    assert contradicted(program, x, shadow) is None


def test_the_condition_covers_what_underflow_leaves():
    def model(x):
        s = x @ x.mT
        e = (s - s.amax()).exp() * torch.ones(6, 6).tril()
        return e / e.sum(-1, keepdim=True) @ x

    x = torch.randn(1, 6, 4, generator=torch.Generator().manual_seed(0))
    other = x.clone()
    other[:, -1] = 5.12  # its score is the largest, and 104 above the others
    assert (model(x) - model(other))[:, :-1].abs().amax() > 0.5
    assert model(other).isfinite().all()
    verdict = check_model(model, x)
    assert verdict.status.name == "PROVED_IF"
    assert "as large as the result where numbers underflow" in verdict.conditions[0].text
