"""Random keys and draws: any numbers, which depend on what their keys were made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..domain import VARIES, Shadow, join_all, uniform
from .registry import primitive

if TYPE_CHECKING:
    from .calls import JaxCall


@primitive(
    "random_bits random_wrap random_unwrap random_seed random_split random_fold_in random_clone random_gamma "
    "threefry2x32 rng_bit_generator",
    draws=True,
)
def drawn(call: JaxCall) -> list[Shadow]:
    """A draw takes its place in a stream that the key names, so that keys are numbers like any others."""
    call.noise()
    lo, hi = join_all(o.shadow for o in call.operands)
    return [uniform(shape, VARIES, lo, hi) for shape in call.shapes]


@primitive("iota")
def fresh(call: JaxCall) -> list[Shadow]:
    """What depends on nothing; as constants they are computed."""
    return [uniform(shape, VARIES) for shape in call.shapes]
