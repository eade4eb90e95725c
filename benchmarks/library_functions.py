"""Which functions of pandas, Polars, SciPy, scikit-learn, statsmodels and NumPy look ahead: the table in docs.

`python -m benchmarks.library_functions` prints the page; the data are real series that the packages `arch` and
`statsmodels` ship.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS = 56


@dataclass(frozen=True)
class Entry:
    """A library function as it is called, and the data it is tried on."""

    library: str
    call: str
    function: Callable[[Any], Any]
    data: str = "price"


def series() -> dict[str, Any]:
    """The data: `price`, the S&P 500's adjusted close; `carbon`, weekly CO2 with its real gaps; the frames of both."""
    import pandas
    from arch.data import sp500
    from statsmodels.datasets import co2

    frame = sp500.load().iloc[:ROWS]
    carbon = co2.load_pandas().data["co2"].iloc[:ROWS]
    daily = frame.rename_axis("date").reset_index()
    daily["month"] = daily["date"].dt.month_name()
    assert isinstance(daily, pandas.DataFrame)
    return {"price": frame["Adj Close"].rename("price"), "bars": frame, "carbon": carbon, "days": daily}


def verdict_of(entry: Entry, data: dict[str, Any]) -> Verdict:
    """The checker's verdict at every cut."""
    given = data[entry.data]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if entry.data == "days":
            return check_pipeline(entry.function, given, time="date", cuts="all")
        if entry.library in ("NumPy", "SciPy"):
            return check_pipeline(entry.function, given.to_numpy(), cuts="all")
        if entry.library == "Polars":
            import polars

            return check_pipeline(entry.function, polars.from_pandas(given.reset_index(drop=True)), cuts="all")
        if entry.library == "scikit-learn":
            return check_pipeline(entry.function, given.to_frame(), cuts="all")
        return check_pipeline(entry.function, given, cuts="all")


def _asof(direction: str) -> Callable[[Any], Any]:
    """Every fifth day's close, joined to each day."""
    import pandas

    def join(days: Any) -> Any:
        weekly = days.iloc[::5][["date", "Adj Close"]].rename(columns={"Adj Close": "weekly"})
        return pandas.merge_asof(days[["date"]], weekly, on="date", direction=direction)

    return join


def _bars(label: str) -> Callable[[Any], Any]:
    def bars(s: Any) -> Any:
        weekly = s.resample("W-FRI", label=label).last()
        return weekly.reindex(s.index, method="ffill")

    return bars


def _target_encoded(days: Any) -> Any:
    from sklearn.preprocessing import TargetEncoder

    encoder = TargetEncoder(target_type="continuous", random_state=0)
    return days[["date"]].assign(code=encoder.fit_transform(days[["month"]], days["Adj Close"].diff().fillna(0)))


def _encoded_so_far(days: Any) -> Any:
    change = days["Adj Close"].diff()
    past = change.groupby(days["month"]).transform(lambda g: g.shift().expanding().mean())
    return days[["date"]].assign(code=past)


def entries() -> Iterator[Entry]:
    """Every row of the table."""
    yield from _pandas()
    yield from _polars()
    yield from _numpy_and_scipy()
    yield from _scikit_learn()
    yield from _statsmodels()


def _pandas() -> Iterator[Entry]:
    for call, function in {
        "rolling(5).mean()": lambda s: s.rolling(5).mean(),
        "rolling(5, center=True).mean()": lambda s: s.rolling(5, center=True).mean(),
        "expanding().std()": lambda s: s.expanding().std(),
        "ewm(span=10).mean()": lambda s: s.ewm(span=10).mean(),
        "shift(1)": lambda s: s.shift(1),
        "shift(-1)": lambda s: s.shift(-1),
        "pct_change()": lambda s: s.pct_change(),
        "diff(-1)": lambda s: s.diff(-1),
        "cummax()": lambda s: s.cummax(),
        "rank(pct=True)": lambda s: s.rank(pct=True),
        "(s - s.mean()) / s.std()": lambda s: (s - s.mean()) / s.std(),
        "(s - s.rolling(20).mean()) / s.rolling(20).std()": lambda s: (s - s.rolling(20).mean()) / s.rolling(20).std(),
        "clip(upper=s.quantile(0.9))": lambda s: s.clip(upper=s.quantile(0.9)),
        "resample('W-FRI', label='left').last(), joined by ffill": _bars("left"),
        "resample('W-FRI', label='right').last(), joined by ffill": _bars("right"),
        "groupby(month).transform('mean')": lambda s: s.groupby(s.index.month).transform("mean"),
    }.items():
        yield Entry("pandas", call, function)
    for call, function in {
        "ffill()": lambda s: s.ffill(),
        "bfill()": lambda s: s.bfill(),
        "interpolate()": lambda s: s.interpolate(),
        "fillna(s.mean())": lambda s: s.fillna(s.mean()),
        "fillna(s.expanding().mean())": lambda s: s.fillna(s.expanding().mean()),
        "dropna().diff()": lambda s: s.dropna().diff(),
    }.items():
        yield Entry("pandas", call, function, "carbon")
    for direction in ("backward", "forward", "nearest"):
        yield Entry("pandas", f"merge_asof(…, direction={direction!r})", _asof(direction), "days")
    yield Entry("pandas", "groupby(month): shift().expanding().mean() of the target", _encoded_so_far, "days")


def _polars() -> Iterator[Entry]:
    for call, function in {
        "rolling_mean(5)": lambda s: s.rolling_mean(5),
        "rolling_mean(5, center=True)": lambda s: s.rolling_mean(5, center=True),
        "ewm_mean(span=10)": lambda s: s.ewm_mean(span=10),
        "shift(-1)": lambda s: s.shift(-1),
        "cum_max()": lambda s: s.cum_max(),
    }.items():
        yield Entry("Polars", call, function)
    for call, function in {
        "fill_null(strategy='forward')": lambda s: s.fill_nan(None).fill_null(strategy="forward"),
        "fill_null(strategy='backward')": lambda s: s.fill_nan(None).fill_null(strategy="backward"),
        "interpolate()": lambda s: s.fill_nan(None).interpolate(),
    }.items():
        yield Entry("Polars", call, function, "carbon")


def _numpy_and_scipy() -> Iterator[Entry]:
    from scipy import ndimage, signal

    b, a = signal.butter(2, 0.2)

    def denoised(x: Any) -> Any:
        spectrum = np.fft.rfft(x)
        spectrum[len(spectrum) // 4 :] = 0
        return np.fft.irfft(spectrum, len(x))

    for call, function in {
        "cumsum(x)": np.cumsum,
        "gradient(x)": np.gradient,
        "convolve(x, w, mode='same')": lambda x: np.convolve(x, np.ones(5) / 5, mode="same"),
        "convolve(x, w)[:len(x)]": lambda x: np.convolve(x, np.ones(5) / 5)[: len(x)],
        "fft.irfft of the low frequencies": denoised,
    }.items():
        yield Entry("NumPy", call, cast("Any", function))
    for call, function in {
        "signal.lfilter(b, a, x)": lambda x: signal.lfilter(b, a, x),
        "signal.filtfilt(b, a, x)": lambda x: signal.filtfilt(b, a, x),
        "signal.savgol_filter(x, 7, 2)": lambda x: signal.savgol_filter(x, 7, 2),
        "signal.medfilt(x, 5)": lambda x: signal.medfilt(x, 5),
        "signal.detrend(x)": signal.detrend,
        "abs(signal.hilbert(x))": lambda x: np.abs(signal.hilbert(x)),
        "ndimage.gaussian_filter1d(x, 2)": lambda x: ndimage.gaussian_filter1d(x, 2),
        "ndimage.uniform_filter1d(x, 5, origin=2)": lambda x: ndimage.uniform_filter1d(x, 5, origin=2),
    }.items():
        yield Entry("SciPy", call, function)


def _scikit_learn() -> Iterator[Entry]:
    from sklearn.decomposition import PCA
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, PolynomialFeatures, StandardScaler

    yield Entry("scikit-learn", "StandardScaler().fit_transform", StandardScaler())
    yield Entry("scikit-learn", "MinMaxScaler().fit_transform", MinMaxScaler())
    yield Entry("scikit-learn", "KBinsDiscretizer().fit_transform", KBinsDiscretizer(5, encode="ordinal"))
    yield Entry("scikit-learn", "PolynomialFeatures().fit_transform", PolynomialFeatures())
    yield Entry("scikit-learn", "SimpleImputer().fit_transform", SimpleImputer(), "carbon")
    scaled = make_pipeline(PolynomialFeatures(2), StandardScaler(), PCA(1))
    yield Entry("scikit-learn", "make_pipeline(…, StandardScaler(), PCA(1)).fit_transform", scaled)
    yield Entry("scikit-learn", "TargetEncoder().fit_transform", _target_encoded, "days")


def _statsmodels() -> Iterator[Entry]:
    from statsmodels.nonparametric.smoothers_lowess import lowess
    from statsmodels.tsa.filters.bk_filter import bkfilter
    from statsmodels.tsa.filters.hp_filter import hpfilter
    from statsmodels.tsa.holtwinters import SimpleExpSmoothing
    from statsmodels.tsa.seasonal import STL, seasonal_decompose
    from statsmodels.tsa.tsatools import detrend

    def part(name: str, two_sided: bool) -> Callable[[Any], Any]:
        return lambda s: getattr(seasonal_decompose(s, period=5, two_sided=two_sided), name)

    def smoothed(s: Any, method: str, start: dict[str, Any] | None = None, **options: Any) -> Any:
        model = SimpleExpSmoothing(s.to_numpy(), initialization_method=method, **(start or {}))
        return model.fit(**options).fittedvalues

    for call, function in {
        "seasonal_decompose(s).trend": part("trend", True),
        "seasonal_decompose(s, two_sided=False).trend": part("trend", False),
        "seasonal_decompose(s, two_sided=False).seasonal": part("seasonal", False),
        "STL(s, period=5).fit().trend": lambda s: STL(s.to_numpy(), period=5).fit().trend,
        "hpfilter(s) trend": lambda s: hpfilter(s, 1600)[1],
        "bkfilter(s, 6, 32, 6)": lambda s: bkfilter(s, 6, 32, 6),
        "detrend(s)": lambda s: detrend(s),
        "lowess(s, t)": lambda s: lowess(s.to_numpy(), np.arange(len(s)), frac=0.3, return_sorted=False),
        "SimpleExpSmoothing(s).fit().fittedvalues": lambda s: smoothed(s, "estimated"),
        "SimpleExpSmoothing(s).fit(0.3, optimized=False).fittedvalues": lambda s: (
            SimpleExpSmoothing(s.to_numpy(), initialization_method="known", initial_level=s.iloc[0])
            .fit(smoothing_level=0.3, optimized=False)
            .fittedvalues
        ),
    }.items():
        yield Entry("statsmodels", call, function)


def row(entry: Entry, verdict: Verdict) -> tuple[str, str, str, str]:
    """Library, call, what the checker found, and which replay found it."""
    leaking = [c for c in verdict.columns if c.status is Status.REFUTED]
    if not leaking:
        return entry.library, entry.call, "no leak found", ""
    reaches = [c.reach for c in leaking]
    whole = any(not isinstance(r, int) or r > ROWS // 4 for r in reaches)
    steps = max((r for r in reaches if isinstance(r, int)), default=0)
    reach = "far or whole series" if whole else f"{steps} row{'s' * (steps != 1)}"
    truncation, perturbation = (evidence.ok is False for evidence in verdict.evidence[:2])
    found = "both" if truncation and perturbation else "truncation only" if truncation else "perturbation only"
    return entry.library, entry.call, f"**looks ahead**, {reach}", found


def table(progress: Callable[[str], None] = lambda call: None) -> list[tuple[str, str, str, str]]:
    """All rows, checked now."""
    data = series()
    rows = []
    for entry in entries():
        progress(entry.call)
        rows.append(row(entry, verdict_of(entry, data)))
    return rows


def page() -> str:
    """The page in docs as Markdown."""
    names = ("pandas", "polars", "numpy", "scipy", "scikit-learn", "statsmodels", "arch")
    lines = [
        "# Which library functions look ahead",
        "",
        "Made by the checker itself (`python -m benchmarks.library_functions`), not by hand: each function was run",
        f"again on {ROWS} rows of real data, cut at every row, with the future taken away and replaced. The data are",
        "the S&P 500 series that `arch` ships and, for functions that fill gaps, the weekly CO2 series with its own",
        "gaps that `statsmodels` ships. “No leak found” is not a proof; “looks ahead” comes with a replay.",
        "",
        "| library | call | result | found by |",
        "|---|---|---|---|",
        *(f"| {library} | `{call}` | {result} | {found} |" for library, call, result, found in table()),
        "",
        f"Versions: {', '.join(f'{name} {version(name)}' for name in names)}.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")
