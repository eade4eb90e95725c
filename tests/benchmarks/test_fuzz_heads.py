"""The benchmark of random heads: its verdicts agree with the oracle, and a wrong one would be told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from attnproof.causal.verdict import Status
from by_path import benchmark

fuzz_heads = benchmark("fuzz_heads")

pytestmark = pytest.mark.claim("T10", "T11", "T12")


def test_some_heads():
    assert [seed for seed in range(60) if fuzz_heads.judge(seed)[1]] == []


def test_a_wrong_verdict_is_told(monkeypatch):
    check = fuzz_heads.ap.check_projection
    lying = {Status.PROVED: Status.REFUTED, Status.PROVED_IF: Status.REFUTED, Status.REFUTED: Status.PROVED}
    told = lambda *a, **k: (lambda v: replace(v, status=lying[v.status]))(check(*a, **k))  # noqa: E731
    monkeypatch.setattr(fuzz_heads.ap, "check_projection", told)
    assert all("by definition it is" in (fuzz_heads.judge(seed)[1] or "") for seed in range(10))
