"""Tables fit what they are printed on: no number and no word is ever cut."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout

import pytest
from attnproof import check_projection
from attnproof.cli import cost, error
from attnproof.cli.layout import columns, hanging

pytestmark = pytest.mark.claim("T9")

HEADS = [
    {
        "head": f"layer {layer}, head {h}", "projection": projection, "r": r, "mixing": 0.95 * 10**power, "best": 0.316,
        "ratio": ratio, "output_relative": 0.594, "invisible": 0.717, "corrected": 0.5,
        "output": 0.5, "enclosure": None,
    }
    for layer, h, r in ((0, 0, 8), (11, 11, 128))
    for projection, ratio in (("mean pooling", 3.01), ("strided", None))
    for power in (-3, 4)
]  # fmt: skip


def printed(monkeypatch, width, show, *arguments):
    monkeypatch.setenv("COLUMNS", str(width))
    with redirect_stdout(io.StringIO()) as out:
        show(*arguments)
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 60, 70, 74, 76, 78, 80, 85, 90, 95, 120])
def test_no_number_is_cut(monkeypatch, width):
    text = printed(monkeypatch, width, error.show, HEADS)
    assert "…" not in text
    assert text.count("1.00 ×") == len(HEADS)
    assert text.count("9.5e+03") + text.count("9500") == 4
    rows = [cost.row(n, 128, 64, 64, 8, 512) for n in (512, 65536)]
    for row in rows:
        measured = ("seconds", "median_seconds", "predicted")
        row.update({f"{kind}_{what}": 0.123456 for kind in ("full", "compressed") for what in measured})
    text = printed(monkeypatch, width, cost.show, rows, True)
    assert "…" not in text
    assert text.count("123 (123)") == 4
    rounded = "Long counts are rounded to four digits here; --format json has them all." in " ".join(text.split())
    assert ("4.398e+12" in text, "4,398,046,511,104" in text) == (rounded, not rounded)
    assert rounded == (width < 90)


def test_a_long_headline_is_whole_in_a_narrow_terminal():
    from rich.console import Console

    verdict = check_projection([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], visible="largest")
    out = io.StringIO()
    Console(file=out, width=40).print(verdict)
    words = " ".join(out.getvalue().replace("│", " ").split())
    assert "PROVED: 2 slots over 3 positions, E = F; 1 of 3 queries starved" in words


def test_columns(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    for given, width in (("72", 72), ("", 130), ("0", 130), ("wide", 130)):
        monkeypatch.setenv("COLUMNS", given)
        assert columns(130) == width
    assert hanging("  words " * 20, 30).splitlines()[0] == "  words   words   words   words   words"[:40].rstrip()
