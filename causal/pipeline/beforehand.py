"""What a function knew before it was called: fitted objects, and numbers that may have been computed from the data.

It is neither cut nor replaced, so that a statistic of the whole sample in it is not seen; a reader should know.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...aliases import Array
    from .source import Source

Numbers = list[tuple[str, float]]
CONSTANTS = (math.pi, math.e, math.tau)
STATISTICS: Mapping[str, Callable[[Array], Any]] = {
    "mean": np.mean,
    "deviation": lambda x: np.std(x, ddof=1),
    "deviation (of the population)": np.std,
    "median": np.median,
    "variance": lambda x: np.var(x, ddof=1),
    "smallest": np.min,
    "largest": np.max,
}
TYPED = 6  # significant digits of a number that somebody typed


def beforehand(fitted: Sequence[str], numbers: Numbers, sources: Sequence[Source]) -> Iterator[str]:
    """A sentence for each kind of thing that was known beforehand: the names of fitted objects, and numbers by name."""
    if fitted:
        yield f"function uses {listed(fitted)}, fitted beforehand; what that learnt from later rows is not seen here"
    statistics = {name: found for name, value in numbers if (found := _statistic(value, sources))}
    for name, found in statistics.items():
        yield f"function reads {name} from outside, which is {found}, later rows included; compute it from earlier ones"
    others = listed([name for name, _ in numbers if name not in statistics])
    if others:
        yield f"function reads the numbers {others} from outside; if they were computed from these data they look ahead"


def is_fitted(value: Any) -> bool:
    """Whether an object has learnt something, as those of scikit-learn, statsmodels and PyTorch show it."""
    if isinstance(value, type) or not any(hasattr(value, name) for name in ("transform", "predict", "state_dict")):
        return False
    parameters = parameters_of(value)
    if parameters is None:
        return True
    parts = [value, *parameters]
    return any(name.endswith("_") and name[:1] != "_" for part in parts for name in getattr(part, "__dict__", ()))


def parameters_of(value: Any) -> list[Any] | None:
    """The parameters of an estimator; None for what has none, or answers to every name without being one."""
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return None
    try:
        found = value.get_params()
    except Exception:  # an object of another kind
        return None
    return list(found.values()) if isinstance(found, dict) else None


def numbers_in(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """The numbers that a variable holds, itself or in a container, that nobody seems to have typed."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers_in(f"{name}[{key!r}]", inner) if not isinstance(inner, dict) else ()
    elif isinstance(value, (list, tuple)) and len(value) <= 16:
        for i, inner in enumerate(value):
            yield from numbers_in(f"{name}[{i}]", inner) if isinstance(inner, (float, np.floating)) else ()
    elif isinstance(value, (float, np.floating)):
        number = float(value)
        if math.isfinite(number) and float(f"{number:.{TYPED}g}") != number and number not in CONSTANTS:
            yield name, number


def _statistic(value: float, sources: Sequence[Source]) -> str:
    """Which statistic of a whole column a number is; "" for none."""
    for source in sources:
        for name, numbers in source.numbers.items():
            present = numbers[~source.missing[name]]
            if present.dtype.kind != "f" or len(present) < 2:
                continue
            for what, statistic in STATISTICS.items():
                if math.isclose(value, float(statistic(present)), rel_tol=1e-9):
                    return f"the {what} of column {name}"
    return ""
