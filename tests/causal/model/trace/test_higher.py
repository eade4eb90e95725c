"""Higher-order operators are taken apart: what they run of the program is traced like the rest of it."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import check_model
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops import map as mapped
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.utils.checkpoint import checkpoint

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


def weighted(ahead):
    """A sum over positions up to each, or one further."""
    weights = torch.ones(8, 8).tril(ahead)
    return lambda x: weights @ x


def per_query(ahead):
    """Attention as a function of one query and its place."""

    def attended(x):
        def one(query, place):
            scores = (x[0] @ query).masked_fill(torch.arange(8) > place + ahead, -torch.inf)
            return scores.softmax(-1) @ x[0]

        return torch.func.vmap(one)(x[0], torch.arange(8))[None]

    return attended


def learnt(ahead):
    """A memory that takes a step down its loss at each position, and is asked before that."""

    def answered(x):
        memory, answers = torch.zeros(8, 8), []
        for t in range(8):
            key = x[0, (t + ahead) % 8]
            step = torch.func.grad(lambda m, key=key: (torch.tanh(m @ key) - key).square().sum())(memory)
            answers.append(memory @ x[0, t])
            memory = memory - 0.1 * step
        return torch.stack(answers)[None]

    return answered


def per_token(function, x):
    return torch.func.vmap(function)(x[0]).flatten(1)[None]


TRANSFORMED = {
    "map": lambda f: lambda x: mapped(lambda t: t * 2 + 1, f(x)[:1].transpose(0, 1)).transpose(0, 1),
    "map beside a constant": lambda f: lambda x: mapped(lambda t, c: (t * c, t + c), f(x)[0], torch.ones(8))[1][None],
    "vmap": lambda f: lambda x: torch.func.vmap(f)(x[:, None])[:, 0],
    "jvp": lambda f: lambda x: torch.func.jvp(lambda y: torch.tanh(f(y)), (x,), (x * 2,))[1],
    "vjp": lambda f: lambda x: torch.func.vjp(lambda y: f(y.flip(1)).flip(1), x)[1](x)[0],
    "jacrev": lambda f: lambda x: per_token(torch.func.jacrev(lambda t: torch.tanh(t * t)), f(x)),
    "hessian": lambda f: lambda x: per_token(torch.func.hessian(lambda t: t[:3].tanh().prod()), f(x)),
    "associative scan": lambda f: (
        lambda x: associative_scan(
            lambda a, b: (a[0] * b[0], b[1] + b[0] * a[1]), (x.sigmoid(), f(x)), dim=1, combine_mode="generic"
        )[1]
    ),
    "checkpoint": lambda f: lambda x: checkpoint(f, x, use_reentrant=False),
}
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


@pytest.mark.parametrize("ahead", [0, 1])
@pytest.mark.parametrize("name", TRANSFORMED)
def test_what_is_transformed_is_followed(name, ahead):
    model = TRANSFORMED[name](weighted(ahead))
    assert check_model(model, X[:1]).status.name == ("REFUTED" if ahead else "PROVED")


@pytest.mark.parametrize("ahead", [0, 1])
@pytest.mark.parametrize("make", [per_query, learnt])
def test_functions_of_one_position(make, ahead):
    assert check_model(make(2 * ahead), X[:1]).status.name == ("REFUTED" if ahead else "PROVED")


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
