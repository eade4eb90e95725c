"""The register of ready designs, by name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from .blocks import blocks_with_window, completed_blocks, decaying, dyadic, strided_blocks
from .packed import packed_blocks, packed_blocks_with_window, packed_decaying
from .unsafe import dense, incomplete_blocks, segment_means, triangular_scores

if TYPE_CHECKING:
    from .design import Design

BUILD: dict[str, Callable[..., Design]] = {
    "completed-blocks": completed_blocks,
    "blocks-with-window": blocks_with_window,
    "strided-blocks": strided_blocks,
    "dyadic": dyadic,
    "decaying": decaying,
    "packed-blocks": packed_blocks,
    "packed-blocks-with-window": packed_blocks_with_window,
    "packed-decaying": packed_decaying,
    "incomplete-blocks": incomplete_blocks,
    "triangular-scores": triangular_scores,
    "segment-means": segment_means,
    "dense": dense,
}


"""The constructor of each design, by name."""


def build(name: str, n: int, **given: Any) -> Design:
    """The named design with the arguments given (None: left out) and plain defaults for the rest, for use at size n.

    Raises ValueError for an unknown name, which suggests the nearest, and for an argument that the design lacks.

    >>> build("strided-blocks", 12, stride=2).about
    'blocks of 4 every 2 positions, seen once complete'
    """
    if name not in BUILD:
        near = difflib.get_close_matches(name, BUILD, n=1)
        meant = f"did you mean {near[0]}? The designs are" if near else "the designs are"
        raise ArgumentError("design", f"{name!r} is unknown", f"{meant} {', '.join(BUILD)}")
    given = {key: value for key, value in given.items() if value is not None}
    wanted = inspect.signature(BUILD[name]).parameters
    for key in given:
        if key not in wanted:
            raise ArgumentError("design", f"{name} takes no {key}", f"it takes {', '.join(wanted) or 'no argument'}")
    thirds = [n - 2 * (n // 3), n // 3, n // 3] if n >= 3 else [n]
    defaults: dict[str, Any] = {"p": 4, "k": 4, "stride": 4, "lengths": thirds}
    needed = {k: defaults[k] for k in wanted if k in defaults and wanted[k].default is inspect.Parameter.empty}
    return BUILD[name](**{**needed, **given})
