"""T17: perturbation and truncation invariance of functions of a whole series."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from .claim import Claim, expect

if TYPE_CHECKING:
    import random

Series = tuple[int, ...]

QUESTION = """; f keeps lengths; (take x t) is the prefix of x up to and including t; x and y agree up to t
(set-logic QF_UF)
(declare-sort Series 0)
(declare-sort Time 0)
(declare-fun f (Series) Series)
(declare-fun take (Series Time) Series)
(declare-const x Series)
(declare-const y Series)
(declare-const t Time)
(assert (= (take x t) (take y t)))
{truncation}
{perturbation}
"""
TRUNCATION = "(assert (= (take (f x) t) (f (take x t))))\n(assert (= (take (f y) t) (f (take y t))))"
PERTURBATION = "(assert (not (= (take (f x) t) (take (f y) t))))"


def solver() -> str:
    """Truncation implies perturbation, for every function and every series: f(x)≤t = f(x≤t) = f(y≤t) = f(y)≤t."""
    from ..causal.solvers import both

    proof = QUESTION.format(truncation=TRUNCATION, perturbation=PERTURBATION)
    answers = both(proof)
    expect(answers == ("unsat", "unsat"), f"truncation without perturbation invariance: Z3 and cvc5 say {answers}")
    needed = both(QUESTION.format(truncation="", perturbation=PERTURBATION))
    expect(
        needed == ("sat", "sat"), f"without truncation invariance nothing should follow, but the answers are {needed}"
    )
    return "Z3 and cvc5: no function is truncation invariant and not perturbation invariant; without the first, some is"


def truncation_invariant(f: dict[Series, Series]) -> bool:
    """f(x)[:t+1] = f(x[:t+1]) for every series and prefix."""
    return all(f[x][: len(p)] == f[p] for x in f for p in (x[:k] for k in range(1, len(x))))


def perturbation_invariant(f: dict[Series, Series]) -> bool:
    """Outputs up to and including t do not change when inputs after t do, the length being the same."""
    return all(
        f[x][:k] == f[y][:k] for x in f for y in f if len(x) == len(y) for k in range(1, len(x)) if x[:k] == y[:k]
    )


def exact() -> str:
    """Every length-preserving function on binary series of length 1 and 2, all 1024 of them."""
    short, long = list(product((0, 1), repeat=1)), list(product((0, 1), repeat=2))
    both, only_perturbation, neither, only_truncation = 0, 0, 0, 0
    for first in product(short, repeat=2):
        for second in product(long, repeat=4):
            f = dict(zip([*short, *long], [*first, *second], strict=True))
            truncation, perturbation = truncation_invariant(f), perturbation_invariant(f)
            both += truncation and perturbation
            only_perturbation += perturbation and not truncation
            only_truncation += truncation and not perturbation
            neither += not (truncation or perturbation)
    expect(only_truncation == 0, f"{only_truncation} functions are truncation but not perturbation invariant")
    expect(only_perturbation > 0, "no function is perturbation but not truncation invariant, though a length leak is")
    total = both + only_perturbation + neither
    expect(total == 1024, f"{total} functions were enumerated, not 1024")
    return f"1024 functions enumerated: {both} have both, {only_perturbation} perturbation only, {neither} neither"


def property(rng: random.Random) -> str:
    """Random causal functions of binary series up to length 4 have both; a leak of the length has perturbation only."""
    every = [x for n in range(1, 5) for x in product((0, 1), repeat=n)]
    for _ in range(20):
        rule = {x: rng.randint(0, 1) for x in every}
        causal = {x: tuple(rule[x[: i + 1]] for i in range(len(x))) for x in every}
        expect(truncation_invariant(causal) and perturbation_invariant(causal), "a causal function is not invariant")
        by_length = {x: tuple(a ^ (len(x) % 2) for a in y) for x, y in causal.items()}
        expect(perturbation_invariant(by_length), "a leak of the length alone is not perturbation invariant")
        expect(not truncation_invariant(by_length), "a leak of the length is truncation invariant")
    return (
        "20 random causal functions on all 30 binary series up to length 4, each with and without a leak of the length"
    )


def replay() -> str:
    """On one series neither test implies the other; the checker runs both and says which failed."""
    import numpy as np

    from ..causal.pipeline.check import check_pipeline

    def filled_if_above_5(x: Any) -> Any:
        following = np.append(x[1:], np.nan)
        return np.where(np.isnan(x) & (following > 5), following, x)

    series = np.arange(10.0)
    series[3] = np.nan
    for name, function, expected in (
        ("a back-fill that only large values trigger", filled_if_above_5, [True, False]),
        ("a division by the length", lambda x: x / len(x), [False, True]),
        ("a forward fill", lambda x: np.where(np.isnan(x), np.append(np.nan, x[:-1]), x), [True, True]),
    ):
        verdict = check_pipeline(function, series, cuts="all")
        found = [e.ok for e in verdict.evidence[:2]]  # the third is that runs on equal input agree
        expect(found == expected, f"{name}: truncation and perturbation hold {found}, not {expected}")
        expect(verdict.witness is None or verdict.witness.replay(), f"{name}: the witness does not replay")
    return "a triggered back-fill passes truncation only, a division by the length perturbation only; both refuted"


CLAIM = Claim(
    id="T17",
    title="Look-ahead in pipelines",
    statement="Over all inputs and prefixes truncation invariance implies perturbation invariance, and not conversely.",
    latex=r"f(x)_{\le t}=f(x_{\le t})\Rightarrow(x_{\le t}=x'_{\le t}\Rightarrow f(x)_{\le t}=f(x')_{\le t})",
    source="article, 'Two conditions behind the saving' (input pipeline); ours",
    exact=exact,
    property=property,
    solver=solver,
    replay=replay,
    theorems=("truncation_perturbation", "perturbation_not_enough"),
)
