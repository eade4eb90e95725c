"""A derivation: a chain of steps, each with a statement, a reason and a decision procedure that is re-run on a check.

A step's procedure returns what is left over: nothing (0) when the step holds. Steps that no procedure decides, such as
an induction or a quantifier over all sizes that is not an identity, are lemmas: they are named with their source, and
with the theorem of proofs/rocq that closes them where there is one. Nothing here calls `simplify`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, MatrixBase, Symbol

from . import growth, rank, words
from .exact import exact
from .field import is_real, manifestly, remainder
from .field import sign as sign_of
from .typeset import typeset

if TYPE_CHECKING:
    from ..aliases import MatrixLike

Procedure = Callable[[], Any]

IDENTITY = "identity in ℚ(symbols, e^{·})"
SIGN = "sign in ℚ(e^{1/k})"
POSITIVE = "positive coefficients"
SQUARES = "sum of squares"
TAYLOR = "second derivative"
LINEAR = "exact linear algebra"
LIMIT = "leading term at infinity"
WORDS = "identity of matrix words, all shapes"
CASES = "every case"
DIFFERENT = "not an identity"


class StepFailed(AssertionError):
    """A step does not hold: `number` (from 1), `statement`, and `remainder`, what its procedure left over."""

    def __init__(self, number: int, statement: str, remainder: Any) -> None:
        super().__init__(f"step {number} fails: {statement}; what is left over is {remainder}")
        self.number, self.statement, self.remainder = number, statement, remainder


@dataclass(frozen=True)
class Step:
    """A statement that a procedure decides. `decide()` returns what is left over: 0 or something empty if it holds."""

    statement: str
    reason: str
    procedure: str
    decide: Procedure = field(repr=False)
    latex: str = ""


@dataclass(frozen=True)
class Lemma:
    """A statement that no procedure here decides: its source, and what in proofs/rocq closes it, if anything does.

    `theorem` names the Rocq theorem, or several with commas between them where each states a part.
    """

    statement: str
    source: str
    theorem: str = ""
    latex: str = ""

    @property
    def theorems(self) -> tuple[str, ...]:
        """The names in `theorem`, one by one."""
        return tuple(name.strip() for name in self.theorem.split(",") if name.strip())


@dataclass(frozen=True)
class CheckedDerivation:
    """What a check of a derivation did: steps decided, lemmas leant on, seconds per step."""

    decided: int
    lemmas: tuple[Lemma, ...]
    seconds: tuple[float, ...]

    def __str__(self) -> str:
        leaning = "no lemma" if not self.lemmas else f"{len(self.lemmas)} lemma{'s' * (len(self.lemmas) > 1)}"
        return f"{self.decided} step{'s' * (self.decided != 1)} decided, {leaning}"


@dataclass(frozen=True, repr=False)
class Derivation:
    """A chain of steps that ends in a claim.

    Shown as text in a terminal (`print(derivation)`) and as LaTeX in a notebook.

    >>> x = Symbol("x")
    >>> d = Derivation("a square", (identity("(x+1)² opens up", (x + 1) ** 2, x**2 + 2 * x + 1, "expand"),))
    >>> print(d.check())
    1 step decided, no lemma
    >>> Derivation("wrong", (identity("(x+1)² = x²", (x + 1) ** 2, x**2, "hope"),)).check()
    Traceback (most recent call last):
    attnproof.symbolic.derivation.StepFailed: step 1 fails: (x+1)² = x²; what is left over is 2*x + 1
    """

    title: str
    steps: tuple[Step | Lemma, ...]

    def __iter__(self) -> Iterator[Step | Lemma]:
        return iter(self.steps)

    @property
    def lemmas(self) -> tuple[Lemma, ...]:
        """The steps that no procedure decides."""
        return tuple(step for step in self.steps if isinstance(step, Lemma))

    def check(self) -> CheckedDerivation:
        """Decide every step anew. Raises StepFailed at the first that does not hold."""
        seconds = []
        for number, step in enumerate(self.steps, 1):
            if isinstance(step, Step):
                start = time.perf_counter()
                left = step.decide()
                seconds.append(time.perf_counter() - start)
                if not _nothing(left):
                    raise StepFailed(number, step.statement, left)
        return CheckedDerivation(len(seconds), self.lemmas, tuple(seconds))

    def __str__(self) -> str:
        lines = [self.title]
        for number, step in enumerate(self.steps, 1):
            lines.append(f"{number:>3}. {step.statement}")
            if isinstance(step, Step):
                lines.append(f"     {step.reason}  [{step.procedure}]")
            else:
                several = "s" * (len(step.theorems) > 1)
                closed = f"; closed by the Rocq theorem{several} {step.theorem}" if step.theorem else ""
                lines.append(f"     lemma: {step.source}{closed}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        lines = [f"**{self.title}**", ""]
        for number, step in enumerate(self.steps, 1):
            shown = f"\n\n    $$\\displaystyle {step.latex}$$\n" if step.latex else ""
            if isinstance(step, Step):
                tail = f"*{typeset(step.reason)}* — decided: {typeset(step.procedure)}"
            else:
                tail = f"*lemma*: {typeset(step.source)}" + (f" (Rocq: `{step.theorem}`)" if step.theorem else "")
            lines.append(f"{number}. {typeset(step.statement)}{shown}\n\n    {tail}\n")
        return "\n".join(lines)

    def _repr_latex_(self) -> str:
        rows = []
        for number, step in enumerate(self.steps, 1):
            body = step.latex or rf"\text{{{step.statement}}}"
            reason = step.reason if isinstance(step, Step) else f"lemma: {step.source}"
            rows.append(rf"({number})\quad & {body} && \text{{{reason}}}")
        return "$$\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}$$"


def _nothing(left: Any) -> bool:
    """Whether a procedure left nothing over. An expression counts as nothing only when it is the number 0.

    Raises TypeError for an answer that is none, so that a procedure that forgets to answer proves nothing.
    """
    if left is None or isinstance(left, bool):
        raise TypeError(f"a procedure answered {left}; it must return what is left over, 0 for nothing")
    if isinstance(left, Expr):
        return bool(left == 0)
    if isinstance(left, MatrixBase):
        return all(entry == 0 for entry in left)
    return not left


def _entries(value: Any) -> list[Any]:
    """A matrix or nested list as a flat list of entries; a scalar as a list of one."""
    if isinstance(value, MatrixBase):
        return list(value)
    if isinstance(value, (list, tuple)):
        return [entry for part in value for entry in _entries(part)]
    return [value]


def _shape(value: Any) -> tuple[int, ...]:
    if isinstance(value, MatrixBase):
        return (value.rows, value.cols)
    return (len(value), *_shape(value[0])) if isinstance(value, (list, tuple)) and value else ()


def difference(left: Any, right: Any) -> Any:
    """What is left of `left − right` in normal form: 0, or the non-zero entries by their place. Shapes must agree."""
    if _shape(left) != _shape(right) and _shape(right) != ():
        return f"shapes {_shape(left)} and {_shape(right)} differ"
    lefts, rights = _entries(left), _entries(right)
    rights = rights * len(lefts) if len(rights) == 1 else rights
    if not lefts:
        return "nothing to compare"
    parts = [remainder(a, b) for a, b in zip(lefts, rights, strict=True)]
    if len(parts) == 1:
        return parts[0]
    return {place: part for place, part in enumerate(parts) if part != 0}


def _show(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        value = sympy.Matrix(value)
    elif not isinstance(value, (MatrixBase, sympy.MatrixExpr)):
        value = exact(value)
    shown = sympy.latex(value)
    return shown if len(shown) < 600 else ""


def _equation(left: Any, relation: str, right: Any, latex: str | None, shown: str | None = None) -> str:
    """The relation as LaTeX; `shown`: the left side as it is written before anything is worked out."""
    if latex is not None:
        return latex
    a, b = _show(left) if shown is None else shown, _show(right)
    return f"{a} {relation} {b}" if a and b else ""


# -- the procedures -----------------------------------------------------------------------------------------------


def identity(
    statement: str, left: Any, right: Any, reason: str, latex: str | None = None, *, shown: str | None = None
) -> Step:
    """left = right identically, entry by entry for matrices; decided in the field of `symbolic.field`.

    `shown` is the left side in LaTeX as it was before it was worked out, for where both sides would print the same.
    """
    equation = _equation(left, "=", right, latex, shown)
    return Step(statement, reason, IDENTITY, lambda: difference(left, right), equation)


def different(statement: str, left: Any, right: Any, reason: str, latex: str | None = None) -> Step:
    """left and right are not identically equal: their difference has a non-zero normal form."""

    def decide() -> Any:
        return "the two sides are identically equal" if _nothing(difference(left, right)) else 0

    return Step(statement, reason, DIFFERENT, decide, _equation(left, r"\neq", right, latex))


def compare(statement: str, left: Any, relation: str, right: Any, reason: str, latex: str | None = None) -> Step:
    """left < right (or ">", "=") for constants of ℚ(e^{1/k}); decided exactly, then by an enclosure."""
    wanted = {"<": -1, "=": 0, ">": 1}[relation]

    def decide() -> Any:
        difference = exact(left) - exact(right)
        return 0 if sign_of(difference) == wanted else difference

    return Step(statement, reason, SIGN, decide, _equation(left, relation, right, latex))


def positive(statement: str, expression: Any, reason: str, relation: str = ">", latex: str | None = None) -> Step:
    """expression > 0 (or >= 0) for all values of its symbols that their assumptions allow: by its coefficients."""
    mark = {">": ">", ">=": r"\ge"}[relation]

    def decide() -> Any:
        entries = _entries(expression)
        return {i: e for i, e in enumerate(entries) if not manifestly(e, relation)} if entries else "nothing to compare"

    return Step(statement, reason, POSITIVE, decide, _equation(expression, mark, 0, latex))


def squares(
    statement: str, large: Any, small: Any, parts: Sequence[tuple[Any, Any]], reason: str, latex: str | None = None
) -> Step:
    """large ≥ small, since large − small = Σ w·s² with every weight w visibly non-negative; `parts` are the (w, s)."""

    def decide() -> Any:
        total = sympy.Add(*(exact(w) * exact(s) ** 2 for w, s in parts))
        open_parts = [part for part in parts if not (manifestly(part[0], ">=") and is_real(part[1]))]
        return open_parts or remainder(exact(large) - exact(small), total)

    return Step(statement, reason, SQUARES, decide, _equation(large, r"\ge", small, latex))


def convex(statement: str, expression: Any, x: Symbol, at: Any, reason: str, latex: str | None = None) -> Step:
    """expression ≥ 0, and 0 only at x = at: value and slope vanish there, the second derivative is > 0 (Taylor)."""

    def decide() -> Any:
        f = exact(expression)
        slope = sympy.diff(f, x)
        here = [remainder(f.subs(x, at)), remainder(slope.subs(x, at))]
        bend = sympy.diff(slope, x)
        return [part for part in here if part != 0] or (0 if is_real(f) and manifestly(bend) else bend)

    return Step(statement, reason, TAYLOR, decide, _equation(expression, r"\ge", 0, latex))


def limit(statement: str, expression: Any, n: Symbol, value: Any, reason: str, latex: str | None = None) -> Step:
    """The limit of the expression as n → ∞ is `value`."""
    shown = latex if latex is not None else rf"\lim_{{{sympy.latex(n)}\to\infty}} {_show(expression)} = {_show(value)}"
    return Step(statement, reason, LIMIT, lambda: growth.same_limit(expression, value, n), shown)


def order(statement: str, expression: Any, reference: Any, n: Symbol, reason: str, latex: str | None = None) -> Step:
    """expression = Θ(reference) as n → ∞."""

    def decide() -> Any:
        if growth.same_order(expression, reference, n):
            return 0
        return f"{growth.leading_term(expression, n)} against {growth.leading_term(reference, n)}"

    shown = latex if latex is not None else rf"{_show(expression)} = \Theta\left({_show(reference)}\right)"
    return Step(statement, reason, LIMIT, decide, shown)


def linear(
    statement: str,
    matrix: MatrixLike,
    reason: str,
    *,
    rank_is: int | None = None,
    det_is: Any = None,
    kernel_is: Any = None,
    latex: str | None = None,
) -> Step:
    """Exact rank, determinant or null space of a matrix over ℚ or a function field (the null space as a span)."""

    def decide() -> Any:
        if rank_is is None and det_is is None and kernel_is is None:
            return "nothing was asked of the matrix"
        if rank_is is not None and (found := rank.rank(matrix)) != rank_is:
            return f"rank {found}, not {rank_is}"
        if det_is is not None and (left := rank.det_differs(matrix, det_is)) != 0:
            return left
        if kernel_is is not None and not rank.same_span(rank.null_space(matrix), sympy.Matrix(kernel_is)):
            return f"the kernel is spanned by the columns of {rank.null_space(matrix)}"
        return 0

    parts = [] if latex is None else [latex]
    if latex is None and (shown := _show(matrix)):
        parts += [rf"\operatorname{{rank}} {shown} = {rank_is}"] if rank_is is not None else []
        parts += [rf"\det {shown} = {_show(det_is)}"] if det_is is not None else []
        parts += [rf"\ker {shown} = \operatorname{{span}} {_show(kernel_is)}"] if kernel_is is not None else []
    return Step(statement, reason, LINEAR, decide, r",\quad ".join(parts))


def matrices(statement: str, left: Any, right: Any, reason: str, latex: str | None = None) -> Step:
    """left = right for matrix symbols of symbolic shapes: equal sums of words, so equal for all shapes and entries."""
    shown = _equation(left, "=", right, latex)
    return Step(statement, reason, WORDS, lambda: words.remainder(left, right), shown)


def cases(
    statement: str, instances: Callable[[], Iterable[Any]], holds: Callable[..., bool], reason: str, latex: str = ""
) -> Step:
    """A statement about finitely many cases, every one of which is tried: what is left over is the first that fails."""

    def decide() -> Any:
        count = 0
        for case in instances():
            count += 1
            if not holds(*case) if isinstance(case, tuple) else not holds(case):
                return f"the case {case}"
        return 0 if count else "no case was tried"

    return Step(statement, reason, CASES, decide, latex)


def sizes(statement: str, steps: Sequence[Step], latex: str = "") -> Step:
    """One idea in several sizes: every one of the steps is decided; what is left over is that of the first to fail."""

    def decide() -> Any:
        left = ((step, step.decide()) for step in steps)
        return next((f"{step.statement}: {rest}" for step, rest in left if not _nothing(rest)), 0)

    return Step(statement, steps[0].reason, steps[0].procedure, decide, latex)


def lemma(statement: str, source: str, theorem: str = "", latex: str = "") -> Lemma:
    """A step that no procedure here decides, with its source and the Rocq theorem that closes it, if any."""
    return Lemma(statement, source, theorem, latex)
