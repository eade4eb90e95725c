"""Tables of further libraries: converted, or refused in one sentence that says how."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline import conversion
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")
X = np.random.default_rng(0).normal(size=30)


def test_lazy_frames_are_given_lazy():
    pl = need("polars")
    data = pl.DataFrame({"t": range(30), "x": X}).lazy()
    late = check_pipeline(lambda d: d.with_columns(pl.col("x").shift(-1)), data, time="t")
    assert late.status is Status.REFUTED
    assert late.witness.replay()
    assert check_pipeline(lambda d: d.with_columns(pl.col("x").cum_sum()), data, time="t").status is Status.UNDECIDED
    both = check_pipeline(lambda a, b: a.join(b.sort("t"), on="t"), (data, data.select("t", y="x")), time="t")
    assert both.status is Status.UNDECIDED


def test_tables_of_pyarrow():
    pa = need("pyarrow")
    data = pa.table({"x": X})

    def shifted(t, by):
        return t.set_column(0, "x", pa.array(pd.Series(t.column("x").to_numpy()).shift(by)))

    assert check_pipeline(lambda t: shifted(t, -1), data).columns[0].reach == 1
    assert check_pipeline(lambda t: shifted(t, 1), data).status is Status.UNDECIDED


def test_frames_of_dask(monkeypatch):
    need("dask")
    frames = pytest.importorskip("dask.dataframe")
    data = frames.from_pandas(pd.DataFrame({"x": X}, index=pd.date_range("2024-01-01", periods=30)), npartitions=2)
    assert check_pipeline(lambda d: d.cumsum(), data, cuts=4).status is Status.UNDECIDED
    late = check_pipeline(lambda d: d - d.mean(), data, cuts=4)
    assert late.status is Status.REFUTED
    assert any("read into memory" in r for r in late.reasons)
    monkeypatch.setattr(conversion, "MOST_BYTES", 300)
    part = check_pipeline(lambda d: d.cumsum(), data, cuts=4)
    assert part.about.startswith("1 column over 15 rows")
    assert "the Dask frame is too large for memory: the first 1 of its 2 partitions were checked" in part.reasons


def test_masked_results_are_missing_there():
    late = check_pipeline(lambda x: np.ma.masked_array(x, mask=np.roll(x, -1) > 1), X)
    assert late.status is Status.REFUTED
    counts = check_pipeline(lambda x: np.ma.masked_array(np.arange(len(x)), mask=x.mean() < x), X)
    assert counts.status is Status.REFUTED
    assert check_pipeline(lambda x: np.ma.masked_array(x, mask=x > 1), X).status is Status.UNDECIDED


class DataArray:
    """As xarray has it."""


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (DataArray(), r"data is DataArray; pass .* or a NumPy array, such as data.to_pandas\(\)"),
        (np.ma.masked_array(X, mask=X > 1), r"data is a masked array; pass data.filled\(np.nan\)"),
        ([1.0, 2.0], r"data is list; pass .* such as np.asarray\(data\)"),
        ("x", "data is str; pass a pandas or Polars frame or series, or a NumPy array"),
    ],
)
def test_others_are_refused_with_what_to_pass(data, said):
    with pytest.raises((TypeError, ValueError), match=said):
        check_pipeline(lambda d: d, data)
