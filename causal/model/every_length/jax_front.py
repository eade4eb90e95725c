"""Models of JAX for every length: recorded with a symbol for what grows with n, and followed equation by equation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
from jax import export

from ..arguments import parted
from ..jax.program import JaxProgram
from ..setting import ModelError
from ..trace.jaxpr.frontend import bodies
from .branching import nothing_guessed
from .dims import Dims
from .formats import WHOLE, sort_of
from .integers import NotLinear, index
from .interpreter import JaxRun
from .lengths import LEAST, MOST_BLOCK, Lengths
from .prove import LengthProof, proved
from .shadow import LengthShadow

if TYPE_CHECKING:
    from ..trace.subject import Subject
    from .boundaries import Side
    from .integers import Statements, Term

SEEN = "Python saw n as a symbol, so that no branch on it was taken (and nothing was found under n itself in a dict)"


class JaxFront:
    """A program in one mode, as it can be recorded for many lengths."""

    seen = SEEN

    def __init__(self, program: JaxProgram, make_input: Callable[[int], Any] | None, mode: str) -> None:
        self._program, self._make, self._mode = program, make_input, mode
        given = (list(program.subject.inputs), dict(program.subject.keywords))
        _longer(make_input, program.subject, given, program.n + 1)  # raises where nobody can tell what grows

    def ranges(self) -> Iterator[Lengths]:
        """All lengths from some one on."""
        return whole_ranges(self._program)

    def blocks(self) -> list[int]:
        """The sizes of blocks that the program may cut its positions into."""
        return blocks(self._program)

    def prove(self, lengths: Lengths, sides: Sequence[Side], finite_masks: bool) -> LengthProof:
        """The proof for some lengths; NotLinear or ModelError where the program cannot be recorded for them."""
        recorded = recorded_as(self._program, lengths, self._make, self._mode)
        return prove(recorded.about(self._program.paths), lengths, sides, finite_masks)


def prove(program: JaxProgram, lengths: Lengths, sides: Sequence[Side], finite_masks: bool = True) -> LengthProof:
    """Runs over a program whose sizes are symbols; NotLinear where they are none that can be followed."""
    return proved(_Recorded(program, lengths), lengths, sides, finite_masks)


@dataclass(frozen=True)
class _Recorded:
    program: JaxProgram
    lengths: Lengths

    @property
    def output_axis(self) -> int:
        return self.program.subject.output_axis

    def follow(
        self, statements: Statements, variable: Term, last: Term, side: Side, finite_masks: bool
    ) -> tuple[JaxRun, list[LengthShadow]]:
        dims = Dims({self.lengths.variable: variable})
        held = self.program.recording.held
        run = JaxRun(statements, dims, last, side, finite_masks=finite_masks, held=held)
        return run, _outputs(run, self.program)


def _outputs(run: JaxRun, program: JaxProgram) -> list[LengthShadow]:
    """One run over the program."""
    avals = [v.aval for v in program.recording.program.jaxpr.invars]
    arguments = [_argument(run, g, a, program) for g, a in zip(program.recording.given, avals, strict=True)]
    results = dict(zip(program.recording.paths, run.closed(program.recording.program, arguments), strict=True))
    return [results[path] for path in program.paths]


def _argument(run: JaxRun, given: Any, aval: Any, program: JaxProgram) -> LengthShadow:
    """The input itself; a parameter or another input, which may hold any numbers; what else the model keeps."""
    shape = run.dims.shape(aval.shape)
    if given.role == "input":
        return LengthShadow(shape, run.rank(index(program.subject.sequence_axis)))
    if given.role == "constant" and sort_of(aval.dtype) == WHOLE and not _has_symbols(aval.shape):
        return run.constant(given.value, aval)
    return LengthShadow(shape)


def _has_symbols(shape: Sequence[Any]) -> bool:
    return any(not isinstance(d, int) for d in shape)


def recorded_as(
    program: JaxProgram, lengths: Lengths, make_input: Callable[[int], Any] | None, mode: str
) -> JaxProgram:
    """The program, recorded again with symbols for what grows with n."""
    subject, n = program.subject, program.n
    grown, more = symbol(lengths), n + lengths.block
    given = (list(subject.inputs), dict(subject.keywords))
    inputs, keywords = sized(given, _longer(make_input, subject, given, more), n, more, grown)
    if make_input is not None:  # n // 4 or min(n, 64) grows at some lengths only
        far = n + lengths.block * max(2, MOST_BLOCK // lengths.block)
        there = sized(given, _longer(make_input, subject, given, far), n, far, grown)
        sized((inputs, keywords), there, n, far, grown)  # raises where it is no other
    with nothing_guessed():
        return JaxProgram.of(replace(subject, inputs=tuple(inputs), keywords=keywords), mode)


def _longer(make_input: Callable[[int], Any] | None, subject: Subject, given: Any, more: int) -> Any:
    """The inputs for more positions; ModelError where nobody can tell what grows with n."""
    if make_input is not None:
        made = make_input(more)
        positional, keywords, _ = parted(made if isinstance(made, tuple) else (made,), subject.vary)
        return list(positional), keywords

    def one(x: Any) -> Any:
        shape = getattr(x, "shape", ())
        if x is subject.input:
            axis = subject.sequence_axis
            return jax.ShapeDtypeStruct((*shape[:axis], more, *shape[axis + 1 :]), x.dtype)
        if subject.n in shape:
            raise ModelError(
                "another input", f"has shape {tuple(shape)}, and nobody says whether {subject.n} in it is n",
                "pass make_input(n)", mentions=("make_input",),
            )  # fmt: skip
        return x

    return jax.tree.map(one, given)


# -- the lengths ------------------------------------------------------------------------------------------------------


def symbol(lengths: Lengths) -> Any:
    """n as JAX writes it."""
    v = lengths.variable
    text = v if lengths.block == 1 else f"{lengths.block}*{v}" + (f" + {lengths.residue}" if lengths.residue else "")
    limits = [f"{v} >= {lengths.least}"] + ([] if lengths.most is None else [f"{v} <= {lengths.most}"])
    return export.symbolic_shape(text, constraints=limits)[0]


def whole_ranges(program: JaxProgram) -> Iterator[Lengths]:
    """All lengths from some one on, the fewest assumptions first; up to the size of a table, if it must be."""
    n = program.n
    for least in LEAST:
        if least <= n:
            yield Lengths(least=least)
    sizes = {d for g in program.recording.given if g.role == "parameter" for d in g.value.shape if d >= n}
    for least in (1, 2, 8):
        for size in sorted(sizes):
            if least <= n:
                yield Lengths(least=least, most=size)


def blocks(program: JaxProgram) -> list[int]:
    """The sizes of blocks that the program may cut its positions into."""
    found: set[int] = set()
    _reshapes(program.recording.program.jaxpr, found)
    return sorted(b for b in found if 2 <= b <= MOST_BLOCK)


def _reshapes(jaxpr: Any, found: set[int]) -> None:
    for e in jaxpr.eqns:
        if e.primitive.name in ("reshape", "broadcast_in_dim", "split"):
            before = Counter(getattr(e.invars[0].aval, "shape", ()) if e.invars else ())
            found |= set(Counter(e.outvars[0].aval.shape) - before)  # a block may be as large as the width is
        for inner in bodies(e.params):
            _reshapes(getattr(inner, "jaxpr", inner), found)


def sized(inputs: Any, other: Any, n: int, more: int, symbol: Any) -> Any:
    """The inputs as shapes in which what grows with n is a symbol, given the same for `more` positions.

    NotLinear where a size grows with n otherwise.
    """

    def one(x: Any, y: Any) -> Any:
        if not hasattr(x, "shape"):
            return x
        shape = []
        for a, b in zip(x.shape, y.shape, strict=True):
            if (a, b) == (n, more):
                shape.append(symbol)
            elif a == b:
                shape.append(a)
            else:
                raise NotLinear(f"an input of shape {tuple(x.shape)} for n = {n} has shape {tuple(y.shape)} for {more}")
        return jax.ShapeDtypeStruct(tuple(shape), x.dtype)

    return jax.tree.map(one, inputs, other)
