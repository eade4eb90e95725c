"""Several processes find what one finds, or say why they cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from peeking import double_and_peek

pytestmark = pytest.mark.claim("T17")


def test_processes_find_what_one_process_finds():
    one = check_pipeline(double_and_peek, np.arange(9.0), cuts=3)
    two = check_pipeline(double_and_peek, np.arange(9.0), cuts=3, workers=2)
    assert two.columns == one.columns
    assert two.evidence == one.evidence


def only_here(x):
    return x


def test_a_function_that_other_processes_cannot_import(monkeypatch):
    monkeypatch.setattr(sys, "path", [p for p in sys.path if Path(p).resolve() != Path(__file__).parents[3]])
    monkeypatch.setattr(only_here, "__module__", "a_module_that_is_not_there")
    monkeypatch.setitem(sys.modules, "a_module_that_is_not_there", sys.modules[__name__])
    with pytest.raises(ValueError, match="workers = 2 processes could not load the function or ended early; define it"):
        check_pipeline(only_here, np.arange(9.0), cuts=3, workers=2)
