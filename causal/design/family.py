"""A design given by rules in n: who reads what, who sees what, at any size and as formulas (THEORY, T16)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ..boundary import Boundary
from .formulas import Formula, conjunction, formula
from .presburger import application, term, variable
from .smt import Problem

__all__ = ["DOCUMENTS", "Family", "Matrices"]

Rule = Callable[..., Any]
DOCUMENTS = "documents"
# Words that SMT-LIB or its theory of integers has taken, or that the text of a question defines.
RESERVED = {
    *("_", "abs", "and", "as", "distinct", "div", "exists", "false", "forall", "is_int", "ite", "let", "match", "mod"),
    *("not", "or", "par", "quotient", "times", "to_int", "to_real", "true", "xor"),
}


@dataclass(frozen=True)
class Matrices:
    """A design at one size: `support` (r, n) says which slot reads which position, `visible` (n, r) who sees what."""

    support: np.ndarray
    visible: np.ndarray

    @property
    def shown(self) -> np.ndarray:
        """(n, n): whether query t sees a slot that reads position j."""
        return (self.visible.astype(np.float32) @ self.support.astype(np.float32)) > 0


@dataclass(frozen=True)
class Family:
    """The rules of a design, and the values or symbols that its parameters take."""

    reads: Rule
    sees: Rule
    slots: Rule | None
    covers: Rule | None
    due: Rule | None
    boundary: Rule | None
    parameters: Mapping[str, Any]

    def call(self, name: str, *arguments: Any, using: Mapping[str, Any]) -> Any:
        """A rule by name, with those parameters that it takes."""
        rule = getattr(self, name)
        if rule is None:
            return {"boundary": lambda t, j, n: j <= t, "due": lambda t, j, n: self.allowed(t, j, n, using)}[name](
                *arguments
            )
        wanted = inspect.signature(rule).parameters
        every = any(p.kind is p.VAR_KEYWORD for p in wanted.values())
        return rule(*arguments, **{k: v for k, v in using.items() if every or k in wanted})

    def allowed(self, t: Any, j: Any, n: Any, using: Mapping[str, Any]) -> Any:
        """Whether query t may use position j."""
        return self.call("boundary", t, j, n, using=using)

    def truth(self, name: str, *arguments: Any, using: Mapping[str, Any]) -> Formula:
        """A rule's formula; TypeError when it does not answer yes or no."""
        value = self.call(name, *arguments, using=using)
        if not isinstance(value, (Formula, bool, np.bool_)):
            raise TypeError(f"{name} returned {value!r} ({type(value).__name__}); return a comparison")
        return formula(value)

    def symbols(self) -> tuple[dict[str, int | None], dict[str, Any], tuple[str, ...]]:
        """Variables with their least values, what the rules are called with, and the names of document starts."""
        variables: dict[str, int | None] = {"n": 1, "t": 0, "j": 0, "s": 0}
        using: dict[str, Any] = {}
        starts = []
        for name, least in self.parameters.items():
            if not (name.isidentifier() and name.isascii()) or name in variables or name.startswith("start_"):
                remedy = "use an ASCII identifier other than n, t, j, s, start_…"
                raise ArgumentError("parameters", f"names {name!r}", remedy)
            if name in RESERVED:
                problem = f"names {name!r}, a word that SMT-LIB has taken"
                raise ArgumentError("parameters", problem, "use another identifier")
            if least == DOCUMENTS:
                starts.append(name)
                using[name] = lambda x, name=name: application(name, x)
            elif isinstance(least, (int, np.integer)) and not isinstance(least, bool):
                variables[name] = int(least)
                using[name] = variable(name, int(least))
            else:
                raise TypeError(
                    f"parameters[{name!r}] = {least!r}; give its least value, a whole number, or 'documents'"
                )
        return variables, using, tuple(starts)

    def problems(self) -> dict[str, Problem]:
        """The questions whose unsat is the proof: `safety`, and `completeness` where `covers` is given."""
        variables, using, starts = self.symbols()
        t, j, s, n = (variable(name, variables[name]) for name in ("t", "j", "s", "n"))
        inside = (("positions and queries", (t < n) & (j < n)),)
        slots = self._slots(n, using)
        may = self.truth("boundary", t, j, n, using=using)
        reads, sees = self.truth("reads", s, j, n, using=using), self.truth("sees", t, s, n, using=using)
        exists = () if slots is None else (("slot", s < slots),)
        questions = {
            "safety": Problem(
                "a slot that a query sees reads a position forbidden to the query",
                variables,
                (
                    *inside,
                    *exists,
                    ("query t sees slot s", sees),
                    ("slot s reads position j", reads),
                    ("forbidden", ~may),
                ),
                starts,
            )
        }
        if self.covers is not None:
            named = term(self.call("covers", t, j, n, using=using), "covers")
            shows = [named >= 0] if slots is None else [named >= 0, named < slots]
            shows.append(self.truth("sees", t, named, n, using=using))
            shows.append(self.truth("reads", named, j, n, using=using))
            due = self.truth("due", t, j, n, using=using)
            without_s = {name: least for name, least in variables.items() if name != "s"}
            hidden = ("the slot named does not show it", ~conjunction(shows))
            questions["completeness"] = Problem(
                "an allowed position is not shown by the slot that covers names",
                without_s,
                (*inside, ("position j is due to query t", due & may), hidden),
                starts,
            )
        return questions

    def _slots(self, n: Any, using: Mapping[str, Any]) -> Any:
        return None if self.slots is None else self.call("slots", n, using=using)

    def matrices(self, n: int, slots: int | None = None, **values: Any) -> Matrices:
        """The member of size n: the rules called with NumPy's integers, of whose comparisons `~` is the negation.

        `values` give every parameter; a `documents` parameter takes the documents' lengths. `slots` is needed where the
        family has no `slots` rule. Raises ValueError when a size or value does not fit.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise ArgumentError("n", "is no size", "pass a whole number of at least 1", n)
        for name, least in self.parameters.items():
            if name not in values:
                raise ArgumentError(f"parameter {name}", "has no value", f"pass {name}=…")
            if least != DOCUMENTS and values[name] < least:
                raise ArgumentError(name, f"is below its least value {least}", "pass at least that", int(values[name]))
        using = self.concrete(int(n), {name: values[name] for name in self.parameters})
        size = np.int64(n)
        r = slots if self.slots is None else int(self._slots(size, using))
        if r is None:
            raise ArgumentError("slots", "is unknown for this family", "pass slots=… or give the family a rule for it")
        t, j, s = np.arange(n)[:, None], np.arange(n)[None, :], np.arange(max(r, 0))
        support = np.broadcast_to(_boolean("reads", self.call("reads", s[:, None], j, size, using=using)), (len(s), n))
        visible = np.broadcast_to(_boolean("sees", self.call("sees", t, s[None, :], size, using=using)), (n, len(s)))
        return Matrices(np.array(support), np.array(visible))

    def concrete(self, n: int, values: Mapping[str, Any]) -> dict[str, Any]:
        """What the rules are called with at size n: NumPy's integers, and functions for documents of given lengths."""
        return {
            k: first_positions(v, n) if self.parameters.get(k) == DOCUMENTS else np.int64(v) for k, v in values.items()
        }

    def relation(self, n: int, **values: Any) -> Boundary:
        """The boundary of the member of size n."""
        if self.boundary is None:
            return Boundary.prefix(n)
        t, j = np.arange(n)[:, None], np.arange(n)[None, :]
        using = self.concrete(n, values)
        allowed = np.array(np.broadcast_to(_boolean("boundary", self.allowed(t, j, np.int64(n), using)), (n, n)))
        return Boundary.prefix(n) if np.array_equal(allowed, np.tri(n, dtype=bool)) else Boundary.relation(allowed)


def first_positions(lengths: Sequence[int], n: int) -> Callable[[Any], np.ndarray]:
    """For documents of these lengths: the function from a position to the first position of its document.

    >>> first_positions([2, 3], 5)(np.arange(5)).tolist()
    [0, 0, 2, 2, 2]
    """
    sizes = [int(length) for length in lengths]
    if sum(sizes) != n or min(sizes, default=1) < 1:
        problem = f"{sizes} are no documents over n = {n} positions"
        raise ArgumentError("lengths", problem, "pass positive lengths that sum to n")
    starts = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    return lambda x: starts[np.clip(x, 0, n - 1)]


def _boolean(name: str, value: Any) -> np.ndarray:
    found = np.asarray(value)
    if found.dtype != np.bool_:
        raise TypeError(f"{name} returned {found.dtype} on integers; return a comparison")
    return found


def averages(support: np.ndarray) -> np.ndarray:
    """The projection whose slots average the positions that they read; rows of slots that read nothing are 0."""
    return np.asarray(support / np.maximum(support.sum(axis=1, keepdims=True), 1))
