"""Higher-order operators are taken apart: what they run of the program is traced like the rest of it."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import check_model
from torch._higher_order_ops import scan, while_loop
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

X = torch.linspace(-1, 1, 128).sin().reshape(2, 8, 8)
YES, NO = torch.tensor(True), torch.tensor(False)


def heads(x):
    return x.view(2, 8, 2, 4).transpose(1, 2)


def attend(x, **keywords):
    return flex_attention(heads(x), heads(x), heads(x), **keywords).transpose(1, 2).flatten(2)


def causal(b, h, q, k):
    return q >= k


def masked_scores(score, b, h, q, k):
    return torch.where(q >= k, score, -float("inf"))


BLOCKS = create_block_mask(causal, None, None, 8, 8, device="cpu")
ONE_LATE = create_block_mask(lambda b, h, q, k: q + 1 >= k, None, None, 8, 8, device="cpu")
PROVED = {
    "cond": lambda x: torch.cond(YES, lambda t: t.cumsum(1), lambda t: t.flip(1), (x,)),
    "cond, the other way": lambda x: torch.cond(NO, lambda t: t.flip(1), lambda t: t.cumsum(1), (x,)),
    "scan": lambda x: scan(lambda c, t: (c + t, c * t), torch.zeros(2, 8), x, dim=1)[1].transpose(0, 1).transpose(0, 1),
    "a loop that counts": lambda x: while_loop(
        lambda i, t: i < 3, lambda i, t: (i + 1, t.cumsum(1)), (torch.tensor(0), x)
    )[1],
    "flex attention": lambda x: attend(x, block_mask=BLOCKS),
    "flex attention by its scores": lambda x: attend(x, score_mod=masked_scores),
}
REFUTED = {
    "cond": lambda x: torch.cond(NO, lambda t: t.cumsum(1), lambda t: t.flip(1), (x,)),
    "scan": lambda x: scan(lambda c, t: (c + t, c * t), torch.zeros(2, 8), x, dim=1, reverse=True)[1],
    "flex attention": lambda x: attend(x, block_mask=ONE_LATE),
    "flex attention of all": attend,
}
DATA = {
    "cond": lambda x: torch.cond(x.sum() < 99, lambda t: t.cumsum(1), lambda t: t.flip(1), (x,)),
    "a loop": lambda x: while_loop(lambda t: t.sum() > 99, lambda t: (t.cumsum(1),), (x,))[0] * 1,
}


def run_of(functions, name):
    with torch.no_grad():
        return check_model(functions[name], X)


@pytest.mark.parametrize("name", PROVED)
def test_what_they_run_is_proved(name):
    verdict = run_of(PROVED, name)
    assert verdict.status.name == "PROVED", verdict
    assert not verdict.details["unknown"]


@pytest.mark.parametrize("name", REFUTED)
def test_what_they_run_leaks(name):
    assert run_of(REFUTED, name).status.name == "REFUTED"


@pytest.mark.parametrize("name", DATA)
def test_a_condition_that_data_decides_is_a_read(name):
    verdict = run_of(DATA, name)
    assert verdict.status.name == "UNDECIDED", verdict
    assert verdict.details["reads"]


def test_python_in_a_branch_is_the_programs_own():
    def branch(t):
        return t.cumsum(1) * float(t[0, -1, 0] > 99)

    assert check_model(lambda x: torch.cond(YES, branch, branch, (x,)), X).status.name == "UNDECIDED"


def test_composite_operations_below_autograd_are_taken_apart():
    def model(x):
        with torch._C._AutoDispatchBelowAutograd():
            return torch.matmul(torch.ones(8, 8).tril(), x)

    verdict = check_model(model, X)
    assert verdict.status.name == "PROVED"
    assert not verdict.details["unknown"]
