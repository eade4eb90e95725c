"""The picture of a projection's verdict: its data, its panels, and what it cannot draw."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from attnproof import Verdict, check_projection
from attnproof.causal.projection.picture import panels
from heads import cases
from hypothesis import given, settings
from needs import need

pytestmark = pytest.mark.claim("T10")


@given(cases())
@settings(max_examples=50, deadline=None)
def test_the_panels_are_the_input(case):
    E, F, boundary, sees = case
    verdict = check_projection(F, E, layout="slots-first", visible=sees, boundary=boundary)
    for one in (verdict, Verdict.from_json(verdict.to_json())):
        values, keys, seen, reaches = panels(one)
        assert np.array_equal(values, F != 0)
        assert np.array_equal(keys, E != 0)
        assert np.array_equal(seen, sees)
        for t in range(len(sees)):
            for j in range(F.shape[1]):
                assert reaches[t, j] == any(sees[t, s] and (E[s, j] or F[s, j]) for s in range(len(E)))


def test_three_panels_or_one():
    matplotlib = need("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    verdict = check_projection([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    axes = verdict.plot()
    assert len(axes.figure.axes) == 4
    assert axes.figure.get_suptitle() == verdict.headline()
    assert any(text.get_text() == "0 ← 1" for text in axes.texts)
    drawn = axes.images[0].get_array()
    assert drawn.tolist() == [[2, 3, 3], [2, 2, 3], [2, 2, 2]]
    plt.close(axes.figure)
    figure, own = plt.subplots()
    assert verdict.plot(own) is own
    assert own.get_title(loc="left") == verdict.headline()
    plt.close(figure)
    for F in (np.zeros((0, 3)), np.zeros((3, 0))):
        plt.close(check_projection(F, layout="slots-first").plot().figure)


def test_what_cannot_be_drawn(monkeypatch):
    need("matplotlib")
    with pytest.raises(ValueError, match="the verdict on 2 slots × 70000 positions keeps no pattern to draw"):
        check_projection(np.zeros((2, 70_000))).plot()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ImportError, match=r"a picture needs matplotlib; install it with pip install 'attnproof\[plot\]'"
    ):
        check_projection(np.zeros((2, 3))).plot()
