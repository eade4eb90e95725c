"""Whole numbers as terms, and the statements about them that both solvers must call valid.

A size is a term in the variables of the length (n, or m in n = b·m + r); a place along axis a of an array is the
variable `index(a)`. A statement is decided once, by Z3 and then, as text, by both solvers; what they call valid is
kept as an obligation that others can check again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from ....libraries import library
from ...solvers import both

Term: TypeAlias = Any  # a whole number (z3.ArithRef); Z3 has no types of its own
Truth: TypeAlias = Any  # a truth value (z3.BoolRef)

QUICK_MS = 4_000  # for a first answer, by which a guess is dropped
MOST_PLACES = 12  # axes that a program may have
solver = library("z3", "a proof for every length")
NONE = solver.IntVal(-1)  # the latest position of what depends on none
FALSE, TRUE = solver.BoolVal(False), solver.BoolVal(True)
PLACES: tuple[Term, ...] = tuple(solver.Int(f"i{a}") for a in range(MOST_PLACES))


class NotLinear(ValueError):
    """A size that is divided by, or cut into blocks of, a symbol."""


def index(axis: int) -> Term:
    """The place along an axis."""
    return PLACES[axis]


def whole(value: int | Term) -> Term:
    """A number as a term."""
    return solver.IntVal(value) if isinstance(value, int) else value


def either(*truths: Truth) -> Truth:
    """One of them, simplified."""
    return solver.simplify(solver.Or(*truths))


def every(*truths: Truth) -> Truth:
    """All of them, simplified."""
    return solver.simplify(solver.And(*truths))


def inverse(truth: Truth) -> Truth:
    """Not."""
    return solver.simplify(solver.Not(truth))


def choice(condition: Truth, a: Any, b: Any) -> Any:
    """`condition ? a : b`, simplified."""
    return a if a is b or a.eq(b) else solver.simplify(solver.If(condition, a, b))


def later(a: Term, b: Term) -> Term:
    """The later of two positions."""
    if a is b or a.eq(b) or b.eq(NONE):
        return a
    return b if a.eq(NONE) else solver.simplify(solver.If(a >= b, a, b))


def latest(terms: Sequence[Term]) -> Term:
    """The latest of several positions, NONE of none."""
    found = NONE
    for term in terms:
        found = later(found, term)
    return found


def put(term: Any, places: Sequence[Term]) -> Any:
    """The term at other places: `places[a]` for `index(a)`, all at once."""
    pairs = [(PLACES[a], p) for a, p in enumerate(places) if not p.eq(PLACES[a])]
    return solver.simplify(solver.substitute(term, *pairs)) if pairs else term


@dataclass(frozen=True)
class Parts:
    """What a term is: its operation (`kind`) and operands, or its number or name; and, of all that it is made of, the
    variables, names, numbers and divisors, and the different terms. Keeps it alive."""

    term: Any
    kind: int
    children: tuple[Any, ...] = ()
    number: int | None = None
    name: str = ""
    variables: frozenset[int] = frozenset()
    named: frozenset[str] = frozenset()
    numbers: frozenset[int] = frozenset()
    divisors: frozenset[int] = frozenset()
    below: frozenset[int] = frozenset()


_KNOWN: dict[int, Parts] = {}


def parts(term: Any) -> Parts:
    """What a term is made of; asked of Z3 once, since asking takes long."""
    key = term.get_id()
    if key not in _KNOWN:
        _KNOWN[key] = _read(term, key)
    return _KNOWN[key]


def _read(term: Any, key: int) -> Parts:
    none: frozenset[Any] = frozenset()
    kind = term.decl().kind()
    if solver.is_int_value(term):
        number = term.as_long()
        return Parts(term, kind, number=number, numbers=frozenset({number}), below=frozenset({key}))
    if kind == solver.Z3_OP_UNINTERPRETED:
        name = term.decl().name()
        own = frozenset({key})
        return Parts(term, kind, name=name, variables=own, named=frozenset({name}), below=own)
    children = tuple(term.children())
    found = [parts(child) for child in children]
    divisors = none.union(*(p.divisors for p in found))
    if kind in (solver.Z3_OP_IDIV, solver.Z3_OP_MOD):
        divisors |= found[1].numbers
    return Parts(
        term,
        kind,
        children,
        variables=none.union(*(p.variables for p in found)),
        named=none.union(*(p.named for p in found)),
        numbers=none.union(*(p.numbers for p in found)),
        divisors=divisors,
        below=none.union({key}, *(p.below for p in found)),
    )


def variables(*terms: Any) -> frozenset[int]:
    """What stands free in the terms, as addresses in Z3's table."""
    none: frozenset[int] = frozenset()
    return none.union(*(parts(t).variables for t in terms))


def names(*terms: Any) -> set[str]:
    """The names of what stands free in the terms and is no place: the variables of the length, and of loops."""
    none: frozenset[str] = frozenset()
    return set(none.union(*(parts(t).named for t in terms))) - {f"i{a}" for a in range(MOST_PLACES)}


def size(term: Any) -> int:
    """The number of different terms that a term is made of."""
    return len(parts(term).below)


def numerals(*terms: Any) -> tuple[set[int], set[int]]:
    """The numbers that stand in the terms, and those among them that are divided by."""
    found = [parts(t) for t in terms]
    return set().union(*(p.numbers for p in found)), set().union(*(p.divisors for p in found))


@dataclass(frozen=True)
class Obligation:
    """A statement that holds for all lengths: `text` is its denial in SMT-LIB, which both solvers call unsat."""

    about: str
    text: str
    seconds: float


class Statements:
    """What is taken to be true of the length, and what was found to follow from it.

    `asked` counts the questions, those among them that guesses failed at.
    """

    def __init__(self, premises: Sequence[Truth]) -> None:
        self.premises = list(premises)
        self.obligations: list[Obligation] = []
        self.asked, self.seconds, self.about = 0, 0.0, ""
        self._known: dict[tuple[int, ...], bool] = {}
        self._kept: list[Any] = []  # alive, since Z3 gives addresses away again

    @contextmanager
    def given(self, *more: Truth) -> Iterator[None]:
        """While more is taken to be true."""
        before = self.premises
        self.premises = [*before, *more]
        try:
            yield
        finally:
            self.premises = before

    def hold(self, claim: Truth, *given: Truth) -> bool:
        """Whether the claim follows, as far as both solvers see."""
        claim = solver.simplify(claim)
        if solver.is_true(claim):
            return True
        if solver.is_false(claim) and not given:
            return False
        used = [*self.premises, *given]
        key = (claim.get_id(), *sorted(p.get_id() for p in used))
        if key not in self._known:
            self._kept += [claim, *used]
            self._known[key] = self._decided(claim, used)
        return self._known[key]

    def _decided(self, claim: Truth, used: Sequence[Truth]) -> bool:
        began = time.perf_counter()
        self.asked += 1
        found = solver.Solver()
        found.set("timeout", QUICK_MS)
        found.add(*used, solver.Not(claim))
        holds = bool(found.check() == solver.unsat)
        if holds:
            text = _text(found)
            holds = both(text) == ("unsat", "unsat")
            if holds:
                self.obligations.append(Obligation(self.about, text, time.perf_counter() - began))
        self.seconds += time.perf_counter() - began
        return holds

    def broken(self, claim: Truth, small: Sequence[Truth]) -> dict[str, int] | None:
        """Numbers for which the claim fails, the first of the `small` ranges that has some; or None."""
        for limit in small:
            found = solver.Solver()
            found.set("timeout", QUICK_MS)
            found.add(*self.premises, limit, solver.Not(claim))
            if found.check() == solver.sat:
                model = found.model()
                return {d.name(): model[d].as_long() for d in model.decls() if d.arity() == 0}
        return None


def _text(found: Any) -> str:
    """The solver's assertions as SMT-LIB text without `(check-sat)`."""
    lines = [line for line in found.to_smt2().splitlines() if line.strip() != "(check-sat)"]
    kept = [line for line in lines if not line.startswith((";", "(set-info"))]
    return "\n".join(["(set-logic ALL)", *kept]) + "\n"
