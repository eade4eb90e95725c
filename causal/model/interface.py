"""What every stage asks of a program and its varied input, whichever library they were written for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from .setting import Setting
    from .trace.policy import Policy
    from .trace.records import Chain, Trace
    from .trace.subject import Subject


class AnyVariation(Protocol):
    """The varied input with other numbers in it, whichever library it is an array of."""

    def replaced(self, x: Any, positions: np.ndarray, scale: float, seed: int, vocabulary: int | None) -> Any:
        """Other tokens, or noise, at the positions."""
        ...

    def mixed(self, x: Any, changed: Any, positions: np.ndarray) -> Any:
        """What another one holds at the positions."""
        ...

    def shaken(self, x: Any, epsilon: float, seed: int, wide: bool) -> Any:
        """Moved by a few last places."""
        ...

    def host(self, x: Any, wide: bool = False) -> np.ndarray:
        """As an array of NumPy, which may lie in its memory."""
        ...

    def back(self, x: np.ndarray, like: Any, dtype: str, setting: Setting) -> Any:
        """From an array of NumPy."""
        ...

    def type_of(self, x: Any) -> str:
        """The name of the number format."""
        ...


class AnyProgram(Protocol):
    """What every stage asks of a program, whichever library it was written for (`program` is PyTorch's)."""

    @property
    def subject(self) -> Subject:
        """The model with its inputs."""
        ...

    @property
    def n(self) -> int:
        """The number of positions."""
        ...

    @property
    def input(self) -> Any:
        """The varied input as given."""
        ...

    @property
    def libraries(self) -> Sequence[str]:
        """The distributions whose versions a verdict records."""
        ...

    @property
    def name(self) -> str:
        """What to call the model."""
        ...

    def digest(self) -> str | Callable[[], str]:
        """A hash of the inputs and the parameters, or what gives it."""
        ...

    @property
    def variation(self) -> AnyVariation:
        """How it is varied."""
        ...

    @property
    def has_values(self) -> bool:
        """Whether it can be run on numbers."""
        ...

    @property
    def has_parameters(self) -> bool:
        """Whether it was made of any."""
        ...

    @property
    def others_matter(self) -> bool:
        """Whether other inputs hold numbers that a proof might rest on."""
        ...

    @property
    def changed(self) -> bool:
        """Whether a call changes what the model keeps."""
        ...

    @property
    def rebuilt(self) -> bool:
        """Whether the program itself is another after a call."""
        ...

    def shared(self) -> list[str]:
        """What lies in the memory of the varied input, in words."""
        ...

    def about(self, paths: Sequence[str]) -> Self:
        """The program whose outputs are those at the paths."""
        ...

    def numbers(self, x: Any, setting: Setting = ...) -> np.ndarray:
        """The output (queries, features) for another varied input."""
        ...

    def traced(
        self, policy: Policy, setting: Setting, ranks: np.ndarray, *, why: str = "", later: bool = False
    ) -> Trace:
        """An abstract run."""
        ...

    def chain(self, policy: Policy, setting: Setting, like: Trace, **asked: Any) -> Chain:
        """How forbidden positions reach an output."""
        ...
