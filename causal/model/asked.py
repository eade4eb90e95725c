"""What the caller of a check asked for, before it is known what the model takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .arguments import BoundaryLike
    from .limits import Limits
    from .outputs import Chosen
    from .trace.registry import Rule


@dataclass(frozen=True)
class Asked:
    """The arguments of `check_model`, by their names there."""

    model: Callable[..., Any]
    inputs: tuple[Any, ...]
    sequence_axis: int | None
    output_axis: int | None
    outputs: Chosen
    boundary: BoundaryLike
    modes: Sequence[str]
    lengths: Sequence[int] | None
    make_input: Callable[[int], Any] | None
    parameters: Literal["any", "stored"]
    vary: int | str
    vocabulary: int | None
    rules: tuple[Rule, ...]
    limits: Limits
    replay: bool
    unused: bool = False

    def with_sample(self) -> tuple[Asked, Any]:
        """The same with the first inputs made, if there are none, and those inputs; none are made twice."""
        make, lengths = self.make_input, list(self.lengths or ())
        if self.inputs or make is None or not lengths:
            return self, self.inputs
        made = [make(lengths[0])]
        return replace(self, make_input=lambda n: made.pop() if made and n == lengths[0] else make(n)), tuple(made)
