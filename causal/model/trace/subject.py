"""What is run: the second of the two records that every stage is handed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Subject:
    """A model with its inputs: which of them is varied, and along which axes the positions and the queries lie.

    `model` is any callable over tensors, `inputs` are its positional inputs and `keywords` its others. `vary` is the
    index or the keyword of the varied input, whose `sequence_axis` holds the positions; the output's `output_axis`
    holds the queries. `strangers` are modules that a run of the model was seen to use, though nothing shows it to reach
    them.
    """

    model: Callable[..., Any]
    inputs: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    vary: int | str = 0
    sequence_axis: int = 1
    output_axis: int = 1
    strangers: tuple[Any, ...] = ()

    @property
    def input(self) -> Any:
        """The varied input as given. Raises IndexError or KeyError where there is none of that name."""
        return self.keywords[self.vary] if isinstance(self.vary, str) else self.inputs[self.vary]

    @property
    def n(self) -> int:
        """The number of positions."""
        return int(self.input.shape[self.sequence_axis])

    @property
    def is_discrete(self) -> bool:
        """Whether the varied input holds whole numbers (tokens)."""
        return not (self.input.is_floating_point() or self.input.is_complex())

    @property
    def others(self) -> dict[int | str, Any]:
        """The other inputs, by index or keyword."""
        return {name: value for name, value in self._named if name != self.vary}

    @property
    def tied(self) -> tuple[int | str, ...]:
        """The other inputs that are the very object that is varied, by index or keyword."""
        return tuple(name for name, value in self.others.items() if value is self.input)

    @property
    def _named(self) -> list[tuple[int | str, Any]]:
        return [*enumerate(self.inputs), *self.keywords.items()]
