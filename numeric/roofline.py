"""A machine in two numbers, and the time of attention that they predict (T9 says what is counted, this what it takes).

A machine multiplies at `rate` multiply–adds per second and moves `bandwidth` bytes per second to and from memory. A
pass over data takes the longer of its arithmetic and its traffic. The model knows nothing of exponentials, caches or
kernel launches: that is why `measure` stands beside `predict`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..aliases import ArrayLike

KINDS = ("full", "fused", "compressed")


@dataclass(frozen=True)
class Machine:
    """`rate` in multiply–adds per second, `bandwidth` in bytes per second, for numbers of `itemsize` bytes."""

    rate: float
    bandwidth: float
    itemsize: int = 4

    def seconds(self, macs: float, numbers: float) -> float:
        """Time of one pass that does `macs` multiply–adds and moves `numbers` numbers.

        >>> Machine(rate=100.0, bandwidth=8.0).seconds(200, 1)
        2.0
        """
        return max(macs / self.rate, numbers * self.itemsize / self.bandwidth)


class Fit(NamedTuple):
    """A growth exponent from a sweep, with the half-width of its 95 % confidence interval."""

    exponent: float
    half_width: float

    def holds(self, stated: float) -> bool:
        """Whether the stated exponent lies in the interval."""
        return abs(self.exponent - stated) <= self.half_width


def passes(kind: str, n: int, r: int, d: int, dv: int) -> list[tuple[str, int, int]]:
    """Name, multiply–adds and numbers moved of each pass over data, one head.

    "full" writes and reads the (n, n) array; "fused" (IO-aware exact attention) never does; "compressed" has (n, r).

    >>> sum(macs for _, macs, _ in passes("full", 8, 2, 4, 4)) == 8 * 8 * 8
    True
    """
    if kind == "fused":
        return [("attend", n * n * (d + dv), 2 * n * d + 2 * n * dv)]
    if kind == "full":
        return [
            ("scores", n * n * d, 2 * n * d + n * n),
            ("softmax", 0, 2 * n * n),
            ("mix values", n * n * dv, n * n + 2 * n * dv),
        ]
    if kind == "compressed":
        return [
            ("compress keys", r * n * d, r * n + n * d + r * d),
            ("compress values", r * n * dv, r * n + n * dv + r * dv),
            ("scores", n * r * d, n * d + r * d + n * r),
            ("softmax", 0, 2 * n * r),
            ("mix values", n * r * dv, n * r + r * dv + n * dv),
        ]
    raise ValueError(f"kind = {kind!r} is unknown; use one of {', '.join(KINDS)}")


def predict(machine: Machine, kind: str, n: int, r: int, d: int, dv: int | None = None, heads: int = 1) -> float:
    """Seconds that the two-number model gives for one layer of attention, feature projections apart.

    >>> slow_memory = Machine(rate=1e12, bandwidth=1e9)
    >>> predict(slow_memory, "fused", 4096, 256, 64) < predict(slow_memory, "full", 4096, 256, 64)
    True
    """
    dv = d if dv is None else dv
    return heads * sum(machine.seconds(macs, numbers) for _, macs, numbers in passes(kind, n, r, d, dv))


def measured_seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    """Wall-clock seconds of `call()`: the shortest of `repeats` after one to warm up, since other work only adds."""
    return measured_times(call, repeats)[0]


def measured_times(call: Callable[[], Any], repeats: int = 5) -> list[float]:
    """Wall-clock seconds of `repeats` calls after one to warm up, the shortest first."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)


def measure_machine(xp: Any = np, size: int = 1024, repeats: int = 5) -> Machine:
    """The two numbers of this machine, with the library `xp` (numpy or torch) in float32.

    The rate from a (size, size) product, the bandwidth from copying 64 MiB (read once, written once).
    """
    a = _ones(xp, size, size)
    rate = size**3 / measured_seconds(lambda: a @ a, repeats)
    b = _ones(xp, 1 << 24)
    copy = (lambda: b.copy()) if xp is np else (lambda: b.clone())
    return Machine(rate, 2 * 4 * (1 << 24) / measured_seconds(copy, repeats))


def attention_calls(xp: Any, n: int, r: int, d: int, dv: int, heads: int = 1) -> dict[str, Callable[[], Any]]:
    """What to time: each kind of attention as a user of `xp` (numpy or torch) writes it, on random float32 inputs."""
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> ArrayLike:
        values = rng.standard_normal(shape, dtype=np.float32)
        return values if xp is np else xp.from_numpy(values)

    Q, K, V = draw(heads, n, d), draw(heads, n, d), draw(heads, n, dv)
    E, F = draw(r, n), draw(r, n)

    def softmax(scores: ArrayLike) -> ArrayLike:
        return _softmax(scores) if xp is np else xp.softmax(scores, -1)

    def transposed(x: ArrayLike) -> ArrayLike:
        return x.swapaxes(-1, -2) if xp is np else x.transpose(-1, -2)

    root = math.sqrt(d)
    calls = {
        "full": lambda: softmax(Q @ transposed(K) / root) @ V,
        "compressed": lambda: softmax(Q @ transposed(E @ K) / root) @ (F @ V),
    }
    if xp is not np:
        fused = xp.nn.functional.scaled_dot_product_attention
        calls["fused"] = lambda: fused(Q[None], K[None], V[None])
    return calls


def fit_exponent(sizes: Sequence[float], values: Sequence[float]) -> Fit:
    """The slope of log value against log size by least squares, with its 95 % interval (Student's t).

    Needs at least three sizes. ValueError otherwise, or for values that are not positive.

    >>> fit_exponent([1, 2, 4, 8], [3, 12, 48, 192]).exponent.__round__(6)
    2.0
    """
    if len(sizes) < 3 or len(sizes) != len(values):
        raise ValueError(f"sizes has {len(sizes)} entries and values {len(values)}; pass at least three of each")
    if min(*sizes, *values) <= 0:
        raise ValueError(f"values has the entry {min(values)}; sizes and values must be positive to have an exponent")
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(values, float))
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    left = y - y.mean() - slope * centred
    deviation = math.sqrt(max(0.0, float(left @ left)) / (len(x) - 2) / float(centred @ centred))
    return Fit(slope, student(len(x) - 2) * deviation + 1e-9)


def student(freedom: int) -> float:
    """The 97.5 % point of Student's t: the root of its distribution function, by mpmath."""
    from mpmath import fp

    def tail(t: float) -> float:
        return float(fp.betainc(freedom / 2, 0.5, 0, freedom / (freedom + t * t), regularized=True)) / 2 - 0.025

    return float(fp.findroot(tail, (1.5, 13.0), solver="anderson"))


def _softmax(scores: ArrayLike) -> ArrayLike:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def _ones(xp: Any, *shape: int) -> ArrayLike:
    return np.ones(shape, np.float32) if xp is np else xp.ones(shape)
