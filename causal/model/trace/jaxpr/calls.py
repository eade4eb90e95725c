"""One equation of a jaxpr, as a rule sees it: operands, parameters, and what a rule may report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..domain import BIG_MASK, VARIES, Array, Shadow, compress, uniform
from ..ledger import NOISE
from .operands import JaxOperand

if TYPE_CHECKING:
    from ..ledger import Ledger
    from ..policy import Policy
    from ..transfer.context import Operand

BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")  # where an equation that only calls keeps what it calls
CALLS = {
    "jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
    "remat", "remat2", "checkpoint", "custom_lin", "name_call", "core_closed_call", "shard_map", "xla_call",
}  # fmt: skip


class Run(Protocol):
    """The run that an equation is part of (see `interpreter.Interpreter`)."""

    @property
    def policy(self) -> Policy:
        """What the program is assumed to be."""
        ...

    @property
    def ledger(self) -> Ledger:
        """What was found."""
        ...

    def operand(self, shadow: Shadow, dtype: Any, compute: Callable[[], Any] | None = None, **made: Any) -> JaxOperand:
        """A new operand."""
        ...

    def derived(self, shadow: Shadow, source: JaxOperand, compute: Callable[[], Any] | None = None) -> JaxOperand:
        """An operand that holds what another one does, in another shape."""
        ...

    def closed(self, closed: Any, arguments: Sequence[JaxOperand]) -> list[JaxOperand]:
        """The results of an inner program."""
        ...


class JaxCall:
    """One equation (see `transfer.context.Context`); `shapes` and `dtypes` are those of its results."""

    def __init__(self, run: Run, equation: Any, operands: Sequence[JaxOperand]) -> None:
        self.run, self.equation, self.operands = run, equation, list(operands)
        self.name: str = equation.primitive.name
        self.params: Mapping[str, Any] = equation.params
        self.shapes = [tuple(getattr(v.aval, "shape", ())) for v in equation.outvars]
        self.dtypes = [getattr(v.aval, "dtype", None) for v in equation.outvars]
        self.inner: list[JaxOperand] = []  # what a loop or branch made of its results inside
        self.said: list[Callable[[Ledger, str], object]] = []  # to be said again where an equal equation stands
        self.factor = 1.0  # what the rule multiplied by numbers that a mask lowered, at the least
        self.killed = False  # an exact zero removed a dependency: the result may be a zero of either sign

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the (first) result."""
        return self.shapes[0]

    def bind(self, *arrays: Any, **changes: Any) -> Any:
        """The primitive itself on other operands, with some parameters changed."""
        return self.equation.primitive.bind(*arrays, **{**self.params, **changes})

    # -- what a rule may ask and must tell --------------------------------------------------------------------------

    @property
    def finite_masks(self) -> bool:
        """Whether large negative numbers may stand in for −∞."""
        return self.run.policy.finite_masks

    @property
    def last(self) -> int:
        """The largest rank of the chosen input."""
        return self.run.ledger.last

    def zeros_used(self, *operands: Operand) -> None:
        """Zeros of these operands removed a dependency."""
        self.killed = True
        for operand in operands:
            self.run.ledger.zeros_of(_own(operand))

    def values_used(self, *operands: Operand) -> None:
        """The outputs' dependencies rest on what these operands hold, zero or not."""
        for operand in operands:
            self.run.ledger.values_of(_own(operand))

    def masked_zero(self, where: Array, *, constant: float | None = None, alone: bool = False) -> Array:
        """All of the outputs in `where`: no values are computed, so that the condition was not tried."""
        if not self.finite_masks or not where.any():
            return np.zeros((1,) * max(where.ndim, 1), bool)
        self._finite_mask(constant, alone)
        return compress(where)

    def masked_below(self, scores: Operand, masked: Array, axes: Sequence[int]) -> bool:
        """True, under the condition that it is so."""
        self._finite_mask(None, False)
        return True

    def masked_alike(self, scores: Operand, masked: Array, axes: Sequence[int]) -> bool:
        """False: no number was computed."""
        return False

    def _finite_mask(self, constant: float | None, alone: bool) -> None:
        dtype = str(self.dtypes[0])
        self._say(lambda ledger, name: ledger.finite_mask(name, dtype, constant, alone, tried=False))

    def _say(self, say: Callable[[Ledger, str], object]) -> None:
        say(self.run.ledger, self.name)
        self.said.append(say)

    def mask_seen(self, number: float) -> None:
        """A large negative number, or a large one that is taken away, may come to stand in for −∞."""
        self._say(lambda ledger, _: ledger.mask_seen(number))

    def still_masks(self, factor: float) -> bool:
        """Whether every mask that was seen stays a large number: no values are computed, so that none is looked at."""
        self.factor = min(self.factor, factor)
        scaled = self.scaled()
        self.said.append(lambda ledger, _: ledger.scales_to(scaled))
        return self.run.ledger.scales_to(scaled) <= BIG_MASK

    def scaled(self) -> float:
        """What results that a mask lowered were multiplied by since, at the least."""
        return self.factor * min((o.scaled for o in self.operands), default=1.0)

    def must_be_finite(self, operand: Operand) -> None:
        """Exact zeros kill numbers of this operand, which holds for finite ones only: all are taken to be."""

    def nonzero_denominator(self) -> None:
        """An exact 0 is divided by a value that is taken not to be 0; records the condition."""
        self._say(lambda ledger, name: ledger.nonzero_denominator(name))

    def starved(self, rows: Array) -> None:
        """Softmax rows (boolean, any shape) in which nothing is visible."""
        if rows.any():
            self._say(lambda ledger, name: ledger.starved(name, rows))

    def noise(self, steered: bool = False) -> None:
        """The outputs hold fresh random numbers."""
        self.run.ledger.assume(NOISE)

    def everything(self) -> list[Shadow]:
        """Results that may depend on all there is."""
        return [uniform(shape, VARIES, 0, self.last) for shape in self.shapes]


def called(equation: Any) -> Any:
    """The program of an equation that only calls it; None for another equation."""
    if equation.primitive.name not in CALLS:
        return None
    return next((equation.params[b] for b in BODIES if b in equation.params), None)


def carried(params: Mapping[str, Any]) -> tuple[int, int]:
    """How many operands of a scan stay as they are, and how many are carried on; releases of JAX say it differently."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carries, *_ = params["ft_in"].unpack()
    return len(list(consts.vals)), len(list(carries.vals))


def _own(operand: Operand) -> JaxOperand:
    assert isinstance(operand, JaxOperand)  # every operand that a binding hands over came from its call
    return operand
