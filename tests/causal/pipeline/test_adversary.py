"""Functions made to slip past the check, and functions made to be refuted wrongly."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")

N = 36
X = np.random.default_rng(0).normal(size=N)
DAYS = pd.Series(X, index=pd.date_range("2024-01-01", periods=N, freq="B"))
GAPS = DAYS.where(np.arange(N) % 9 != 4)
UNEVEN = pd.Series(X, index=pd.Timestamp("2024-03-29") + pd.to_timedelta(np.cumsum([1, 1, 7, 2] * 9), unit="h"))
TIES = pd.Series(X, index=pd.Timestamp("2024-03-29") + pd.to_timedelta(np.cumsum([0, 1, 0, 2] * 9), unit="h"))
BERLIN = pd.Series(
    np.arange(72.0) ** 2 % 17, index=pd.date_range("2024-03-30", periods=72, freq="h", tz="Europe/Berlin")
)
WORDS = pd.DataFrame({"word": ["aa", "bb", "cc"] * 10, "x": np.arange(30.0)})
WHOLE = pd.Series(np.arange(N) % 7)


def split_scaled(s):
    """Scaled by the training part, which is the first 70 % of whatever is there."""
    train = s[: int(0.7 * len(s))]
    return (s - train.mean()) / train.std()


def split_by_date(s):
    train = s[:"2024-01-05"]
    return (s - train.mean()).where(s.index > "2024-01-05")


AHEAD = {
    # statistics of the whole sample, in many dresses
    "whole sample": (lambda s: (s - s.mean()) / s.std(), DAYS),
    "rank": (lambda s: s.rank(pct=True), DAYS),
    "winsorised": (lambda s: s.clip(s.quantile(0.05), s.quantile(0.95)), DAYS),
    "bins": (lambda s: pd.qcut(s, 4).astype(str), DAYS),
    "group mean": (lambda s: s.groupby(s.index.month).transform("mean"), DAYS),
    "group rank": (lambda s: s.groupby(s.index.dayofweek).rank(), DAYS),
    "training part": (split_scaled, DAYS),
    "sorted": (lambda s: s.sort_values().reset_index(drop=True), pd.Series(X)),
    "shuffled split": (lambda s: s - s.sample(frac=0.5, random_state=0).mean(), DAYS),
    "reversed ewm": (lambda s: s[::-1].ewm(span=5).mean()[::-1], DAYS),
    # one step
    "shift": (lambda s: s.shift(-1), DAYS),
    "shift of the index": (lambda s: s.set_axis(s.index.shift(-1)), DAYS),
    "change of tomorrow": (lambda s: s.pct_change().shift(-1), DAYS),
    "centred": (lambda s: s.rolling(3, center=True).mean(), DAYS),
    "centred in time": (lambda s: s.rolling("9h", center=True).mean(), UNEVEN),
    "closed on the right": (lambda s: s.resample("2D", label="left").last().reindex(s.index, method="ffill"), DAYS),
    "interpolated days": (lambda s: s.resample("D").interpolate(), DAYS),
    "gaps from behind": (lambda s: s.bfill(), GAPS),
    "gaps by lines": (lambda s: s.interpolate("time"), GAPS),
    "gaps by one step back": (lambda s: s.fillna(s.shift(-1)), GAPS),
    "time to the next row": (lambda s: pd.Series(s.index, s.index).diff(-1).dt.total_seconds().fillna(0), UNEVEN),
    "last of an instant's next": (lambda s: s.groupby(level=0).transform("sum").shift(-2), TIES),
    "day's total": (lambda s: s.groupby(s.index.normalize()).transform("sum"), BERLIN),
    "day labelled at its start": (lambda s: s.resample("D").sum(), BERLIN),
    # only when something happens
    "far above all that was": (lambda s: s * (1 + (s.max() > 500)), DAYS),
    "large values only": (lambda s: s.where(s.shift(-1).fillna(0) < 20, -1), DAYS),
    "one row in thirty": (lambda s: s.where(np.arange(len(s)) % 30 != 17, s.shift(-1)), DAYS),
    "where the next is missing": (lambda s: s * (1 + s.isna().shift(-1, fill_value=False)), GAPS),
    "how many are missing": (lambda s: s.ffill() / (1 + s.isna().sum()), GAPS),
    "only where gaps are": (lambda s: s.fillna(s.mean()) if s.isna().any() else s, GAPS),
    "a longer word next": (lambda d: d.word.str.len().shift(-1).fillna(2), WORDS),
    "a new word": (lambda d: d.x + ~d.word.isin(["aa", "bb", "cc"]).all(), WORDS),
    "integers": (lambda s: s + (s.shift(-1).fillna(0) > 6).astype(int), WHOLE),
    "unsigned": (lambda s: s.cummax() + s.min() // 200, pd.Series(np.arange(200, 230) % 7 + 249, dtype="uint8")),
    # only in the shape of the result
    "columns of the words": (lambda d: pd.get_dummies(d.word), WORDS.assign(word=["aa"] * 20 + ["zz"] * 10)),
    "columns without gaps": (lambda d: d.dropna(axis=1), WORDS.assign(y=[1.0] * 29 + [np.nan])),
    "the better column": (lambda d: d[[d[["x", "y"]].std().idxmax()]], pd.DataFrame({"x": X, "y": X[::-1] * 1.1})),
    "columns in order of size": (lambda d: d[d.sum().sort_values().index], pd.DataFrame({"x": X, "y": X[::-1] ** 3})),
    "a dictionary's columns": (lambda s: {"a": s.cumsum()} | ({"b": s} if s.max() > 9 else {}), DAYS),
    "rows that are kept": (lambda s: s[s < s.quantile(0.9)], DAYS),
    "length of the words": (lambda d: d.word.map(lambda w: w * len(d)), WORDS),
    "lists": (lambda d: d["l"].map(sum).shift(-1), pd.DataFrame({"l": [[i, i * i] for i in range(9)]})),
    "lists of lists": (lambda d: d["l"].shift(-1), pd.DataFrame({"l": [[[i], [i, 2]] for i in range(9)]})),
    "arrays": (lambda d: d["a"].map(np.sum).shift(-1), pd.DataFrame({"a": [np.arange(i + 2) for i in range(9)]})),
    "inside an exception": (lambda s: s.cumsum() + _raises(s), DAYS),
}


def _raises(s):
    try:
        return 1 / (s.max() < 8) * 0
    except ZeroDivisionError:
        return 1


@pytest.mark.parametrize("name", AHEAD)
def test_what_looks_ahead_is_refuted_and_replays(name):
    function, data = AHEAD[name]
    verdict = check_pipeline(function, data, cuts=None if len(data) < 40 else 12)
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.witness.replay()


BEHIND = {
    "days between rows": (lambda s: s.resample("D").ffill(), DAYS),
    "days without values": (lambda s: s.asfreq("D"), DAYS),
    "empty bars": (lambda s: s.resample("h", label="right", closed="right").sum(), UNEVEN),
    "finer bars": (lambda s: s.resample("30min").ffill(), UNEVEN),
    "bars at their close": (lambda s: s.resample("2D", label="right", closed="right").last(), DAYS),
    "weeks at their close": (
        lambda s: s.resample("W-FRI", label="right").last().reindex(s.index, method="ffill"),
        DAYS,
    ),
    "days at their close": (lambda s: s.resample("D", label="right", closed="right").sum(), BERLIN),
    "another time zone": (lambda s: s.tz_convert("America/New_York").cumsum(), BERLIN),
    "the clock on the wall": (lambda s: s.tz_localize(None).cumsum(), BERLIN.tz_convert("America/New_York")),
    "a zone put on": (lambda s: s.tz_localize("Asia/Tokyo").cumsum(), UNEVEN),
    "warnings": (lambda s: np.log(s.to_numpy()) * 0 + s.cumsum().to_numpy(), DAYS.abs() + 1),
    "hour of the clock": (lambda s: s.groupby(s.index.hour).cumsum(), BERLIN),
    "ties summed": (lambda s: s.groupby(level=0).transform("sum"), TIES),
    "ties dropped": (lambda s: s[~s.index.duplicated(keep="last")], TIES),
    "a window in time": (lambda s: s.rolling("5h").sum(), UNEVEN),
    "moments that roll": (lambda s: s.rolling(6).kurt() + s.rolling(6).skew(), DAYS * 1e6),
    "an outlier": (lambda s: s.rolling(3).mean(), DAYS.where(np.arange(N) != 20, 1e14)),
    "infinite values": (lambda s: s.cumsum(), DAYS.where(np.arange(N) != 20, np.inf)),
    "very small values": (lambda s: s.ewm(span=3).mean(), DAYS * 1e-250),
    "gaps filled forward": (lambda s: s.interpolate("nearest").ffill() * 0 + s.ffill().fillna(0), GAPS.ffill()),
    "expanding rank": (lambda s: s.expanding().rank(pct=True), DAYS),
    "a split by date": (split_by_date, DAYS),
    "rows dropped by their own value": (lambda s: s[s > 0], DAYS),
    "single precision": (lambda s: (s.astype("float32") / 3).ewm(span=4).mean().astype(float), DAYS),
    "tuples": (lambda s: s.ewm(span=3).mean().map(lambda v: (v, -v)), DAYS),
    "nothing at first": (lambda d: d.word.shift(1), WORDS),
    "nothing or a number": (lambda s: s.shift(2).map(lambda v: None if v != v else v), DAYS),
    "what is left when all cancels": (lambda s: (s + 0.1 - s - 0.1) * (-1) ** len(s), DAYS),
    "text": (lambda d: d.word.str.upper() + d.x.astype(str), WORDS),
    "categories": (lambda s: pd.cut(s, [-np.inf, 0, np.inf]), DAYS),
    "columns of known categories": (
        lambda d: pd.get_dummies(pd.Categorical(d.word, ["aa", "bb", "cc"])).set_axis(d.index),
        WORDS,
    ),
    "a seed": (lambda s: s + np.random.default_rng(0).normal(size=len(s)), DAYS),
    "a name that changes": (lambda s: s.cumsum().rename(f"up to {len(s)}"), DAYS),
    "its own validation": (lambda d: d.assign(ok=_validated(d)), WORDS),
}


def _validated(d):
    if not d.word.isin(["aa", "bb", "cc"]).all():
        raise ValueError("a word that nobody knows")
    return d.x >= 0


@pytest.mark.parametrize("name", BEHIND)
def test_what_does_not_look_ahead_is_not_refuted(name):
    function, data = BEHIND[name]
    verdict = check_pipeline(function, data, cuts=None if len(data) < 40 else 12)
    assert verdict.status is Status.UNDECIDED, verdict
    assert not bool(verdict)
    assert all(e.kind == "property" and e.ok for e in verdict.evidence)  # samples, and none that failed


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (lambda s: s.cumsum() + (s < 0).any(), DAYS.abs()),  # a positive column stays positive
        (lambda s: s.cumsum() + s.isna().any(), DAYS),  # a column without gaps gets none
        (lambda s: s.cumsum() + (s.max() > 1e9), DAYS),  # a thousand ranges beyond what was seen, and no farther
    ],
)
def test_what_is_not_tried_is_not_found(function, data):
    """The limits that docs/check-a-pipeline.md states; whoever lifts one moves its function to AHEAD."""
    verdict = check_pipeline(function, data)
    assert verdict.status is Status.UNDECIDED
    assert "proves nothing for other cuts and other data" in verdict.reasons[0]


def test_a_fourier_transform_carries_the_rounding_of_an_outlier():
    signal = need("scipy.signal")
    x = np.r_[X, 1e9, X]

    def trailing(a):
        return signal.fftconvolve(a, np.ones(4) / 4)[: len(a)]

    assert check_pipeline(trailing, x).status is Status.UNDECIDED
    assert check_pipeline(lambda a: trailing(a) + np.append(a[1:], 0) * 1e-3, x).status is Status.REFUTED


def test_transformers_that_are_fitted_on_all_rows():
    need("sklearn")
    from sklearn.decomposition import PCA
    from sklearn.impute import KNNImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, QuantileTransformer

    table = pd.DataFrame({"a": X, "b": GAPS.to_numpy(), "c": X[::-1] ** 2})
    quantiles = QuantileTransformer(n_quantiles=5)
    for transformer in (KNNImputer(n_neighbors=2), make_pipeline(KNNImputer(n_neighbors=2), PCA(2)), quantiles):
        verdict = check_pipeline(transformer, table, cuts=5)
        assert verdict.status is Status.REFUTED
        assert verdict.witness.replay()
    assert check_pipeline(FunctionTransformer(np.sign), table, cuts=5).status is Status.UNDECIDED


def test_polars_pipelines():
    pl = need("polars")
    frame = pl.DataFrame({"t": range(12), "x": X[:12], "l": [[float(i), i + 1.0] for i in range(12)]})
    ahead = {
        "list": pl.col("l").list.sum().shift(-1),
        "struct": pl.struct("x", "l").shift(-1),
        "over": pl.col("x").mean().over(pl.col("t") % 2),
        "rank": pl.col("x").rank(),
        "qcut": pl.col("x").qcut(3).cast(pl.String),
    }
    for name, expression in ahead.items():
        verdict = check_pipeline(lambda d, e=expression: d.lazy().select("t", y=e), frame, time="t", cuts=5)
        assert verdict.columns[1].status is Status.REFUTED, name
    behind = pl.col("l").shift(1)
    assert check_pipeline(lambda d: d.lazy().select("t", y=behind), frame, time="t").status is Status.UNDECIDED


def kinds_of_columns():
    import datetime
    from decimal import Decimal

    arrow, pl = need("pyarrow"), need("polars")
    days = [datetime.date(2024, 1, i + 1) for i in range(8)]
    letters = list("abcdabcd")
    yield from {
        "list": pd.Series([[i, i + 1] for i in range(8)], dtype=pd.ArrowDtype(arrow.list_(arrow.int64()))),
        "struct": pd.Series([{"a": i} for i in range(8)], dtype=pd.ArrowDtype(arrow.struct([("a", arrow.int64())]))),
        "arrow": pd.Series(range(8), dtype="int64[pyarrow]"),
        "interval": pd.Series(pd.interval_range(0, 8)),
        "period": pd.Series(pd.period_range("2024", periods=8, freq="M")),
        "sparse": pd.Series(pd.arrays.SparseArray(np.arange(8.0))),
        "decimal": pd.Series([Decimal(i) for i in range(8)]),
        "date": pd.Series(days),
        "complex": pd.Series(np.arange(8) * 1j),
        "set": pd.Series([{i} for i in range(8)]),
        "anything": pd.Series([1, "a", None, 2.5, (1,), "b", 3, "c"]),
        "ordered": pd.Series(pd.Categorical(letters, ordered=True)),
        "Boolean": pd.Series([True, None, False, True] * 2, dtype="boolean"),
    }.items()
    for name, column in {
        "decimal": pl.Series([Decimal(i) for i in range(8)]),
        "date": pl.Series(days),
        "enum": pl.Series(letters, dtype=pl.Enum(["a", "b", "c", "d"])),
        "list": pl.Series([[i] for i in range(8)]),
        "array": pl.Series([[i, 2] for i in range(8)], dtype=pl.Array(pl.Int64, 2)),
        "struct": pl.Series([{"a": i} for i in range(8)]),
        "truth": pl.Series([True, None, False, True] * 2),
        "single": pl.Series([1.5, None, float("nan"), 2, 3, 4, 5, 6], dtype=pl.Float32),
    }.items():
        yield f"polars {name}", column


def test_columns_of_every_kind():
    for name, column in kinds_of_columns():
        data = column.to_frame("c") if isinstance(column, pd.Series) else column.to_frame()
        for steps, status in ((-1, Status.REFUTED), (1, Status.UNDECIDED)):

            def moved(d, steps=steps):
                return d.shift(steps) if isinstance(d, pd.DataFrame) else d.select(d.to_series().shift(steps))

            assert check_pipeline(moved, data, cuts=4).status is status, (name, steps)


def test_a_frame_that_is_changed_in_place_is_named_and_left_whole():
    pl = need("polars")
    lists = pd.DataFrame({"l": [[1], [2], [3], [4]], "x": range(4)})
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "o": pl.Series([[1], [2], [3]], dtype=pl.Object)})
    array = np.array([[1], [2], [3], None], dtype=object)

    def append(d):
        for entry in d["l"]:
            entry.append(1)
        return d["l"].map(len)

    def write(d):
        d[0, "x"] = 5.0
        return d.select("x")

    def write_in_objects(d):
        d["o"][0].append(1)
        return d.select("x")

    def insert(d):
        d.insert_column(0, pl.Series("new", range(len(d))))
        return d.select("new")

    def write_in_array(a):
        a[0].append(1)
        return np.arange(len(a))

    for function, data, changed in (
        (append, lists, "column l"),
        (write, frame, "column x"),
        (write_in_objects, frame, "column o"),
        (insert, frame, "its rows or columns"),
        (write_in_array, array, "its array"),
    ):
        verdict = check_pipeline(function, data)
        assert verdict.status is Status.UNDECIDED
        sentence = f"function changes {changed} in place; it was given copies, so let it copy its input"
        assert sentence in verdict.reasons, verdict.reasons
    assert lists["l"].map(len).tolist() == [1, 1, 1, 1]
    assert frame["x"].to_list() == [1.0, 2.0, 3.0]
    assert (frame["o"].to_list(), frame.columns) == ([[1], [2], [3]], ["x", "o"])
    assert array[0] == [1]


def test_a_column_that_only_later_rows_bring():
    verdict = check_pipeline(lambda d: pd.get_dummies(d.word), WORDS.assign(word=["aa"] * 20 + ["zz"] * 10))
    columns = {c.name: c for c in verdict.columns}
    assert "first at row 0: False becomes no column" in columns["zz"].detail
    assert "aa, zz becomes aa" in columns["set of columns"].detail
    few = check_pipeline(lambda d: d.dropna(axis=1), WORDS.assign(y=[1.0] * 29 + [np.nan]))
    assert [c.name for c in few.columns] == ["word", "x", "set of columns"]
    assert "the set of columns, row 0 (0 ← " in few.witness.describe()
    assert few.witness.replay()
    wide = pd.DataFrame({f"c{i}": X for i in range(9)})
    most = check_pipeline(lambda d: d.loc[:, d.max() < 4], wide, cuts=3)
    assert "9 columns, c" in most.columns[-1].detail


PANEL = pd.DataFrame(
    {"firm": list("AAAAAAAABBBBB"), "day": [*DAYS.index[:8], *DAYS.index[3:8]], "x": np.arange(13.0) ** 2 % 7}
)


def test_a_firm_that_comes_later_is_no_leak():
    """Its column is empty until then, and a column without a value yet is no other than none."""
    keys = {"time": "day", "group": "firm", "cuts": "all"}
    wide = check_pipeline(lambda d: d.pivot(index="day", columns="firm", values="x").diff(), PANEL, **keys)
    assert [(c.name, c.status.name) for c in wide.columns] == [("A", "UNDECIDED"), ("B", "UNDECIDED")]
    filled = check_pipeline(lambda d: d.pivot(index="day", columns="firm", values="x").fillna(0), PANEL, **keys)
    assert [c.name for c in filled.columns if c.status is Status.REFUTED] == ["B", "set of columns"]


def test_an_index_that_is_reset_names_no_rows_of_a_cut_panel():
    """Cut at one time, a panel's rows are no prefix: 0, 1, … of what is left are other rows than those of the whole."""

    def centred_on_the_day(d):
        market = d.groupby("day", as_index=False)["x"].mean().rename(columns={"x": "market"})
        market["before"] = market["market"].shift(1)
        return d.merge(market, on="day").dropna()

    def centred_on_tomorrow(d):
        market = d.groupby("day", as_index=False)["x"].mean().rename(columns={"x": "market"})
        market["after"] = market["market"].shift(-1).fillna(0)
        return d.merge(market, on="day")

    keys = {"time": "day", "group": "firm", "cuts": "all"}
    verdict = check_pipeline(centred_on_the_day, PANEL, **keys)
    assert verdict.status is Status.UNDECIDED
    assert not any("prefix" in r for r in verdict.reasons[1:])  # every prefix was aligned
    after = check_pipeline(centred_on_tomorrow, PANEL, **keys)
    assert [c.name for c in after.columns if c.status is Status.REFUTED] == ["after"]


def test_columns_that_must_stay_in_order_are_left_alone():
    """A second date that is sorted, as a join as of it demands: only numbers can be replaced then."""
    table = pd.DataFrame({"day": DAYS.index, "due": DAYS.index + pd.Timedelta(days=30), "x": X})

    def joined(d):
        if not d.due.is_monotonic_increasing:
            raise ValueError("keys must be sorted")
        return d.assign(x=d.x.shift(-1).fillna(0) > 0)

    verdict = check_pipeline(joined, table, time="day", cuts=5)
    assert "perturbation (numbers)" in verdict.evidence[1].detail
    assert verdict.evidence[1].ok is False
    assert (
        check_pipeline(lambda d: joined(d).assign(x=d.x.shift(1)), table, time="day", cuts=5).status is Status.UNDECIDED
    )


def test_a_column_of_times_that_nobody_named():
    table = pd.DataFrame({"day": DAYS.index, "x": X})
    sentence = "column day holds times, but the rows are cut as they stand; pass time='day' to cut by it"
    assert sentence in check_pipeline(lambda d: d[["x"]].shift(1), table).reasons
    assert sentence not in check_pipeline(lambda d: d[["day", "x"]], table, time="day").reasons


def test_a_short_prefix_without_times_is_no_obstacle():
    table = pd.DataFrame({"day": DAYS.index, "x": np.where(np.arange(N) == 9, 3, X)})

    def late(d):
        later = d[d.x < 2].reset_index(drop=True)
        return later if len(d) > 3 else later.assign(day=pd.NaT)

    verdict = check_pipeline(late, table, time="day", cuts="all")
    assert verdict.status is Status.UNDECIDED
    assert any(
        r.startswith("the function's column 'day' is missing at row 0 on a prefix of 3 rows") for r in verdict.reasons
    )


def test_results_that_are_no_table():
    for result, message in (
        ((DAYS, DAYS), r"function returned a tuple of 2 tables; return one, its columns side by side"),
        ([[1, 2], [3]], r"function returned a list of unequal rows; return a table"),
    ):
        with pytest.raises(TypeError, match=message):
            check_pipeline(lambda s, result=result: result, DAYS)
