"""Series, bars, trades and a panel on which pipelines are checked."""

from __future__ import annotations

import numpy as np
from needs import need

pd = need("pandas")


def series():
    s = pd.Series(np.arange(10.0))
    s[3] = np.nan
    return s


def quarter_hours():
    times = pd.date_range("2024-03-01", periods=24, freq="15min")
    return pd.DataFrame({"price": np.random.default_rng(0).normal(size=24).cumsum()}, index=times)


def trades():
    return pd.DataFrame(
        {
            "when": pd.to_datetime(
                ["2024-01-02 09:00", "2024-01-02 09:00", "2024-01-02 09:07", "2024-01-02 10:01"] * 1
            ).append(pd.date_range("2024-01-02 10:30", periods=8, freq="37min")),
            "price": [3.0, 4.0, 2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0, 2.0, 8.0],
        }
    )


def panel():
    days = pd.date_range("2024-01-01", periods=8)
    random = np.random.default_rng(1)
    return pd.concat(
        [pd.DataFrame({"firm": f, "day": days, "x": random.normal(size=8)}) for f in ("A", "B", "C")], ignore_index=True
    )
