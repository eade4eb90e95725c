"""`lengths="all"` for models of PyTorch: what is proved, what leaks at some length, and what a record cannot say."""

from __future__ import annotations

from needs import need

need("torch")
need("z3")
need("cvc5")

import attnproof as ap
import torch
from torch.nn import functional as F

D = 8
W = [torch.randn(D, D, generator=torch.Generator().manual_seed(k)) * 0.3 for k in range(6)]


def x(n=12):
    return torch.randn(1, n, D, generator=torch.Generator().manual_seed(7))


def decoder(leak, low=-torch.inf):
    """Two layers of attention and a hidden one."""

    def model(x):
        t = torch.arange(x.shape[1])
        for _ in range(2):
            y = F.layer_norm(x, (D,))
            s = (y @ W[0] @ (y @ W[1]).mT / D**0.5).masked_fill(t[None, :] > t[:, None] + leak, low)
            x = x + s.softmax(-1) @ (y @ W[2]) @ W[3]
            x = x + F.gelu(F.layer_norm(x, (D,)) @ W[4]) @ W[5]
        return x

    return model


def checked(model, **keywords):
    return ap.check_model(model, x(), sequence_axis=1, lengths="all", tries=60, **keywords)


def test_two_layers_are_proved_for_every_length():
    verdict = checked(decoder(False))
    assert verdict.status.name == "PROVED", verdict.reasons
    assert verdict.about.endswith("every n ≥ 2")
    assert any("torch.export" in a and "outputs at n = 2, 3, 12" in a for a in verdict.assumptions)
    assert verdict.details["every_length"]["obligations"]
    assert checked(decoder(False, -1e9)).status.name == "PROVED_IF"


def test_a_leaking_twin_is_refuted():
    verdict = checked(decoder(True))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


def test_a_leak_that_the_length_given_does_not_show():
    verdict = checked(lambda x: torch.where(torch.arange(x.shape[1])[:, None] < 16, x.cumsum(1), x.roll(-1, 1)))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert verdict.witness.query >= 16
