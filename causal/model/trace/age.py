"""Telling tensors that existed before a run from those that appear during it."""

from __future__ import annotations

import gc
from typing import Any


def is_new(tensor: Any) -> bool:
    """Whether a tensor was made since `gc.freeze()`, which `escapes.watched` calls."""
    return any(o is tensor for o in gc.get_objects())
