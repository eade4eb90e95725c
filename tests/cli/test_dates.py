"""Dates in .csv files that are not ISO: read where that can be done in one way, otherwise refused."""

from __future__ import annotations

import datetime

import pytest
import typer
from attnproof.cli.pipeline import read_table

pytestmark = pytest.mark.claim("T17")
pytest.importorskip("pandas")


def days(folder, texts, library):
    pytest.importorskip(library)
    path = folder / "prices.csv"
    path.write_text("\n".join(["day,x", *(f"{text},{i}" for i, text in enumerate(texts))]) + "\n")
    return [value.isoformat() for value in read_table(path, "DATA =", "day", library)["day"]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["9/30/2024", "10/1/2024", "10/13/2024"], "month, day, year"),
        (["30/9/2024", "1/10/2024", "13/10/2024"], "day, month, year"),
        (["30.09.2024 00:00", "01.10.2024 00:00", "13.10.2024 00:00"], "day, month, year"),
    ],
)
def test_an_order_of_day_and_month_that_alone_fits(tmp_path, capsys, library, texts, said):
    expected = [datetime.datetime(2024, *at).isoformat() for at in ((9, 30), (10, 1), (10, 13))]
    assert days(tmp_path, texts, library) == expected
    assert f"--time day was read as {said}" in capsys.readouterr().err


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["9/1/2024", "10/1/2024"], "--time day holds dates such as '9/1/2024', which may be month, day, year or day"),
        (["13/13/2024", "14/13/2024"], "--time day holds what is no time in"),
    ],
)
def test_what_can_be_read_in_several_ways_or_none(tmp_path, capsys, library, texts, sentence):
    with pytest.raises(typer.Exit):
        days(tmp_path, texts, library)
    assert sentence in capsys.readouterr().err


def test_what_is_no_date_stays_as_it_is_where_nothing_reads_it(tmp_path):
    assert read_text(tmp_path, ["dawn", "noon"]) == ["dawn", "noon"]
    assert read_text(tmp_path, ["2024Q1", "2024Q2"]) == ["2024Q1", "2024Q2"]


def read_text(folder, texts):
    pytest.importorskip("polars")
    path = folder / "prices.csv"
    path.write_text("\n".join(["day,x", *(f"{text},{i}" for i, text in enumerate(texts))]) + "\n")
    return read_table(path, "DATA =", "day", "polars")["day"].to_list()
