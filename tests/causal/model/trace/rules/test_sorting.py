"""Sorting, searching, counting: the whole axis."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from leaks import never_proved, only_first
from tensor_probe import check, normal

X = normal(6, 4)
EDGES = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)
WORDS = torch.tensor([3, 1, 3])
CASES = {
    "sort": lambda x: [
        x.sort(0)[0],
        x.sort(1)[0],
        x.topk(2, 0)[0],
        x.argsort(0),
        x.topk(1, 1)[1],
        x.msort(),
        x[0, 0].sort(0)[0],
    ],
    "search": lambda x: [torch.bucketize(x, EDGES), torch.searchsorted(EDGES, x), torch.searchsorted(x.sort(1)[0], x)],
    "search a number": lambda x: torch.searchsorted(x[:, 0].sort()[0], 0.3),
    "search rows": lambda x: torch.searchsorted(
        x.sort(1)[0].reshape(6, 1, 4).expand(6, 2, 4).contiguous(), x.reshape(6, 2, 2)
    ),
    "count": lambda x: [
        torch.histc(x, 3),
        torch.isin((x * 3).long(), torch.tensor([1, 2])),
        torch.quantile(x, 0.5, dim=0),
        torch.histogram(x, 3)[0],
    ],
    "count in boxes": lambda x: [
        *torch.histogramdd(x[:, :2], [2, 3])[:1],
        *torch.histogramdd(x[:, :2], [2, 2])[1],
        torch.histogramdd(x[:, :2], [EDGES, EDGES], weight=x[:, 2])[0],
        torch.histogramdd(x[:, :2], [2, 2], range=[-1.0, 1.0, -2.0, 2.0], density=True)[0],
    ],
    "a fixed number of places": lambda x: torch.nonzero_static(x > 0, size=9),
    "all at once": lambda x: [
        torch.ops.aten._is_all_true(x > 0),
        torch.ops.aten._is_any_true(x > 2),
        torch.ops.aten._unique(WORDS)[0] + x[0, :2],
        torch.ops.aten.unique_dim_consecutive(WORDS[None], 1)[0] + x[0, :3],
    ],
    "distinct words": lambda x: [
        torch.unique(WORDS) + x[0, :2],
        torch.unique_consecutive(WORDS) + x[0, :3],
        torch.bincount(WORDS) + x[0],
        torch.unique(WORDS[None], dim=1)[0] + x[0, :2],
    ],
}
LOOSE = {
    "count in boxes",
    "a fixed number of places",
    "all at once",
    "sort",
    "search",
    "count",
    "search a number",
    "search rows",
}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


def test_a_sorter_is_read():
    never_proved(
        lambda x: only_first(
            x, torch.searchsorted(torch.tensor([0.0, 1.0]), torch.tensor([0.5]), sorter=x[0, 1].argsort()).float()
        )
    )


LATER = torch.ones(6, 6, dtype=torch.bool).triu(1)
LOWEST = torch.finfo(torch.float32).min


def selected(x, mask, masked_again):
    """Attention to the three best keys of each query."""
    scores = x @ x.mT
    best = (scores + mask).topk(3, -1).indices
    left_out = torch.ones_like(scores, dtype=torch.bool).scatter(-1, best, False)
    return (scores + masked_again.masked_fill(left_out, LOWEST)).softmax(-1) @ x


@pytest.mark.parametrize(
    ("mask", "again", "status"),
    [
        (LOWEST, LOWEST, "PROVED_IF"),
        (-torch.inf, LOWEST, "PROVED_IF"),
        (-1e4, LOWEST, "PROVED_IF"),  # in order of their scores, where too few are visible; then masked again
        (LOWEST, 0.0, "REFUTED"),
        (0.0, LOWEST, "REFUTED"),
    ],
)
def test_a_selection_picks_among_what_is_visible(mask, again, status):
    torch.manual_seed(0)
    x = torch.randn(1, 6, 4)
    masks = [torch.zeros(6, 6).masked_fill(LATER, m) for m in (mask, again)]
    verdict = ap.check_model(lambda x: selected(x, *masks), x, sequence_axis=1, tries=300)
    assert verdict.status.name == status
    if mask in (LOWEST, -1e4):
        assert any("every visible score exceeds every masked score" in c.text for c in verdict.conditions) is (
            again != 0
        )


def threshold(low):
    """Attention to the keys whose score is no less than the third: where fewer are visible, that is a masked one."""

    def run(x):
        scores = x @ x.mT + LATER * low
        return scores.masked_fill(scores < scores.topk(3, -1).values[..., -1:], LOWEST).softmax(-1) @ x

    return run


@pytest.mark.parametrize(("low", "status"), [(-1e9, "PROVED_IF"), (-1e5, "UNDECIDED")])
def test_masked_scores_are_one_number_where_the_mask_is_so_large(low, status):
    """To −1e5 a score adds something in single precision, even where it stands alone in its row."""
    torch.manual_seed(0)
    verdict = ap.check_model(threshold(low), torch.randn(1, 6, 4), sequence_axis=1)
    assert verdict.status.name == status
    assert any("is the mask's own number" in c.text for c in verdict.conditions) is (status == "PROVED_IF")
