"""The tracer's transfer functions compute what Rocq proves sound (T23), on more than 10⁵ random shadows."""

import numpy as np
import pytest
from attnproof.causal.model.trace.transfer import contractions
from attnproof.proofs import transfers
from needs import need_rocq

need_rocq()
pytestmark = pytest.mark.claim("T23")


def test_transfer_functions_agree_with_the_proved_rules(record_property):
    compared, different = transfers.compare(2700)
    print(f"{compared} shadows compared")
    record_property("shadows compared", compared)
    assert different == []
    assert compared >= 100_000


def test_a_broken_rule_is_seen(monkeypatch):
    monkeypatch.setattr(contractions, "ZERO", np.uint8(6))  # −∞ in the place of 0
    compared, different = transfers.compare(60)
    assert compared
    assert different
