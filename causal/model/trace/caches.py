"""What PyTorch itself keeps of parameters between operations, and would hand to a run as if it were a constant."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def uncached() -> Iterator[None]:
    """While it is open, casts of autocast and results of parametrizations are made anew; the caller's come back.

    Under a `torch.autocast` or `parametrize.cached()` around the call they would be those of an earlier one, whose
    parameters may have had other values. Autocast's own cache is left empty.
    """
    enabled = torch.is_autocast_cache_enabled()
    parametrize: Any = sys.modules.get("torch.nn.utils.parametrize")
    counted, kept = (0, {}) if parametrize is None else (parametrize._cache_enabled, parametrize._cache)
    torch.clear_autocast_cache()
    torch.set_autocast_cache_enabled(False)
    if parametrize is not None:
        parametrize._cache_enabled, parametrize._cache = 0, {}
    try:
        yield
    finally:
        torch.set_autocast_cache_enabled(enabled)
        torch.clear_autocast_cache()
        if parametrize is not None:
            parametrize._cache_enabled, parametrize._cache = counted, kept
