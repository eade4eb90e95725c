"""T16: a design given by rules in n is safe for every n iff one question about integers is unsatisfiable."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .claim import CheckFailed, Claim

if TYPE_CHECKING:
    import random

    from ..causal.design.design import Design
    from ..causal.verdict import Verdict


@cache
def verdicts() -> dict[str, tuple[Design, Verdict]]:
    """What the solvers say of each ready design."""
    from ..causal.design.catalogue import BUILD, build

    designs = {name: build(name, 20) for name in BUILD}
    return {name: (design, design.check()) for name, design in designs.items()}


def solver() -> str:
    """Every ready design is proved for all n by Z3 and cvc5, and every published unsafe one refuted."""
    proved: list[str] = []
    refuted: list[str] = []
    for name, (design, verdict) in verdicts().items():
        if verdict.status.name != ("PROVED" if design.safe else "REFUTED"):
            raise CheckFailed(f"design {name}: {verdict.headline()}")
        (proved if design.safe else refuted).append(name)
    return f"Z3 and cvc5 prove {len(proved)} designs for every n and every parameter, and refute {len(refuted)}"


def replay() -> str:
    """The counterexamples of the published designs, at the smallest size, through the projection checker."""
    sizes = []
    for name, (design, verdict) in verdicts().items():
        if design.safe:
            continue
        witness = verdict.witness
        if witness is None or not witness.replay():
            raise CheckFailed(f"the counterexample to design {name} does not replay")
        sizes.append(f"{name} at n = {getattr(witness, 'n', '?')}")
    return f"replayed through check_projection: {', '.join(sizes)}"


def property(rng: random.Random) -> str:
    """Random families: the solvers' verdict and smallest n against exhaustive search over small n."""
    from ..causal.design.check import check_family

    cases, limit = 12, 16
    refuted = 0
    for _ in range(cases):
        p, a, b, c = rng.randint(1, 4), rng.randint(1, 3), rng.randint(-3, 6), rng.randint(1, 3)

        def reads(s: Any, j: Any, n: Any, p: int = p) -> Any:
            return j // p == s

        def sees(t: Any, s: Any, n: Any, p: int = p, a: int = a, b: int = b, c: int = c) -> Any:
            return a * p * s + b <= c * t

        verdict = check_family(
            lambda s, j, n, reads=reads: reads(s, j, n),
            lambda t, s, n, sees=sees: sees(t, s, n),
            slots=lambda n, p=p: n // p + 1,
        )
        smallest = next(
            (
                n
                for n in range(1, limit)
                for t in range(n)
                for j in range(t + 1, n)
                for s in range(n // p + 1)
                if reads(s, j, n) and sees(t, s, n)
            ),
            None,
        )
        found = getattr(verdict.witness, "n", None)
        if verdict.status.name == "UNDECIDED" or (
            found != smallest and not (smallest is None and found and found >= limit)
        ):
            raise CheckFailed(
                f"p={p}, {a}·p·s + {b} ≤ {c}·t: {verdict.status.name} at {found}, exhaustive search {smallest}"
            )
        refuted += verdict.status.name == "REFUTED"
    return f"{cases} random families against exhaustive search below n = {limit}: {refuted} refuted at the smallest n"


CLAIM = Claim(
    id="T16",
    title="Designs that are safe for every length",
    statement="A design given by rules is safe for all n iff no integers satisfy sees, reads and not allowed together.",
    latex=(
        r"\forall n\ge1:\ \text{safe}\iff\neg\exists\,0\le t,j<n,\ 0\le s:\ "
        r"\mathrm{sees}(t,s,n)\wedge\mathrm{reads}(s,j,n)\wedge\neg\mathrm{allowed}(t,j)"
    ),
    source="ours",
    property=property,
    solver=solver,
    replay=replay,
    theorems=("family_safe_iff",),
)
