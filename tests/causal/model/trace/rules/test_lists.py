"""Operations on lists of tensors, against brute force."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from attnproof.causal import trace
from attnproof.causal.model.trace import rules
from attnproof.causal.model.trace.registry import BUILT_IN
from tensor_probe import check, normal

X = normal(6, 4)
C = normal(6, 4, seed=1)
assert rules  # which registers them
NAMES = [name.removeprefix("aten._foreach_") for name in BUILT_IN if name.startswith("aten._foreach_")]
TWO = {"add", "sub", "mul", "div", "maximum", "minimum", "clamp_max", "clamp_min", "pow", "copy"}
MAKES = {"norm", "max", "powsum", "mm"}


def called(name):
    """The operation on three rows and three more, or in place on copies of the three."""

    def call(x):
        first, second = list((x.abs() + 0.1).unbind(0))[:3], list(C.unbind(0))[3:]
        given = [first]
        word = name.removesuffix("_")
        if word in TWO:
            given.append(second)
        elif word == "lerp":
            given += [second, 0.25]
        elif word in ("addcmul", "addcdiv"):
            given += [second, second]
        elif word == "powsum":
            given.append(2)
        elif word == "mm":
            given = [[t[None] for t in first], [t[:, None] for t in second]]
        if name.endswith("_"):
            given[0] = [t.clone() for t in first]
            getattr(torch._ops.ops.aten, "_foreach_" + name)(*given)
            return given[0]
        return getattr(torch._ops.ops.aten, "_foreach_" + name)(*given)

    return call


def taken_in_turn(x):
    """Each row is written from the next, the last one from the first, which was written before."""
    rows = [x[3].clone(), x[4].clone(), x[0].clone()]
    torch._foreach_copy_(rows, rows[1:] + rows[:1])
    return rows


CASES = {name: called(name) for name in NAMES if hasattr(torch.ops.aten, "_foreach_" + name)}
CASES |= {
    "rows of both": lambda x: torch._foreach_add(list(x.unbind(0))[:3], list(x.unbind(0))[3:], alpha=2),
    "numbers": lambda x: [
        *torch._foreach_mul(list(x.unbind(0)), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        *torch._foreach_pow(2.0, list(x.unbind(0))),
    ],
    "written before they are read": taken_in_turn,
    "one number of data": lambda x: torch._foreach_mul([x[0], C[0]], x[5, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=False)


def test_items_stay_apart():
    run = trace.run(CASES["rows of both"], (X,), sequence_axis=0)
    assert [(int(o.shadow.lo.min()), int(o.shadow.hi.max())) for o in run.outputs] == [(0, 3), (1, 4), (2, 5)]


@pytest.mark.parametrize("ahead", [0, 1])
def test_an_item_of_a_later_position_leaks(ahead):
    def model(x):
        rows, later = list(x.unbind(1)), list(x.roll(-ahead, 1).unbind(1))
        sums = torch._foreach_add(rows, later)
        torch._foreach_mul_(sums, later)
        return torch.stack(sums, 1).cumsum(1)

    assert ap.check_model(model, torch.randn(1, 6, 4)).status.name == ("REFUTED" if ahead else "PROVED")


def test_lists_that_share_memory_with_what_is_read_join_everything():
    """Rows of one tensor, each written from the row after it, in an order that nobody promises."""

    def model(x):
        y = x.clone()
        torch._foreach_copy_(list(y[0].unbind(0))[:-1], list(y[0].unbind(0))[1:])
        return y.cumsum(1)

    assert ap.check_model(model, torch.randn(1, 6, 4)).status.name == "REFUTED"
