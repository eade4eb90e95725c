"""`out=`: what is computed into an operand, or by an operation whose rule knows no target; twins that look ahead."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
from attnproof.causal import trace
from tensor_probe import check, normal

X = normal(5, 4)
MASK = torch.ones(5, 5, dtype=torch.bool).triu(1)


def into_itself(x):
    o = x.clone()
    torch.add(o, x.roll(1, 1), out=o)
    torch.mul(o, o, out=o)
    torch.sub(x, o, alpha=2, out=o)
    torch.where(o > 0, o, x, out=o)
    torch.clamp(o[:], -1, 1, out=o)  # by another name for the same elements
    return o


def attention(x):
    scores = torch.empty(5, 5, dtype=x.dtype)
    torch.mm(x, x.T, out=scores)
    torch.div(scores, 2.0, out=scores)
    scores.masked_fill_(MASK, -torch.inf)
    weights = torch.empty_like(scores)
    torch.softmax(scores, -1, out=weights)
    return torch.matmul(weights, x, out=torch.empty_like(x))


def cumulated(x):
    o = x.clone()
    torch.cumsum(o, 0, out=o)
    torch.tril(o, 2, out=o)
    return o


def into_halves(x):
    o = torch.empty(5, 8, dtype=x.dtype)
    torch.add(x, 1, out=o[:, :4])
    torch.mul(o[:, :4], x, out=o[:, 4:])
    return o


def ahead(x):
    o = x.clone()
    torch.add(o, x.flip(0), out=o)
    return o


@pytest.mark.parametrize("run", [into_itself, attention, cumulated, into_halves, ahead])
def test_claims_hold(run):
    check(run, X)
    without = trace.run(run, (X,), sequence_axis=0, values=False)
    assert without.complete
    assert [o.along(0)[1].tolist() for o in without.outputs] == [
        o.along(0)[1].tolist() for o in trace.run(run, (X,), sequence_axis=0).outputs
    ]


def test_what_may_read_what_it_has_written_is_not_followed():
    """A softmax into its own operand."""

    def squared(x):
        o = (x @ x.T).tril()
        return torch.softmax(o, -1, out=o)

    run = trace.run(squared, (X,), sequence_axis=0)
    assert run.outputs[0].along(0)[1].tolist() == [4] * 5


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "tril", "triu"])
@pytest.mark.parametrize("shape", [(7,) * 2, (70, 60), (3, 4, 5)])
def test_what_goes_in_place_gives_the_same_into_itself(name, shape):
    for turned in (False, True):
        x = normal(*shape).transpose(-1, -2) if turned else normal(*shape)
        for axis in range(-1, 2):
            expected, o = getattr(torch, name)(x, axis), x.clone(memory_format=torch.preserve_format)
            assert torch.equal(getattr(torch, name)(o, axis, out=o), expected)


def test_another_type_is_left_to_the_operation():
    """A sum in single precision is not what one in double precision gives."""

    def widened(x):
        return torch.softmax(x.float(), -1, dtype=torch.float64, out=torch.empty_like(x)), torch.add(
            x.float(), x.float().roll(1, 1), out=torch.empty_like(x)
        )

    narrow, same = trace.run(widened, (X,), sequence_axis=0).outputs
    assert narrow.along(0)[1].tolist() == same.along(0)[1].tolist() == [0, 1, 2, 3, 4]
