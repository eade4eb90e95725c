"""Rows that data choose: code of the program's that runs inside an operation, where nobody sees what it asks."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from torch.utils._python_dispatch import TorchDispatchMode

TOKENS, WIDTH = 6, 4


class _Places:
    """An index that looks at how many places of a mask are true."""

    def __init__(self, mask):
        self.mask, self.count = mask, 0

    def __index__(self):
        self.count = len(self.mask.nonzero())
        return 0


class _Sizes(TorchDispatchMode):
    """A mode that looks at how many places `nonzero` finds."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.count += result.shape[0] if func is torch.ops.aten.nonzero.default else 0
        return result


def by_mode(h, mask):
    with _Sizes() as mode:
        torch.where(mask)
    return mode.count


def by_graph(h, mask):
    with torch.enable_grad():
        node = h.detach().requires_grad_()[torch.where(mask)].exp().grad_fn
    return node._input_metadata[0].shape[0]


def by_later_graph(h, mask):
    with torch.enable_grad():
        (token,) = torch.where(mask)
        added = torch.zeros_like(h).index_add(0, token, h.detach().requires_grad_()[token].exp())
    return added.grad_fn.next_functions[1][0]._input_metadata[0].shape[0]


UNSEEN = {
    "an index": lambda h, mask: h[at := _Places(mask)].sum() * 0 + at.count,
    "a mode": by_mode,
    "the graph": by_graph,
    "the graph of a sum": by_later_graph,
}


@pytest.mark.parametrize("count", UNSEEN.values(), ids=UNSEEN)
def test_no_code_of_the_programs_counts_them_unseen(count):
    def run(x):
        return x * count(x[0], x[0, :, 0] > 0)

    x = torch.randn(1, TOKENS, WIDTH, generator=torch.Generator().manual_seed(0))
    assert ap.check_model(run, x, sequence_axis=1, replay="never").status.name == "UNDECIDED"
    assert ap.check_model(run, x, sequence_axis=1).status.name == "REFUTED"
