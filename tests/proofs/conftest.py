"""A cache and a key of a test's own, where Rocq is installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from needs import need_rocq


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    need_rocq()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CI", raising=False)
    return tmp_path / "cache"
