"""Random programs over sequences of any length, in PyTorch, and what they really read, by trying."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from length_masks import masks
from length_steps_torch import LOWEST, MOST, RARE, SPELLED, WIDTH, Step, places, spelled, weights
from torch.nn import functional as F

BLOCK = 4


def linear(rng: random.Random) -> Step:
    w, b = weights(rng), weights(rng, WIDTH)
    return rng.choice([lambda x: x @ w, lambda x: F.linear(x, w, b), lambda x: torch.einsum("td,de->te", x, w)])


def pointwise(rng: random.Random) -> Step:
    return rng.choice([
        torch.tanh, F.relu, F.gelu, lambda x: torch.exp(-(x**2)), torch.sin, lambda x: x * x, F.silu, torch.sigmoid,
        lambda x: x.clamp(-1, 1), lambda x: F.softplus(x) / 2, lambda x: x.abs().sqrt(), lambda x: -x / 2,
    ])  # fmt: skip


def normed(rng: random.Random) -> Step:
    return rng.choice([
        lambda x: F.layer_norm(x, (WIDTH,)), lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5),
        lambda x: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt(), lambda x: x.softmax(-1),
        lambda x: x.log_softmax(-1) / 4,
    ])  # fmt: skip


def shifted(rng: random.Random) -> Step:
    k, back = rng.choice([1, 2, 3]), rng.random() < 0.7
    how = rng.choice(["pad", "cat", "write"])

    def step(x: Any) -> Any:
        n = x.shape[0]
        if how == "pad":
            return F.pad(x, (0, 0, k, 0))[:n] if back else F.pad(x, (0, 0, 0, k))[k:]
        if how == "cat":
            row = torch.zeros(1, WIDTH)
            return torch.cat([row, x[:-1]]) if back else torch.cat([x[1:], row])
        y = torch.zeros_like(x)
        if back:
            y[1:] = x[:-1]
        else:
            y[:-1] = x[1:]
        return y

    return step


def rolled(rng: random.Random) -> Step:
    k = rng.choice([1, -1, 2])
    return lambda x: x.roll(k, 0)


def running(rng: random.Random) -> Step:
    return rng.choice([
        lambda x: x.cumsum(0) / 8, lambda x: x.cummax(0)[0], lambda x: x.logcumsumexp(0), lambda x: x.cummin(0)[0],
        lambda x: x.flip(0).cumsum(0).flip(0) / 8, lambda x: (1 + 0.1 * x).cumprod(0),
    ])  # fmt: skip


def flipped(rng: random.Random) -> Step:
    return lambda x: x.flip(0)


def mask_of(rng: random.Random) -> Callable[[Any, Any], Any]:
    """A rule over a query's and a key's place."""
    c, rules = masks(rng, BLOCK, torch.logical_not)
    return rng.choice([
        *rules,
        lambda i, j: torch.ones(i.shape[0], i.shape[0], dtype=torch.bool).tril(c),
        lambda i, j: torch.full((i.shape[0], i.shape[0]), -torch.inf).triu(1 + c) == 0,
    ])  # fmt: skip


def attention(rng: random.Random) -> Step:
    q, k, v = (weights(rng) for _ in range(3))
    rule, low = mask_of(rng), rng.choice([-torch.inf, LOWEST, -1e4])
    how = rng.choice([
        "-inf", "finite", "finite", "added", "zeroed", "linear", "sdpa", "sdpa", "sdpa causal", "sdpa float", *SPELLED,
    ])  # fmt: skip

    def step(x: Any) -> Any:
        t = places(x)
        mask = rule(t[:, None], t[None, :])
        if how.startswith("sdpa"):
            filled = torch.zeros(mask.shape).masked_fill(~mask, low) if how == "sdpa float" else mask
            heads = [(x @ w).view(1, -1, 2, WIDTH // 2).transpose(1, 2) for w in (q, k, v)]
            kept = {"is_causal": True} if how == "sdpa causal" else {"attn_mask": filled}
            return F.scaled_dot_product_attention(*heads, **kept).transpose(1, 2).reshape(-1, WIDTH)
        s = (x @ q) @ (x @ k).T / 2.0
        if how == "linear":
            return torch.where(mask, torch.tanh(s), 0.0) @ (x @ v)
        if how == "added":
            s = s + (1.0 - mask.float()) * -1e9
        elif how in SPELLED:
            s = spelled(how, s, mask)
        else:
            s = s.masked_fill(~mask, -torch.inf if how == "-inf" else -1e30)
        w = s.softmax(-1)
        return (torch.where(mask, w, 0.0) if how == "zeroed" else w) @ (x @ v)

    return step


def tabled(rng: random.Random) -> Step:
    """A mask that is kept for the longest sequence, and cut."""
    c, w = rng.choice([-1, 0, 0, 1]), rng.choice([3, 5])
    table = rng.choice([
        torch.ones(MOST, MOST).tril(c), torch.ones(MOST, MOST, dtype=torch.bool).tril(c),
        torch.full((MOST, MOST), -torch.inf).triu(1 + c) == 0, torch.ones(MOST, MOST).tril(c).triu(-w),
    ])  # fmt: skip

    def step(x: Any) -> Any:
        n = x.shape[0]
        return (x @ x.T).masked_fill(table[:n, :n] == 0, -torch.inf).softmax(-1) @ x

    return step


def blocks(rng: random.Random) -> Step:
    """Means, running totals or orders inside blocks, of this block or of the one before."""
    how = rng.choice(["mean", "cumsum", "last", "before", "flip"])

    def step(x: Any) -> Any:
        m = x.shape[0] // BLOCK
        y = x.reshape(m, BLOCK, WIDTH)
        if how == "cumsum":
            return y.cumsum(1).reshape(m * BLOCK, WIDTH)
        if how == "flip":
            return y.flip(1).reshape(m * BLOCK, WIDTH)
        z = y.mean(1, keepdim=True) if how != "last" else y[:, BLOCK - 1 :]
        if how == "before":
            z = F.pad(z, (0, 0, 0, 0, 1, 0))[:m]
        return z.expand(m, BLOCK, WIDTH).reshape(m * BLOCK, WIDTH)

    return step


def padded(rng: random.Random) -> Step:
    """Blocks, after the sequence was filled up to a multiple of their size."""
    inside = blocks(rng)

    def step(x: Any) -> Any:
        n = x.shape[0]
        return inside(F.pad(x, (0, 0, 0, -n % BLOCK)))[:n]

    return step


def convolved(rng: random.Random) -> Step:
    width, grouped = rng.choice([2, 3]), rng.random() < 0.3
    before = rng.choice([width - 1, width - 1, width - 2, 0])
    dilation = rng.choice([1, 1, 2])
    w = weights(rng, WIDTH, 1 if grouped else WIDTH, width)

    def step(x: Any) -> Any:
        y = F.pad(x.T[None], (before * dilation, (width - 1 - before) * dilation))
        return F.conv1d(y, w, dilation=dilation, groups=WIDTH if grouped else 1)[0].T

    return step


def windows(rng: random.Random) -> Step:
    before = rng.choice([2, 2, 1, 0])
    f = rng.choice([lambda u: u.mean(-1), lambda u: u.amax(-1), lambda u: u[..., 0]])
    return lambda x: f(F.pad(x, (0, 0, before, 2 - before)).unfold(0, 3, 1))


def gathered(rng: random.Random) -> Step:
    where = rng.choice([
        lambda t, n: (t - 1).clamp(min=0), lambda t, n: (t + 1).clamp(max=n - 1), lambda t, n: t // 2,
        lambda t, n: n - 1 - t, lambda t, n: t - t % BLOCK, lambda t, n: t // BLOCK * BLOCK - 1, lambda t, n: 0 * t,
        lambda t, n: t - 1, lambda t, n: torch.div(t, 3, rounding_mode="trunc"), lambda t, n: torch.fmod(t, 5),
        lambda t, n: (t - 2) % n, lambda t, n: torch.minimum(t, n - 1 - t).abs(),
    ])  # fmt: skip
    how = rng.choice(["index", "select", "gather"])

    def step(x: Any) -> Any:
        n = x.shape[0]
        i = where(places(x), n)
        if how == "index":
            return x[i]
        i = torch.where(i < 0, i + n, i)
        return x.index_select(0, i) if how == "select" else x.gather(0, i[:, None].expand(n, WIDTH))

    return step


def chosen(rng: random.Random) -> Step:
    """One of two by the place."""
    a, b = shifted(rng), running(rng)
    rule = rng.choice([lambda t: t % 2 == 0, lambda t: t < 3, lambda t: t % BLOCK == BLOCK - 1])
    return lambda x: torch.where(rule(places(x))[:, None], a(x), b(x))


def written(rng: random.Random) -> Step:
    """Rows that are written over."""
    how = rng.choice(["even", "first", "last", "tail"])

    def step(x: Any) -> Any:
        y = x.cumsum(0)
        if how == "even":
            y[::2] = x[::2]
        elif how == "first":
            y[0] = 0.5
        elif how == "last":
            y[-1] = x[-1]
        else:
            y[2:] = y[2:] * x[:-2]
        return y

    return step


def pooled(rng: random.Random) -> Step:
    f = rng.choice([lambda x: x.mean(0, True), lambda x: x.amax(0, True), lambda x: x.std(0, keepdim=True)])
    return lambda x: x + 0.1 * f(x)


def ordered(rng: random.Random) -> Step:
    return rng.choice([lambda x: x.sort(0)[0], lambda x: x + x.argmax(0), lambda x: x.topk(2, 1)[0].repeat(1, 2)])


def rated(rng: random.Random) -> Step:
    """A running mean, by the number of places so far."""
    return lambda x: x.cumsum(0) / (places(x)[:, None] + 1)


KINDS = [
    (linear, 2), (pointwise, 2), (normed, 2), (shifted, 3), (rolled, 0.5), (running, 2), (flipped, 0.5), (attention, 6),
    (tabled, 1), (blocks, 1), (padded, 1), (convolved, 2), (windows, 1), (gathered, 2), (chosen, 2), (written, 1.5),
    (pooled, 0.4), (ordered, 0.4), (rated, 1), *RARE,
]  # fmt: skip


def program(seed: int) -> tuple[str, Step]:
    """A program of one to four steps, some of them beside what they change; and what it is made of."""
    rng = random.Random(seed)
    kinds = rng.choices([k for k, _ in KINDS], [w for _, w in KINDS], k=rng.choice([1, 2, 2, 3, 4]))
    steps = [(kind(rng), rng.random() < 0.5) for kind in kinds]

    def run(x: Any) -> Any:
        for step, beside in steps:
            y = step(x)
            x = x + y if beside else y
        return x

    return " → ".join(k.__name__ for k in kinds), run


@torch.no_grad()
def reads(run: Step, lengths: Sequence[int], seed: int = 0, tries: int = 2) -> dict[int, np.ndarray]:
    """For each length and each row of the output the latest row of the input that changes it, −1 for none."""
    return {n: _reads(run, n, seed, tries) for n in lengths}


def _reads(run: Step, n: int, seed: int, tries: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = np.full(n, -1)
    for trial in range(tries):
        x = torch.tensor(rng.normal(size=(n, WIDTH)) * (1.0, 0.1)[trial % 2], dtype=torch.float32)
        before = run(x.clone())
        for j in range(n):
            other = x.clone()
            other[j] = torch.tensor(rng.normal(size=WIDTH) * (1.0, 3.0)[trial % 2])
            after = run(other)
            same = (before == after) | (before.isnan() & after.isnan())
            found = np.where(~same.all(1).numpy(), np.maximum(found, j), found)
    return found
