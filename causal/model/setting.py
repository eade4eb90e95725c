"""How a run is made: mode, precision, seeds and noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import ArgumentError
from ...libraries import library

MODES = ("eval", "train")


class ModelError(ArgumentError):
    """The model cannot be checked as it was given; the sentence says what to change."""


def need_torch() -> Any:
    """PyTorch, or one sentence that names the extra."""
    return library("torch", "check_model")


@dataclass(frozen=True)
class Setting:
    """How a run is made. `jitter` is the scale of the noise added to every parameter, `tremor` a relative one.

    `alone`: where one tensor was given as several inputs, only the varied one of them is replaced. `apart`: each
    element of a draw whose length depends on values has a stream of random numbers of its own (`draws`).
    """

    mode: str = "eval"
    precision: str = "native"  # or "float64": parameters, inputs and every intermediate result
    jitter: float = 0.0
    tremor: float = 0.0
    seed: int = 0
    tremor_seed: int = 0
    alone: bool = False
    apart: bool = False

    def describe(self) -> str:
        """A phrase such as 'float64, train mode, parameters jittered by 0.1'."""
        said = [] if self.precision == "native" else [self.precision]
        said += [f"{self.mode} mode"] if self.mode != "eval" else []
        said += [f"parameters jittered by {self.jitter:g}"] if self.jitter else []
        said += ["the other inputs that are the same tensor kept"] if self.alone else []
        said += ["each element drawn from a stream of its own"] if self.apart else []
        return ", ".join(said)


AS_GIVEN = Setting()
