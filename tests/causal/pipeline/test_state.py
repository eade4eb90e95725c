"""Functions that keep something between calls: a cache must not hide a leak, and the check leaves no trace."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import dataclasses
import functools
import importlib
import os
import pickle
import sqlite3
import threading
import types
from pathlib import Path

import numpy as np
import pytest
from attnproof.causal.pipeline import fresh
from attnproof.causal.pipeline.check import assert_no_lookahead, check_pipeline
from attnproof.causal.pipeline.state import State
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")

X = np.random.default_rng(0).normal(size=30)
CACHE: dict[str, float] = {}
MEAN = None
COUNT = 0
ROOM = np.zeros(30)


def in_a_dictionary(x):
    if "mean" not in CACHE:
        CACHE["mean"] = x.mean()
    return x - CACHE["mean"]


def in_a_global(x):
    global MEAN
    if MEAN is None:
        MEAN = x.mean()
    return x - MEAN


def in_a_new_global(x):
    global FRESH
    try:
        FRESH  # noqa: B018
    except NameError:
        FRESH = x.mean()
    return x - FRESH


def in_a_default(x, memo=[]):  # noqa: B006
    if not memo:
        memo.append(x.mean())
    return x - memo[0]


def in_an_attribute(x):
    if not hasattr(in_an_attribute, "mean"):
        in_an_attribute.mean = x.mean()
    return x - in_an_attribute.mean


class Fitted:
    mean = None

    def __init__(self):
        self.deviation = None

    def on_the_object(self, x):
        if self.deviation is None:
            self.deviation = x.std()
        return x / self.deviation

    def as_a_new_attribute(self, x):
        if not hasattr(self, "largest"):
            self.largest = x.max()
        return x / self.largest

    @classmethod
    def on_the_class(cls, x):
        if cls.mean is None:
            cls.mean = x.mean()
        return x - cls.mean

    def __call__(self, x):
        return self.on_the_object(x)


class Empty:
    pass


def on_a_class(x):
    if not hasattr(Empty, "mean"):
        Empty.mean = x.mean()
    return x - Empty.mean


def in_a_closure():
    mean = None

    def kept(x):
        nonlocal mean
        if mean is None:
            mean = x.mean()
        return x - mean

    return kept


def through_a_helper(x):
    return in_a_dictionary(x)


FITTED = Fitted()


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (in_a_dictionary, "CACHE"),
        (through_a_helper, "CACHE"),
        (lambda x: in_a_dictionary(x), "CACHE"),
        (functools.partial(in_a_dictionary), "CACHE"),
        (in_a_global, "MEAN"),
        (in_a_new_global, "FRESH"),
        (in_a_default, "a default of in_a_default"),
        (in_an_attribute, "in_an_attribute's attributes"),
        (FITTED.on_the_object, "Fitted.deviation"),
        (FITTED, "Fitted.deviation"),
        (FITTED.as_a_new_attribute, "Fitted's attributes"),
        (lambda x: Fitted.on_the_class(x), "Fitted.mean"),
        (on_a_class, "Empty.mean"),
        (in_a_closure(), "mean"),
    ],
)
def test_what_is_fitted_once_and_kept_looks_ahead(function, named):
    verdict = check_pipeline(function, X, cuts=5)
    assert verdict.status is Status.REFUTED
    assert any(
        r == f"function changes {named} outside itself, which was put back before every call; where it is used nobody "
        "does that, so keep nothing between calls"
        for r in verdict.reasons
    ), verdict.reasons
    assert verdict.witness.replay()
    assert "FRESH" not in globals()
    assert (CACHE, MEAN, Fitted.mean, vars(FITTED)) == ({}, None, None, {"deviation": None})
    assert not vars(in_an_attribute)
    assert in_a_default.__defaults__ == ([],)


def test_a_scaler_that_is_kept():
    need("sklearn")
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()

    def scaled(x):
        if not hasattr(scaler, "mean_"):
            scaler.fit(x[:, None])
        return scaler.transform(x[:, None])

    assert check_pipeline(scaled, X, cuts=4).status is Status.REFUTED
    assert not hasattr(scaler, "mean_")


def test_functions_inside_transformers():
    need("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    transformer = make_pipeline(FunctionTransformer(in_a_dictionary))
    assert check_pipeline(transformer, X[:, None], cuts=4).status is Status.REFUTED
    assert CACHE == {}


def test_counters_and_sums_that_go_on_are_no_leaks():
    def counted(x):
        global COUNT
        COUNT += 1
        return x + COUNT

    def summed(x):
        ROOM[0] += x.sum()
        return np.cumsum(x) + ROOM[0] - x.sum()

    for function in (counted, summed):
        assert check_pipeline(function, X).status is Status.UNDECIDED
    assert COUNT == 0
    assert not ROOM.any()


def test_processes_have_a_state_of_their_own():
    from peeking import scaled_once

    verdict = check_pipeline(scaled_once, X, cuts=3, workers=2)
    assert verdict.status is Status.REFUTED
    assert verdict.witness.replay()


def test_a_state_is_left_as_it_was_when_the_check_fails():
    def once(x):
        CACHE["seen"] = 1.0
        raise KeyError("no")

    with pytest.raises(ValueError, match="on the whole data"):
        check_pipeline(once, X)
    assert CACHE == {}


def test_tables_that_a_function_reads_from_outside_are_named():
    pd = need("pandas")
    other = pd.DataFrame({"z": X})
    target = X[::-1]
    verdict = check_pipeline(lambda d: d.assign(z=other["z"], t=target[: len(d)]), pd.DataFrame({"x": X}))
    assert (
        "function also reads other, target from outside, which is neither cut nor replaced; to have it checked, pass "
        "it as a further table, data=(first, second)" in verdict.reasons
    )
    assert not any("outside" in r for r in check_pipeline(lambda d: d.shift(1), pd.DataFrame({"x": X})).reasons)


def test_frames_that_are_spoilt_are_exchanged_and_what_cannot_be_copied_is_left_alone():
    pd = need("pandas")
    held = {"frame": pd.DataFrame({"z": [1.0, 2.0]})}
    frame, steps = held["frame"], iter(range(1000))

    def spoil(x):
        next(steps)
        frame.loc[0, "z"] += 1
        return x + frame["z"][0]

    with State(spoil) as state:
        spoil(X)
        state.put_back()
        assert spoil(X)[0] == X[0] + 2
    assert state.kept == ["frame"]
    assert frame["z"].tolist() == [1.0, 2.0]
    assert next(steps) == 2


def test_objects_that_refer_to_each_other():
    """A graph of them is looked through once, however many ways lead through it."""

    class Node:
        def __init__(self):
            self.others, self.seen = [], 0

    nodes = [Node() for _ in range(60)]
    for node in nodes:
        node.others = nodes

    def count(x):
        nodes[7].seen += 1
        return x + nodes[7].seen

    with State(count) as state:
        count(X)
        state.put_back()
        assert nodes[7].seen == 0
    assert state.kept == ["nodes"]
    assert check_pipeline(count, X, cuts=3).status is Status.UNDECIDED


def test_what_is_too_large_to_copy_is_left_alone(monkeypatch):
    import attnproof.causal.pipeline.state as state

    large = list(range(1000, 1100))

    def count(x):
        large[0] += 1
        return x

    monkeypatch.setattr(state, "MOST_BYTES", 1000)
    with State(count):
        count(X)
    assert large[0] == 1001
    monkeypatch.undo()
    with State(count):
        count(X)
    assert large[0] == 1001


# -- state that is not in a variable ---------------------------------------------------------------------------------


def in_a_pickle(x):
    place = Path(os.environ["PLACE"]) / "mean.pkl"
    if not place.exists():
        with place.open("wb") as file:
            pickle.dump(x.mean(), file)
    with place.open("rb") as file:
        return x - pickle.load(file)


def in_the_environment(x):
    return x - float(os.environ.setdefault("ATTNPROOF_TEST_MEAN", str(x.mean())))


HELD = {}


@functools.lru_cache
def mean_of(symbol):
    return HELD["x"].mean()


def in_a_cache_by_symbol(x):
    HELD["x"] = x
    return x - mean_of("AAPL")


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (in_a_pickle, "file mean.pkl"),
        (in_the_environment, "os.environ"),
        (in_a_cache_by_symbol, "the cache of mean_of"),
    ],
)
def test_state_in_files_the_environment_and_caches_is_put_back(function, named, tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", str(tmp_path))
    verdict = check_pipeline(function, X, cuts=5)
    assert verdict.status is Status.REFUTED
    assert verdict.witness.replay()
    assert any(r.startswith("function changes ") and named in r for r in verdict.reasons), verdict.reasons
    assert not list(tmp_path.iterdir())
    assert "ATTNPROOF_TEST_MEAN" not in os.environ


def test_a_function_cached_on_disk(tmp_path):
    joblib = need("joblib")

    def mean_by_symbol(symbol):
        return HELD["x"].mean()

    cached = joblib.Memory(tmp_path, verbose=0).cache(mean_by_symbol)

    def demeaned(x):
        HELD["x"] = x
        return x - cached("AAPL")

    assert check_pipeline(demeaned, X, cuts=5).status is Status.REFUTED


def test_files_that_were_there_are_left_as_they_were_and_named(tmp_path):
    kept, log = tmp_path / "mean.txt", tmp_path / "log.txt"
    kept.write_text("0.25")

    def read(x):
        with log.open("a") as file:
            file.write("called")
        return x - float(kept.read_text())

    with pytest.warns(UserWarning, match=r"function reads file mean\.txt, which is neither cut nor replaced"):
        verdict = assert_no_lookahead(read, X)
    assert "function writes file log.txt, not put back between calls" in verdict.reasons
    assert log.read_text().startswith("calledcalled")

    def written(x):
        if kept.read_text() == "0.25":
            kept.write_text(str(x.mean()))
        return x - float(kept.read_text())

    assert check_pipeline(written, X, cuts=5).status is Status.REFUTED
    assert kept.read_text() == "0.25"


MU, LAG = float(X.mean()), 0.94
SCALE = float(X.std()) * 1.1


def test_numbers_from_outside_are_named():
    def scaled(x):
        return (x - MU) / SCALE * LAG

    with pytest.warns(UserWarning, match="function|attrs") as caught:
        assert_no_lookahead(scaled, X)
    assert [str(warning.message) for warning in caught] == [
        "function reads MU from outside, which is the mean of column x, later rows included; "
        "compute it from earlier ones",
        "function reads the numbers SCALE from outside; if they were computed from these data they look ahead",
    ]


def test_fitted_objects_and_attributes_of_frames_are_named():
    need("sklearn")
    pd = need("pandas")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = pd.DataFrame({"x": X})
    data.attrs["mean"] = X.mean()
    scaler, fresh = make_pipeline(StandardScaler()).fit(data), StandardScaler()

    def scaled(d):
        assert fresh is not None
        return scaler.transform(d) - d.attrs["mean"]

    with pytest.warns(UserWarning, match="function|attrs") as caught:
        assert_no_lookahead(scaled, data)
    assert [str(warning.message) for warning in caught] == [
        "function uses scaler, fitted beforehand; what that learnt from later rows is not seen here",
        "data.attrs holds mean, which every prefix is given as it is",
    ]


@dataclasses.dataclass(slots=True)
class Slotted:
    mean: float | None = None

    def centred(self, x):
        if self.mean is None:
            self.mean = x.mean()
        return x - self.mean


class Keeper:
    def __init__(self):
        self.part, self.parts = Slotted(), [Slotted()]


REGISTRY = [in_a_dictionary]
NAMED = {"centred": in_a_dictionary}
RECENT: collections.deque[float] = collections.deque(maxlen=1)
CONTEXT: contextvars.ContextVar[float] = contextvars.ContextVar("CONTEXT")
KEEPER = Keeper()


SPACE = types.SimpleNamespace(mean=None)


def in_a_namespace(x):
    if SPACE.mean is None:
        SPACE.mean = x.mean()
    return x - SPACE.mean


def in_a_deque(x):
    if not RECENT:
        RECENT.append(x.mean())
    return x - RECENT[0]


def in_a_context(x):
    try:
        CONTEXT.get()
    except LookupError:
        CONTEXT.set(x.mean())
    return x - CONTEXT.get()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sum(f(x) for f in REGISTRY),
        lambda x: NAMED["centred"](x),
        Slotted().centred,
        lambda x: KEEPER.part.centred(x),
        lambda x: KEEPER.parts[0].centred(x),
        in_a_deque,
        in_a_namespace,
        in_a_context,
    ],
)
def test_state_behind_registries_slots_deques_and_contexts_hides_nothing(function):
    assert check_pipeline(function, X, cuts=5).status is Status.REFUTED


def test_what_a_module_in_a_package_keeps_hides_nothing(tmp_path, monkeypatch):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").touch()
    (tmp_path / "shop/parts.py").write_text(
        "KEPT = {}\n\n\ndef centred(x):\n    return x - KEPT.setdefault('mean', x.mean())\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    def within(x):
        from shop.parts import centred

        return centred(x)

    assert check_pipeline(within, X, cuts=5).status is Status.REFUTED
    shop = importlib.import_module("shop")
    assert check_pipeline(lambda x: shop.parts.centred(x), X, cuts=5).status is Status.REFUTED


def test_what_cannot_be_copied_is_named(monkeypatch):
    monkeypatch.setattr(fresh, "UNSAFE", ("sys",))  # a fresh process would show what it keeps, and nothing would pass

    def kept():
        x = yield
        mean = x.mean()
        while True:
            x = yield x - mean

    ready, locked = kept(), threading.Lock()
    next(ready)
    with locked, pytest.warns(UserWarning, match="function uses ready, which cannot be copied; what that keeps"):
        verdict = assert_no_lookahead(lambda x: (ready.send(x), locked)[0], X, cuts=3)
    assert not any("locked" in reason for reason in verdict.reasons)


def test_a_database_is_named(tmp_path):
    def kept(x):
        with contextlib.closing(sqlite3.connect(tmp_path / "kept.db")) as base:
            base.execute("create table if not exists t (mean)")
            base.execute("insert into t values (?)", (x.mean(),))
            base.commit()
            return x - base.execute("select mean from t").fetchone()[0]

    with pytest.warns(UserWarning, match=r"function writes file kept\.db, not put back between calls"):
        assert_no_lookahead(kept, X, cuts=3)


def test_a_function_that_runs_once_is_refused_in_one_sentence():
    once = iter([1.0])
    with pytest.raises(
        ValueError, match=r"function raises StopIteration .* when it is called again with the same data"
    ):
        check_pipeline(lambda x: x * next(once), X, cuts=3)
