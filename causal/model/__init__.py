"""Is a whole model causal? One abstract pass proves it, or a concrete leak refutes it."""

from typing import TYPE_CHECKING

from ...lazy import face

_HOMES = {
    "check_model": "check",
    "assert_causal": "check",
    "from_configuration": "configuration",
    "parameters_on_meta": "on_meta",
    "ModelError": "setting",
    "ModelWitness": "witness",
}

__all__ = list(_HOMES)

if TYPE_CHECKING:
    from .check import assert_causal as assert_causal
    from .check import check_model as check_model
    from .configuration import from_configuration as from_configuration
    from .on_meta import parameters_on_meta as parameters_on_meta
    from .setting import ModelError as ModelError
    from .witness import ModelWitness as ModelWitness
else:
    __getattr__, __dir__ = face(__name__, _HOMES)
