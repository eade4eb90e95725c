"""Along which axes of a result positions lie."""

from __future__ import annotations

from needs import need

need("torch")

from attnproof.causal.model.trace.domain import VARIES, uniform
from attnproof.causal.model.trace.provenance import Axes


def test_positions_lie_along_no_axis_of_what_holds_nothing():
    """As a memory that is empty at first."""
    axes = Axes(5)
    axes.add(None, (), [uniform((5, 0, 5), VARIES)], carries=True)
    assert axes.found == [[[]]]
