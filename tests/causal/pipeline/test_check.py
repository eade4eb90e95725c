"""T17: the cases with known verdicts, labels, the assertion, and what bad input gets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from attnproof.causal.boundary import Boundary
from attnproof.causal.pipeline.check import assert_no_lookahead, check_pipeline
from attnproof.causal.verdict import NotProvedError, PrefixLeakError, Status
from needs import need
from peeking import double_and_peek
from pipeline_data import quarter_hours, series

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")

CASES = {
    c["name"]: c for c in json.loads((Path(__file__).parents[2] / "cases" / "pipelines.json").read_text())["cases"]
}


def fills_if_above_5(s):
    following = s.shift(-1)
    return s.where(s.notna(), following.where(following > 5))


FUNCTIONS = {
    "centred rolling mean, 5 wide": lambda s: s.rolling(5, center=True).mean(),
    "back-fill": lambda s: s.bfill(),
    "linear interpolation across the gap": lambda s: s.interpolate(),
    "z-score with the whole sample's mean and deviation": lambda s: (s - s.mean()) / s.std(),
    "z-score, expanding statistics": lambda s: (s - s.expanding().mean()) / s.expanding().std(),
    "z-score with statistics of rows 0–6, applied to all rows": lambda s: (s - s[:7].mean()) / s[:7].std(),
    "shift(−1)": lambda s: s.shift(-1),
    "trailing rolling mean": lambda s: s.rolling(3).mean(),
    "forward-fill": lambda s: s.ffill(),
    "expanding mean including the row itself": lambda s: s.expanding().mean(),
    "dropping rows so that positions shift": lambda s: s.dropna().diff(),
    "unseeded noise added": lambda s: s + np.random.default_rng().normal(size=len(s)),
    "value divided by the length of the series": lambda s: s / len(s),
    "fills gaps from the next value only if that value is above 5": fills_if_above_5,
    "hourly bars joined at their opening time on 15-minute rows": lambda f: (
        f.resample("1h").last().reindex(f.index, method="ffill")
    ),
}


def data_of(name):
    return quarter_hours() if "bars" in name else series()


@pytest.mark.parametrize("name", CASES)
def test_cases_have_their_verdicts(name):
    case = CASES[name]
    verdict = check_pipeline(FUNCTIONS[name], data_of(name), cuts="all")
    (column,) = verdict.columns
    assert column.reach == case["reach"]
    assert verdict.status is (Status.UNDECIDED if case["reach"] is None else Status.REFUTED)
    if case["reach"] is not None:
        assert column.through == case.get("through", "value")
        assert verdict.witness.replay()
        assert column.values == verdict.witness.outputs
        assert 0 < column.score <= 1
    if "rows" in case:
        assert [list(run) for run in verdict.details["leaking_ranks"][column.name]] == case["rows"]
        assert column.first_row == case["rows"][0][0]
    truncation, perturbation, _ = verdict.evidence
    if case.get("through") == "length":
        assert (truncation.ok, perturbation.ok) == (False, True)
    if case.get("found_by") == "perturbation":
        assert (truncation.ok, perturbation.ok) == (True, False)
    assert bool(case.get("noise")) == ("non-deterministic" in column.detail)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if "strict" in c])
def test_strict_boundaries_are_tested_by_changing_the_row_itself(name):
    verdict = check_pipeline(FUNCTIONS[name], series(), boundary="strict", cuts="all")
    assert verdict.status is Status.REFUTED
    (column,) = verdict.columns
    assert "uses its own row, which the boundary forbids" in column.detail
    assert column.reach == 0
    assert [e.ok for e in verdict.evidence] == [True, False, True]
    assert verdict.witness.query == verdict.witness.position
    assert verdict.witness.replay()
    lagged = check_pipeline(lambda s: FUNCTIONS[name](s).shift(1), series(), boundary=Boundary.strict(10), cuts="all")
    assert lagged.status is Status.UNDECIDED


def test_labels_may_look_ahead_and_say_so():
    data = pd.DataFrame({"close": np.arange(9.0) ** 2})

    def features(d):
        return pd.DataFrame({"return": d["close"].diff(), "target": d["close"].shift(-1)})

    assert check_pipeline(features, data).status is Status.REFUTED
    verdict = check_pipeline(features, data, labels=["target"])
    assert verdict.status is Status.UNDECIDED
    assert "declared a label, which may look ahead: looks ahead 1 row" in verdict.columns[1].detail
    assert all(e.ok for e in verdict.evidence)
    with pytest.raises(ValueError, match=r"labels names 'tgt', which is no output column; they are return, target"):
        check_pipeline(features, data, labels=["tgt"])


# -- what bad input gets --------------------------------------------------------------------------------------------

X = np.arange(8.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: check_pipeline(np.cumsum, [1, 2, 3]),
            TypeError,
            r"data is list; pass a pandas or Polars frame or series",
        ),
        (lambda: check_pipeline(np.cumsum, np.zeros((2, 2, 2))), ValueError, r"data has shape \(2, 2, 2\); pass rows"),
        (lambda: check_pipeline(np.cumsum, X[:1]), ValueError, r"data has 1 rows; a look-ahead check needs at least 2"),
        (lambda: check_pipeline(lambda d: d, pd.DataFrame()), ValueError, r"data has 0 rows"),
        (lambda: check_pipeline(lambda d: d, pd.DataFrame(index=range(4))), ValueError, r"data has no columns"),
        (
            lambda: check_pipeline(lambda d: d, pd.DataFrame(np.ones((4, 2)), columns=["a", "a"])),
            ValueError,
            r"data has two columns named a; rename one",
        ),
        (lambda: check_pipeline(3, X), TypeError, r"function is int; pass a callable, or an object with fit_transform"),
        (
            lambda: check_pipeline(lambda x: None, X),
            TypeError,
            r"function returned NoneType; return a frame, a series or",
        ),
        (
            lambda: check_pipeline(lambda x: 1 / 0, X),
            ValueError,
            r"function raises ZeroDivisionError \(division by zero\) on",
        ),
        (
            lambda: check_pipeline(lambda x: x[:, None, None], X),
            ValueError,
            r"function returned an array of shape \(8, 1, 1\)",
        ),
        (
            lambda: check_pipeline(lambda s: pd.concat([s, s], axis=1), pd.Series(X, name="v")),
            ValueError,
            r"function returned two columns named v; rename one",
        ),
        (
            lambda: check_pipeline(lambda x: {"a": x, "b": x[1:]}, X),
            ValueError,
            r"function returned columns of different lengths; return one row per time",
        ),
        (
            lambda: check_pipeline(lambda x: pd.DataFrame(index=range(8)), X),
            ValueError,
            r"function returned no columns",
        ),
        (
            lambda: check_pipeline(np.cumsum, X, cuts="some"),
            ValueError,
            r"cuts = 'some' is unknown; pass 'all', a number",
        ),
        (lambda: check_pipeline(np.cumsum, X, cuts=0), ValueError, r"cuts = 0 is too few; pass at least 1"),
        (
            lambda: check_pipeline(np.cumsum, X, cuts=2.5),
            TypeError,
            r"cuts = 2\.5 is no number of cuts; pass 'all', a whole",
        ),
        (lambda: check_pipeline(np.cumsum, X, seed=-1), ValueError, r"seed = -1 is no seed; pass a whole number of at"),
        (
            lambda: check_pipeline(lambda x: {"y": 1.0}, X),
            ValueError,
            r"function returned 'y' of shape \(\); return one",
        ),
        (lambda: check_pipeline(np.cumsum, X, cuts=[9]), ValueError, r"cuts names 9; pass ranks of time from 0 to 6"),
        (lambda: check_pipeline(np.cumsum, X, cuts=[]), ValueError, r"cuts is empty; pass at least one"),
        (lambda: check_pipeline(np.cumsum, X, time="t"), ValueError, r"time = 't' is no column; the columns are x"),
        (
            lambda: check_pipeline(np.cumsum, X, time=[1, 2]),
            ValueError,
            r"time has 2 entries for 8 rows; pass one per row",
        ),
        (
            lambda: check_pipeline(np.cumsum, X, time=[1.0, np.nan, *range(6)]),
            ValueError,
            r"time is missing at row 1; drop or fill that row",
        ),
        (
            lambda: check_pipeline(np.cumsum, X, time=np.zeros(8)),
            ValueError,
            r"data has one instant only; a look-ahead check",
        ),
        (
            lambda: check_pipeline(lambda d: d, pd.DataFrame({"g": range(4)}), group="g"),
            ValueError,
            r"data has no column beside time and group",
        ),
        (
            lambda: check_pipeline(np.cumsum, X, boundary=Boundary.prefix(7)),
            ValueError,
            r"boundary speaks of 7 rows and 7 queries, the data has 8 rows",
        ),
        (lambda: check_pipeline(np.cumsum, X, boundary=3), TypeError, r"boundary must be a Boundary, not int"),
        (lambda: check_pipeline(np.cumsum, X, boundary="sideways"), ValueError, r"boundary 'sideways' is unknown"),
        (
            lambda: check_pipeline(np.cumsum, X, boundary=Boundary.documents([4, 4])),
            ValueError,
            r"boundary is documents, which does not cut a series into past and future; use prefix, strict, lagged",
        ),
        (
            lambda: check_pipeline(
                lambda d: d, pd.DataFrame({"o": [[1], [2], object(), {}]}, dtype=object).map(lambda v: _Opaque())
            ),
            TypeError,
            r"column o holds objects that cannot be told apart \(_Opaque\); leave it out or turn it into numbers",
        ),
        (
            lambda: check_pipeline(lambda x: x if len(x) == 8 and x[0] == 0 and x[-1] == 7 else 1 / 0, X),
            ValueError,
            r"function raises ZeroDivisionError \(division by zero\) on every replay; it must accept other data",
        ),
        (
            lambda: check_pipeline(lambda x: x, X, workers=2),
            ValueError,
            r"function cannot be sent to other processes .*; define it in a module, or leave out workers",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


class _Opaque:
    def __str__(self):
        raise TypeError("no text")

    __repr__ = __str__


def test_missing_pandas_is_no_obstacle_for_arrays(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert check_pipeline(np.cumsum, X).status is Status.UNDECIDED


def test_assertion():
    assert assert_no_lookahead(np.cumsum, X).status is Status.UNDECIDED
    with pytest.raises(PrefixLeakError, match=r"use trailing windows(.|\n)*looks ahead 1 row"):
        assert_no_lookahead(double_and_peek, X)
    with pytest.raises(NotProvedError):
        assert_no_lookahead(np.cumsum, X, accept=("PROVED",))
    assert assert_no_lookahead(double_and_peek, X, suppress="a label").suppressed == "a label"


def test_progress_is_reported():
    ticks = []
    check_pipeline(np.cumsum, X, cuts=2, progress=lambda done, of: ticks.append((done, of)))
    assert ticks == [(i, 8) for i in range(1, 9)]
    ticks.clear()
    verdict = check_pipeline(lambda x: x[::-1].copy(), X, cuts=2, progress=lambda done, of: ticks.append((done, of)))
    assert [done for done, _ in ticks] == list(range(1, len(ticks) + 1))  # confirmation as well
    assert len(ticks) > verdict.details["calls"] - 5 > 8
