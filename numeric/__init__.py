"""The claims on arrays: any array library, any precision, any scale.

The names below load lazily from the rooms of this floor.

>>> from attnproof.numeric import certified_softmax_rank
>>> certified_softmax_rank([0, 1], [0, 1]).rank
2
"""

from importlib import import_module
from typing import Any

_HOME = {
    "compressed_attention": "attention",
    "full_attention": "attention",
    "slot_weights": "attention",
    "mixing_spectrum": "spectrum",
    "mixing_row_sums": "spectrum",
    "most_negative_coefficient": "spectrum",
    "mixing_rank": "rank",
    "certified_rank": "rank",
    "certified_mixing_rank": "rank",
    "certified_softmax_rank": "rank",
    "exact_determinant": "rank",
    "truncation_error": "optimum",
    "projection_error": "optimum",
    "compression_gap": "optimum",
    "leverage": "retention",
    "span_retention": "retention",
    "exact_leverage": "retention",
    "certified_span_retention": "retention",
    "certified_error": "error",
    "compression_error": "error",
    "from_npy": "blocks",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'attnproof.numeric' has no attribute {name!r}; it has {', '.join(sorted(_HOME))}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
