"""Leaks that hide at one position, and the claim that no leak is proved."""

from __future__ import annotations

import attnproof as ap
import torch
from attnproof.causal.model import trace

N = 8


def only_first(x, value):
    """The input, with `value` added to output 0: a leak that shows at one position only."""
    mark = torch.zeros(1, x.shape[1], 1)
    mark[0, 0] = 1
    return x + mark * value


def positive(x):
    return (x[0, 1] > 0).long()


def never_proved(model, width=2, finite=True):
    """Asserts that a leaking model is refuted with a witness, or left open with a reason; and left open where it is not
    run. Of numbers that are not `finite` a run alone can tell.
    """
    torch.manual_seed(0)
    verdict = ap.check_model(model, torch.randn(1, N, width))
    assert verdict.status.name in ("REFUTED", "UNDECIDED"), verdict
    if verdict.status.name == "REFUTED":
        assert verdict.witness.replay()
    else:
        assert verdict.reasons
    if finite:
        verdict = ap.check_model(model, torch.randn(1, N, width), replay="never")
        assert verdict.status.name == "UNDECIDED", verdict


def complete(function, values=True):
    """Whether nothing that a function of another file does beside a causal model's work is a read; without `values`, as
    far as they are not asked for.
    """
    x = torch.randn(1, 6, 3, generator=torch.Generator().manual_seed(0))
    try:
        return trace.run(lambda x: (function(x), x.cumsum(1))[1], (x,), sequence_axis=1, values=values).complete
    except RuntimeError as error:  # pytest keeps an error that nobody hears, and so the tensors in its frames
        if "where the check cannot put it back" not in str(error):
            raise
        return False
