# ruff: noqa: E501 - tables of calls
"""Random tensor programs built out of every family of rules: masks, zeros, −∞, indices, views, in-place writes, types.

`program(seed)` is a function of one tensor that returns every tensor it made. The seed alone decides what it does (never
the values), so that two runs on different inputs can be compared element by element.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F

N, D = 6, 4
SIZES = [(N, D), (N, D), (4, 4), (3, 3, 3), (2, 2), (3, 2, 3)]  # equal axes must not be mistaken for one another
MOST = 3000  # elements of a tensor


class Maker:
    """The pool of tensors of one run, and the choices of its seed."""

    hidden: float

    def __init__(self, seed: int, x: torch.Tensor) -> None:
        self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.n, self.d = x.shape[0], x.shape[-1]
        self.pool = [x, self.normal((self.n, self.d)), self.sparse((self.n, self.n)), self.causal()]

    def normal(self, shape: tuple[int, ...]) -> torch.Tensor:
        """Constants: NumPy draws them, so that the traced run does not see noise being made."""
        return torch.from_numpy(np.asarray(self.numbers.standard_normal(shape)))

    def sparse(self, shape: tuple[int, ...]) -> torch.Tensor:
        """Numbers of which many are exactly 0."""
        return self.normal(shape) * torch.from_numpy(np.asarray(self.numbers.random(shape) < 0.5))

    def causal(self) -> torch.Tensor:
        return torch.tril(self.normal((self.n, self.n)))

    def mask(self, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.from_numpy(np.asarray(self.numbers.random(shape) < 0.4))

    def ints(self, shape: tuple[int, ...], high: int) -> torch.Tensor:
        return torch.from_numpy(np.asarray(self.numbers.integers(0, high, shape)))

    def any(self, where: Callable[[torch.Tensor], bool] = lambda t: True) -> torch.Tensor:
        """A tensor of the pool, the input and recent ones most often."""
        fitting = [t for t in self.pool if where(t)]
        if not fitting:
            return self.pool[0]
        if self.rng.random() < 0.5:
            return self.rng.choice(fitting[-4:])
        return self.rng.choice(fitting)

    def real(self, least: int = 1) -> torch.Tensor:
        t = self.any(lambda t: t.is_floating_point() and t.dim() >= least and t.numel() > 0)
        return t if t.is_floating_point() and t.dim() >= least else self.pool[0]

    def axis(self, t: torch.Tensor) -> int:
        return self.rng.randrange(t.dim()) if t.dim() else 0

    def like(self, t: torch.Tensor) -> torch.Tensor:
        """A tensor that broadcasts with t: another of the pool, or a constant."""
        others = [u for u in self.pool if u.is_floating_point() and _broadcasts(u.shape, t.shape)]
        if others and self.rng.random() < 0.7:
            return self.rng.choice(others)
        return self.sparse(tuple(t.shape)) if self.rng.random() < 0.5 else self.normal(tuple(t.shape))

    def condition(self, t: torch.Tensor) -> torch.Tensor:
        """A boolean tensor of t's shape that depends on data, another tensor's where one fits."""
        other = self.like(t)
        return (other if torch.broadcast_shapes(other.shape, t.shape) == t.shape else t).expand(t.shape) > 0

    def index(self, count: int, high: int) -> torch.Tensor:
        """Whole numbers below `high`: constants, or read out of data."""
        if self.rng.random() < 0.6:
            return self.ints((count,), high)
        source = self.real().reshape(-1)
        picked = source[torch.arange(count) % max(1, source.numel())]
        return (picked * 3).long() % high


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        shape = torch.broadcast_shapes(a, b)
    except RuntimeError:
        return False
    return shape.numel() <= MOST


STEPS: list[Callable[[Maker], torch.Tensor | None]] = []


def step(function: Callable[[Maker], torch.Tensor | None]) -> Callable[[Maker], torch.Tensor | None]:
    STEPS.append(function)
    return function


# -- elementwise --------------------------------------------------------------------------------------------------------


@step
def unary(m: Maker) -> torch.Tensor:
    f = m.rng.choice(
        [
            torch.relu, torch.tanh, torch.sigmoid, torch.abs, torch.neg, torch.floor, torch.sign, torch.sin, torch.erf,
            F.gelu, F.silu, F.softplus, torch.square, torch.atan, lambda t: torch.exp(t.clamp(-8, 3)), F.elu, F.mish,
            lambda t: torch.sqrt(t.abs()), lambda t: torch.log1p(t.abs()), lambda t: t.clamp(-1, 1), lambda t: t ** 2,
            lambda t: torch.nan_to_num(t), lambda t: t.round(), lambda t: torch.log(t.abs() + 1), F.hardtanh, lambda t: 1 - t,
            lambda t: torch.rsqrt(t.abs() + 1), lambda t: t.remainder(1.5), lambda t: t.reciprocal().clamp(-3, 3), F.leaky_relu,
            lambda t: torch.polar(t.abs(), t).real, lambda t: 0 * t, lambda t: t * 1.5 - 2, lambda t: t.frac(), lambda t: t.clamp(min=0.1),
        ]
    )  # fmt: skip
    return f(m.real(0))


@step
def binary(m: Maker) -> torch.Tensor:
    a = m.real(0)
    b = m.like(a)
    f = m.rng.choice(
        [
            torch.add, torch.sub, torch.mul, torch.mul, torch.maximum, torch.minimum, lambda a, b: a / (b.abs() + 1),
            lambda a, b: a / (b.abs().exp() + 1), lambda a, b: torch.add(a, b, alpha=-0.5), lambda a, b: torch.lerp(a, b, 0.3),
            lambda a, b: torch.atan2(a, b + 3), lambda a, b: torch.logaddexp(a, b), lambda a, b: torch.addcmul(a, a, b),
            lambda a, b: torch.addcdiv(a, b, a.abs() + 1), lambda a, b: torch.where(a > b, a, b), torch.hypot,
            lambda a, b: (a > b).double(), lambda a, b: ((a > 0) & (b > 0)).double(), lambda a, b: ((a > 0) | (b != 0)).double(),
            lambda a, b: (a > 0).double() * b, lambda a, b: torch.fmod(a, b.abs() + 1), lambda a, b: (a != b).double(),
            lambda a, b: a.copysign(b), lambda a, b: torch.rsub(a, b), lambda a, b: (a.relu() + 0.5) * b.exp().clamp(max=5),
        ]
    )  # fmt: skip
    return f(a, b)


@step
def choose(m: Maker) -> torch.Tensor:
    a = m.real()
    b = m.like(a)
    mask = m.mask(tuple(a.shape)) if m.rng.random() < 0.5 else m.condition(a)
    if m.rng.random() < 0.3:
        return torch.where(mask, a, m.rng.choice([0.0, 1.0]))
    return torch.where(mask, a, b)


@step
def fill(m: Maker) -> torch.Tensor:
    a = m.real()
    mask = m.mask(tuple(a.shape)) if m.rng.random() < 0.5 else m.condition(a)
    return a.masked_fill(mask, m.rng.choice([0.0, 0.0, 1.0, -2.0]))


@step
def boolean(m: Maker) -> torch.Tensor:
    a = m.real()
    p, q = a > 0, m.mask(tuple(a.shape))
    f = m.rng.choice([torch.logical_and, torch.logical_or, torch.logical_xor, lambda p, q: p & ~q, lambda p, q: p | q])
    return f(p, q).to(m.rng.choice([torch.float64, torch.float64, torch.int64, torch.bool]))


@step
def types(m: Maker) -> torch.Tensor:
    a = m.any()
    if a.is_complex():
        return a.real.clone()
    f = m.rng.choice(
        [lambda t: (t * 2).long().double(), lambda t: t.bool().double(), lambda t: t.float().double(), lambda t: t.double(),
         lambda t: (t * 2).int().to(torch.float64)]
    )  # fmt: skip
    return f(a)


# -- reductions, scans, sorting ---------------------------------------------------------------------------------------


@step
def reduction(m: Maker) -> torch.Tensor:
    a = m.real()
    d, keep = m.axis(a), m.rng.random() < 0.7
    f = m.rng.choice(
        [
            lambda: a.sum(d, keepdim=keep), lambda: a.mean(d, keepdim=keep), lambda: a.amax(d, keepdim=keep),
            lambda: a.max(d, keepdim=keep)[0], lambda: a.amin(d, keepdim=keep), lambda: a.var(d, correction=0, keepdim=keep),
            lambda: torch.logsumexp(a, d, keepdim=keep), lambda: a.argmax(d, keepdim=keep).double(), lambda: a.prod(d, keepdim=keep),
            lambda: a.norm(dim=d, keepdim=keep), lambda: (a > 0).any(d, keepdim=keep).double(), lambda: (a > 0).all(d, keepdim=keep).double(),
            lambda: a.median(d, keepdim=keep)[0], lambda: a.sum(), lambda: a.std(d, correction=0, keepdim=keep),
            lambda: a.cumsum(d), lambda: a.tanh().cumprod(d), lambda: a.cummax(d)[0], lambda: a.cummin(d)[1].double(), lambda: a.logcumsumexp(d),
            lambda: a.sort(d)[0], lambda: a.argsort(d).double(), lambda: a.topk(min(2, a.shape[d]), d)[0], lambda: a.flip(d).cumsum(d).flip(d),
            lambda: a.topk(1, d)[1].double(), lambda: a.kthvalue(1, d, keepdim=keep)[0], lambda: torch.count_nonzero(a > 0, d).double(),
        ]
    )  # fmt: skip
    return f()


@step
def normalise(m: Maker) -> torch.Tensor:
    a = m.real()
    d = m.axis(a)
    f = m.rng.choice(
        [
            lambda: a.softmax(d), lambda: a.log_softmax(d), lambda: F.layer_norm(a, a.shape[-1:]), lambda: F.normalize(a, dim=d),
            lambda: F.layer_norm(a, a.shape[-1:], m.normal((a.shape[-1],)), m.normal((a.shape[-1],))),
            lambda: F.rms_norm(a, a.shape[-1:]), lambda: F.glu(torch.cat([a, a], d), d),
            lambda: F.batch_norm(a.reshape(1, a.shape[0], -1), None, None, training=True),
            lambda: F.batch_norm(a.reshape(1, a.shape[0], -1), torch.zeros(a.shape[0], dtype=a.dtype), torch.ones(a.shape[0], dtype=a.dtype)),
            lambda: F.group_norm(a.reshape(1, a.shape[0], -1), 1), lambda: F.instance_norm(a.reshape(1, 1, -1)),
        ]
    )  # fmt: skip
    return f()


@step
def masked_softmax(m: Maker) -> torch.Tensor:
    a = m.real(2)
    mask = m.mask(tuple(a.shape[-2:]))
    mask[..., 0] = False  # something stays visible
    s = a.masked_fill(mask, m.hidden)
    f = m.rng.choice(
        [
            lambda: s.softmax(-1), lambda: (s - s.amax(-1, keepdim=True)).exp(), lambda: torch.logsumexp(s, -1, keepdim=True),
            lambda: s.exp() / s.exp().sum(-1, keepdim=True), lambda: s.log_softmax(-1).exp(), lambda: s.softmax(-1) @ m.matching(s),
            lambda: (s - s.max(-1, keepdim=True)[0]).exp() @ m.matching(s), lambda: torch.relu(s), lambda: s.sigmoid(),
            lambda: (a.tanh() + torch.zeros(a.shape[-2:], dtype=a.dtype).masked_fill(mask, m.hidden)).softmax(-1) @ m.matching(s),
        ]
    )  # fmt: skip
    return f()


def matching(m: Maker, s: torch.Tensor) -> torch.Tensor:
    """Something to multiply s with from the right."""
    fitting = [t for t in m.pool if t.is_floating_point() and t.dim() == 2 and t.shape[0] == s.shape[-1]]
    return m.rng.choice(fitting) if fitting else m.normal((s.shape[-1], 3))


Maker.matching = matching  # type: ignore[attr-defined]


# -- contractions -----------------------------------------------------------------------------------------------------


@step
def product(m: Maker) -> torch.Tensor:
    a = m.real(2)
    b = m.matching(a)  # type: ignore[attr-defined]
    f = m.rng.choice(
        [
            lambda: a @ b, lambda: torch.einsum("...ik,kj->...ij", a, b), lambda: torch.addmm(m.normal((b.shape[1],)), a.reshape(-1, a.shape[-1]), b),
            lambda: a @ m.sparse((a.shape[-1], 3)), lambda: F.linear(a, m.sparse((3, a.shape[-1]))), lambda: a @ a.mT,
            lambda: torch.tril(m.normal((a.shape[-2], a.shape[-2]))) @ a, lambda: m.sparse((2, a.shape[-2])) @ a,
            lambda: torch.cdist(a, a), lambda: (a.unsqueeze(-1) * a.unsqueeze(-2)).sum(-1) if a.numel() * a.shape[-1] < MOST else a,
            lambda: torch.tril(a @ a.mT) @ a, lambda: torch.einsum("...ij,...ik->...jk", a, a), lambda: a.mT @ torch.triu(m.normal((a.shape[-2],) * 2)),
            lambda: torch.linalg.solve_triangular(torch.tril(m.normal((a.shape[-2],) * 2)) + 3 * torch.eye(a.shape[-2], dtype=a.dtype), a, upper=False),
            lambda: torch.linalg.solve_triangular(torch.tril(torch.tanh(a @ a.mT)) * 0.1 + 3 * torch.eye(a.shape[-2], dtype=a.dtype), a, upper=False),
            lambda: torch.linalg.inv(torch.tanh(a @ a.mT) + 9 * torch.eye(a.shape[-2], dtype=a.dtype)), lambda: torch.dot(a.reshape(-1), a.reshape(-1)),
            lambda: torch.baddbmm(torch.full((1, a.shape[-2], 3), float("nan"), dtype=a.dtype), a.reshape(-1, *a.shape[-2:])[:1], m.sparse((1, a.shape[-1], 3)), beta=0),
        ]
    )  # fmt: skip
    return f()


@step
def attention(m: Maker) -> torch.Tensor:
    a = m.real(2)
    a = a.reshape(1, -1, *a.shape[-2:])
    n = a.shape[-2]
    mask = m.mask((n, n))
    mask[:, 0] = True
    f = m.rng.choice(
        [
            lambda: F.scaled_dot_product_attention(a, a, a, is_causal=True), lambda: F.scaled_dot_product_attention(a, a, a, attn_mask=mask),
            lambda: F.scaled_dot_product_attention(a, a, a.tanh(), attn_mask=torch.zeros(n, n, dtype=a.dtype).masked_fill(~mask, m.hidden)),
            lambda: F.scaled_dot_product_attention(a[..., 1:, :], a, a, is_causal=True), lambda: F.scaled_dot_product_attention(a, a, a),
            lambda: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*[a.contiguous()] * 3, 0.0, True)[0],
        ]
    )  # fmt: skip
    return f()


@step
def convolution(m: Maker) -> torch.Tensor:
    a = m.real(2)
    a = a.reshape(1, -1, a.shape[-1]) if m.rng.random() < 0.5 else a.reshape(1, -1, a.shape[-1]).mT
    c, size = a.shape[1], a.shape[2]
    k = min(3, size)
    w = m.normal((2, c, k)) * (1 if m.rng.random() < 0.5 else torch.tensor([1.0, 0.0, 1.0], dtype=a.dtype)[:k])
    f = m.rng.choice(
        [
            lambda: F.conv1d(a, w, padding=2), lambda: F.conv1d(F.pad(a, (k - 1, 0)), w), lambda: F.conv1d(a, w, stride=2, padding=1),
            lambda: F.conv1d(a, w, m.normal((2,)), dilation=2, padding=3), lambda: F.conv1d(a, m.normal((c, 1, k)), groups=c, padding=1),
            lambda: F.conv_transpose1d(a, m.normal((c, 2, k)), stride=2, padding=1), lambda: F.conv_transpose1d(a, m.normal((c, 2, k))),
            lambda: F.max_pool1d(a, 2, 1, 1), lambda: F.avg_pool1d(a, 2, 1), lambda: F.adaptive_avg_pool1d(a, 3), lambda: F.max_pool1d(a, 2, ceil_mode=True),
            lambda: F.conv2d(a[:, None], m.normal((2, 1, 2, 2)), padding=1), lambda: F.avg_pool1d(a, 2, ceil_mode=True),
        ]
    )  # fmt: skip
    return f().contiguous()


@step
def fourier(m: Maker) -> torch.Tensor:
    a = m.real()
    d = m.axis(a)
    f = m.rng.choice(
        [
            lambda: torch.fft.rfft(a, dim=d).abs(), lambda: torch.fft.irfft(torch.fft.rfft(a, n=16, dim=d), n=16, dim=d),
            lambda: torch.view_as_real(torch.fft.fft(a, dim=d)), lambda: torch.fft.fft(a, dim=d).real, lambda: torch.fft.fft(a, dim=d).imag + 0,
            lambda: torch.view_as_complex(torch.stack([a, m.normal(tuple(a.shape))], -1)) * (1 + 2j), lambda: torch.fft.rfft(a, dim=d).conj() * 2,
        ]
    )  # fmt: skip
    r = f()
    return torch.view_as_real(r) if r.is_complex() and m.rng.random() < 0.7 else r


# -- movement ---------------------------------------------------------------------------------------------------------


@step
def movement(m: Maker) -> torch.Tensor:
    a = m.real()
    d = m.axis(a)
    half = max(1, a.shape[d] // 2)
    order = list(range(a.dim()))
    m.rng.shuffle(order)
    f = m.rng.choice(
        [
            lambda: a.permute(order), lambda: a.reshape(-1), lambda: a.reshape(-1, a.shape[-1]), lambda: a.unsqueeze(d), lambda: a.squeeze(),
            lambda: a.narrow(d, 0, half), lambda: a.narrow(d, a.shape[d] - half, half), lambda: a.flip(d), lambda: a.roll(1, d), lambda: a.select(d, 0),
            lambda: a.unfold(d, half, 1) if a.numel() * half < MOST else a, lambda: a.repeat_interleave(2, d) if a.numel() * 2 < MOST else a,
            lambda: F.pad(a, (1, 0)), lambda: F.pad(a, (2, -1)), lambda: torch.tril(a) if a.dim() > 1 else a, lambda: torch.triu(a, 1) if a.dim() > 1 else a,
            lambda: a.chunk(2, d)[-1], lambda: a.unbind(d)[-1], lambda: a.expand(2, *a.shape) if a.numel() * 2 < MOST else a, lambda: a.clone(),
            lambda: a.repeat(2, *[1] * (a.dim() - 1)) if a.numel() * 2 < MOST else a, lambda: a.mT.contiguous() if a.dim() > 1 else a, lambda: a.diagonal() if a.dim() > 1 else a,
            lambda: torch.diag_embed(a) if a.numel() * a.shape[-1] < MOST else a, lambda: a.as_strided((half,), (1,)), lambda: a.detach(),
            lambda: a.reshape(2, -1) if a.numel() % 2 == 0 else a, lambda: a.split(half, d)[0], lambda: a.swapaxes(0, -1), lambda: a[..., ::2],
            lambda: F.pad(a[None], (1, 1), mode="replicate")[0] if a.dim() == 2 else a, lambda: a.data, lambda: a.reshape(-1, 3) if a.numel() % 3 == 0 else a,
            lambda: a.contiguous().view(torch.int64).view(torch.float64), lambda: torch.rot90(a) if a.dim() > 1 else a, lambda: a.unflatten(0, (1, -1)),
        ]
    )  # fmt: skip
    return f()


@step
def joining(m: Maker) -> torch.Tensor:
    a = m.real()
    d = m.axis(a)
    b = m.normal(tuple(a.shape)) if m.rng.random() < 0.5 else a.flip(d)
    if a.numel() * 2 > MOST:
        return a
    f = m.rng.choice(
        [lambda: torch.cat([a, b], d), lambda: torch.stack([a, b], d), lambda: torch.cat([a, torch.zeros_like(a)], d),
         lambda: torch.cat([a.narrow(d, a.shape[d] - 1, 1), a.narrow(d, 0, a.shape[d] - 1)], d), lambda: torch.cat([torch.zeros_like(a.narrow(d, 0, 1)), a], d)]
    )  # fmt: skip
    return f()


# -- indexing ---------------------------------------------------------------------------------------------------------


@step
def reading(m: Maker) -> torch.Tensor:
    a = m.real()
    d = m.axis(a)
    size = a.shape[d]
    i = m.index(3, size)
    j = m.index(3, a.shape[0])
    table = m.normal((5, 3))
    f = m.rng.choice(
        [
            lambda: a.index_select(d, i), lambda: a[j], lambda: a[..., m.index(3, a.shape[-1])], lambda: a.gather(d, i.reshape([3 if k == d else 1 for k in range(a.dim())]).expand([3 if k == d else s for k, s in enumerate(a.shape)])),
            lambda: F.embedding((a * 3).long() % 5, table) if a.numel() * 3 < MOST else a, lambda: F.embedding(j, a) if a.dim() == 2 else a[j],
            lambda: F.one_hot((a * 3).long() % 4, 4).double() if a.numel() * 4 < MOST else a, lambda: torch.take_along_dim(a, a.argsort(d), d),
            lambda: a[m.mask((a.shape[0],))], lambda: torch.bucketize(a, torch.tensor([-1.0, 0.0, 1.0], dtype=a.dtype)).double(), lambda: a.take(m.index(4, a.numel())),
            lambda: torch.searchsorted(a.sort(-1)[0].contiguous(), a.contiguous()).double(), lambda: a[j, m.index(3, a.shape[1])] if a.dim() > 1 else a[j],
            lambda: a[torch.arange(3) % a.shape[0], m.index(3, a.shape[1])] if a.dim() > 1 else a, lambda: a.masked_select(m.mask(tuple(a.shape))),
            lambda: a[:, None, m.index(2, a.shape[1])] if a.dim() > 1 else a, lambda: F.embedding_bag(m.index(6, 5).reshape(2, 3), table),
            lambda: a[m.index(3, a.shape[0]), ..., m.index(3, a.shape[-1])] if a.dim() > 2 else a,
        ]
    )  # fmt: skip
    return f()


@step
def writing(m: Maker) -> torch.Tensor:
    """Functional writes."""
    a = m.real()
    d = m.axis(a)
    i = m.index(2, a.shape[d])
    row = a.index_select(d, torch.zeros(2, dtype=torch.long)).tanh()
    at = i.reshape([2 if k == d else 1 for k in range(a.dim())]).expand(row.shape)
    f = m.rng.choice(
        [
            lambda: a.index_add(d, i, row), lambda: a.index_copy(d, i, row), lambda: a.index_fill(d, i, 0.5), lambda: a.scatter(d, at, row),
            lambda: a.scatter_add(d, at, row), lambda: a.scatter(d, at, 1.5), lambda: a.scatter_reduce(d, at, row, "amax"),
            lambda: torch.index_put(a, (m.index(2, a.shape[0]),), a[0].tanh()), lambda: torch.index_put(a, (m.index(2, a.shape[0]),), a[0], accumulate=True),
            lambda: torch.select_scatter(a, a.select(d, 0).tanh(), d, a.shape[d] - 1), lambda: torch.slice_scatter(a, a.narrow(d, 0, 1), d, 0, 1),
            lambda: torch.diagonal_scatter(a, torch.zeros(min(a.shape), dtype=a.dtype)) if a.dim() == 2 else a,
            lambda: torch.masked_scatter(a, m.mask(tuple(a.shape)), a.flip(0).contiguous()),
        ]
    )  # fmt: skip
    return f()


# -- in place -----------------------------------------------------------------------------------------------------------


def _own(m: Maker) -> torch.Tensor:
    """A tensor that may be written: one of the pool that does not overlap itself, or a fresh one."""
    fitting = [
        t
        for t in m.pool
        if t.is_floating_point()
        and t.dim()
        and t.numel()
        and all(s or n == 1 for s, n in zip(t.stride(), t.shape, strict=True))
    ]
    if fitting and m.rng.random() < 0.7:
        return m.rng.choice(fitting)
    fresh = m.rng.choice([torch.zeros, torch.ones])(m.n, m.d, dtype=torch.float64)
    m.pool.append(fresh)
    return fresh


def _overlaps(t: torch.Tensor) -> bool:
    names = torch.arange(t.untyped_storage().nbytes() // 8).as_strided(t.shape, t.stride(), t.storage_offset())
    return names.unique().numel() < names.numel()


@step
def in_place(m: Maker) -> torch.Tensor | None:
    a = _own(m)
    if _overlaps(a):
        return None
    d = m.axis(a)
    other = m.like(a)
    if torch.broadcast_shapes(other.shape, a.shape) != a.shape:
        other = m.normal(tuple(a.shape))
    other = other.clone()  # never overlapping
    i = m.index(2, a.shape[0])
    f = m.rng.choice(
        [
            lambda: a.add_(other), lambda: a.mul_(other), lambda: a.copy_(other), lambda: a.zero_(), lambda: a.select(d, 0).copy_(other.expand(a.shape).select(d, 0)),
            lambda: a.narrow(d, 0, 1).fill_(0.0), lambda: a.masked_fill_(m.mask(tuple(a.shape)), 0.0), lambda: a.transpose(0, -1).mul_(0.5),
            lambda: a.__setitem__(0, other.expand(a.shape)[-1]), lambda: a.__setitem__((Ellipsis, slice(1, None)), 0.0), lambda: a.index_fill_(0, i, 0.0),
            lambda: a.__setitem__(i, other.expand(a.shape)[:1]), lambda: a.tanh_(), lambda: a.index_add_(0, i, other.expand(a.shape)[:2] if a.shape[0] > 1 else other.expand(a.shape)[[0, 0]]),
            lambda: a.__setitem__(a > 0.5, 0.0), lambda: a.__setitem__(m.mask(tuple(a.shape)), 1.0), lambda: a.clamp_(-1, 1), lambda: a.sub_(other), lambda: a.relu_(),
            lambda: a.view(-1)[: a.numel() // 2].add_(1.0) if a.is_contiguous() else None, lambda: a.unsqueeze(0).mul_(other), lambda: torch.add(other.expand(a.shape), 1.0, out=a),
            lambda: a.fill_(other.reshape(-1)[0]), lambda: a.swapaxes(0, -1).narrow(0, 0, 1).copy_(torch.ones(())), lambda: a.scatter_(0, i.reshape(2, *[1] * (a.dim() - 1)).expand(2, *a.shape[1:]), 0.25),
            lambda: a.lerp_(other.expand(a.shape), 0.5), lambda: a.addcmul_(other, other), lambda: a.cumsum_(d), lambda: a.tril_() if a.dim() > 1 else a, lambda: a.diagonal().zero_() if a.dim() > 1 else a,
            lambda: torch.view_as_complex(a).mul_(2j) if a.shape[-1] == 2 and a.is_contiguous() and a.storage_offset() % 2 == 0 else a, lambda: torch.exp(other.expand(a.shape).clamp(-2, 2), out=a),
            lambda: a.masked_fill_((a > 0) & m.mask(tuple(a.shape)), 0.0), lambda: a.unbind(d)[-1].zero_(), lambda: a.chunk(2, d)[0].mul_(0),
        ]
    )  # fmt: skip
    f()
    return None


@step
def buffer(m: Maker) -> torch.Tensor:
    """A loop that fills a buffer step by step."""
    a = m.real(2)
    out = m.rng.choice([torch.zeros_like, torch.empty_like])(a)
    state = torch.zeros_like(a[0])
    order = list(range(a.shape[0]))
    if m.rng.random() < 0.3:
        order.reverse()
    for t in order:
        state = torch.tanh(state * 0.5 + a[t])
        out[t] = state
    return out


@step
def recurrent(m: Maker) -> torch.Tensor:
    a = m.real(2)
    a = a.reshape(-1, *a.shape[-2:])[:1]
    kind = m.rng.choice([torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
    with torch.random.fork_rng([]):
        torch.manual_seed(m.rng.randrange(10**6))
        layer = kind(a.shape[-1], 3, batch_first=m.rng.random() < 0.7, bidirectional=m.rng.random() < 0.3).double()
    return layer(a)[0]


def program(seed: int, length: int = 8, hidden: float = float("-inf")) -> Callable[[torch.Tensor], list[torch.Tensor]]:
    """The program of a seed; `hidden` is the number that its masks put in place of a score."""

    def run(x: torch.Tensor) -> list[torch.Tensor]:
        m = Maker(seed, x)
        m.hidden = hidden
        for _ in range(length):
            made = m.rng.choice(STEPS)(m)
            if made is not None:
                if made.numel() > MOST:
                    made = made.reshape(-1)[:MOST]
                m.pool.append(made)
        return list(m.pool)

    return run
