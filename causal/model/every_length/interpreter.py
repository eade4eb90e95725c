"""Walks over the equations of a jaxpr whose sizes are symbols, with a shadow for every length beside every array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..trace.jaxpr.calls import called
from ..trace.jaxpr.operands import REAL, WHOLE, sort_of
from ..trace.jaxpr.places import Places
from ..trace.jaxpr.walk import walked
from ..trace.ledger import Ledger
from . import control, indexing, integers  # noqa: F401
from .elementwise import BIG
from .equation import Equation, Unfollowed
from .integers import FALSE, TRUE, NotLinear, solver
from .primitives import RULES, exact, is_signed
from .shadow import TRUTHS, LengthShadow, constant
from .templates import settled_truth, tidied

if TYPE_CHECKING:
    from .dims import Dims
    from .integers import Statements, Term
    from .shadow import Size

FULL_MOST = 64  # numbers of a constant that are looked at one by one


@dataclass
class LengthRun:
    """One run: what is known of the length, and what was found and assumed."""

    statements: Statements
    dims: Dims
    last: Term  # the last position
    held: Mapping[int, str] = field(default_factory=dict)
    finite_masks: bool = True
    places: Places = field(default_factory=Places)
    ledger: Ledger = field(init=False)
    memory: dict[Any, list[LengthShadow]] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)  # alive, since addresses are given away again

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.places, 0)

    # -- arrays -------------------------------------------------------------------------------------------------------

    def parameter(self, aval: Any) -> LengthShadow:
        """Any numbers, the same in both runs."""
        return LengthShadow(self.dims.shape(aval.shape))

    def constant(self, value: Any, aval: Any) -> LengthShadow:
        """A number or array that stands in the program."""
        if id(value) in self.held:
            return self.parameter(aval)
        shape, dtype = self.dims.shape(aval.shape), aval.dtype
        if not isinstance(dtype, np.dtype) or any(not isinstance(d, int) for d in shape):
            return constant(shape)
        numbers = np.asarray(value)
        if numbers.size and (numbers == numbers.reshape(-1)[0]).all():
            return self._uniform(numbers.reshape(-1)[0].item(), shape, dtype)
        if numbers.size and sort_of(dtype) == WHOLE and (dtype == np.bool_ or is_signed(dtype)):
            return _listed(numbers, shape)
        return constant(shape)

    def _uniform(self, number: Any, shape: tuple[Size, ...], dtype: Any) -> LengthShadow:
        if dtype == np.bool_:
            return constant(shape, whole=TRUE if number else FALSE, zero=FALSE if number else TRUE)
        zero = TRUE if number == 0 else FALSE
        if sort_of(dtype) != REAL:
            known = integers.whole(int(number)) if is_signed(dtype) else None
            return constant(shape, whole=known, zero=zero)
        neginf = TRUE if number == -np.inf else FALSE
        low = TRUE if self.finite_masks and -np.inf < number <= -BIG else FALSE
        if low.eq(TRUE):
            self.ledger.mask_seen(float(number))
        known, span = None, None
        if float(number).is_integer() and abs(number) <= exact(dtype):
            known, span = integers.whole(int(number)), (int(number), int(number))
        return constant(
            shape, zero=zero, neginf=neginf, low=low, whole=known, span=span, number=float(number),
            signed=zero.eq(TRUE) and bool(np.signbit(number)),
        )  # fmt: skip

    # -- jaxprs ---------------------------------------------------------------------------------------------------

    def closed(self, closed: Any, arguments: Sequence[LengthShadow]) -> list[LengthShadow]:
        """The results of a jaxpr that brings its constants, or has none."""
        return walked(closed, arguments, self.constant, self.equation)

    def equation(self, equation: Any, operands: Sequence[LengthShadow]) -> list[LengthShadow]:
        """The results of one equation."""
        body = called(equation)
        with self.places.at(equation):
            if body is not None and equation.primitive.name != "shard_map":
                return self.closed(body, operands)
            e = Equation(self, equation, operands)
            self.ledger.counts[e.name] += 1
            self.statements.about = f"{e.name} at {self.places.line()}"
            key = self._key(e)
            if key is not None and key in self.memory:
                return self.memory[key]
            found = self._ruled(e)
            if key is not None:
                self.kept += operands
                self.memory[key] = found
            return found

    def _ruled(self, e: Equation) -> list[LengthShadow]:
        rule = RULES.get(e.name)
        try:
            if e.equation.effects or rule is None:
                raise Unfollowed("has effects" if e.equation.effects else "has no rule for every length")
            found = rule(e)
        except (Unfollowed, NotLinear) as reason:
            found = [e.everything(shape) for shape in e.shapes]
            if e.equation.effects:
                found = [LengthShadow(shape, self.last, signed=True) for shape in e.shapes]
            if any(f.depends for f in found):
                self.ledger.without_rule(e.name, str(reason))
        results = [found] if isinstance(found, LengthShadow) else list(found)
        return [self._tidied(x) for x in results]

    def _tidied(self, x: LengthShadow) -> LengthShadow:
        """The same in shorter terms, where they are long."""
        truths = {p: settled_truth(self.statements, getattr(x, p), x.shape) for p in TRUTHS}
        return replace(x, hi=tidied(self.statements, x.hi, x.shape), **truths)

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


def _listed(numbers: np.ndarray, shape: tuple[Size, ...]) -> LengthShadow:
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
