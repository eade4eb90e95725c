"""A call as a rule would see it if some operands had other shadows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calls import TorchCall, TorchOperand
    from .domain import Array, Shadow


class _Other:
    """An operand with another shadow, and perhaps other numbers."""

    def __init__(self, operand: TorchOperand, shadow: Shadow, numbers: Array | None) -> None:
        self.own, self.shadow, self.numbers = operand, shadow, numbers
        self.shape, self.value, self.memory = operand.shape, operand.value, operand.memory

    def known(self) -> Shadow:
        """Nothing is left to be looked at."""
        return self.shadow

    def array(self) -> Any:
        """The numbers, those of the operand itself unless others were given."""
        return self.own.array() if self.numbers is None else self.numbers


class Instead:
    """A call in which some operands have other shadows, and some of those other numbers."""

    def __init__(
        self, call: TorchCall, instead: Mapping[Any, Shadow], numbers: Mapping[Any, Array] | None = None
    ) -> None:
        self._call = call
        self._others = {id(o): _Other(o, shadow, (numbers or {}).get(o)) for o, shadow in instead.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def __getitem__(self, name: str) -> Any:
        return self._swapped(self._call[name])

    def _swapped(self, value: Any) -> Any:
        return [self._swapped(v) for v in value] if isinstance(value, list) else self._others.get(id(value), value)

    def operands(self) -> list[Any]:
        """As the call's."""
        return [self._swapped(o) for o in self._call.operands()]

    def zeros_used(self, *operands: Any) -> None:
        """As the call's."""
        self._call.zeros_used(*(getattr(o, "own", o) for o in operands))

    def values_used(self, *operands: Any) -> None:
        """As the call's."""
        self._call.values_used(*(getattr(o, "own", o) for o in operands))

    def must_be_finite(self, operand: Any) -> None:
        """As the call's."""
        self._call.must_be_finite(getattr(operand, "own", operand))
