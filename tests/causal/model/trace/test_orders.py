"""What comes last where rows are put in order: each case is one that a rule a little too generous gets wrong."""

from __future__ import annotations

import numpy as np
from needs import need

torch = need("torch")

import pytest
from attnproof.causal import trace
from attnproof.causal.model.trace.domain import BIG, MASKED, NEGINF, POSITIVE, VARIES, ZERO, full
from attnproof.causal.model.trace.picks import TIES
from attnproof.causal.model.trace.transfer.picks import kind_of

N = 8
X = torch.randn(1, N, 4, generator=torch.Generator().manual_seed(0))
SEEN = torch.ones(N, N, dtype=torch.bool).tril()


def scores(x):
    return (x[0] @ x[0].T).masked_fill(~SEEN, -torch.inf)


def weights(x):
    return (x[0] @ x[0].T).exp() * SEEN


def traced(f):
    return trace.run(f, (X,), values=False)


def latest(f):
    return traced(f).outputs[0].along(1)[1].tolist()


def read(x, places):
    """What stands at these places of the input, of as many positions as they have rows."""
    return x[0][places].flatten(1)[None]


@pytest.mark.parametrize("low", [lambda x: -x[0].abs(), lambda x: -torch.ones(N, 4)])
def test_a_zero_is_not_least_beside_numbers_below_it(low):
    """Of each row the best two: where four are no weights, and below 0, the second is one of the zeros."""

    def best(x):
        table = torch.cat([torch.zeros(4, 4), x[0]])
        return table[torch.cat([beside(x), weights(x)], 1).topk(2).indices].flatten(1)[None]

    beside = low
    assert latest(best)[0] == N - 1
    beside = lambda x: x[0].exp()  # noqa: E731
    assert latest(best)[0] == 0


def test_the_best_is_above_0_only_among_weights():
    def kinds(f):
        return full(traced(f).outputs[0].shadow)[2].reshape(-1).tolist()

    assert kinds(lambda x: weights(x).topk(1).values[None]) == [POSITIVE] * N
    assert kinds(lambda x: scores(x).topk(1).values[None]) == [VARIES] * N
    assert POSITIVE not in kinds(lambda x: weights(x).topk(2, sorted=False).values[:1, None])


def test_slots_in_no_order_may_hold_what_is_hidden():
    picked = lambda ordered: latest(lambda x: read(x, scores(x).topk(3, sorted=ordered).indices[:, :1]))  # noqa: E731
    assert picked(True) == list(range(N))
    assert picked(False)[0] == N - 1


def test_which_of_the_hidden_stands_in_a_slot_may_depend_on_the_row():
    assert latest(lambda x: scores(x).sort(descending=True).indices[None, :, -1:].double()) == [*range(N)]


@pytest.mark.parametrize(
    ("pick", "text"),
    [
        (lambda s: s.argmax(-1), "in every row some visible score exceeds every masked score"),
        (lambda s: s.argmin(-1), "every visible score exceeds every masked score of its row"),
        (lambda s: s.topk(1, largest=False).indices, "every visible score exceeds every masked score of its row"),
        (lambda s: (s.exp() * SEEN).argmax(-1), "in every row some weight is above 0"),
        (lambda s: (s.exp() * SEEN).topk(2).indices, "every weight that no mask hides is above 0"),
    ],
)
def test_the_condition_is_on_all_that_may_be_picked(pick, text):
    def attention(x):
        return read(x, pick(x[0] @ x[0].T + ~SEEN * -1e9 if "score" in text else x[0] @ x[0].T))

    assert any(text in c.text for c in traced(attention).conditions)


def test_what_is_added_several_times_is_not_added_once():
    def row(alpha):
        def f(x):
            best = scores(x).argmax(-1)[:2]
            return torch.cat([read(x, torch.add(best, best, alpha=alpha)), x[:, 2:]], 1)

        return latest(f)[1]

    assert row(1) == 2
    assert row(3) >= 4


def test_a_stable_order_leaves_no_ties_open():
    for stable in (True, False):
        run = traced(lambda x, s=stable: (x[0] @ x[0].T + ~SEEN * -1e9).sort(stable=s)[1][None])
        assert (TIES in run.assumptions) is not stable


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ((BIG, BIG), BIG),
        ((BIG, MASKED), MASKED),
        ((NEGINF, MASKED), VARIES),
        ((ZERO, ZERO), ZERO),
        ((ZERO, BIG), VARIES),
    ],
)
def test_what_comes_last_is_of_one_kind_or_of_none(kinds, found):
    k = np.array([[VARIES, *kinds]], np.uint8)
    assert kind_of(k, k != VARIES, 1).tolist() == [[found]]
