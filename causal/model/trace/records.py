"""What an abstract run returns: operations, values that were read, conditions, outputs, chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np

    from .domain import Shadow

__all__ = ["Chain", "MaskCondition", "Operation", "Output", "Read", "Trace"]

BY_VALUES = "(a shape that depends on values)"  # said of an operation whose result has one
FINITE = "inputs are finite, and so is every number computed from them (no overflow, no NaN, no denominator that is 0)"


@dataclass(frozen=True)
class Operation:
    """One operation of the program: what it is, and where it stands.

    `module` is the path of the innermost module that was running (`layers.3.attn.to_k`, "" at the top), `line` is
    "file.py:12" of the innermost frame that is not PyTorch's own, or of PyTorch's module where there is none.
    """

    name: str
    module: str
    line: str
    detail: str = ""

    @property
    def place(self) -> str:
        """The same as a phrase, "in aten.add at file.py:12 (layers.3)"."""
        return f"in {self.name} at {self.line}" + (f" ({self.module})" if self.module else "")

    def __str__(self) -> str:
        where = f" in {self.module}" if self.module else ""
        line, detail = f" ({self.line})" if self.line else "", f": {self.detail}" if self.detail else ""
        return f"{self.name}{where}{line}{detail}"


@dataclass(frozen=True)
class Read:
    """A value that left the tensors for Python (`.item()`, `bool(tensor)`, `.numpy()`, a shape that depends on values).

    `earliest`, `latest`: the ranks it can depend on; `source`: "input" when it depends on the chosen input (then
    nothing can be proved), "parameters" when only on parameter values or random draws (then a proof holds for the route
    that the stored parameters and this draw take), "draws" for random numbers of Python or NumPy. `is_truth`: it is one
    truth value, and so one of two.
    """

    operation: Operation
    source: Literal["input", "parameters", "draws"]
    earliest: int | None = None
    latest: int | None = None
    is_truth: bool = False


@dataclass(frozen=True)
class MaskCondition:
    """A large finite number that stood in for −∞, and what must hold for it to act like one.

    At `operation` the masked entries came out as exactly 0 (checked on the inputs given, where values were computed).
    It holds in general when, in
    every row, the largest visible score exceeds every masked score by more than `margin` (in `dtype`).
    `constant`: the mask's number where it is known; `kind`: "finite-mask", "real-arithmetic" for what cancels in real
    numbers, or "nonzero-denominator" for a division of an exact 0 by a value that is assumed not to be 0. `statement`
    is the text without the place.
    """

    kind: str
    operation: Operation
    text: str
    constant: float | None = None
    margin: float | None = None
    dtype: str | None = None
    statement: str = ""


@dataclass(frozen=True)
class Output:
    """One output tensor: where it sits in the returned structure, its value, and the shadow of its elements."""

    path: str
    value: Any
    shadow: Shadow

    def along(self, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """Earliest and latest rank that each position of `axis` can depend on, int64 arrays of that axis' length.

        A position that depends on nothing has earliest > latest (earliest = the largest int32, latest = −1).
        Raises IndexError when the output has no such axis.
        """
        return self.shadow.along(axis)

    def __repr__(self) -> str:
        return f"Output({self.path!r}, shape={tuple(self.shadow.shape)})"


@dataclass(frozen=True)
class Trace:
    """What one abstract run found. See the module's text for how verdicts follow.

    Attributes:
      outputs: every tensor in what the model returned.
      unknown: operations without a rule, each treated as depending on everything it reads.
      reads: values that left the tensors for Python and were not constants.
      conditions: finite masks (and denominators) that the intervals rest on; empty when `finite_masks=False`.
      parameter_zeros: names of parameters whose zeros removed a dependency; only with `parameters="stored"`.
      parameter_values: names of parameters whose other values did: as masks, conditions, indices or numbers in Python.
      breaches: operations at which an exact 0 (or −∞) met a number that is not finite, in this very run.
      starved: operations in which a row of a softmax saw nothing at all, with the row's index.
      written: names of parameters and buffers of the model, and "input", that the run wrote data into.
      assumptions: sentences that a proof from this run rests on.
      operations: how many operations ran, by name.
      course: a number that runs have in common which did the same, operation by operation, with values or without.
      seconds: wall-clock time of the abstract run.
      with_values: why the run computed values; "" where it ran without any.
      wanted: what values might have told more about, in a run without.
      compared: whole numbers that numbers made of the input are compared with, as tokens with that of padding.
      valueless: buffers and other constants that have no value, so that they count as any numbers.
      harmless: reads of truth values of the input that change nothing of what is returned.
      excluded: reads of truth values of the input with one outcome after which the program raises at once.
      numbers: the value number of each output, by its path, where runs are compared.
      axes: those of each result along which positions lie, where that was asked on the way (`provenance`).
      kept: what a run without values left, made from the input, where nobody puts it back.
      result: what the model returned, in a run without values: tensors without data.
      opened: whether a run without values gave the program memory that is older than it, as an array of NumPy's.
      data: weak references to the storages that held what depends on the chosen input when the run was over.
    """

    outputs: tuple[Output, ...]
    unknown: tuple[Operation, ...] = ()
    reads: tuple[Read, ...] = ()
    conditions: tuple[MaskCondition, ...] = ()
    parameter_zeros: tuple[str, ...] = ()
    parameter_values: tuple[str, ...] = ()
    breaches: tuple[Operation, ...] = ()
    starved: tuple[tuple[Operation, int], ...] = ()
    written: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    operations: Mapping[str, int] = field(default_factory=dict)
    course: int = field(default=0, repr=False, compare=False)
    axes: Sequence[Sequence[Sequence[tuple[int, ...]]]] = field(default=(), repr=False, compare=False)
    seconds: float = 0.0
    opened: bool = False
    data: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    with_values: str = ""
    wanted: tuple[str, ...] = ()
    compared: tuple[int, ...] = ()
    valueless: tuple[str, ...] = ()
    harmless: tuple[Operation, ...] = ()
    excluded: tuple[Operation, ...] = ()
    numbers: tuple[tuple[str, int], ...] = field(default=(), repr=False, compare=False)
    kept: str = ""
    result: Any = field(default=None, repr=False, compare=False)

    @property
    def complete(self) -> bool:
        """Whether no value that depends on the chosen input left the tensors and the run kept to the assumptions.

        Then the intervals hold for all inputs.
        """
        return not self.breaches and not any(read.source == "input" for read in self.reads)


@dataclass(frozen=True)
class Chain:
    """How the forbidden positions reach an output: from `entry`, the first operation that mixes them in, to the
    output.
    """

    position: int
    entry: Operation | None
    path: tuple[Operation, ...]
    entries: tuple[Operation, ...]
