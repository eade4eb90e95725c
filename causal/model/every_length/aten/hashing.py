"""PyTorch's symbols as keys of caches, which find nothing under them; a model's own tables are not asked for them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import torch

from ..lookups import looks_up

TORCH = str(Path(torch.__file__).parent)
SAID = "Python looks the length up, in a dict or a set"
RECORDINGS = count()


@contextmanager
def hashable() -> Iterator[list[str]]:
    """While a program is recorded, a symbol can be a key that no other recording knows; yields the files that ask."""
    kind: Any = torch.SymInt
    hashes, recording, asked = kind.__hash__, next(RECORDINGS), []

    def hashed(self: Any) -> int:
        frame = sys._getframe(1)
        file = frame.f_code.co_filename
        if file.startswith(TORCH):
            return int(hashes(self))  # raises, unless it is one of PyTorch's own
        if looks_up(frame):
            raise TypeError(SAID)
        asked.append(file)
        return hash((recording, str(self.node.expr)))

    kind.__hash__ = hashed
    try:
        yield asked
    finally:
        kind.__hash__ = hashes
