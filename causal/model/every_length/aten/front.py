"""Models of PyTorch for every length: recorded with a symbol for what grows with n, and followed node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from ...arguments import parted
from ...program import Program
from ...raised import phrase
from ...setting import ModelError, Setting
from ..integers import NotLinear, Statements, solver, whole
from ..lengths import MOST_BLOCK, Lengths
from ..prove import LengthProof, proved
from .recording import Record, flat, recorded
from .sizes import AtenSizes
from .walk import AtenRun

if TYPE_CHECKING:
    from ..boundaries import Side
    from ..integers import Term
    from ..shadow import LengthShadow

LEAST = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128)  # PyTorch never records for a length of 0 or 1
COMPARED = 3  # lengths at which a record is compared with the model


class AtenFront:
    """A program in one mode, as it can be recorded for many lengths."""

    def __init__(self, program: Program, make_input: Callable[[int], Any] | None, mode: str) -> None:
        self._program, self._make, self._mode = program, make_input, mode
        self._records: dict[int, Record | NotLinear] = {}
        self._compared: set[int] = set()
        self._axes = self._growing()

    @property
    def seen(self) -> str:
        """What Python saw of n."""
        at, same = (", ".join(map(str, sorted(s))) for s in (self._records, self._compared))
        compared = (
            f"the record gave the model's own outputs at n = {same}" if same else "it was not compared with values"
        )
        records = [r for r in self._records.values() if isinstance(r, Record)]
        found = " (nothing was found under n itself in a cache)" if any(r.keys for r in records) else ""
        return (
            f"torch.export saw n as a symbol{found}, decided branches on it as at n = {at}, and every guard that it "
            f"noted is proved for these lengths; {compared}"
        )

    def ranges(self) -> Iterator[Lengths]:
        """All lengths from some one on for which the record holds; the first of all where it holds for none."""
        n, none = self._program.n, True
        try:
            record = self._record(n)
        except NotLinear:
            yield Lengths(least=LEAST[0])
            return
        for least in (s for s in LEAST if s <= n):
            for most in _ends(record):
                lengths = Lengths(least=least, most=most)
                if lengths.holds(n) and self._recorded(record, lengths).holds:
                    none = False
                    yield lengths
        if none:
            yield Lengths(least=LEAST[0])

    def blocks(self) -> list[int]:
        """What the guards say that sizes are divided by."""
        try:
            record = self._record(self._program.n)
        except NotLinear:
            return []
        found = {int(a) for g in record.guards for a in _divisors(g)}
        return sorted(b for b in found if 2 <= b <= MOST_BLOCK)

    def prove(self, lengths: Lengths, sides: Sequence[Side], finite_masks: bool) -> LengthProof:
        """The proof for some lengths; NotLinear where the program cannot be recorded for them."""
        start = max(self._program.n, lengths.smallest)
        n = next((k for k in range(start, start + lengths.block) if lengths.holds(k)), None)
        if n is None:
            raise NotLinear(f"no length is recorded among {lengths.describe()}")
        record = self._record(n)
        if lengths.block > 1:
            starts = (Lengths(lengths.block, lengths.residue, s, most) for s in LEAST for most in _ends(record))
            lengths = next((s for s in starts if s.holds(n) and self._recorded(record, s).holds), lengths)
        found = self._recorded(record, lengths)
        found.check()
        self._compare(found.record, lengths, n)
        return proved(found, lengths, sides, finite_masks)

    def _recorded(self, record: Record, lengths: Lengths) -> _Recorded:
        return _Recorded(record, lengths, self._program.subject.sequence_axis, self._program.subject.output_axis)

    # -- inputs and records -------------------------------------------------------------------------------------------

    def _record(self, n: int) -> Record:
        """The record that was made at one length."""
        if n not in self._records:
            try:
                self._records[n] = recorded(self._at(n), self._mode, self._axes)
            except NotLinear as reason:
                self._records[n] = reason
        found = self._records[n]
        if isinstance(found, NotLinear):
            raise found
        return found

    def _compare(self, record: Record, lengths: Lengths, n: int) -> None:
        """NotLinear where the record gives other outputs than the model."""
        if not self._program.has_values:
            return
        for at in [n, *(k for k in range(lengths.smallest, n + 2 * lengths.block) if k != n and lengths.holds(k))][
            :COMPARED
        ]:
            given = [v for v in flat(self._at(at))[0] if isinstance(v, torch.Tensor)]
            try:
                with self._program.prepared(Setting(mode=self._mode)):
                    differs = record.differs(given)
            except Exception as error:  # whatever the model raises
                raise NotLinear(f"at n = {at}, where the record holds: {phrase(error)}") from error
            if differs:
                raise NotLinear(f"what PyTorch recorded gives other outputs than the model at n = {at}")
            self._compared.add(at)

    def _at(self, n: int) -> Program:
        """The program on inputs of n positions."""
        subject = self._program.subject
        if n == self._program.n:
            return self._program
        leaves, structure = self._inputs(n)
        positional, keywords = pytree.tree_unflatten(leaves, structure)
        return Program.of(replace(subject, inputs=tuple(positional), keywords=keywords)).about(self._program.paths)

    def _inputs(self, n: int) -> tuple[list[Any], Any]:
        subject = self._program.subject
        if self._make is not None:
            made = self._make(n)
            positional, keywords, _ = parted(made if isinstance(made, tuple) else (made,), subject.vary)
            return pytree.tree_flatten((list(positional), dict(keywords)))
        leaves, structure = flat(self._program)
        x, axis = subject.input, subject.sequence_axis
        longer = x.index_select(axis, torch.arange(n, device=x.device) % x.shape[axis])
        return [longer if v is x else v for v in leaves], structure

    def _growing(self) -> list[int | None]:
        """For each tensor the axis that grows with n; ModelError where nobody can tell, or where several do."""
        n, (leaves, _) = self._program.n, flat(self._program)
        if self._make is None:
            for v in leaves:
                if isinstance(v, torch.Tensor) and v is not self._program.input and n in v.shape:
                    raise ModelError(
                        "another input", f"has shape {tuple(v.shape)}, and nobody says whether {n} in it is n",
                        "pass make_input(n)", mentions=("make_input",),
                    )  # fmt: skip
        found = [_grown(leaves, self._inputs(k)[0], n, k) for k in (n + 1, n + MOST_BLOCK)]
        if found[0] != found[1]:
            raise ModelError("another input", "grows with n at some lengths alone", "give it one size, or n itself")
        return found[0]


@dataclass(frozen=True)
class _Recorded:
    """A record for some lengths."""

    record: Record
    lengths: Lengths
    axis: int
    output_axis: int

    @cached_property
    def holds(self) -> bool:
        """Whether all that it takes for granted holds at these lengths."""
        try:
            self.check()
        except NotLinear:
            return False
        return True

    def check(self) -> None:
        """NotLinear where something that it takes for granted does not."""
        variable = solver.Int(self.lengths.variable)
        self._sizes(Statements(self.lengths.premises(variable)), variable)

    def _sizes(self, statements: Statements, variable: Term) -> AtenSizes:
        """The sizes; NotLinear where the record is not that of all these lengths."""
        n = self.lengths.of(variable)
        sizes = AtenSizes(statements, variable, dict.fromkeys(self.record.symbols, n))
        statements.about = "a guard"
        limits = [(n >= self.record.least, f"n ≥ {self.record.least}")]
        if self.record.most is not None:
            limits.append((n <= whole(self.record.most), f"n ≤ {self.record.most}"))
        for truth, said in (*limits, *((sizes.truth(g), str(g)) for g in self.record.guards)):
            if not statements.hold(truth):
                names = sorted(self.record.symbols)
                said = said if len(names) != 1 else said.replace(names[0], "n")
                raise NotLinear(f"Python or PyTorch asks about the length: what was recorded holds only where {said}")
        return sizes

    def follow(
        self, statements: Statements, variable: Term, last: Term, side: Side, finite_masks: bool
    ) -> tuple[AtenRun, list[LengthShadow]]:
        """A run in the ranks of one side, and its outputs."""
        sizes = self._sizes(statements, variable)
        run = AtenRun(statements, sizes, last, side, finite_masks=finite_masks, axis=self.axis)
        return run, run.outputs(self.record)


def _ends(record: Record) -> tuple[int | None, ...]:
    """What n may be at most: a table's size, or one less, as PyTorch tells the whole of it from what was cut."""
    return (None,) if record.most is None else (record.most, record.most - 1)


def _grown(leaves: Sequence[Any], others: Sequence[Any], n: int, more: int) -> list[int | None]:
    """The axis of each tensor that has n places, and more for more of them."""
    found: list[int | None] = []
    for a, b in zip(leaves, others, strict=True):
        if not isinstance(a, torch.Tensor):
            if not isinstance(b, type(a)) or (isinstance(a, (int, float, str)) and a != b):
                raise ModelError("another input", "is a number that depends on n", "pass it as a tensor")
            continue
        axes = [k for k, (p, q) in enumerate(zip(a.shape, b.shape, strict=True)) if (p, q) == (n, more)]
        if (
            any(p != q and k not in axes for k, (p, q) in enumerate(zip(a.shape, b.shape, strict=True)))
            or len(axes) > 1
        ):
            raise NotLinear(f"an input of shape {tuple(a.shape)} for n = {n} has shape {tuple(b.shape)} for {more}")
        found.append(axes[0] if axes else None)
    return found


def _divisors(guard: Any) -> Iterator[Any]:
    """The numbers that something is divided by in an expression."""
    if type(guard).__name__ in ("FloorDiv", "CleanDiv", "Mod", "PythonMod") and guard.args[1].is_Integer:
        yield guard.args[1]
    for part in guard.args:
        yield from _divisors(part)
