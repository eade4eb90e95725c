"""The table of library functions in docs is what the checker finds now, on the series that the packages ship."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from by_path import benchmark
from needs import need

pytestmark = [pytest.mark.claim("T17"), pytest.mark.slow]
for name in ("pandas", "polars", "scipy", "sklearn", "statsmodels", "arch"):
    need(name)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "library-functions.md"
table = benchmark("library_functions")
entries, page, row, series, verdict_of = table.entries, table.page, table.row, table.series, table.verdict_of


def test_the_page_is_current():
    """Exactly so with the versions that it names; with others, every verdict is the same."""
    if not PAGE.is_file():
        pytest.skip("docs is not part of this installation")
    shown, made = PAGE.read_text(encoding="utf-8"), page()
    if shown.splitlines()[-1] == made.splitlines()[-1]:
        assert shown == made, "renew it: python -m benchmarks.library_functions > docs/library-functions.md"

    def verdicts(text):
        return re.findall(r"^\| (.*?) \| `(.*?)` \| (no leak found|\*\*looks ahead\*\*)", text, re.MULTILINE)

    assert verdicts(shown) == verdicts(made)
    assert len(verdicts(made)) == len(list(entries()))


def test_rows_come_from_replays_that_replay():
    data = series()
    chosen = [
        e for e in entries() if e.call in ("bfill()", "ffill()", "rolling(5, center=True).mean()", "hpfilter(s) trend")
    ]
    assert len(chosen) == 4
    for entry in chosen:
        verdict = verdict_of(entry, data)
        assert (verdict.witness is not None and verdict.witness.replay()) == ("looks ahead" in row(entry, verdict)[2])
