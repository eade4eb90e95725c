"""Proofs and refutations about attention that compresses the sequence axis.

The names below are what other projects import. They load lazily, so that `import attnproof` costs little more than
`import numpy`: neither SymPy nor FLINT nor any array library but NumPy is imported until a name needs it.

>>> import attnproof as ap
>>> half = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]           # the article's projection: r = 2 slots, n = 3 positions
>>> verdict = ap.check_projection(half)                  # who may see what is not restricted: it leaks
>>> verdict.status.name, verdict.witness.query, verdict.witness.position
('REFUTED', 0, 1)
>>> ap.check_projection(half, visible="largest").status.name
'PROVED'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "check_projection": "causal.projection",
    "assert_prefix_safe": "causal.projection",
    "nearest_safe_projection": "causal.mask",
    "largest_safe_mask": "causal.mask",
    "SafeMask": "causal.mask",
    "check_family": "causal.family",
    "check_model": "causal.model",
    "assert_causal": "causal.model",
    "check_pipeline": "causal.pipeline",
    "assert_no_lookahead": "causal.pipeline",
    "Boundary": "causal.boundary",
    "Verdict": "causal.verdict",
    "Status": "causal.verdict",
    "Witness": "causal.verdict",
    "PrefixLeakError": "causal.verdict",
    "NotProvedError": "causal.verdict",
}

__all__ = [*_HOME, "__version__"]

if TYPE_CHECKING:
    from .causal.boundary import Boundary as Boundary
    from .causal.mask import SafeMask as SafeMask
    from .causal.mask import largest_safe_mask as largest_safe_mask
    from .causal.mask import nearest_safe_projection as nearest_safe_projection
    from .causal.projection import assert_prefix_safe as assert_prefix_safe
    from .causal.projection import check_projection as check_projection
    from .causal.verdict import NotProvedError as NotProvedError
    from .causal.verdict import PrefixLeakError as PrefixLeakError
    from .causal.verdict import Status as Status
    from .causal.verdict import Verdict as Verdict
    from .causal.verdict import Witness as Witness


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'attnproof' has no attribute {name!r}; it has {', '.join(sorted(_HOME))}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
