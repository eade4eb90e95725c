"""What can be checked as a pipeline: functions, and estimators with fit and transform."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentTypeError
from .conversion import made
from .frames import library_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FittedBeforehand", "as_function", "call_with"]


def call_with(function: Callable[..., Any], calling: str, given: Any) -> Any:
    """A function's result, a lazy one made; `calling` says how it takes tables: "one", by "positions" or "keywords"."""
    positions, names = {"one": ((given,), {}), "positions": (given, {}), "keywords": ((), given)}[calling]
    result = function(*positions, **names)
    return result.collect() if type(result).__name__ == "LazyFrame" else made(result)


def as_function(function: Any) -> Callable[[Any], Any]:
    """A callable from a callable or a transformer, which is cloned for each call.

    Raises TypeError for anything else.
    """
    if hasattr(function, "fit_transform"):
        return _FitTransform(function)
    if hasattr(function, "transform") and not callable(function):
        return FittedBeforehand(function)
    if not callable(function):
        remedy = "pass a callable, or an object with fit_transform or transform"
        raise ArgumentTypeError("function", f"is {type(function).__name__}", remedy)
    called: Callable[[Any], Any] = function
    return called


@dataclass(frozen=True)
class _FitTransform:
    estimator: Any

    def __call__(self, data: Any) -> Any:
        fresh = copy.deepcopy(self.estimator)
        table = data.reshape(-1, 1) if library_of(data) == "numpy" and data.ndim == 1 else data
        return fresh.fit_transform(table)


@dataclass(frozen=True)
class FittedBeforehand:
    """The `transform` of an object whose fitting the checker does not see."""

    estimator: Any

    def __call__(self, data: Any) -> Any:
        """The transformed table, by a copy of the object."""
        return copy.deepcopy(self.estimator).transform(data)
