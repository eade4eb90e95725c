"""What most tests of whole models use: an input, the status of a verdict, one head of masked attention."""

from __future__ import annotations

import attnproof as ap
import torch
from torch import nn


def status(model, *inputs, **keywords):
    return ap.check_model(model, *inputs, **keywords).status.name


def x(n=8, d=4, batch=1):
    return torch.randn(batch, n, d)


class Attention(nn.Module):
    """One head of masked attention, the mask given as a function of the scores."""

    def __init__(self, mask, d=4):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.mask = mask

    def forward(self, x):
        scores = self.to_q(x) @ self.to_k(x).mT / x.shape[-1] ** 0.5
        return self.mask(scores).softmax(-1) @ self.to_v(x)


def upper(scores, k=1):
    return torch.ones(scores.shape[-2:], dtype=torch.bool).triu(k)
