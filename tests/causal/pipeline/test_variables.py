"""What a function keeps where no variable of its own says so: by any name, on a library, on a class above its own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need

pd = need("pandas")
pytestmark = pytest.mark.claim("T17")
X = np.random.default_rng(0).normal(size=30)


def by_globals(x):
    if "KEPT" not in globals():
        globals()["KEPT"] = x.mean()
    return x - globals()["KEPT"]


def by_its_globals(x):
    by_its_globals.__globals__.setdefault("KEPT_SO", x.mean())
    return x - by_its_globals.__globals__["KEPT_SO"]


def on_a_library(x):
    if not hasattr(np, "_kept"):
        np._kept = x.mean()
    return x - np._kept


def on_a_library_s_class(x):
    kept = getattr(pd.DataFrame, "_kept", None)
    setattr(pd.DataFrame, "_kept", x.mean() if kept is None else kept)  # noqa: B010
    return x - pd.DataFrame._kept


def on_what_is_imported_within(x):
    import builtins

    if not hasattr(builtins, "_kept"):
        builtins._kept = x.mean()
    return x - builtins._kept


class One(type):
    held: ClassVar = {}

    def __call__(cls, *arguments):
        if cls not in One.held:
            One.held[cls] = super().__call__(*arguments)
        return One.held[cls]


class Scaler(metaclass=One):
    def __init__(self, mean):
        self.mean = mean


def by_a_metaclass(x):
    return x - Scaler(x.mean()).mean


class Above:
    cache: ClassVar = {}

    def mean(self, x):
        return self.cache.setdefault("mean", x.mean())


class Below(Above):
    def __call__(self, x):
        return x - self.mean(x)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (by_globals, "KEPT"),
        (by_its_globals, "KEPT_SO"),
        (on_a_library, "np._kept"),
        (on_a_library_s_class, "pd.DataFrame._kept"),
        (on_what_is_imported_within, "builtins._kept"),
        (by_a_metaclass, "One.held"),
        (Below(), "Above.cache"),
    ],
)
def test_it_is_put_back_and_hides_nothing(function, named):
    verdict = check_pipeline(function, X, cuts=5)
    assert verdict.status is Status.REFUTED
    assert verdict.witness.replay()
    assert any(r.startswith(f"function changes {named} outside itself") for r in verdict.reasons), verdict.reasons


def test_nothing_stays_where_it_was_put():
    import builtins

    assert not hasattr(np, "_kept")
    assert not hasattr(builtins, "_kept")
    assert not hasattr(pd.DataFrame, "_kept")
    assert "KEPT" not in globals()
    assert not One.held
