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

from typing import TYPE_CHECKING

from .lazy import face

_HOMES = {
    "check_projection": "causal.projection.check",
    "assert_prefix_safe": "causal.projection.check",
    "nearest_safe_projection": "causal.projection.mask",
    "largest_safe_mask": "causal.projection.mask",
    "SafeMask": "causal.projection.visible",
    "check_family": "causal.design.check",
    "check_model": "causal.model.check",
    "assert_causal": "causal.model.check",
    "check_pipeline": "causal.pipeline.check",
    "assert_no_lookahead": "causal.pipeline.check",
    "Boundary": "causal.boundary",
    "Verdict": "causal.verdict",
    "Status": "causal.verdict",
    "Witness": "causal.verdict",
    "PrefixLeakError": "causal.verdict",
    "NotProvedError": "causal.verdict",
    "__version__": "version",
}

__all__ = list(_HOMES)

if TYPE_CHECKING:
    from .causal.boundary import Boundary as Boundary
    from .causal.design.check import check_family as check_family
    from .causal.model.check import assert_causal as assert_causal
    from .causal.model.check import check_model as check_model
    from .causal.pipeline.check import assert_no_lookahead as assert_no_lookahead
    from .causal.pipeline.check import check_pipeline as check_pipeline
    from .causal.projection.check import assert_prefix_safe as assert_prefix_safe
    from .causal.projection.check import check_projection as check_projection
    from .causal.projection.mask import largest_safe_mask as largest_safe_mask
    from .causal.projection.mask import nearest_safe_projection as nearest_safe_projection
    from .causal.projection.visible import SafeMask as SafeMask
    from .causal.verdict import NotProvedError as NotProvedError
    from .causal.verdict import PrefixLeakError as PrefixLeakError
    from .causal.verdict import Status as Status
    from .causal.verdict import Verdict as Verdict
    from .causal.verdict import Witness as Witness
    from .version import __version__ as __version__
else:  # a static reader must not take every name for one that a function may give
    __getattr__, __dir__ = face(__name__, _HOMES)
