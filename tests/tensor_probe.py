"""Dependency by brute force: which positions move which output elements, against what the abstract run claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from attnproof.causal import trace
from attnproof.causal.model.trace.domain import FIXED, NONE_HI, NONE_LO, full


def tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def moved(before: torch.Tensor, after: torch.Tensor) -> np.ndarray:
    """Elements that changed by more than rounding."""
    if before.is_complex():
        before, after = torch.view_as_real(before), torch.view_as_real(after)
        return moved(before, after).any(-1)
    a, b = before.double().numpy(), after.double().numpy()
    with np.errstate(invalid="ignore"):
        small = np.abs(a - b) <= 1e-9 * (1 + np.abs(a))
    return ~(small | (a == b) | (np.isnan(a) & np.isnan(b)))


def observed(function: Callable[..., Any], x: torch.Tensor, draws: int = 6) -> list[tuple[np.ndarray, np.ndarray]]:
    """For every output element the first and last position whose change was seen to move it."""
    g = torch.Generator().manual_seed(7)
    with torch.no_grad():
        base = [t.clone() for t in tensors(function(x.clone()))]
        found = [(np.full(t.shape, NONE_LO), np.full(t.shape, NONE_HI)) for t in base]
        for j in range(x.shape[0]):
            for draw in range(draws):
                y = x.clone()
                y[j] = torch.randn(x[j].shape, generator=g, dtype=torch.float64).to(x.dtype) * (0.5, 2.0, 6.0)[draw % 3]
                for (lo, hi), before, after in zip(found, base, tensors(function(y)), strict=True):
                    change = moved(before, after)
                    lo[change] = np.minimum(lo[change], j)
                    hi[change] = np.maximum(hi[change], j)
    return found


def claimed(function: Callable[..., Any], x: torch.Tensor, **policy: Any) -> tuple[trace.Trace, list[Any]]:
    run = trace.run(function, (x,), sequence_axis=0, **policy)
    return run, [tuple(a.astype(np.int64) for a in full(o.shadow)[:2]) for o in run.outputs]


def check(function: Callable[..., Any], x: torch.Tensor, exact: bool = True, **policy: Any) -> trace.Trace:
    """The claim must hold every dependency that was seen; with `exact`, nothing else either."""
    run, claims = claimed(function, x, **policy)
    seen = observed(function, x)
    assert len(claims) == len(seen)
    for (lo, hi), (first, last) in zip(claims, seen, strict=True):
        none = first > last
        assert (none | ((lo <= first) & (hi >= last))).all(), "a dependency that was seen is not claimed"
        if exact:
            assert np.array_equal(np.where(lo > hi, -9, lo), np.where(none, -9, first)), "imprecise: earliest"
            assert np.array_equal(np.where(lo > hi, -9, hi), np.where(none, -9, last)), "imprecise: latest"
    return run


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def contradiction(
    function: Callable[..., Any], x: torch.Tensor, run: trace.Trace, axis: int, g: torch.Generator, draws: int = 2
) -> str | None:
    """What is wrong with what a complete run claims of a function; None where nothing is seen to be."""
    with torch.no_grad():
        base = [t.clone() for t in tensors(function(x.clone()))]
        if any(t.isnan().any() for t in base):
            return None  # outside the assumptions
        for j in range(x.shape[axis]):
            for draw in range(draws):
                y, part = x.clone(), x.select(axis, j)
                new = torch.randn(part.shape, generator=g, dtype=torch.float64) * (0.5, 5.0)[draw % 2]
                y.select(axis, j).copy_(new.to(x.dtype))
                try:
                    after = tensors(function(y))
                except (RuntimeError, ValueError, IndexError):
                    continue  # no failure that the program caught
                for output, p, q in zip(run.outputs, base, after, strict=True):
                    lo, hi, kind = full(output.shadow)
                    if q.shape != p.shape:
                        return f"output{output.path} changes its shape with position {j}"
                    if q.isnan().any():
                        continue
                    change = moved(p, q)
                    if (change & ~((lo <= j) & (hi >= j))).any():
                        return f"output{output.path} moves with position {j}"
                    if (change & (kind >= FIXED)).any():
                        return f"output{output.path} is no constant"
    return None
