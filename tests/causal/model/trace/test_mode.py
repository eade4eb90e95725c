"""The dispatch mode stays on inside control-flow operators, and leaves them as they were."""

from __future__ import annotations

import attnproof as ap
from needs import need

torch = need("torch")


def branches(x):
    return torch.cond(x.sum() > 0, lambda y: y.flip(1), lambda y: y * 2, (x,))


def test_control_flow_works_as_before_after_a_check():
    x = torch.ones(1, 8, 2)
    assert ap.check_model(branches, x).status.name in ("REFUTED", "UNDECIDED")
    with torch.no_grad():
        assert torch.equal(branches(-x), -2 * x)
