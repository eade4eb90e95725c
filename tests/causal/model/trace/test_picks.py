"""Selections: a place that scores of −∞ keep from being picked is not read, nor written; twins in which it may be."""

from __future__ import annotations

import random

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from attnproof.causal import trace
from attnproof.causal.model.trace.transfer.picks import in_order
from tensor_probe import contradiction, normal
from torch import nn

N, WIDTH, BLOCK, PICKED = 16, 4, 4, 2


class Selected(nn.Module):
    """Each query attends to itself and to the blocks that it scores highest among those that are complete: read as
    `how` says. `early`: a block counts as complete one position too soon.
    """

    def __init__(self, how, early=0, low=-torch.inf):
        super().__init__()
        self.how, self.early, self.low = how, early, low
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x):
        q, k, v = self.q(x)[0], self.k(x)[0], self.v(x)[0]
        end = (torch.arange(N) + 1 + self.early)[:, None]  # of what a query sees
        scores = q @ k.view(-1, BLOCK, WIDTH).mean(1).T
        scores = scores.masked_fill((torch.arange(N // BLOCK) + 1) * BLOCK > end, self.low)
        best, blocks = scores.topk(PICKED, -1)
        keys, values = (self.read(t, blocks) for t in (k, v))
        there = best > -1e30 if self.how == "gather" else (blocks + 1) * BLOCK <= end
        hidden = (q[:, None] * keys).sum(-1).masked_fill(~there.repeat_interleave(BLOCK, 1), -torch.inf)
        weights = torch.cat([hidden, (q * k).sum(-1, keepdim=True)], 1).softmax(1)
        return (weights[..., None] * torch.cat([values, v[:, None]], 1)).sum(1)[None]

    def read(self, t, blocks):
        """(queries, picked · block, width)."""
        whole, tokens = t.view(-1, BLOCK, WIDTH), blocks[..., None] * BLOCK + torch.arange(BLOCK)
        if self.how == "gather":
            where = blocks[..., None, None].expand(-1, -1, BLOCK, WIDTH)
            return whole.expand(N, -1, -1, -1).gather(1, where).flatten(1, 2)
        if self.how == "blocks":
            return whole[blocks].flatten(1, 2)
        if self.how == "tokens":
            return t[tokens.flatten(1)]
        if self.how == "embedding":
            return nn.functional.embedding(tokens.flatten(1), t)
        return t.index_select(0, tokens.flatten()).view(N, -1, WIDTH)


def indexer(extra):
    """Attention to the keys that a query scores highest; what else is picked becomes `N`, of which nothing is kept."""

    def run(x):
        scores = x[0] @ x[0].T
        end = (torch.arange(N) + 1 + extra)[:, None]
        best = scores.masked_fill(torch.arange(N) >= end, -torch.inf).topk(3, -1).indices
        best = torch.where(best >= end, torch.full_like(best, N), best)
        bias = x.new_full((N, N + 1), -torch.inf).scatter_(-1, best, 0.0)
        return (scores + bias[:, :N]).softmax(-1) @ x

    return run


@pytest.mark.parametrize("how", ["gather", "blocks", "tokens", "embedding", "select"])
def test_a_block_is_read_only_where_it_may_be_picked(how):
    torch.manual_seed(0)
    x = torch.randn(1, N, WIDTH)
    assert ap.check_model(Selected(how), x).status.name == "PROVED"
    leak = ap.check_model(Selected(how, early=1), x)
    assert leak.status.name == "REFUTED"
    assert leak.witness.position == leak.witness.query + 1


def test_a_finite_mask_is_a_condition():
    torch.manual_seed(0)
    x = torch.randn(1, N, WIDTH)
    verdict = ap.check_model(Selected("blocks", low=-1e9), x)
    assert verdict.status.name == "PROVED_IF"
    (condition,) = verdict.conditions
    assert "every visible score exceeds every masked score of its row (float32)" in condition.text
    assert ap.check_model(Selected("blocks", early=1, low=-1e9), x).status.name == "REFUTED"
    weak = ap.check_model(Selected("gather", low=-1.0), x)  # a score may lie below it
    assert weak.status.name in ("UNDECIDED", "REFUTED")


def test_a_key_is_kept_only_where_it_may_be_picked():
    torch.manual_seed(0)
    x = torch.randn(1, N, WIDTH)
    assert ap.check_model(indexer(0), x).status.name == "PROVED"
    assert ap.check_model(indexer(1), x).status.name == "REFUTED"


def test_the_smallest_are_those_of_minus_infinity():
    """The lowest scores of a query are those that the mask hides: what is read there lies ahead."""

    def picking(largest):
        def run(x):
            scores = (x[0] @ x[0].T).masked_fill(torch.ones(N, N, dtype=torch.bool).triu(1), -torch.inf)
            return x[0][scores.topk(2, -1, largest=largest).indices].sum(1)[None]

        return run

    torch.manual_seed(0)
    x = torch.randn(1, N, WIDTH)
    for largest, ahead in ((True, 1), (False, N - 1)):  # query 0 sees one key, and picks two
        run = picking(largest)
        assert ap.check_model(run, x).status.name == "REFUTED"
        latest = trace.run(run, (x,)).outputs[0].along(1)[1]
        assert (latest > range(N)).tolist() == [t < ahead for t in range(N)]


def test_slots_in_no_order_hold_any_of_them():
    last = torch.tensor([[False, True, True], [False, False, False]]).numpy()
    places, lowest = in_order(last, (2, 3), 1, 2, largest=True, ordered=True)
    assert (places.lo.tolist(), places.hi.tolist()) == ([[0, 1], [0, 0]], [[0, 2], [2, 2]])
    assert lowest.tolist() == [[False, True], [False, False]]
    places, lowest = in_order(last, (2, 3), 1, 2, largest=True, ordered=False)
    assert (places.lo.tolist(), places.hi.tolist()) == ([[0]], [[2]])  # the same in both rows
    assert not lowest.any()


def weighted(hidden, step):
    """Weights of what each query may see, put in order: the best three, made to sum to 1, of the keys' values."""

    def run(x):
        scores = x[0] @ x[0].T
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1) if step == "softmax" else scores.exp() * ~hidden
        best, where = (weights / weights.sum(-1, keepdim=True)).sort(-1, descending=True)
        best, where = best[:, :3], where[:, :3]
        if step == "nucleus":  # what is left once four fifths of the weight are there
            best = best.masked_fill(best.cumsum(-1) - best > 0.8, 0.0)
        if step == "scattered":
            return (torch.zeros_like(weights).scatter(-1, where, best) @ x[0])[None]
        return ((best / best.sum(-1, keepdim=True))[..., None] * x[0][where]).sum(1)[None]

    return run


@pytest.mark.parametrize("step", ["softmax", "exp", "nucleus", "scattered"])
def test_weights_of_nothing_come_after_all_others(step):
    torch.manual_seed(0)
    x = torch.randn(1, N, WIDTH)
    ahead = torch.ones(N, N, dtype=torch.bool).triu(1)
    verdict = ap.check_model(weighted(ahead, step), x)
    assert verdict.status.name == "PROVED_IF"
    assert any("above 0, as it is unless it underflows (float32)" in c.text for c in verdict.conditions)
    assert ap.check_model(weighted(ahead.roll(1, 1).triu(1), step), x).status.name == "REFUTED"


@pytest.mark.parametrize("how", ["add", "fill"])
@pytest.mark.parametrize("pick", ["argmax", "max", "one_hot", "topk"])
def test_the_best_is_visible_under_a_finite_mask(how, pick):
    def picking(ahead):
        def run(x):
            scores = x[0] @ x[0].T
            scores = scores + ahead * -1e9 if how == "add" else scores.masked_fill(ahead, -1e9)
            if pick == "topk":  # three of them, where fewer may be visible
                best, where = scores.topk(3, -1)
                return (best.softmax(-1)[..., None] * x[0][where]).sum(1)[None]
            where = scores.max(-1).indices if pick == "max" else scores.argmax(-1)
            return (nn.functional.one_hot(where, N).to(x) @ x[0] if pick == "one_hot" else x[0][where])[None]

        return run

    torch.manual_seed(0)
    x, ahead = torch.randn(1, N, WIDTH), torch.ones(N, N, dtype=torch.bool).triu(1)
    verdict = ap.check_model(picking(ahead), x)
    assert verdict.status.name == "PROVED_IF"
    some = "every visible" if pick == "topk" else "in every row some visible"
    assert any(f"{some} score exceeds every masked score" in c.text for c in verdict.conditions)
    assert ap.check_model(picking(ahead.triu(2)), x).status.name == "REFUTED"


def test_a_mask_above_some_visible_score_hides_nothing_from_an_order():
    def best(size):
        def run(x):
            scores = (-size * x[0].square().sum(-1) - 1).expand(N, N) + torch.ones(N, N).triu(1) * -150.0
            return x[0][scores.argmax(-1)][None]

        return trace.run(run, (torch.randn(1, N, WIDTH, generator=torch.Generator().manual_seed(0)),))

    assert best(1.0).outputs[0].along(1)[1].tolist() == list(range(N))
    assert best(1000.0).outputs[0].along(1)[1][0] > 0


def test_a_zero_is_least_only_among_numbers_above_0():
    """Of products of either sign, those of a mask of zeros may be the largest."""
    torch.manual_seed(0)
    x = torch.randn(1, N, WIDTH)
    run = lambda x: x[0][((x[0] @ -x[0].T) * torch.ones(N, N).tril()).argmax(-1)][None]  # noqa: E731
    assert ap.check_model(run, x).status.name == "REFUTED"
    signed = lambda x: x[0][((x[0] @ x[0].T).exp() * -torch.ones(N, N).tril()).argmax(-1)][None]  # noqa: E731
    assert ap.check_model(signed, x).status.name == "REFUTED"

    def beside_any_number(x):
        weights = torch.cat([-x[0].abs(), (x[0] @ x[0].T).exp() * torch.ones(N, N).tril()], 1)
        return x[0][(weights.topk(2).indices - WIDTH).clamp(min=0)].sum(1)[None]

    assert trace.run(beside_any_number, (x,), values=False).outputs[0].along(1)[1][0] == N - 1


def chosen(rows, columns, rng):
    """Truth values that the run knows, as it does not know a draw of PyTorch's."""
    share = rng.choice([0.3, 0.7])
    return torch.tensor([[rng.random() < share for _ in range(columns)] for _ in range(rows)])


def masked(x, rng):
    """Scores that are masked in one of many ways, some of them weights."""
    m = rng.randint(1, 6)
    scores = (x @ normal(4, m, seed=rng.randrange(99))) if rng.random() < 0.5 else x[:, :1] * x[:m, 0][None]
    mask = chosen(6, m, rng) if rng.random() < 0.7 else torch.ones(6, m).triu(1) > 0
    lowest = torch.finfo(x.dtype).min
    how = rng.randrange(5)
    if how == 0:  # with the smallest of these, what a masked score is shows
        return scores.tanh() + mask.double() * rng.choice([-1500.0, -1500.0, lowest / 4])
    if how == 1:
        return scores.masked_fill(mask, rng.choice([-1e9, lowest, -torch.inf]))
    if how == 2:
        return (scores.tanh() + mask * -1500.0).masked_fill(chosen(6, m, rng), -torch.inf)
    if how == 3:
        return torch.sigmoid(scores.tanh()) * ~mask
    weights = scores.tanh().exp() * (~mask).double() * 2.0
    return weights if bool(mask.all(1).any()) else weights / weights.sum(1, keepdim=True)


def ordering(seed):
    """A function of (6, 4): a row put in order; what stands in each slot, and what becomes of it."""

    def run(x):
        rng = random.Random(seed)
        scores, axis, largest = masked(x, rng), rng.randrange(2), rng.random() < 0.75
        size, how = scores.shape[axis], rng.randrange(5)
        if how == 0:
            values, places = scores.topk(rng.randint(1, size), axis, largest, sorted=rng.random() < 0.7)
        elif how == 1:
            values, places = scores.sort(dim=axis, descending=largest, stable=rng.random() < 0.5)
        elif how == 2:
            values, places = (scores.max if largest else scores.min)(axis, keepdim=True)
        elif how == 3:
            places = (scores.argmax if largest else scores.argmin)(axis, keepdim=True)
            values = scores.gather(axis, places)
        else:
            values, places = scores.topk(1, axis, largest)
        zero, few = torch.zeros_like(scores), values.clamp(min=-1e3)
        cut = few.masked_fill(few.cumsum(axis) > 0.8, 0.0)
        put = [
            zero.scatter(axis, places, values), zero.scatter(axis, places, 1.0), scores.scatter(axis, places, few),
            zero.scatter_add(axis, places, few), zero.scatter(axis, places, cut),
            zero.scatter_reduce(axis, places, few, rng.choice(["amax", "mean", "prod"]), include_self=seed % 3 > 0),
        ]  # fmt: skip
        made = [values, places, values / values.sum(axis, keepdim=True), values.exp(), values.softmax(axis), cut, *put]
        made += [p.clamp(min=-1e3) @ normal(p.shape[1], 3) for p in put]
        if axis == 1:
            picked = x[: scores.shape[1]][places]
            made += [picked, (few[..., None] * picked).sum(1), (values.softmax(1)[..., None] * picked).sum(1)]
        return [t.nan_to_num(0.0, 1e3, -1e3) if t.is_floating_point() else t for t in made]

    return run


@pytest.mark.parametrize("seeds", [(1, 4, 25, 33), (8, 11, 44, 45)])
def test_random_orders_read_no_more_than_is_claimed(seeds):
    """Some of them show what a masked score is, and which of several comes first."""
    for seed in seeds:
        x = normal(6, 4, seed=seed)
        run = trace.run(ordering(seed), (x,), sequence_axis=0, values=seed % 2 == 0)
        assert run.complete, (seed, run.reads)
        wrong = contradiction(ordering(seed), x, run, 0, torch.Generator().manual_seed(seed), draws=4)
        assert wrong is None, (seed, wrong)


def program(seed):
    """A function of (6, 4): a row put in order, whole numbers made of the places, reads and writes at them."""

    def run(x):
        rng, g = random.Random(seed), torch.Generator().manual_seed(seed)
        m = rng.randint(1, 6)
        scores = (x @ normal(4, m, seed=seed)) if rng.random() < 0.5 else x[:, :1] * x[:m, 0][None]
        mask = chosen(6, m, rng)
        scores, made = scores.masked_fill(mask, rng.choice([-torch.inf, -torch.inf, -1e9])), []
        axis = rng.randrange(2)
        size, largest = scores.shape[axis], rng.random() < 0.7
        how = rng.randrange(4)
        if how == 0:
            values, places = scores.topk(rng.randint(1, size), axis, largest, sorted=rng.random() < 0.7)
        elif how == 1:
            values, places = scores.sort(axis, descending=largest)
        elif how == 2:
            values, places = (scores.max if largest else scores.min)(axis, keepdim=True)
        else:
            places = (scores.argmax if largest else scores.argmin)(axis, keepdim=rng.random() < 0.5)
            values, places = x[0], places if places.dim() == 2 else places.unsqueeze(axis)
        made += [values, places]
        edge = torch.randint(0, size, places.shape, generator=g)
        compare = rng.choice([torch.lt, torch.le, torch.gt, torch.ge, torch.eq, torch.ne])
        hit = compare(places, edge if rng.random() < 0.5 else rng.randrange(size))
        made += [hit, torch.where(hit, places, edge), places.masked_fill(hit, -1)]
        index = rng.choice(
            [
                lambda: places, lambda: torch.where(hit, places, edge), lambda: places.clamp(max=max(0, size - 2)),
                lambda: torch.minimum(places, edge), lambda: (places * 2 + 1) // 3, lambda: places.flip(1 - axis),
                lambda: places.masked_fill(hit, size - 1), lambda: places.roll(1, axis),
                lambda: places.int().long() // 2,
            ]
        )()  # fmt: skip
        table = normal(size, 4, seed=seed + 1) * x[:size] if size <= 6 else x
        made += [index, table[index], table.index_select(0, index.flatten()), nn.functional.embedding(index, table)]
        source = x if axis == 0 else x[:, :size] if size <= 4 else torch.cat([x, x], 1)[:, :size]
        if axis == 0:
            made += [source.gather(0, index[:, :1].expand(-1, 4)), source[index, torch.arange(index.shape[1]) % 4]]
        else:
            made += [source.gather(1, index), source[torch.arange(6)[:, None], index]]
        zero = torch.zeros(6, m, dtype=x.dtype)
        made += [zero.scatter(axis, index, 1.0), scores.scatter(axis, index, 0.5)]
        if values.dim() == 2:
            made.append(zero.scatter_add(axis, index, values.expand_as(index).nan_to_num()))
        return made

    return run


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_selections_read_no_more_than_is_claimed(first):
    x = normal(6, 4)
    for seed in range(first, first + 10):
        run = trace.run(program(seed), (x,), sequence_axis=0)
        assert run.complete, (seed, run.reads)
        wrong = contradiction(program(seed), x, run, 0, torch.Generator().manual_seed(seed), draws=4)
        assert wrong is None, (seed, wrong)
