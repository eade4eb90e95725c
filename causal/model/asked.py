"""What the caller of a check asked for, before it is known what the model takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

    @property
    def sample(self) -> Any:
        """The inputs, or those made for the first length."""
        if self.inputs or self.make_input is None or not self.lengths:
            return self.inputs
        return self.make_input(self.lengths[0])
