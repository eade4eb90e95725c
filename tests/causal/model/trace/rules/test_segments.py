"""Reductions over segments, against brute force."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from tensor_probe import check, normal

X = normal(6, 4)
LENGTHS, OFFSETS = torch.tensor([2, 0, 3, 1]), torch.tensor([0, 2, 2, 5, 6])
CASES = {
    "lengths": lambda x: [torch.segment_reduce(x, how, lengths=LENGTHS) for how in ("sum", "mean")],
    "offsets": lambda x: torch.segment_reduce(x, "sum", offsets=OFFSETS),
    "a batch": lambda x: torch.segment_reduce(
        x[:, :, None], "sum", lengths=torch.tensor([[1, 3], [2, 2], [4, 0], [0, 4], [3, 1], [1, 3]]), axis=1
    ),
    "along features": lambda x: torch.segment_reduce(x.mT.contiguous(), "sum", lengths=LENGTHS.expand(4, 4), axis=1),
}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X)


def test_lengths_that_depend_on_data_are_read():
    def cut(x):
        first = (x[0, 0] > 0).long()
        return torch.segment_reduce(x, "sum", lengths=torch.stack([1 + first, 5 - first]))

    run = check(cut, X, exact=False)
    assert run.outputs[0].along(0)[1].tolist() == [5, 5]


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_segment_that_ends_later_leaks(ahead):
    """Each position is given the sum of the segment before its own, or of its own."""

    def model(x):
        sums = torch.segment_reduce(x[0], "sum", lengths=torch.tensor([2, 2, 2]))
        before = torch.cat([torch.zeros(1, 4), sums])[ahead : 3 + ahead]
        return before.repeat_interleave(2, 0)[None]

    assert ap.check_model(model, torch.randn(1, 6, 4)).status.name == ("REFUTED" if ahead else "PROVED")
