"""One abstract run at every length, whichever library recorded the program: equations in, shadows out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..trace.ledger import Ledger
from . import integers, windows  # noqa: F401  (windows: its rules)
from .elementwise import BIG
from .equation import Unfollowed
from .formats import REAL, WHOLE, exact, is_signed, is_truth, sort_of
from .integers import FALSE, TRUE, NotLinear, solver
from .primitives import RULES
from .shadow import TRUTHS, LengthShadow, constant
from .templates import settled_truth, tidied

if TYPE_CHECKING:
    from ..trace.ledger import Places
    from .boundaries import Side
    from .dims import Sizes
    from .equation import Equation
    from .integers import Statements, Term
    from .shadow import Size

FULL_MOST = 64  # numbers of a constant that are looked at one by one


@dataclass
class LengthRun:
    """One run: what is known of the length, and what was found and assumed."""

    statements: Statements
    dims: Sizes
    last: Term  # the last position, and the last rank
    side: Side
    places: Places
    finite_masks: bool = True
    ledger: Ledger = field(init=False)
    memory: dict[Any, list[LengthShadow]] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)  # alive, since addresses are given away again

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.places, 0)

    def rank(self, position: Term) -> Term:
        """The rank of a position, by which this run orders them."""
        return solver.simplify(self.side.rank(position, self.last))

    # -- constants ----------------------------------------------------------------------------------------------------

    def uniform(self, number: Any, shape: tuple[Size, ...], dtype: Any) -> LengthShadow:
        """One number everywhere."""
        if is_truth(dtype):
            return constant(shape, whole=TRUE if number else FALSE, zero=FALSE if number else TRUE)
        zero = TRUE if number == 0 else FALSE
        if sort_of(dtype) != REAL:
            narrow = sort_of(dtype) == WHOLE and 0 <= number < 128
            known = integers.whole(int(number)) if is_signed(dtype) or narrow else None
            return constant(shape, whole=known, zero=zero)
        neginf = TRUE if number == -np.inf else FALSE
        low = TRUE if self.finite_masks and -np.inf < number <= -BIG else FALSE
        if low.eq(TRUE):
            self.ledger.mask_seen(float(number))
        known, span = None, None
        if float(number).is_integer() and abs(number) <= exact(dtype):
            known, span = integers.whole(int(number)), (int(number), int(number))
        return constant(
            shape, zero=zero, neginf=neginf, low=low, high=TRUE if number >= BIG else FALSE, whole=known, span=span,
            number=float(number), signed=zero.eq(TRUE) and bool(np.signbit(number)),
        )  # fmt: skip

    def listed(self, numbers: np.ndarray, shape: tuple[Size, ...]) -> LengthShadow:
        """A short list of whole numbers or truth values, by their places; a long one is not looked at."""
        if numbers.size > FULL_MOST:
            return constant(shape)
        known: Any = None
        for place in np.ndindex(*numbers.shape):
            value = numbers[place].item()
            term = (TRUE if value else FALSE) if isinstance(value, bool) else integers.whole(int(value))
            here = solver.And(*(integers.index(a) == p for a, p in enumerate(place)))
            known = term if known is None else solver.If(here, term, known)
        known = solver.simplify(known)
        zero = integers.inverse(known) if solver.is_bool(known) else solver.simplify(known == 0)
        return constant(shape, whole=known, zero=zero)

    # -- equations ----------------------------------------------------------------------------------------------------

    def follow(self, e: Equation) -> list[LengthShadow]:
        """The results of one equation, at the place that is at hand."""
        self.ledger.counts[e.said] += 1
        self.statements.about = f"{e.said} at {self.places.line()}"
        key = self._key(e)
        if key is not None and key in self.memory:
            return self.memory[key]
        found = self._ruled(e)
        if key is not None:
            self.kept += e.operands
            self.memory[key] = found
        return found

    def _ruled(self, e: Equation) -> list[LengthShadow]:
        rule = RULES.get(e.name)
        try:
            if e.effects or rule is None:
                raise Unfollowed("has effects" if e.effects else "has no rule for every length")
            found = rule(e)
        except (Unfollowed, NotLinear) as reason:
            found = [e.everything(shape) for shape in e.shapes]
            if e.effects:
                found = [LengthShadow(shape, self.last, signed=True) for shape in e.shapes]
            if any(f.depends for f in found):
                self.ledger.without_rule(e.said, str(reason))
        results = [found] if isinstance(found, LengthShadow) else list(found)
        return [self._tidied(x) for x in results]

    def _tidied(self, x: LengthShadow) -> LengthShadow:
        """The same in shorter terms, where they are long."""
        truths = {p: settled_truth(self.statements, getattr(x, p), x.shape) for p in TRUTHS}
        return replace(x, hi=tidied(self.statements, x.hi, x.shape, self.rank), **truths)

    def _key(self, e: Equation) -> Any:
        """What the results of an equation depend on, besides what is taken to be true; None where nobody can tell."""
        params = tuple(sorted(e.params.items(), key=lambda item: item[0]))
        if any(hasattr(v, "eqns") or hasattr(v, "jaxpr") for v in e.params.values()) or "branches" in e.params:
            return None
        try:
            hash(params)
        except TypeError:
            return None
        premises = tuple(p.get_id() for p in self.statements.premises)
        said = (e.name, params, tuple(map(str, e.shapes)), tuple(map(str, e.dtypes)), premises)
        return (*said, *(x.key for x in e.operands))
