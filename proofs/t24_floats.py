"""T24: in floats a head that passes T10 is safe but for the sign of zero, if what a mask hides is finite."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..symbolic import derivation
from ..symbolic.derivation import Derivation
from .claim import Claim, Scale, expect

SPECIAL = (0.0, -0.0, 5e-324, -1.0, 1.5, 2.0**53, -(2.0**1023), 1.7976931348623157e308, math.inf, -math.inf, math.nan)
HUGE = 1e308
WAYS = ("gathered", "additive", "where")  # of hiding slots: never touched, −∞ added to the score, −∞ in its place


def same(x: float, y: float) -> bool:
    """Whether two floats are equal up to the sign of zero; a NaN is equal to a NaN."""
    return x == y or (math.isnan(x) and math.isnan(y))


def head(E: Any, F: Any, q: Any, K: Any, V: Any, seen: Any, way: str) -> Any:
    """The output of a softmax head in float64 whose slots outside `seen` are hidden in one of the WAYS, (d_v,)."""
    with np.errstate(all="ignore"):
        scores, values = _dot(_dot(E, K), q[:, None])[:, 0], _dot(F, V)
        if way == "gathered":
            scores, values = scores[seen], values[seen]
        elif way == "additive":
            scores = scores + np.where(seen, 0.0, -np.inf)
        else:
            scores = np.where(seen, scores, -np.inf)
        weights = np.exp(scores - scores.max())
        return _dot(weights[None], values)[0] / weights.sum()


def _dot(a: Any, b: Any) -> Any:
    """A product of matrices whose sums are taken in one order, whatever the numbers are."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for j in range(a.shape[1]):
        total = total + a[:, j : j + 1] * b[j : j + 1]
    return total


def cancelled_mean(allowed: float, forbidden: float) -> float:
    """Two slots with equal rows of E; the forbidden value enters one with weight 1, the other with −1 (T11 (1))."""
    F, V = np.array([[1.0, 1.0], [0.0, -1.0]]), np.array([[allowed], [forbidden]])
    return float(head(np.zeros((2, 2)), F, np.ones(1), np.zeros((2, 1)), V, np.array([True, True]), "gathered")[0])


def derive() -> Derivation:
    """Zeros times finite numbers; sums up to the sign of zero; what a mask leaves behind; what rounding undoes."""
    finite = [x for x in SPECIAL if math.isfinite(x)]
    return Derivation(
        "T24: heads in binary64",
        (
            derivation.cases(
                "a zero times any finite number is a zero, of either sign: subnormal, largest, negative ones",
                lambda: itertools.product((0.0, -0.0), finite),
                lambda a, x: a * x == 0,
                "products of the machine at the ends of its range",
            ),
            derivation.cases(
                "sums and products of numbers that are the same up to the sign of zero are so again",
                _pairs,
                lambda x, x2, y, y2: same(x + y, x2 + y2) and same(x * y, x2 * y2),
                "the machine's sums and products, infinities and NaN among them",
            ),
            derivation.cases(
                "−∞ added to a finite score is −∞, and its weight is 0",
                lambda: ((x,) for x in finite),
                lambda x: x + -math.inf == -math.inf and np.exp(x + -math.inf) == 0,
                "so what a hidden slot holds is multiplied by 0, and must be finite as well",
            ),
            derivation.lemma(
                "A head that passes T10 gives outputs that are the same up to the sign of zero, in any order of sums, "
                "fused or not, if forbidden inputs and what hidden slots hold are finite; visible ones may overflow.",
                "from slot to slot: both runs round the same numbers",
                "float_support_safe",
            ),
            derivation.cases(
                "an overflow in a hidden slot is no longer hidden: ∞ + −∞ and 0 · ∞ are NaN",
                lambda: ((2.0 * 2.0**1023,),),
                lambda x: math.isnan(x + -math.inf) and math.isnan(0.0 * x),
                "finite inputs, 2 and 2^1023",
            ),
            derivation.lemma(
                "So finite inputs that overflow in a hidden slot turn the output into NaN.",
                "two slots, −∞ added to the score of one",
                "hidden_overflow_leaks",
            ),
            derivation.cases(
                "what cancels in real numbers does not in floats: (4 + 2^56) − 2^56 is 0",
                lambda: ((4.0, 2.0**56),),
                lambda x, y: (x + y) - y == 0 and (x + 0.0) - 0.0 == x,
                "4 is a quarter of the distance between floats there",
            ),
            derivation.lemma(
                "So a head that passes T11 alone gives 2 and 0 for inputs that agree on what it may use.",
                "equal rows of E, and F = [[1, 1], [0, −1]]",
                "rounding_leaks",
            ),
        ),
    )


def _pairs() -> Iterator[tuple[float, float, float, float]]:
    """Operands of two runs, the same but for the sign of zero."""
    twins = [(x, x) for x in SPECIAL] + [(0.0, -0.0), (-0.0, 0.0)]
    return ((x, x2, y, y2) for (x, x2), (y, y2) in itertools.product(twins, twins))


def property_check(rng: random.Random) -> str:
    """Random heads that pass T10: equal outputs while hidden slots are finite; overflow there, and the mask decides."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    count, broken = 80, dict.fromkeys(WAYS, 0)
    for _ in range(count):
        E, F, seen, forbidden = _random_head(numbers)
        q, K, V = numbers.standard_normal(2), *(numbers.standard_normal((E.shape[1], 2)) for _ in range(2))
        for way in WAYS:
            moved = [_moved(numbers, X, forbidden, 100.0) for X in (K, V)]
            expect(_equal(E, F, q, (K, V), moved, seen, way), f"{way}: outputs differ for E = {E}, F = {F}, {moved}")
            far = [_moved(numbers, X, forbidden, HUGE) for X in (K, V)]
            broken[way] += not _equal(E, F, q, (K, V), far, seen, way)
    expect(not broken["gathered"], f"{broken['gathered']} heads differ whose hidden slots are never touched")
    expect(broken["additive"] >= broken["where"] > 0, f"inputs of 1e308 break {broken}")
    return (
        f"{count} random heads: the same outputs while hidden slots are finite; with forbidden inputs up to 1e308 "
        f"{broken['additive']} differ by an added −∞, {broken['where']} by −∞ in place, none where slots are left out"
    )


def _random_head(numbers: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """E, F whose visible slots read allowed positions only and whose hidden ones read all; which are which."""
    n, r = int(numbers.integers(2, 6)), int(numbers.integers(2, 5))
    forbidden = np.arange(n) >= numbers.integers(1, n)
    seen = np.arange(r) < numbers.integers(1, r)
    E, F = (numbers.standard_normal((r, n)) * np.where(seen[:, None] & forbidden, 0.0, 1.0) for _ in range(2))
    return E, F, seen, forbidden


def _moved(numbers: np.random.Generator, x: Any, forbidden: Any, size: float) -> Any:
    return np.where(forbidden[:, None], numbers.uniform(-1, 1, x.shape) * size, x)


def _equal(E: Any, F: Any, q: Any, first: Sequence[Any], second: Sequence[Any], seen: Any, way: str) -> bool:
    outputs = [head(E, F, q, keys, values, seen, way) for keys, values in (first, second)]
    return all(same(float(a), float(b)) for a, b in zip(*outputs, strict=True))


def exact() -> str:
    """Rounding's example: 2 and 0 on the machine, and check_projection makes "real arithmetic" a condition of it."""
    from ..causal.projection.check import check_projection

    outputs = cancelled_mean(4.0, 0.0), cancelled_mean(4.0, 2.0**56)
    expect(outputs == (2.0, 0.0), f"the outputs are {outputs}")
    verdict = check_projection([[1.0, 1.0], [0.0, -1.0]], np.zeros((2, 2)), layout="slots-first", boundary="prefix")
    expect(verdict.status.name == "PROVED_IF", f"the verdict is {verdict.status.name}")
    expect("real arithmetic" in str(verdict.conditions[0]), f"its condition is {verdict.conditions[0]}")
    return "a head that passes T11 alone gives 2 and 0; check_projection proves it under real arithmetic only"


def scale_check(scale: Scale) -> str:
    """A head over many positions, on an array library: zeros in E and F hide the later half to the bit."""
    n = 10_000 if scale.n is None else max(2, scale.n)
    rng = np.random.default_rng(scale.seed)
    rows = rng.standard_normal((2, n))
    rows[:, n // 2 :] = 0.0
    x = rng.standard_normal(n)
    later = np.where(np.arange(n) < n // 2, x, 1e300 * rng.uniform(-1, 1, n))
    outputs = []
    for inputs in (x, later):
        on = [scale.array(a) for a in (rows, inputs)]
        compressed = scale.xp.sum(on[0] * on[1][None, :], axis=1)
        weights = scale.xp.exp(compressed - scale.xp.max(compressed))
        outputs.append(float(scale.xp.sum(weights * compressed) / scale.xp.sum(weights)))
    expect(same(*outputs), f"the outputs are {outputs}")
    return f"n = {n}: later inputs up to 1e300 leave the output of two slots as it is, to the bit"


CLAIM = Claim(
    id="T24",
    title="Floats",
    statement="In binary64 T10 makes a head safe up to the sign of 0 if what is hidden is finite; T11 alone does not.",
    latex=r"E_{sj}=F_{sj}=\pm0\ (j\in J),\ \text{hidden slots finite}\ \Longrightarrow\ \mathrm{fl}(y)=\mathrm{fl}(y')",
    source="ours",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=scale_check,
    theorems=(
        "b64_def",
        "fma_def",
        "same_def",
        "float_head_def",
        "float_support_safe",
        "numbers_def",
        "hidden_overflow_leaks",
        "rounding_leaks",
    ),
    reading=(
        "Leaving slots out is exact whatever they hold; −∞ in the place of a score is so while the values are finite, "
        "−∞ added to a score while scores and values are. The order of summation must not depend on data."
    ),
)
