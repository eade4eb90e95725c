"""Designs given by rules in n, decided for every n at once (THEORY, T16).

Slot s reads position j when `reads(s, j, n)`, query t sees slot s when `sees(t, s, n)`. The design passes T10 for every
n ≥ 1 iff no integers satisfy `sees ∧ reads ∧ ¬allowed` within the ranges. Z3 searches, cvc5 confirms every unsat, and a
counterexample is made as small as it can be and replayed through `check_projection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .decide import verdict_on
from .family import Family, Rule

if TYPE_CHECKING:
    from ..verdict import Verdict

__all__ = ["check_family", "smtlib"]


def check_family(
    reads: Rule,
    sees: Rule,
    *,
    slots: Rule | None = None,
    covers: Rule | None = None,
    boundary: Rule | None = None,
    due: Rule | None = None,
    parameters: Mapping[str, Any] | None = None,
    name: str = "design",
) -> Verdict:
    """Whether a design given by rules is prefix-safe for every n, and complete where `covers` says so (T16).

    `reads(s, j, n)`: slot s reads position j. `sees(t, s, n)`: query t sees slot s. `slots(n)`: the number of slots
    (None: unbounded). `covers(t, j, n)`: a slot that shows position j to query t, for every pair that is `due(t, j, n)`
    (None: every allowed pair). `boundary(t, j, n)`: what query t may use (None: j <= t). Rules are ordinary functions
    written with `+ - *`, `//`, `%`, comparisons, `&`, `|`, `~` and `presburger.choose`. `parameters` maps further
    arguments of the rules to their least values, and the verdict then holds for all larger values too; the value
    "documents" makes the argument a function from a position to the first position of its document, for any documents
    (from outside 0 … n − 1, that of the nearest position).

    PROVED when Z3 and cvc5 both find that no counterexample exists; REFUTED with a `FamilyWitness` of the smallest n;
    UNDECIDED when the solvers give up, which happens only to rules that multiply or divide by parameters, or when the
    smallest counterexample has more than 2,048 positions.
    `details["smtlib"]` holds the texts that were decided.

    Raises TypeError naming an operation that rules may not use, ImportError when the extra `smt` is missing.

    >>> def reads(s, j, n): return j // 4 == s
    >>> def sees(t, s, n): return (s + 1) * 4 <= t + 1
    >>> check_family(reads, sees, slots=lambda n: n // 4).status.name
    'PROVED'
    >>> early = check_family(reads, lambda t, s, n: s * 4 <= t)
    >>> early.status.name, early.witness.n, early.witness.replay()
    ('REFUTED', 2, True)
    """
    family = Family(reads, sees, slots, covers, due, boundary, dict(parameters or {}))
    return verdict_on(family, name)


def smtlib(
    reads: Rule,
    sees: Rule,
    *,
    slots: Rule | None = None,
    covers: Rule | None = None,
    boundary: Rule | None = None,
    due: Rule | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """The questions that `check_family` asks, as SMT-LIB 2.6 texts: `safety`, and `completeness` with `covers`.

    Each text is unsatisfiable iff the design has the property for every n. Needs no solver.

    >>> text = smtlib(lambda s, j, n: j == s, lambda t, s, n: s <= t)["safety"]
    >>> text.splitlines()[-1]
    '(check-sat)'
    """
    family = Family(reads, sees, slots, covers, due, boundary, dict(parameters or {}))
    return {aspect: problem.smtlib(linear=False) + "(check-sat)\n" for aspect, problem in family.problems().items()}
