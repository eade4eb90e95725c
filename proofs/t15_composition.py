"""T15: when safe layers stack to a safe model."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import sympy
from sympy import Expr, Matrix

from ..numeric import scale as at_scale
from ..symbolic import attention, derivation
from ..symbolic.derivation import Derivation
from ..symbolic.field import is_zero
from ..symbolic.prefix import Head
from .claim import Claim, expect

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

Relation = tuple[tuple[bool, ...], ...]


def compose(second: Relation, first: Relation) -> Relation:
    """What query t of the second layer depends on through the first: t ← j ← i."""
    n = len(first)
    return tuple(tuple(any(second[t][j] and first[j][i] for j in range(n)) for i in range(n)) for t in range(n))


def inside(small: Relation, large: Relation) -> bool:
    """Whether every dependency of `small` is allowed by `large`."""
    return all(b or not a for row, other in zip(small, large, strict=True) for a, b in zip(row, other, strict=True))


def identity_relation(n: int) -> Relation:
    """Each position depends on itself: position-wise maps and residual sums."""
    return tuple(tuple(t == i for i in range(n)) for t in range(n))


def relations(n: int) -> Iterator[tuple[Relation]]:
    """Every relation on n positions."""
    for bits in product((False, True), repeat=n * n):
        yield (tuple(bits[n * t : n * t + n] for t in range(n)),)


def is_transitive(a: Relation) -> bool:
    """t ← j and j ← i give t ← i."""
    n = len(a)
    return all(a[t][i] for t in range(n) for j in range(n) for i in range(n) if a[t][j] and a[j][i])


def boundary(kind: Callable[[int, int], bool], n: int) -> Relation:
    """The relation of a rule allowed(t, j)."""
    return tuple(tuple(kind(t, j) for j in range(n)) for t in range(n))


def times(available: tuple[int, ...], decision: tuple[int, ...]) -> Relation:
    """By time: allowed(t, j) iff available[j] ≤ decision[t]."""
    return tuple(tuple(a <= d for a in available) for d in decision)


def by_time() -> Relation:
    """The boundary of THEORY's counterexample: available = (1,1,5), decision = (2,5,5)."""
    return times((1, 1, 5), (2, 5, 5))


def averaging_layer(allowed: Relation, values: Matrix) -> Matrix:
    """A compressed head with E = 0, F = I, slot j visible to t iff allowed(t, j): the mean of what t may use."""
    n = values.rows
    return attention.compressed_attention(
        sympy.ones(n, 1), sympy.zeros(n, 1), values, sympy.zeros(n, n), sympy.eye(n), visible=allowed
    )


def layer_is_safe(allowed: Relation) -> bool:
    """Whether that head passes T10 at every query that sees something."""
    n = len(allowed)
    return all(
        Head.of(
            sympy.zeros(n, n),
            sympy.eye(n),
            seen=[s for s in range(n) if allowed[t][s]],
            forbidden=[j for j in range(n) if not allowed[t][j]],
        ).safe_by_support()
        for t in range(n)
    )


def stack(allowed: Relation, values: Matrix) -> Matrix:
    """Two averaging layers."""
    return averaging_layer(allowed, averaging_layer(allowed, values))


def depends(outputs: Matrix, t: int, symbol: Expr) -> bool:
    """Whether output t depends on the symbol, decided."""
    return not is_zero(sympy.diff(outputs[t, 0], symbol))


def derive() -> Derivation:
    """Dependencies compose as relations; the boundaries that allow it; the two counterexamples; one leaking layer."""
    x = Matrix(sympy.symbols("x0:3", real=True))
    layer = averaging_layer(by_time(), x)
    strict = boundary(lambda t, j: j < t, 3)
    strict_with_first = tuple(row if any(row) else (True, False, False) for row in strict)
    lag = boundary(lambda t, j: j <= t - 2, 6)
    leaky = attention.compressed_attention([[1], [1], [1]], x, x, attention.article_projection())
    zero = Matrix([0, 0, 0])
    return Derivation(
        "T15: composition",
        (
            derivation.cases(
                "through a stack, t depends on what the layer below allows to what t may use: within the boundary "
                "for all layers iff it is transitive (every relation on three positions)",
                lambda: relations(3),
                lambda a: inside(compose(a, a), a) == is_transitive(a),
                "A∘A ⊆ A is transitivity; each layer may use all that A allows",
            ),
            derivation.cases(
                "position-wise maps and residual sums stay within the boundary iff it is reflexive",
                lambda: relations(3),
                lambda a: inside(identity_relation(3), a) == all(a[t][t] for t in range(3)),
                "position t of such a map depends on position t",
            ),
            derivation.cases(
                "reflexive and transitive: any stack of three dependencies within A, residuals included, is within A",
                lambda: ((a,) for (a,) in relations(3) if is_transitive(a) and all(a[t][t] for t in range(3))),
                lambda a: inside(compose(a, compose(a, _or(a, identity_relation(3)))), a),
                "every such relation on three positions",
            ),
            derivation.lemma(
                "For every n, any number of layers and every reflexive and transitive boundary a stack of safe layers, "
                "position-wise maps and residual sums is safe.",
                "induction on the layers with the two steps above",
                "stack_safe, positionwise_safe, residual_safe",
            ),
            derivation.cases(
                "prefix, documents and bidirectional boundaries are both (n ≤ 6, documents of every length)",
                lambda: ((n, cut) for n in range(1, 7) for cut in range(n)),
                _good_boundaries,
                "tried one by one",
            ),
            derivation.cases(
                "strict and lagged boundaries are transitive but not reflexive",
                lambda: [(boundary(lambda t, j: j < t, 6),), (lag,)],
                lambda a: is_transitive(a) and not any(a[t][t] for t in range(6)),
                "n = 6, lags 1 and 2",
            ),
            derivation.different(
                "so a residual sum leaks under the strict boundary: x_1 + (mean of x_0) moves with x_1",
                (x + averaging_layer(strict_with_first, x))[1, 0],
                (x + averaging_layer(strict_with_first, x))[1, 0].subs(x[1], 0),
                "the sum adds the position's own input",
            ),
            derivation.cases(
                "by time, available = (1,1,5), decision = (2,5,5): an averaging head passes T10; not transitive",
                lambda: [(by_time(),)],
                lambda a: layer_is_safe(a) and not is_transitive(a) and not a[0][2],
                "0 ← 1 ← 2 but not 0 ← 2",
            ),
            derivation.identity(
                "one layer: output 0 is (x_0 + x_1)/2", layer[0, 0], (x[0] + x[1]) / 2, "allowed: 0 and 1"
            ),
            derivation.different(
                "two layers: output 0 depends on x_2, which query 0 may not use",
                stack(by_time(), x)[0, 0],
                stack(by_time(), x)[0, 0].subs(x[2], 0),
                "it is (x_0+x_1)/4 + (x_0+x_1+x_2)/6",
            ),
            derivation.different(
                "a leaking layer makes the stack leak for some weights: a residual layer whose output weights are 0 is "
                "the identity, and the leak passes through it",
                (leaky + zero)[0, 0],
                (leaky + zero)[0, 0].subs(x[2], 0),
                "the article's projection, values and keys equal to x",
                latex="",
            ),
        ),
    )


def _or(a: Relation, b: Relation) -> Relation:
    return tuple(tuple(x or y for x, y in zip(r, s, strict=True)) for r, s in zip(a, b, strict=True))


def _good_boundaries(n: int, cut: int) -> bool:
    rules = (
        lambda t, j: j <= t,
        lambda t, j: j <= t and (j < cut) == (t < cut),
        lambda t, j: True,
    )
    return all(is_transitive(a) and all(a[t][t] for t in range(n)) for a in (boundary(rule, n) for rule in rules))


def exact() -> str:
    """`Boundary.is_reflexive` and `is_transitive` agree with the definitions on every relation of three positions."""
    from ..causal.boundary import Boundary

    count = 0
    for (a,) in relations(3):
        found = Boundary.relation([list(row) for row in a])
        expect(found.is_transitive == is_transitive(a), f"is_transitive is {found.is_transitive} for {a}")
        expect(found.is_reflexive == all(a[t][t] for t in range(3)), f"is_reflexive is {found.is_reflexive} for {a}")
        count += 1
    found = Boundary.from_times([1, 1, 5], [2, 5, 5])
    expect(
        found.is_reflexive and not found.is_transitive, "the by-time example is not read as reflexive, not transitive"
    )
    return f"Boundary agrees on reflexivity and transitivity of all {count} relations on three positions"


def property_check(rng: random.Random) -> str:
    """Random by-time boundaries: a stack of two safe averaging layers leaks exactly where A∘A leaves A."""
    count, leaks = 25, 0
    for _ in range(count):
        n = 3
        available = tuple(rng.randint(0, 4) for _ in range(n))
        a = times(available, tuple(max(rng.randint(0, 4), min(available)) for _ in range(n)))
        x = Matrix(sympy.symbols(f"x0:{n}", real=True))
        found = stack(a, x)
        seen = tuple(tuple(depends(found, t, x[i]) for i in range(n)) for t in range(n))
        expect(layer_is_safe(a) and seen == compose(a, a), f"the stack depends on {seen}, A∘A is {compose(a, a)}")
        leaks += not inside(seen, a)
    expect(0 < leaks < count, f"{leaks} of {count} random stacks leak")
    return f"{count} random by-time boundaries: two safe layers depend on exactly A∘A; {leaks} of the stacks leak"


CLAIM = Claim(
    id="T15",
    title="Composition",
    statement="Under a reflexive and transitive boundary safe layers stack to a safe model; by-time ones can fail.",
    latex=r"I\subseteq A,\ A\circ A\subseteq A\ \Rightarrow\ \text{stacks of safe layers are safe}",
    source="ours",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=at_scale.CHECKS["T15"],
    theorems=(
        "layer_safe_def",
        "compose_safe",
        "positionwise_safe",
        "residual_safe",
        "stack_safe",
        "attention_layer_safe",
        "prefix_preorder",
        "documents_preorder",
        "bidirectional_preorder",
        "strict_not_reflexive",
        "by_time_not_transitive",
        "by_time_stack_leaks",
        "leaking_layer_leaks",
    ),
    reading=(
        "Prefix, packed documents and bidirectional boundaries qualify. Under a strict or lagged boundary a residual "
        "sum already leaks a position to itself; a by-time boundary may lose transitivity."
    ),
)
