"""What a verdict on E and F means for a layer whose keys and values come from the same positions (T20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import sympy

from ...errors import ArgumentError
from ...symbolic.self_attention import Case, case_of
from ..verdict import Status, Verdict

if TYPE_CHECKING:
    from ...aliases import ArrayLike


def model_case(weights: Sequence[ArrayLike]) -> Case:
    """The case of T20 for W_Q, W_K (m, d) and W_V (m, d_v), whose floats are taken exactly."""
    if len(weights) != 3:
        raise ArgumentError(
            "weights", "are not three", "pass W_Q, W_K and W_V, or these and W_O per head", len(weights)
        )
    return case_of(*(_exact(name, weight) for name, weight in zip(("W_Q", "W_K", "W_V"), weights, strict=True)))


def _exact(name: str, weight: ArrayLike) -> sympy.Matrix:
    array = np.asarray(weight)
    if array.ndim != 2 or not array.size:
        raise ArgumentError("weights", f"hold {name} with another shape than (m, d)", "pass matrices", array.shape)
    try:
        entries = [Fraction(entry) for entry in array.ravel().tolist()]
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            "weights", f"hold an entry of {name} that is no number", "pass finite numbers", str(error)
        ) from None
    return sympy.Matrix(*array.shape, [sympy.Rational(x.numerator, x.denominator) for x in entries])


def of_model(verdict: Verdict, case: Case) -> Verdict:
    """The verdict with T20 and a reason that says which case applies and what follows for the model."""
    return replace(verdict, claims=(*verdict.claims, "T20"), reasons=(*verdict.reasons, _reason(verdict.status, case)))


def _reason(status: Status, case: Case) -> str:
    if status is not Status.REFUTED:
        return f"this holds for the layer with these weights too: T11 is enough whatever they are (T20; {case.value})"
    if case is Case.EXACT:
        return f"the layer with these weights leaks too, for some real inputs (T20; {case.value})"
    return f"the layer with these weights need not leak: it is safe by a weaker condition (T20; {case.value})"
