"""What a run found on its way: reads, conditions, breaches, and the parameters that its results rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NoReturn, Protocol

from .domain import Array, Shadow, join_all
from .records import MaskCondition, Operation, Read

# below minus this, the exponential of a number is 0
MARGINS = {"float64": 746.0}
# the same where each output follows from its own input: a row of a small format is summed in float32, where less counts
ALONE = {**MARGINS, "bfloat16": 94.0, "float16": 18.0}
NOISE = "random draws are the same in every run"
CERTAIN = -1000.0  # a mask down to this may be too weak for the scores of an ordinary run: it is tried on one
ALIKE = "a mask to which scores may add nothing"
TWO_MASKS = "the sum of two finite masks, which may be −∞"
WEAK = f"a mask above {CERTAIN:g}, which may be too weak"


REAL = (
    "arithmetic is that of real numbers (in floats, what cancels leaves a rounding error that may depend on "
    "anything, and is as large as the result where numbers underflow)"
)


class Places(Protocol):
    """Knows where the operation at hand stands in the program."""

    def module(self) -> str:
        """The path of the module that runs it."""
        ...

    def line(self) -> str:
        """The line of the user's file."""
        ...


class Made(Protocol):
    """What holds numbers: the parameters that its zeros, and its other constants, were made of."""

    @property
    def sources(self) -> frozenset[str]:
        """Those of its zeros."""
        ...

    @property
    def valued(self) -> frozenset[str]:
        """Those of its other constants."""
        ...


class ValueNeeded(BaseException):
    """A run without values cannot go on: it was asked for a number that it does not compute.

    No `Exception`, so that few programs catch it; and what they do then counts for nothing (`Ledger.needed`).
    """


class NoValues(Exception):
    """A run without values stopped, and there are none for another."""


class Ledger:
    """The entries of one run, each kind under its first place in the program.

    `needed`: what first asked a run without values for one; `wanted`: what values might have told more about.
    """

    def __init__(self, places: Places, last: int) -> None:
        self.places, self.last = places, last
        self.counts: Counter[str] = Counter()
        self.unknown: dict[tuple[str, str, str], Operation] = {}
        self.reads: dict[tuple[str, str, str, str], Read] = {}
        self.breaches: dict[tuple[str, str, str], Operation] = {}
        self.conditions: dict[tuple[str, str], MaskCondition] = {}
        self.rows: dict[tuple[str, str, str], tuple[Operation, Array]] = {}
        self.parameter_zeros: frozenset[str] = frozenset()
        self.parameter_values: frozenset[str] = frozenset()
        self.assumptions: dict[str, None] = {}
        self.without_value: dict[str, None] = {}
        self.needed = ""
        self.raised: list[ValueNeeded] = []
        self.wanted: dict[str, None] = {}
        self.compared: dict[int, None] = {}  # whole numbers that what depends on the input is compared with
        self.weakest: float | None = None  # of the masks that were seen
        self.scaled = False  # something that one of them lowered was multiplied since

    def need(self, how: str, line: str = "") -> NoReturn:
        """A value that was not computed is asked for: the run ends, and nothing that it found counts."""
        line = line or self.places.line()
        self.needed = self.needed or (f"{how} at {line}" if line else how)
        self.raised.append(ValueNeeded(self.needed))
        raise self.raised[-1]

    def want(self, how: str) -> None:
        """Values might tell more here, where the run without them took the worst for granted."""
        self.wanted.setdefault(how)

    def operation(self, name: str, detail: str = "") -> Operation:
        """The operation at hand, with the place where it stands."""
        return Operation(name, self.places.module(), self.places.line(), detail)

    def without_rule(self, name: str, detail: str = "") -> None:
        """An operation of which nothing is known but what it reads."""
        operation = self.operation(name, detail)
        self.unknown.setdefault((operation.name, operation.module, operation.line), operation)

    def read(self, how: str, shadows: Sequence[Shadow], is_truth: bool = False) -> None:
        """Values with these shadows leave the tensors; `is_truth`: as one truth value."""
        if all(s.is_fixed for s in shadows):
            return
        lo, hi = join_all(shadows)
        operation = self.operation(how)
        found = Read(operation, "input", lo, hi, is_truth) if hi >= lo else Read(operation, "parameters")
        what = f"{found.source}{' (a truth value)' * found.is_truth}"
        self.reads.setdefault((operation.name, operation.module, operation.line, what), found)

    def drawn(self, how: str) -> None:
        """Random numbers that no operation shows may have steered the program."""
        self.reads.setdefault((how, "", "", "draws"), Read(Operation(how, "", ""), "draws"))

    def unseen(self, how: str) -> None:
        """Something that the run cannot follow, which may read all there is."""
        operation = self.operation(how)
        self.reads.setdefault((how, operation.module, operation.line, "input"), Read(operation, "input", 0, self.last))

    def broken(self, name: str) -> None:
        """This run breaks the assumption that numbers are finite, just where a rule rests on it."""
        operation = self.operation(name)
        self.breaches.setdefault((operation.name, operation.module, operation.line), operation)

    def starved(self, name: str, rows: Array) -> None:
        """Softmax rows (boolean, any shape) in which nothing is visible."""
        operation = self.operation(name)
        self.rows.setdefault((operation.name, operation.module, operation.line), (operation, rows))

    def valueless(self, name: str) -> None:
        """Something that the program holds as a constant has no value, and so counts as any number."""
        self.without_value.setdefault(name)

    def assume(self, sentence: str) -> None:
        """A proof from this run rests on it."""
        self.assumptions.setdefault(sentence)

    # -- parameters -------------------------------------------------------------------------------------------------

    def zeros_of(self, memory: Made | None) -> None:
        """A dependency was removed by zeros in this memory: by those of the parameters that they were made of."""
        if memory is not None:
            self.parameter_zeros |= memory.sources
            self.parameter_values |= memory.valued

    def values_of(self, memory: Made | None) -> None:
        """What was found rests on the constants in this memory: on the parameters that they were made of."""
        if memory is not None:
            self.parameter_values |= memory.sources | memory.valued

    # -- conditions -------------------------------------------------------------------------------------------------

    def mask_seen(self, number: float) -> None:
        """A large negative constant may come to stand in for −∞."""
        self.weakest = number if self.weakest is None else max(self.weakest, number)

    def scales_to(self, factor: float) -> float:
        """What the weakest mask becomes where something that one lowered is multiplied by this number."""
        self.scaled = True
        return 0.0 if self.weakest is None else self.weakest * factor

    def finite_mask(
        self, name: str, dtype: str, constant: float | None, alone: bool = False, tried: bool = True
    ) -> None:
        """A masked entry counted as 0 because a large finite number stood in for −∞; `dtype` as in "float32".

        `tried`: on numbers, as it is in a run with values.
        """
        operation = self.operation(name)
        margin = (ALONE if alone else MARGINS).get(dtype, 104.0)
        constant = self.weakest if constant is None and not tried else constant
        self._condition(
            operation, self._hidden(name, margin, dtype, alone, None if tried else constant), dtype, constant, margin
        )

    def _condition(
        self, operation: Operation, statement: str, dtype: str, constant: float | None, margin: float
    ) -> None:
        if constant is not None:
            statement += f"; the mask adds or sets {constant:g}"
        text = f"{operation.place}, {statement}"
        self.conditions.setdefault(
            ("finite-mask", text), MaskCondition("finite-mask", operation, text, constant, margin, dtype, statement)
        )

    def masked_under(self, name: str, dtype: str, some: bool, weights: bool, tried: bool) -> None:
        """Where a row was put in order, masked scores came after every visible one, or after `some`; `weights`: zeros
        after numbers above 0, which are no smaller than 0 where they underflow.
        """
        if weights:
            least = "in every row some weight is" if some else "every weight that no mask hides is"
            statement = f"{least} above 0, as it is unless it underflows ({dtype})"
        elif some:
            statement = f"in every row some visible score exceeds every masked score ({dtype})"
        else:
            statement = f"every visible score exceeds every masked score of its row ({dtype})"
        constant, operation = None if tried or weights else self.weakest, self.operation(name)
        here = [c for c in self.conditions.values() if c.operation == operation and c.kind == "finite-mask"]
        if some and not weights and any(c.margin for c in here):
            return  # that by more than a margin says more
        self._condition(operation, statement, dtype, constant, 0.0)

    def _hidden(self, name: str, margin: float, dtype: str, alone: bool, number: float | None) -> str:
        """What must hold of the scores, or, where a mask's number is known and as it was, what is enough."""
        if not alone:
            some = f"in every row some visible score exceeds every masked score by more than {margin:g} ({dtype})"
            half = 0.0 if number is None or self.scaled else (-number - margin) / 2
            return f"every score lies within ±{half:.3g}, so that {some}" if half > 0 else some
        if name in ("aten.topk", "aten.sort"):
            return f"every masked score is so small beside the mask that their sum is the mask's own number ({dtype})"
        if name == "aten.relu":
            return "every masked value is at most 0"
        if name == "aten.exp":
            return f"every masked value is below −{margin:g} ({dtype})"
        return f"every masked value is so low that the result is exactly 0 ({dtype})"

    def real_arithmetic(self, name: str) -> None:
        """Something cancelled, which in floats leaves a rounding error."""
        operation = self.operation(name)
        text = f"{operation.place}, {REAL}"
        self.conditions.setdefault(("real", text), MaskCondition("real-arithmetic", operation, text, statement=REAL))

    def nonzero_denominator(self, name: str) -> None:
        """An exact 0 is divided by a value that is taken not to be 0."""
        operation = self.operation(name)
        text = f"the denominator at {operation.line} is never 0"
        self.conditions.setdefault(
            ("nonzero-denominator", operation.line), MaskCondition("nonzero-denominator", operation, text)
        )
