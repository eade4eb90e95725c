"""The claims at scale: checks on arrays of any library and device, at sizes where nobody forms an n × n array.

Each check draws its inputs from a seed, prints the n that it used, and raises AssertionError with what differed.
`LARGEST` is the size past which a check means nothing: T1 is one example, and the determinants of T5 leave the range of
floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import array_api_compat as compat
import numpy as np

from . import blocks
from .attention import compressed_attention, full_attention, slot_weights
from .enclosure import ball_attention, ball_compressed, sharpen
from .optimum import projection_error, truncation_error
from .retention import leverage
from .spectrum import mixing_row_sums, mixing_spectrum, most_negative_coefficient

if TYPE_CHECKING:
    from ..aliases import ArrayLike

LARGEST = {"T1": 3, "T5": 16}
QUERIES = 128  # where all n queries would cost O(n²), this many are asked


class Place(Protocol):
    """Where a check runs: an array-API namespace, a device of it or None, the size asked for or None, a seed."""

    xp: Any
    device: Any
    n: int | None
    seed: int


class Room:
    """The arrays of one check: drawn, or given as NumPy values, in the library and on the device asked for."""

    def __init__(self, place: Place, default: int, least: int = 1, largest: int | None = None) -> None:
        self.xp, self.device = place.xp, place.device
        self.n = max(least, default if place.n is None else place.n)
        self.n = self.n if largest is None else min(self.n, largest)
        self.rng = np.random.default_rng(place.seed)
        self.name = place.xp.__name__.replace("array_api_compat.", "").split(".")[0]

    def draw(self, *shape: int) -> ArrayLike:
        """Independent standard normal entries."""
        return self.array(self.rng.standard_normal(shape))

    def array(self, values: ArrayLike) -> ArrayLike:
        """NumPy values as an array there; on Dask in eight chunks along the longest axis."""
        if self.name == "dask":
            long = int(np.argmax(values.shape))
            chunks = tuple(-(-s // 8) if axis == long else s for axis, s in enumerate(values.shape))
            return self.xp.from_array(values, chunks=chunks) if values.size else self.xp.asarray(values)
        return self.xp.asarray(values) if self.device is None else self.xp.asarray(values, device=self.device)

    def numbers(self, *arrays: ArrayLike) -> list[float]:
        """The values of 0-d arrays; those of Dask in one compute."""
        if any(compat.is_dask_array(x) for x in arrays):
            from dask.base import compute

            arrays = compute(*arrays)
        return [float(x) for x in arrays]

    def sentence(self, what: str) -> str:
        """What was found, with the size and the place."""
        where = self.name if self.device is None else f"{self.name} on {self.device}"
        return f"n = {self.n} ({where}): {what}"


def _must(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def _largest(xp: Any, x: ArrayLike) -> ArrayLike:
    return xp.max(xp.abs(x))


def _eps(x: ArrayLike) -> float:
    return float(compat.array_namespace(x).finfo(x.dtype).eps)


def example(place: Place) -> str:
    """T1: both outputs of the article, in floats, against their enclosures."""
    room = Room(place, 3, 3, 3)
    K, half = np.array([[1.0], [2], [3]]), np.array([[0.5, 0.5, 0], [0, 0, 1]])
    q = np.ones((1, 1))
    exact = sharpen(lambda: [ball_attention(q, K, 10 * K)[0, 0], ball_compressed(q, K, 10 * K, half, half)[0, 0]], 20)
    Q, K, V, E = (room.array(x) for x in (q, K, 10 * K, half))
    found = room.numbers(full_attention(Q, K, V)[0, 0], compressed_attention(Q, K, V, E, E)[0, 0])
    off = max(abs(x - float(ball.mid())) for x, ball in zip(found, exact, strict=True))
    _must(off <= 200 * _eps(Q), f"the outputs {found} miss their enclosures by {off:.1e}")
    return room.sentence(f"both outputs within {off:.1e} of their enclosures")


def jensen(place: Place) -> str:
    """T2: the unnormalised share of every slot that averages m positions."""
    room = Room(place, 100_000)
    m = max(1, math.isqrt(room.n))
    x = room.draw(max(1, room.n // m), m)
    xp = room.xp
    share = xp.exp(xp.mean(x, axis=-1)) / xp.sum(xp.exp(x), axis=-1)
    (most,) = room.numbers(xp.max(share))
    _must(most <= (1 + 8 * _eps(x)) / m, f"a slot over m = {m} positions carries {most:.6g} > 1/m of their mass")
    return room.sentence(f"slots over {m} positions each carry at most {most * m:.3f}/{m} of their mass")


def mixing_rank(place: Place) -> str:
    """T3: r singular values of BF, and a 4r × 4r part of BF has no more."""
    room = Room(place, 100_000)
    r = min(8, room.n)
    size = min(4 * r, room.n)
    step = room.n // size
    B, F = slot_weights(room.draw(room.n, 4), room.draw(room.n, 4), room.draw(r, room.n)), room.draw(r, room.n)
    spectrum = mixing_spectrum(B, F)
    part = room.xp.matmul(B[: size * step : step, :], F[:, : size * step : step])
    values = blocks.array(blocks.call(_singular_values, part), (size,), part.dtype, part)
    above = room.xp.sum(room.xp.astype(spectrum.values > spectrum.error, part.dtype))
    next_one = values[r] / values[0] if size > r else values[0] * 0
    rank, rest = room.numbers(above, next_one)
    _must(rank == r, f"{rank:.0f} singular values of BF exceed their error, r = {r}")
    _must(rest <= size * _eps(B), f"a {size} × {size} part of BF has a singular value {rest:.1e} past r = {r}")
    return room.sentence(f"{r} singular values above their error; the next of a {size} × {size} part is {rest:.1e}")


def _singular_values(x: ArrayLike) -> ArrayLike:
    return compat.array_namespace(x).linalg.svdvals(x)


def not_stochastic(place: Place) -> str:
    """T4: row sums and signs of BF for a stochastic F and for one that is not."""
    room = Room(place, 100_000, 2)
    xp, r, m = room.xp, min(8, room.n), min(QUERIES, room.n)
    B = slot_weights(room.draw(m, 4), room.draw(room.n, 4), room.draw(r, room.n))
    values = np.abs(room.rng.standard_normal((r, room.n)))
    good = values / values.sum(-1, keepdims=True)
    bad = good.copy()
    bad[:, 0] -= 1
    good, bad = room.array(good), room.array(bad)
    off = _largest(xp, mixing_row_sums(B, good) - 1)
    other = _largest(xp, mixing_row_sums(B, bad))
    least, negative = most_negative_coefficient(B, good), most_negative_coefficient(B, bad)
    found = room.numbers(off, other, least.value, negative.value, negative.column)
    _must(found[0] <= 100 * _eps(B), f"F1 = 1 but a row sum of BF is off by {found[0]:.1e}")
    _must(found[1] <= 100 * _eps(B), f"F1 = 0 but a row sum of BF is {found[1]:.1e}")
    _must(found[2] >= 0, f"F ≥ 0 but BF has the coefficient {found[2]:.1e}")
    _must(found[3] < 0 and found[4] == 0, f"the planted negative column of F was not found, but {found[4]:.0f}")
    return room.sentence(
        f"{m} rows sum to 1 within {found[0]:.1e} and are not negative; planted, a coefficient of {found[3]:.3f}"
    )


def softmax_determinant(place: Place) -> str:
    """T5: log det softmax(x yᵀ) for x_i = i − n/2, y_j = j against the Vandermonde law."""
    room = Room(place, LARGEST["T5"], 2, LARGEST["T5"])
    n = room.n
    x = np.arange(n) - n / 2
    order = np.argsort(-np.abs(x), kind="stable")  # extremes first, as complete pivoting would: rounding stays small
    logits = room.array(np.outer(x, np.arange(n))[order][:, order])
    found = blocks.call(_log_determinant, logits)
    (log,) = room.numbers(blocks.array(found, (), logits.dtype, logits))
    z = np.exp(x)
    law = sum(math.log(z[k] - z[i]) for i in range(n) for k in range(i + 1, n))
    law -= sum(math.log(math.fsum(v**j for j in range(n))) for v in z)
    _must(abs(log - law) <= 1e-3, f"log det = {log:.9g}, the law says {law:.9g}")
    return room.sentence(f"log det softmax = {log:.6f}, the Vandermonde law to {abs(log - law):.0e}: rank n")


def _log_determinant(logits: ArrayLike) -> ArrayLike:
    from .attention import softmax

    xp = compat.array_namespace(logits)
    return xp.linalg.slogdet(softmax(logits))[1]


def not_optimal(place: Place) -> str:
    """T6: what a random projection achieves on a slab of attention, against the optima."""
    room = Room(place, 4096, 2)
    m, r = min(64, room.n), min(8, room.n)
    Q, K = room.draw(m, 8), room.draw(room.n, 8)
    E, F = (room.array(room.rng.standard_normal((r, room.n)) / room.n) for _ in "EF")
    achieved = projection_error(Q, K, E, F, iterations=1)
    rank = min(r, m)
    best = truncation_error(Q, K, rank, iterations=1)
    head = truncation_error(Q, K, rank - 1, iterations=1, centred=True)
    found = room.numbers(
        achieved.frobenius,
        best.frobenius_lower,
        head.frobenius_lower,
        achieved.spectral_upper,
        best.spectral_lower,
        best.frobenius,
    )
    slack = 1 + room.n * _eps(Q)
    _must(found[0] * slack >= found[1], f"‖A − BF‖_F = {found[0]:.6g} is below the optimum {found[1]:.6g}")
    _must(found[0] * slack >= found[2], f"‖A − BF‖_F = {found[0]:.6g} is below the optimum of heads {found[2]:.6g}")
    _must(found[3] * slack >= found[4], f"‖A − BF‖₂ = {found[3]:.6g} is below σ_{r + 1} ≥ {found[4]:.6g}")
    times = (
        f"at least {found[0] / found[5]:.4g} times the optimum" if found[5] > room.n * _eps(Q) else "the optimum is 0"
    )
    return room.sentence(f"{m} queries, r = {r}: ‖A − BF‖_F = {found[0]:.4g}, {times}")


def no_relative_bound(place: Place) -> str:
    """T7: values in the kernel of F vanish from the compressed head and not from the full one."""
    room = Room(place, 100_000, 2)
    xp, r, m = room.xp, min(8, room.n - 1), min(QUERIES, room.n)
    F = room.draw(r, room.n)
    basis = blocks.call(_row_basis, F) if room.name == "dask" else _row_basis(F)
    basis = blocks.array(basis, (room.n, r), F.dtype, F)
    v = room.draw(room.n, 1)
    for _ in range(2):
        v = v - xp.matmul(basis, xp.matmul(xp.matrix_transpose(basis), v))
    Q, K = room.draw(m, 4), room.draw(room.n, 4)
    full, small = full_attention(Q, K, v), compressed_attention(Q, K, v, room.draw(r, room.n), F)
    top, left = room.numbers(_largest(xp, full), _largest(xp, small))
    _must(top > 0 and left <= 1e-6 * top, f"F v = 0, but Ȳ reaches {left:.1e} where Y reaches {top:.1e}")
    return room.sentence(f"F v = 0: Ȳ reaches {left:.1e} where Y reaches {top:.1e}, a relative error of 1")


def _row_basis(F: ArrayLike) -> ArrayLike:
    xp = compat.array_namespace(F)
    return xp.linalg.qr(xp.matrix_transpose(F))[0]


def retention(place: Place) -> str:
    """T8: leverages lie in [0, 1] and sum to the rank."""
    room = Room(place, 100_000)
    r = min(8, room.n)
    found = leverage(room.draw(r, room.n))
    xp = room.xp
    total, rank, least, most, error = room.numbers(
        xp.sum(found.values), found.rank, xp.min(found.values), xp.max(found.values), found.error
    )
    _must(abs(total - rank) <= 100 * r * _eps(found.values), f"the leverages sum to {total}, the rank is {rank:.0f}")
    _must(rank == r, f"the rank is {rank:.0f}, r = {r}")
    _must(least >= 0 and most <= 1 + error, f"the leverages run from {least} to {most}")
    return room.sentence(f"leverages sum to r = {r} within {abs(total - r):.1e}, the largest is {most:.3g}")


class _Blockwise(NamedTuple):
    """r completed blocks, a slot each: E, and the bias that shows a slot from its last position on."""

    E: ArrayLike
    bias: ArrayLike
    length: int


def _blockwise(room: Room, r: int, positions: np.ndarray) -> _Blockwise:
    length = room.n // r
    E = np.zeros((r, room.n))
    for s in range(r):
        E[s, s * length : (s + 1) * length] = 1 / length
    release = (np.arange(r) + 1) * length - 1
    bias = np.where(release[None, :] <= positions[:, None], 0.0, -np.inf)
    return _Blockwise(room.array(E), room.array(bias), length)


def support(place: Place) -> str:
    """T10: changing what lies after t leaves the outputs up to t alone, bit for bit, and moves a later one."""
    room = Room(place, 100_000, 2)
    r, m = min(8, room.n), min(QUERIES, room.n)
    positions = np.linspace(0, room.n - 1, m).astype(int)
    design = _blockwise(room, r, positions)
    t = room.n // 2
    Q, changed = room.draw(m, 4), room.rng.standard_normal((2, room.n, 4))
    before = changed.copy()
    changed[:, t + 1 :] = room.rng.standard_normal((2, room.n - t - 1, 4)) * 1e3
    one, two = (
        compressed_attention(Q, room.array(k), room.array(v), design.E, design.E, design.bias)
        for k, v in (before, changed)
    )
    early = int(np.searchsorted(positions, t, side="right"))
    xp = room.xp
    moved = [_largest(xp, (one - two)[:early, :])]
    moved += [_largest(xp, (one - two)[early:, :])] if early < m else []
    found = room.numbers(*moved)
    _must(found[0] == 0, f"an output up to t = {t} moved by {found[0]:.1e} when positions after t changed")
    _must(len(found) == 1 or room.n < 4 or found[1] > 0, f"no output after t = {t} moved at all")
    return room.sentence(f"{early} outputs up to t = {t} are bit for bit the same after every later position changed")


def product_design(place: Place) -> str:
    """T11: four slots whose weights factorise are blind to K_J up to rounding, and not once F is perturbed."""
    room = Room(place, 100_000, 4)
    half = room.n // 2
    grid = np.array([(a, b) for a in (0, 1) for b in (0, 1)])
    E, F = np.zeros((4, room.n)), np.zeros((4, room.n))
    E[:, :half] = grid[:, :1] * room.rng.standard_normal(half) / math.sqrt(room.n)
    E[:, half:] = grid[:, 1:] * room.rng.standard_normal(room.n - half) / math.sqrt(room.n)
    F[:, :half] = grid[:, :1] * room.rng.standard_normal(half) / math.sqrt(room.n)
    broken = F.copy()
    broken[0, :half] += room.rng.standard_normal(half) / math.sqrt(room.n)
    K, V = room.rng.standard_normal((2, room.n, 2))
    other = K.copy()
    other[half:] = room.rng.standard_normal((room.n - half, 2))
    Q, V, E, K, other = (room.array(x) for x in (np.ones((1, 2)), V, E, K, other))
    xp = room.xp
    moves = [
        _largest(
            xp, compressed_attention(Q, K, V, E, room.array(f)) - compressed_attention(Q, other, V, E, room.array(f))
        )
        for f in (F, broken)
    ]
    safe, leak = room.numbers(*moves)
    _must(safe <= 1e4 * _eps(Q), f"the product design moved by {safe:.1e} with the forbidden keys")
    _must(leak > 1e3 * max(safe, _eps(Q)), f"the perturbed design moved by {leak:.1e} only")
    return room.sentence(
        f"other keys in {room.n - half} forbidden positions move it by {safe:.0e}, perturbed by {leak:.2g}"
    )


def freshness(place: Place) -> str:
    """T14: the longest stretch without a release, for random releases and for evenly spread ones."""
    room = Room(place, 1_000_000, 2)
    r = min(64, room.n // 2)
    bound = room.n // (r + 1)
    drawn = np.sort(room.rng.choice(room.n, r, replace=False))
    even = (np.arange(1, r + 1) * room.n) // (r + 1)
    stretches = []
    for releases in (drawn, even):
        ends = room.array(np.concatenate([[-1.0], releases, [float(room.n)]]))
        stretches.append(room.xp.max(ends[1:] - ends[:-1]) - 1)
    random, least = room.numbers(*stretches)
    _must(random >= bound, f"{r} random releases leave at most {random:.0f} stale positions, the bound is {bound}")
    _must(
        bound <= least <= bound, f"even releases leave {least:.0f} stale positions, the bound {bound} is not attained"
    )
    return room.sentence(
        f"r = {r}: {bound} stale positions at least; random releases {random:.0f}, even ones {least:.0f}"
    )


def composition(place: Place) -> str:
    """T15: two safe layers with residuals, stacked, are safe, bit for bit."""
    room = Room(place, 20_000, 2)
    r = min(8, room.n)
    design = _blockwise(room, r, np.arange(room.n))
    t = room.n // 2
    before = room.rng.standard_normal((room.n, 4))
    after = before.copy()
    after[t + 1 :] *= -3
    xp = room.xp
    outputs = []
    for x in (room.array(before), room.array(after)):
        for _ in range(2):
            x = x + compressed_attention(x, x, x, design.E, design.E, design.bias)
        outputs.append(x)
    (moved,) = room.numbers(_largest(xp, (outputs[0] - outputs[1])[: t + 1, :]))
    _must(moved == 0, f"an output up to t = {t} of two stacked layers moved by {moved:.1e}")
    return room.sentence(f"two stacked layers: outputs up to t = {t} are bit for bit the same")


def two_axes(place: Place) -> str:
    """T18: the two projections commute, and with a bias differ by (E1 − 1) bᵀ."""
    room = Room(place, 100_000)
    xp, r = room.xp, min(8, room.n)
    E = room.array(room.rng.standard_normal((r, room.n)) / math.sqrt(room.n))
    X, W, b = room.draw(room.n, 8), room.draw(8, 4), room.draw(1, 4)
    one = xp.matmul(E, xp.matmul(X, W))
    off = _largest(xp, one - xp.matmul(xp.matmul(E, X), W))
    late, early = xp.matmul(E, xp.matmul(X, W) + b), xp.matmul(xp.matmul(E, X), W) + b
    gap = (xp.sum(E, axis=-1)[:, None] - 1) * b
    wrong = _largest(xp, late - early - gap)
    found = room.numbers(off, wrong, _largest(xp, gap))
    tolerance = 1e3 * math.sqrt(room.n) * _eps(X)
    _must(found[0] <= tolerance, f"E(XW) and (EX)W differ by {found[0]:.1e}")
    _must(found[1] <= tolerance, f"the two orders differ from (E1 − 1)bᵀ by {found[1]:.1e}")
    return room.sentence(f"E(XW) = (EX)W within {found[0]:.1e}; with a bias (E1 − 1)bᵀ, up to {found[2]:.2f}, remains")


CHECKS: dict[str, Callable[[Place], str]] = {
    "T1": example,
    "T2": jensen,
    "T3": mixing_rank,
    "T4": not_stochastic,
    "T5": softmax_determinant,
    "T6": not_optimal,
    "T7": no_relative_bound,
    "T8": retention,
    "T10": support,
    "T11": product_design,
    "T14": freshness,
    "T15": composition,
    "T18": two_axes,
}
