"""A question about integers as SMT-LIB text, and its answer from Z3, confirmed by cvc5.

Both solvers read the same text, which is also what is exported, so what was decided is what others can re-check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from .. import solvers
from ..verdict import Evidence
from .formulas import Formula, formula
from .presburger import Atom, Term, choose, variable, walk


@dataclass(frozen=True)
class Problem:
    """Is there an assignment of `variables` (name to least value) that satisfies every assertion?

    `assertions` are (comment, formula) pairs; `starts` names the unknown functions that give the first position of a
    position's document, over the positions 0 … n − 1.
    """

    title: str
    variables: Mapping[str, int | None]
    assertions: tuple[tuple[str, Formula], ...]
    starts: tuple[str, ...] = ()
    products: dict[tuple[Atom, ...], set[int]] = field(init=False, repr=False)  # with their coefficients
    atoms: dict[str, Atom] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        products: dict[tuple[Atom, ...], set[int]] = {}
        atoms: dict[str, Atom] = {}
        found = [pair for _, assertion in self.assertions for pair in walk(assertion)]
        quotients = dict.fromkeys(a for monomial, _ in found for a in monomial if a.kind == "quotient")
        for quotient in quotients:  # its definition multiplies it by its divisor
            found += walk(quotient.parts[1] * Term({(quotient,): 1}))
        for monomial, coefficient in found:
            atoms.update({atom.text: atom for atom in monomial})
            for k in range(2, len(monomial) + 1):
                products.setdefault(monomial[:k], {1}).add(abs(coefficient))
        object.__setattr__(self, "products", products)
        object.__setattr__(self, "atoms", atoms)

    @property
    def is_linear(self) -> bool:
        """Whether every term is linear, so that the question is decidable."""
        return not self.products

    def _facts(self) -> Iterable[tuple[str, Formula]]:
        """What is true of quotients, products and document starts, instantiated at the terms that occur."""
        for atom in self.atoms.values():
            if atom.kind == "quotient":
                remainder = atom.parts[0] - atom.parts[1] * Term({(atom,): 1})
                yield "a quotient by a positive divisor", (remainder >= 0) & (remainder < atom.parts[1])
        for p in sorted({a for m in self.products for a in m if (a.least or 0) >= 1}, key=lambda a: a.text):
            factor, multiples = Term({(p,): 1}), [(Term({}), Term({})), (Term({(): 1}), Term({(p,): 1}))]
            for m, coefficients in self.products.items():
                if p in m:
                    multiples += [(c * _without(m, p), Term({m: c})) for c in sorted(coefficients)]
            for (x, xp), (y, yp) in combinations(multiples, 2):
                yield f"x = y gives x {p.text} = y {p.text}", ~(x == y) | (xp == yp)
                yield f"x < y gives x {p.text} + {p.text} <= y {p.text}", ~(x < y) | (xp + factor <= yp)
                yield f"y < x gives y {p.text} + {p.text} <= x {p.text}", ~(y < x) | (yp + factor <= xp)
        for name in self.starts:
            applied = [atom for atom in self.atoms.values() if atom.kind == name]
            found = [(*_position(atom.parts[0]), Term({(atom,): 1})) for atom in applied]
            for x, there, start in found:
                yield "a document starts at or before its positions", ~there | ((start >= 0) & (start <= x))
            for x, x_in, at_x in found:
                for y, y_in, at_y in found:
                    if x is not y:
                        between = x_in & y_in & (at_y <= x) & (x <= y)
                        yield (
                            "a document holds what lies between its start and its positions",
                            ~between | (at_x == at_y),
                        )

    def smtlib(self, linear: bool = True, more: Iterable[tuple[str, Formula]] = ()) -> str:
        """The question as SMT-LIB 2.6 text, without `(check-sat)`.

        With `linear`, products are an uninterpreted function `times`, and unsat then covers multiplication; without,
        `times` is multiplication.
        """
        logic = "QF_UFLIA" if self.products or self.starts else "QF_LIA"
        logic = logic if linear or self.is_linear else "QF_UFNIA"
        lines = [f"; {self.title}", "; satisfiable: a counterexample; unsat: proved", f"(set-logic {logic})"]
        lines += [f"(declare-const {name} Int)" for name in self.variables]
        if self.products and linear:
            lines.append("(declare-fun times (Int Int) Int) ; stands for multiplication")
        elif self.products:
            lines.append("(define-fun times ((x Int) (y Int)) Int (* x y))")
        if any(atom.kind == "quotient" for atom in self.atoms.values()):
            lines.append("(declare-fun quotient (Int Int) Int) ; rounds down; defined below where it is used")
        lines += [
            f"(declare-fun {name} (Int) Int) ; first position of the document at a position" for name in self.starts
        ]
        for name, least in self.variables.items():
            if least is not None:
                lines.append(f"(assert {variable(name) >= least})")
        lines += [f"(assert {fact}) ; {comment}" for comment, fact in self._facts() if fact.operator != "true"]
        lines += [f"(assert {assertion}) ; {comment}" for comment, assertion in (*self.assertions, *more)]
        for index, text in enumerate(self._applications()):
            lines += [f"(declare-const start_{index} Int)", f"(assert (= start_{index} {text}))"]
        return "\n".join(lines) + "\n"

    def _applications(self) -> list[str]:
        return [atom.text for atom in self.atoms.values() if atom.kind in self.starts]

    def document_starts(self, model: Mapping[str, int]) -> set[int]:
        """The starts of documents that a model names, position 0 included."""
        return {0, *(max(0, model[f"start_{i}"]) for i in range(len(self._applications())))}


def _position(x: Term) -> tuple[Term, Formula]:
    """The position that a document function looks at, and where it is one; t and j as they are, others clipped.

    Outside 0 … n − 1 the function is that of the first or the last position, as for documents of given lengths.
    """
    n = variable("n")
    if str(x) in ("t", "j"):
        return x, (x >= 0) & (x < n)
    return choose(x < 0, 0, choose(x < n, x, n - 1)), formula(True)


def _without(monomial: tuple[Atom, ...], factor: Atom) -> Term:
    rest = list(monomial)
    rest.remove(factor)
    return Term({tuple(rest): 1})


@dataclass(frozen=True)
class Answer:
    """`unsat`, `sat` with a model, or `unknown`; `text` is the SMT-LIB text that was decided."""

    status: str
    text: str
    evidence: tuple[Evidence, ...]
    model: Mapping[str, int] | None = None


def decide(problem: Problem, more: tuple[tuple[str, Formula], ...] = (), confirm: bool = True) -> Answer:
    """Z3's answer; an unsat counts only if cvc5 says unsat to the same text (unless `confirm` is false).

    Raises ImportError that names the extra `smt` when a solver is missing.
    """
    evidence: list[Evidence] = []
    answer = Answer("unknown", "", ())
    for linear in (True,) if problem.is_linear else (True, False):
        text = problem.smtlib(linear, more)
        status, model, seconds = solvers.z3_says(text)
        kind = "" if problem.is_linear else " (products uninterpreted)" if linear else " (non-linear)"
        if status == "unsat" and confirm:
            second, took = solvers.cvc5_says(text)
            evidence.append(Evidence("solver", True, f"Z3: unsat, {problem.title}{kind}", seconds))
            holds = {"unsat": True, "sat": False}.get(second)
            evidence.append(Evidence("solver", holds, f"cvc5: {second} on the same text", took))
            answer = Answer(status if holds else "unknown", text, tuple(evidence))
            if second == "unknown":
                continue
            return answer
        if status == "unsat":
            return Answer(status, text, ())
        answer = Answer(status, text, tuple(evidence), model)
        if problem.is_linear or (not linear and status == "sat"):
            return answer
    if answer.status == "unknown":
        evidence.append(Evidence("solver", None, f"undecided within {solvers.TIMEOUT_MS // 1000} s: {problem.title}"))
    return Answer(answer.status, answer.text, tuple(evidence), answer.model)
