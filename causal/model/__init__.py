"""Is a whole model causal? One abstract pass proves it, or a concrete leak refutes it."""

from typing import TYPE_CHECKING

from ...lazy import face

_HOMES = {
    "check_model": "check",
    "assert_causal": "check",
    "ModelError": "setting",
    "ModelWitness": "witness",
}

__all__ = list(_HOMES)

if TYPE_CHECKING:
    from .check import assert_causal as assert_causal
    from .check import check_model as check_model
    from .setting import ModelError as ModelError
    from .witness import ModelWitness as ModelWitness
else:
    __getattr__, __dir__ = face(__name__, _HOMES)
