"""What an abstract run takes for granted: the first of the two records that every stage is handed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .registry import Rule


@dataclass(frozen=True)
class Policy:
    """What is assumed while a model runs abstractly; the strictest is `Policy(finite_masks=False, others="any")`.

    `parameters="any"` treats the model's parameters as arbitrary numbers, "stored" as the constants they are;
    `others="any"` treats the floating inputs beside the varied one as arbitrary, "given" keeps them as constants.
    `finite_masks=False` gives large negative numbers no special meaning. `rules` come before the built-in ones. Without
    `values` the run computes none, as far as the program asks for none. With `real`, arithmetic is that of real
    numbers, so that what cancels is gone (`cancelling`). Raises ValueError for an unknown word.
    """

    parameters: Literal["any", "stored"] = "any"
    others: Literal["given", "any"] = "given"
    finite_masks: bool = True
    rules: tuple[Rule, ...] = ()
    values: bool = True
    real: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (("parameters", ("any", "stored")), ("others", ("given", "any"))):
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} = {value!r} is unknown; use {allowed[0]!r} or {allowed[1]!r}")
