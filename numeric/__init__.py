"""The claims on arrays: any array library, any precision, any scale.

The names below load lazily from the rooms of this floor.

>>> from attnproof.numeric import certified_softmax_rank
>>> certified_softmax_rank([0, 1], [0, 1]).rank
2
"""

from typing import TYPE_CHECKING

from ..lazy import face

_HOMES = {
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

__all__ = list(_HOMES)

if TYPE_CHECKING:
    from .attention import compressed_attention as compressed_attention
    from .attention import full_attention as full_attention
    from .attention import slot_weights as slot_weights
    from .blocks import from_npy as from_npy
    from .error import certified_error as certified_error
    from .error import compression_error as compression_error
    from .optimum import compression_gap as compression_gap
    from .optimum import projection_error as projection_error
    from .optimum import truncation_error as truncation_error
    from .rank import certified_mixing_rank as certified_mixing_rank
    from .rank import certified_rank as certified_rank
    from .rank import certified_softmax_rank as certified_softmax_rank
    from .rank import exact_determinant as exact_determinant
    from .rank import mixing_rank as mixing_rank
    from .retention import certified_span_retention as certified_span_retention
    from .retention import exact_leverage as exact_leverage
    from .retention import leverage as leverage
    from .retention import span_retention as span_retention
    from .spectrum import mixing_row_sums as mixing_row_sums
    from .spectrum import mixing_spectrum as mixing_spectrum
    from .spectrum import most_negative_coefficient as most_negative_coefficient
else:
    __getattr__, __dir__ = face(__name__, _HOMES)
