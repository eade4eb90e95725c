"""Does a sequence-compressed head look ahead? Support (T10), the exact criterion (T11), masks (T13)."""

from typing import TYPE_CHECKING

from ...lazy import face

_HOMES = {
    "check_projection": "check",
    "assert_prefix_safe": "check",
    "largest_safe_mask": "mask",
    "nearest_safe_projection": "mask",
    "SafeMask": "visible",
    "ProjectionWitness": "witness",
    "keep_safe": "parametrization",
    "safe_support": "parametrization",
}

__all__ = list(_HOMES)

if TYPE_CHECKING:
    from .check import assert_prefix_safe as assert_prefix_safe
    from .check import check_projection as check_projection
    from .mask import largest_safe_mask as largest_safe_mask
    from .mask import nearest_safe_projection as nearest_safe_projection
    from .parametrization import keep_safe as keep_safe
    from .parametrization import safe_support as safe_support
    from .visible import SafeMask as SafeMask
    from .witness import ProjectionWitness as ProjectionWitness
else:
    __getattr__, __dir__ = face(__name__, _HOMES)
