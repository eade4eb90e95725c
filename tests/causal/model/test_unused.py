"""Masks that hide too much within the interval: positions that an output may use, and is not seen to."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest

N = 8
X = torch.randn(1, N, 4, generator=torch.Generator().manual_seed(0))


def attention(visible):
    """Attention under a mask given by its pairs."""
    i = torch.arange(N)
    mask = visible(i[:, None], i[None])

    def run(x):
        return (x @ x.mT).masked_fill(~mask, -torch.inf).softmax(-1) @ x

    return run


def warnings(verdict):
    return [r for r in verdict.reasons if "was not seen to use" in r]


def test_positions_that_an_interval_hides_are_named():
    model = attention(lambda t, j: (j <= t) & ((j == 0) | (j >= 4) | (j == t)))
    verdict = ap.check_model(model, X, unused=True)
    assert verdict.status.name == "PROVED"
    assert warnings(verdict) == [
        "warning: output 7 was not seen to use positions 1–3, which it may, and 5 other outputs have such gaps "
        "(17 runs, each position replaced alone)"
    ]
    assert [7, 1] in verdict.details["unused"]
    assert [3, 3] not in verdict.details["unused"]
    assert not warnings(ap.check_model(model, X)), "only where it is asked for"


@pytest.mark.parametrize(
    "model",
    [attention(lambda t, j: j <= t), lambda x: x.cumsum(1), attention(lambda t, j: (j <= t) & (j > t - 3))],
    ids=["causal", "running sum", "window"],
)
def test_a_model_that_uses_all_that_its_intervals_hold_is_not_warned_of(model):
    verdict = ap.check_model(model, X, unused=True)
    assert verdict.details["unused"] == []
    assert not warnings(verdict)


def test_one_output_alone_and_a_model_that_is_not_proved():
    verdict = ap.check_model(attention(lambda t, j: (j <= t) & ((t < 7) | (j != 2))), X, unused=True)
    assert warnings(verdict)[0].startswith("warning: output 7 was not seen to use position 2, which it may (17 runs")
    refuted = ap.check_model(lambda x: x.flip(1), X, unused=True)
    assert refuted.status.name == "REFUTED"
    assert "unused" not in refuted.details
