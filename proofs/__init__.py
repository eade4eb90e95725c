"""One module per claim T1…T26: statement, derivation, numeric check; rocq/ holds the kernel-checked proofs.

>>> from attnproof.proofs import check_claim, claim_by_id
>>> print(claim_by_id("T1").derive().check())
9 steps decided, no lemma
>>> check_claim("T1").status
'proved'
"""

from importlib import import_module
from typing import Any

_HOME = {
    "Claim": "claim",
    "claim_by_id": "claim",
    "registry": "claim",
    "check_claim": "verify",
    "table": "verify",
    "explanation": "explain",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_HOME)}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
