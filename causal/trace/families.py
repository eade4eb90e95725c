"""Every built-in family of rules; importing this module registers them."""

from . import (  # noqa: F401
    attention,
    contractions,
    convolution,
    creation,
    elementwise,
    fourier,
    indexing,
    movement,
    normalising,
    recurrent,
    reductions,
    scans,
    sorting,
)
