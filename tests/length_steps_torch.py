"""More steps of random programs in PyTorch at every length: masks as people write them, windows, shifts and pieces."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

WIDTH = 4
MOST = 64  # places of a table that is kept
Step = Callable[[Any], Any]


def weights(rng: random.Random, *shape: int) -> Any:
    generator = torch.Generator().manual_seed(rng.randrange(1 << 30))
    return torch.randn(*(shape or (WIDTH, WIDTH)), generator=generator) * 0.6


def places(x: Any) -> Any:
    return torch.arange(x.shape[0])


SPELLED = (
    "times",
    "less",
    "negated",
    "one less",
    "maximum",
    "log",
    "twice",
    "indexed",
    "asked",
    "bytes",
    "product",
    "in place",
)
LOWEST = torch.finfo(torch.float32).min


def spelled(how: str, s: Any, mask: Any) -> Any:
    """Scores with a mask, as people write it."""
    f = mask.float()
    if how == "times":
        return s * f - 1e4 * (1 - f)
    if how == "less":
        return s - 1e9 * (~mask).float()
    if how == "negated":
        return s + -(1 - f) * 1e9
    if how == "one less":
        return s + (f - 1) * 1e4
    if how == "maximum":
        return torch.max(s + torch.zeros(mask.shape).masked_fill(~mask, LOWEST), torch.tensor(LOWEST))
    if how == "log":
        return s + f.log()
    if how == "twice":
        return torch.where(mask, s, LOWEST) + (1 - f) * LOWEST
    if how == "indexed":
        s = s.clone()
        s[~mask] = -torch.inf
        return s
    if how == "asked":
        return s.masked_fill(torch.zeros(mask.shape).masked_fill(~mask, LOWEST) < -1, LOWEST)
    if how == "bytes":
        return s.masked_fill(mask.to(torch.uint8) == 0, -1e9)
    if how == "product":
        return s.masked_fill(f * 2 - 1 < 0, -torch.inf)
    return s.clone().masked_fill_(f.eq(0), -1e30)


def pooled_windows(rng: random.Random) -> Step:
    """Means and maxima of what lies under a window, as layers have them."""
    k, before = rng.choice([2, 3]), rng.random() < 0.6
    f, pad = rng.choice([F.avg_pool1d, F.max_pool1d]), rng.random() < 0.3

    def step(x: Any) -> Any:
        if pad and k == 3:
            y = f(x.T[None], 3, 1, 1)[0].T
            return F.pad(y, (0, 0, 1, 0))[:-1] if before else y
        return f(F.pad(x.T[None], (k - 1, 0) if before else (0, k - 1)), k, 1)[0].T

    return step


def spread(rng: random.Random) -> Step:
    """A convolution that writes to what lies under its taps; every second place, and each of them twice."""
    w, step2, cut = weights(rng, WIDTH, WIDTH, 2), rng.random() < 0.4, rng.choice([0, 1])

    def step(x: Any) -> Any:
        n = x.shape[0]
        if not step2:
            return F.conv_transpose1d(x.T[None], w)[0].T[cut : n + cut]
        y = F.pad(x, (0, 0, 0, 1))[::2]
        return F.conv_transpose1d(y.T[None], w, stride=2)[0].T[:n]

    return step


def relative(rng: random.Random) -> Step:
    """Scores of relative positions, shifted by a padded column; under a mask, or not."""
    table, masked, more = weights(rng, MOST, WIDTH), rng.random() < 0.7, rng.random() < 0.5

    def step(x: Any) -> Any:
        n = x.shape[0]
        r = x @ table[MOST - n :].T if not more else x @ x.T
        shifted = F.pad(r, (1, 0)).reshape(n + 1, n)[1:] if more else F.pad(r, (0, 1)).reshape(n + 1, n)[:n]
        return (torch.tanh(shifted).tril() if masked else torch.tanh(shifted)) @ x

    return step


def parts(rng: random.Random) -> Step:
    """Pieces of the positions or of the width, put together again."""
    how = rng.choice(["split", "unbind", "chunk", "swapped", "einsum", "along", "rotated", "hidden taps"])
    w = weights(rng, WIDTH, WIDTH, 3)

    def step(x: Any) -> Any:
        n = x.shape[0]
        if how == "split":
            a, b = x.split([1, n - 1])
            return torch.cat([a, b.cumsum(0)])
        if how == "unbind":
            a, b = x.view(n, 2, -1).unbind(1)
            return torch.cat([a * b.sigmoid(), a.cumsum(0)], -1)
        if how == "chunk":
            a, b = x.chunk(2, -1)
            return torch.cat([b, a], -1)
        if how == "swapped":
            return torch.cat([x[n - 1 :], x[: n - 1]])
        if how == "einsum":
            return torch.einsum("td,sd,ts->td", x, x, torch.ones(n, n).tril())
        if how == "along":
            at = (places(x) - 1).clamp(min=0)
            return torch.take_along_dim(x, at[:, None], 0)
        if how == "rotated":
            turned = torch.polar(torch.ones(n), places(x) / 7.0)[:, None]
            return torch.view_as_real(torch.view_as_complex(x.view(n, 2, 2)) * turned).flatten(1)
        hidden = torch.tensor([1.0, 1.0, 0.0])
        return F.conv1d(x.T[None], w * hidden, padding=1)[0].T

    return step


RARE = [(pooled_windows, 1), (spread, 0.7), (relative, 0.7), (parts, 1.5)]
