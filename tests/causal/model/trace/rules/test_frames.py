"""Experts: rows that are sorted by a key, computed in groups and put back, and twins in which a row feels its place."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from needs import need

torch = need("torch")

import attnproof as ap
import numpy as np
import pytest
from attnproof.causal.model.trace.transfer.frames import Frame, order_of

TOKENS, WIDTH, EXPERTS, EACH = 6, 8, 4, 2
PAIRS = TOKENS * EACH


def experts(put_back, choose=None):
    """(1, tokens, width) → the same, each token through the experts that it chooses."""
    generator = torch.Generator().manual_seed(0)

    def weights(*shape):
        return torch.randn(*shape, generator=generator)

    router, up, down = weights(WIDTH, EXPERTS), weights(EXPERTS, WIDTH, WIDTH), weights(EXPERTS, WIDTH, WIDTH)

    def run(x):
        x = x[0]
        score, chosen = (choose or choices)(x @ router)
        out = put_back(x, score.reshape(-1), chosen.reshape(-1), up, down)
        return out[None]

    return run


def checked(put_back, choose=None, **options):
    """The verdict on such experts, of tokens that are always the same."""
    torch.manual_seed(0)
    return ap.check_model(experts(put_back, choose), torch.randn(1, TOKENS, WIDTH), sequence_axis=1, **options)


def choices(logits):
    """The best experts of each token, and their weights."""
    return logits.softmax(-1).topk(EACH, -1)


def sorted_by(key, of=None):
    """The key in its order, the order, and where each expert's rows end."""
    ordered, order = torch.sort(key)
    counts = torch.histc((ordered if of is None else of).float(), bins=EXPERTS, min=0, max=EXPERTS - 1)
    return ordered, order, counts.cumsum(0, dtype=torch.int32)


def through(rows, up, down, ends):
    """Two grouped products with a nonlinearity between."""
    hidden = torch.nn.functional.grouped_mm(rows, up, offs=ends)
    return torch.nn.functional.grouped_mm(torch.nn.functional.silu(hidden), down, offs=ends)


def inverted(order):
    """The inverse of an order, written element by element."""
    inverse = torch.empty_like(order)
    inverse[order] = torch.arange(len(order))
    return inverse


def by_token(rows):
    """The sum over the experts of each token."""
    return rows.view(TOKENS, EACH, WIDTH).sum(1)


# -- no row feels its place --------------------------------------------------------------------------------------------


def written_inverse(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    rows = through(x[order // EACH], up, down, ends) * score[order].unsqueeze(-1)
    return by_token(rows[inverted(order)])


def sorted_inverse(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    rows = through(x[order // EACH], up, down, ends) * score[order][:, None]
    return by_token(rows[order.argsort()])


def added(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    token = order // EACH
    rows = through(x.index_select(0, token), up, down, ends) * score[order, None]
    return torch.zeros_like(x).index_add_(0, token, rows)


def scattered(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    token = (order // EACH).unsqueeze(-1).expand(-1, WIDTH)
    rows = through(x.gather(0, token), up, down, ends) * score[order, None]
    return x.scatter_add(0, token, rows)


def written_back(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    out = torch.zeros(PAIRS, WIDTH)
    out[order] = through(x[torch.arange(TOKENS).repeat_interleave(EACH)[order]], up, down, ends)
    return by_token(out * score[:, None])


def biased(x, score, key, up, down):
    ordered, order, ends = sorted_by(key)
    rows = through(x[order // EACH], up, down, ends) + up[ordered, 0] + down[0, 0]
    rows = torch.nn.functional.layer_norm(rows, (WIDTH,)) + torch.cat(rows.chunk(2, -1)[::-1], -1).softmax(-1)
    rows = torch.einsum("sd,sde->se", rows, up[ordered]) @ down[0]
    return by_token(rows[inverted(order)] * score[:, None])


def downwards(x, score, key, up, down):
    order = key.sort(descending=True)[1]
    rows = x[order // EACH].square() * key[order][:, None]
    return by_token(rows[inverted(order)])


def of_unsorted(x, score, key, up, down):
    _, order, ends = sorted_by(key, of=key)
    return by_token(through(x[order // EACH], up, down, ends)[inverted(order)])


CAUSAL = [
    written_inverse,
    sorted_inverse,
    added,
    scattered,
    written_back,
    biased,
    downwards,
    of_unsorted,
]


@pytest.mark.parametrize("put_back", CAUSAL, ids=lambda f: f.__name__)
def test_rows_that_are_put_back_forget_the_order(put_back):
    verdict = checked(put_back)
    assert verdict.status is ap.Status.PROVED
    assert any("put back where they came from" in a for a in verdict.assumptions)


# -- a row feels its place ---------------------------------------------------------------------------------------------


def capacity(x, score, key, up, down):
    ordered, order, ends = sorted_by(key)
    left = ends[ordered] - torch.arange(PAIRS)  # of the same expert, from this row on
    rows = through(x[order // EACH], up, down, ends) * (left <= 2)[:, None]
    return by_token(rows[inverted(order)])


def noise(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    rows = through(x[order // EACH], up, down, ends) + torch.rand(PAIRS, 1, generator=torch.Generator().manual_seed(0))
    return by_token(rows[inverted(order)])


def by_place(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    return by_token((through(x[order // EACH], up, down, ends) * torch.arange(PAIRS)[:, None])[inverted(order)])


def running(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    return by_token(through(x[order // EACH], up, down, ends).cumsum(0)[inverted(order)])


def same_way_again(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    return by_token(through(x[order // EACH], up, down, ends)[order])


def other_groups(x, score, key, up, down):
    _, order, ends = sorted_by(key, of=(x @ up[0, :, :EXPERTS]).topk(EACH)[1].reshape(-1))
    return by_token(through(x[order // EACH], up, down, ends)[inverted(order)])


def wrong_way_up(x, score, key, up, down):
    _, _, ends = sorted_by(key)
    order = key.sort(descending=True)[1]
    return by_token(through(x[order // EACH], up, down, ends)[inverted(order)])


def moved_ends(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    ends[0] //= 2
    return by_token(through(x[order // EACH], up, down, ends)[inverted(order)])


def moved_order(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    rows = through(x[order // EACH], up, down, ends)
    order[:2] = order[:2].flip(0)
    return by_token(rows[inverted(order)])


def first_row(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    rows = through(x[order // EACH], up, down, ends)
    rows[0] = 0
    return by_token(rows[inverted(order)])


def other_order(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    other = score.sort()[1]
    return by_token(through(x[order // EACH], up, down, ends)[inverted(other)])


def mean_of_rows(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    rows = through(x[order // EACH], up, down, ends)
    return by_token((rows - rows.mean(0))[inverted(order)])


def slots_added(x, score, key, up, down):
    slots = torch.arange(PAIRS).to(x.dtype)[:, None].expand(-1, WIDTH)
    return x.index_add(0, key.sort()[1] // EACH, slots)


def rolled(x, score, key, up, down):
    _, order, ends = sorted_by(key)
    return by_token(through(x[order // EACH], up, down, ends).roll(1, 0)[inverted(order)])


def chosen_by_experts(logits):
    """Each expert picks its tokens: the key is made of all of them."""
    picked = logits.softmax(-1).topk(EACH + 1, 0)[1]
    scores = logits.softmax(-1).scatter(0, picked, 0.0)
    return scores.topk(EACH, -1)


LEAKS = [
    capacity,
    noise,
    by_place,
    running,
    same_way_again,
    other_groups,
    wrong_way_up,
    moved_ends,
    moved_order,
    first_row,
    other_order,
    mean_of_rows,
    slots_added,
    rolled,
]


@pytest.mark.parametrize("put_back", LEAKS, ids=lambda f: f.__name__)
def test_a_row_that_feels_its_place_is_refuted(put_back):
    verdict = checked(put_back)
    assert verdict.status is ap.Status.REFUTED
    assert verdict.witness.replay()
    assert checked(put_back, replay="never").status is ap.Status.UNDECIDED


def test_tokens_chosen_by_experts_are_refuted():
    assert checked(written_inverse, chosen_by_experts).status is ap.Status.REFUTED


def last_written(x, score, key, up, down):
    order = key.sort()[1]
    out = torch.zeros_like(x)
    out[order // EACH] = x[order // EACH] * key[order][:, None]
    return out


def test_several_rows_written_to_one_place_are_never_proved():
    """Which of them is written last, nobody promises."""
    assert checked(last_written).status is ap.Status.UNDECIDED


# -- which experts there are -------------------------------------------------------------------------------------------


def one_after_the_other(logits):
    """The best expert, then the best of the others, as Phimoe's router finds them."""
    best, first = logits.max(-1, keepdim=True)
    second_best, second = logits.scatter(-1, first, -torch.inf).max(-1, keepdim=True)
    return torch.cat((best, second_best), -1), torch.cat((first, second), -1)


def with_one_more(logits):
    """The best of all experts and one more, which stands for none."""
    return torch.cat((logits, logits[:, 1:2] - 1), -1).topk(EACH, -1)


def skipping(logits):
    """What chose none goes to the first with no weight, as in Zaya."""
    score, chosen = with_one_more(logits)
    none = chosen == EXPERTS
    return score.masked_fill(none, 0.0), chosen.masked_fill(none, 0)


@pytest.mark.parametrize("choose", [one_after_the_other, skipping])
def test_experts_are_known_to_be_there_however_they_were_chosen(choose):
    assert checked(written_inverse, choose).status is ap.Status.PROVED


def joined_with_one_beyond(logits):
    (score, chosen), (another, beyond) = logits.topk(1, -1), with_one_more(logits)
    return torch.cat((score, another[:, :1]), -1), torch.cat((chosen, beyond[:, :1]), -1)


def another_hidden(logits):
    score, chosen = with_one_more(logits)
    return score, chosen.masked_fill(chosen == EXPERTS - 1, 0)


def hidden_elsewhere(logits):
    (score, chosen), other = with_one_more(logits), with_one_more(-logits)[1]
    score = score.masked_fill(chosen == EXPERTS, 0)
    return score, chosen.masked_fill(other == EXPERTS, 0)


def hidden_in_another_shape(logits):
    score, chosen = with_one_more(logits)
    score = score.masked_fill(chosen == EXPERTS, 0)
    none = chosen.view(1, PAIRS) == EXPERTS
    return score, chosen.view(PAIRS, 1).masked_fill(none, 0)[:, 0].view(-1, EACH)


def written_since(logits):
    score, chosen = with_one_more(logits)
    none = chosen == EXPERTS
    chosen[1:] = chosen[:-1].clone()
    return score, chosen.masked_fill(none, 0)


@pytest.mark.parametrize(
    "choose",
    [with_one_more, joined_with_one_beyond, another_hidden, hidden_elsewhere, hidden_in_another_shape, written_since],
)
def test_experts_that_may_not_be_there_are_never_proved(choose):
    """Rows beyond the last group are whatever lay in memory: so nothing is run."""
    assert checked(written_inverse, choose, replay="never").status is ap.Status.UNDECIDED


def below_zero(x, score, key, up, down):
    _, order, ends = sorted_by(key.masked_fill(key == 1, -1))
    return by_token(through(x[order // EACH], up, down, ends)[inverted(order)])


def uncounted(x, score, key, up, down):
    ordered, order = torch.sort(key)
    ends = torch.histc(ordered.float(), bins=EXPERTS, min=1, max=EXPERTS - 1).cumsum(0, dtype=torch.int32)
    return by_token(through(x[order // EACH], up, down, ends)[inverted(order)])


@pytest.mark.parametrize("put_back", [below_zero, uncounted], ids=lambda f: f.__name__)
def test_groups_that_leave_some_rows_out_are_never_proved(put_back):
    """The others move up, and the last rows are whatever lay in memory: so nothing is run."""
    assert checked(put_back, replay="never").status is ap.Status.UNDECIDED


def test_an_index_that_lies_within_its_axis_cannot_fail():
    """So that a program which catches failures learns of none."""

    def kept(x):
        with kind():
            score, chosen = x.topk(2, -1)
            return x.gather(-1, chosen) + score

    def beyond(x):
        with kind():
            return x.gather(-1, (x[..., :2] > 0) * x.new_tensor(3).long()) + x[..., :2]

    def one_beyond(x):
        with kind():
            return x[..., :3].gather(-1, x.topk(2, -1)[1])

    x = torch.randn(1, TOKENS, 4) - torch.tensor([0.0, 0, 0, 100])
    assert ap.check_model(kept, x, sequence_axis=1).status is ap.Status.PROVED
    assert ap.check_model(beyond, x, sequence_axis=1).status is ap.Status.UNDECIDED
    assert ap.check_model(one_beyond, x, sequence_axis=1, replay="never").status is ap.Status.UNDECIDED


def kind():
    """A manager that nobody can find by its name."""
    return {"plain": contextlib.nullcontext}["plain"]()


def test_experts_by_the_largest_of_each_round_are_followed_as_well():
    """Phimoe's way: the place of a maximum, twice, joined by cat."""

    def rounds(logits):
        best, first = logits.max(-1, keepdim=True)
        others = torch.scatter(logits, -1, first, -torch.inf)
        weight, second = others.max(-1, keepdim=True)
        return torch.cat([best, weight], -1).softmax(-1), torch.cat([first, second], -1)

    assert checked(written_inverse, rounds).status.name == "PROVED"


ENDS = ((0, 3), (-1, 0), (-1, 3), (0, 4))


def test_a_place_counted_from_the_end_may_be_one_counted_from_the_front():
    lowest = np.zeros(4, np.int32)
    rows = order_of(Frame(4, None, lowest, lowest))
    for numbers, distinct in (
        ([0, 1, 2, 3], True),
        ([-1, 0, 1, 2], True),
        ([-1, 1, 2, 3], False),
        ([0, 1, 2, 4], False),
    ):
        assert replace(rows, numbers=np.array(numbers)).are_distinct(4) == distinct
