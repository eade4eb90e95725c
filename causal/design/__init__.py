"""Compression designs: rules proved for every n (T16), ready designs, concrete matrices, one token at a time."""

from typing import TYPE_CHECKING

from ...lazy import face

_HOMES = {
    "check_family": "check",
    "Family": "family",
    "FamilyWitness": "witness",
    "Design": "design",
    "Member": "design",
    "draw": "picture",
    "build": "catalogue",
    "BUILD": "catalogue",
    "completed_blocks": "blocks",
    "blocks_with_window": "blocks",
    "strided_blocks": "blocks",
    "dyadic": "blocks",
    "decaying": "blocks",
    "packed_blocks": "packed",
    "packed_blocks_with_window": "packed",
    "packed_decaying": "packed",
    "incomplete_blocks": "unsafe",
    "triangular_scores": "unsafe",
    "segment_means": "unsafe",
    "dense": "unsafe",
    "IncrementalCompressor": "incremental",
}

__all__ = list(_HOMES)

if TYPE_CHECKING:
    from .blocks import blocks_with_window as blocks_with_window
    from .blocks import completed_blocks as completed_blocks
    from .blocks import decaying as decaying
    from .blocks import dyadic as dyadic
    from .blocks import strided_blocks as strided_blocks
    from .catalogue import BUILD as BUILD
    from .catalogue import build as build
    from .check import check_family as check_family
    from .design import Design as Design
    from .design import Member as Member
    from .family import Family as Family
    from .incremental import IncrementalCompressor as IncrementalCompressor
    from .packed import packed_blocks as packed_blocks
    from .packed import packed_blocks_with_window as packed_blocks_with_window
    from .packed import packed_decaying as packed_decaying
    from .picture import draw as draw
    from .unsafe import dense as dense
    from .unsafe import incomplete_blocks as incomplete_blocks
    from .unsafe import segment_means as segment_means
    from .unsafe import triangular_scores as triangular_scores
    from .witness import FamilyWitness as FamilyWitness
else:
    __getattr__, __dir__ = face(__name__, _HOMES)
