"""Floating numbers that are one or two by a rule over places, as a mask's are: computed as the program does it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from . import integers
from .formats import REAL, is_torch, sort_of
from .integers import solver
from .shadow import picked

if TYPE_CHECKING:
    from .equation import Equation
    from .shadow import LengthShadow

MOST_RULES = 3  # that one operation may join
COMPUTED: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "max": np.maximum, "min": np.minimum,
    "div": lambda a, b: a / b if b else math.nan,  # which infinity is not known where a zero may be either
    "log": lambda x: {0.0: -math.inf, 1.0: 0.0}.get(float(x), math.nan),
}  # fmt: skip
COMPARED: dict[str, Callable[..., Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def rounded(number: float, dtype: Any) -> float:
    """The nearest number of a format."""
    if is_torch(dtype):
        import torch

        return float(torch.tensor(number, dtype=torch.float64).to(dtype))
    with np.errstate(all="ignore"):
        return float(np.asarray(number).astype(dtype))


def numbers(e: Equation, name: str) -> LengthShadow | None:
    """What an operation makes of such numbers, where that is exact, and two again; None where it is not known."""
    found = _by_cases(e.aligned, e.operand_types, COMPUTED[name])
    if found is None:
        return None
    cases = [(rule, _exact(value, e.dtypes[0])) for rule, value in found]
    values = list(dict.fromkeys(v for _, v in cases))
    if len(values) > 2 or None in values:
        return None
    signed = any(v == 0 and math.copysign(1, v) < 0 for _, v in cases)
    kinds = [e.run.uniform(-0.0 if v == 0 and signed else v, e.shape, e.dtypes[0]) for v in values]
    where_first = integers.either(*(rule for rule, v in cases if v == values[0]))
    return picked(where_first, kinds[0], kinds[1], e.shape) if len(kinds) > 1 else kinds[0]


def _exact(value: Any, dtype: Any) -> float | None:
    """The number, where nothing was rounded; a mask that is added twice may overflow."""
    given = float(value)
    found = rounded(given, dtype)
    return found if found == given or (math.isinf(found) and not math.isnan(given)) else None


def truth(e: Equation) -> Any:
    """The truth value of a comparison of such numbers, at every place; None where it is not known."""
    return _where(_by_cases(e.aligned, e.operand_types, COMPARED[e.name]))


def where(x: LengthShadow, dtype: Any, holds: Callable[[float], bool]) -> Any:
    """Where an array of such numbers is what is asked for; None where it is not known."""
    return _where(_by_cases([x], [dtype], holds))


def _where(found: list[tuple[Any, Any]] | None) -> Any:
    return None if found is None else integers.either(*(rule for rule, holds in found if holds))


def _by_cases(
    xs: Sequence[LengthShadow], dtypes: Sequence[Any], operation: Callable[..., Any]
) -> list[tuple[Any, Any]] | None:
    """The results by the rules that hold; None where some operand is none of such numbers."""
    if any(sort_of(d) != REAL for d in dtypes) or any(x.number is None and x.two is None for x in xs):
        return None
    rules = list({x.two[0].get_id(): x.two[0] for x in xs if x.two is not None}.values())
    if len(rules) > MOST_RULES:
        return None
    found = []
    for holds in product((True, False), repeat=len(rules)):
        held = {r.get_id(): h for r, h in zip(rules, holds, strict=True)}
        given = [np.float64(rounded(_at(x, held), d)) for x, d in zip(xs, dtypes, strict=True)]
        case = integers.every(*(r if h else solver.Not(r) for r, h in zip(rules, holds, strict=True)))
        with np.errstate(all="ignore"):
            value = operation(*given)
        either_zero = value == 0 and any(v == 0 and np.signbit(v) for v in given)
        found.append((case, -0.0 if either_zero and not isinstance(value, (bool, np.bool_)) else value))
    return found


def _at(x: LengthShadow, held: dict[int, bool]) -> float:
    """Its number there; a zero that may be either is −0."""
    if x.two is None:
        number = x.number
    else:
        rule, a, b = x.two
        number = a if held[rule.get_id()] else b
    assert number is not None
    return -0.0 if number == 0 and x.signed else number
