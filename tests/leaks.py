"""Leaks that hide at one position, and the claim that no leak is proved."""

from __future__ import annotations

import torch
from attnproof.causal.model import trace


def complete(function):
    """Whether nothing that a function of another file does beside a causal model's work is a read."""
    x = torch.randn(1, 6, 3, generator=torch.Generator().manual_seed(0))
    return trace.run(lambda x: (function(x), x.cumsum(1))[1], (x,), sequence_axis=1).complete
