"""Look-ahead in a feature pipeline: does a row already written change when the rows after it come, or change? (T17)"""

from typing import TYPE_CHECKING

from ...lazy import face

_HOMES = {
    "check_pipeline": "check",
    "assert_no_lookahead": "check",
    "PipelineWitness": "witness",
    "check_pipelines": "survey",
    "measure_startup": "startup",
    "Startup": "startup",
}

__all__ = list(_HOMES)

if TYPE_CHECKING:
    from .check import assert_no_lookahead as assert_no_lookahead
    from .check import check_pipeline as check_pipeline
    from .startup import Startup as Startup
    from .startup import measure_startup as measure_startup
    from .survey import check_pipelines as check_pipelines
    from .witness import PipelineWitness as PipelineWitness
else:
    __getattr__, __dir__ = face(__name__, _HOMES)
