"""Rows that data choose: code of the program's that runs inside an operation, where nobody sees what it asks."""

from __future__ import annotations

import sys

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


def by_profile(h, mask):
    (token,) = torch.where(mask)
    counts, before = [len(h)], sys.getprofile()
    sys.setprofile(lambda frame, *_: "chosen.py" in frame.f_code.co_filename and counts.append(token.shape[0]))
    try:
        token.neg()
    finally:
        sys.setprofile(before)
    return counts[-1]


def by_profiler(h, mask):
    (token,) = torch.where(mask)
    with torch.profiler.profile(record_shapes=True) as seen:
        token.neg()
    return next(e.input_shapes[0][0] for e in seen.events() if e.name == "aten::neg")


def by_identity(h, mask):
    """One column is contiguous where it has one number."""
    column = h[torch.where(mask)][:, 0]
    return 2 if column.contiguous() is column else 3


def by_layout(h, mask):
    rows = h[torch.where(mask)][None, :, :, None]
    return 2 if rows.to(memory_format=torch.channels_last) is rows else 3


UNSEEN = {
    "an index": lambda h, mask: h[at := _Places(mask)].sum() * 0 + at.count,
    "a mode": by_mode,
    "the graph": by_graph,
    "the graph of a sum": by_later_graph,
    "Python's profile": by_profile,
    "PyTorch's profile": by_profiler,
    "whether it is copied": by_identity,
    "whether it is laid out anew": by_layout,
}


@pytest.mark.parametrize("count", UNSEEN.values(), ids=UNSEEN)
def test_no_code_of_the_programs_counts_them_unseen(count):
    def run(x):
        return x * count(x[0], x[0, :, 0] > 0)

    x = torch.randn(1, TOKENS, WIDTH, generator=torch.Generator().manual_seed(0))
    assert ap.check_model(run, x, sequence_axis=1, replay="never").status.name == "UNDECIDED"
    assert not ap.check_model(run, x, sequence_axis=1).status.name.startswith("PROVED")
