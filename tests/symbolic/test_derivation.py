"""Every procedure accepts what holds and refuses what does not, naming the step and what is left over."""

from __future__ import annotations

import pytest
import sympy
from attnproof.symbolic import derivation as d
from attnproof.symbolic.derivation import Derivation, Step, StepFailed
from sympy import E, Matrix, MatrixSymbol, Rational, Symbol, exp

X = Symbol("x", real=True)
N, A = sympy.symbols("n a", positive=True)
S, R = MatrixSymbol("S", 2, 2), MatrixSymbol("R", 2, 2)
pytestmark = pytest.mark.claim("T1", "T2", "T3", "T9")

PAIRS = {
    "identity": (d.identity("s", exp(X) ** 2, exp(2 * X), "r"), d.identity("s", exp(X) ** 2, exp(X), "r")),
    "matrix identity": (
        d.identity("s", Matrix([1, X]), Matrix([1, X]), "r"),
        d.identity("s", Matrix([1, X]), Matrix([1, 0]), "r"),
    ),
    "shapes": (
        d.identity("s", Matrix([1, 2]), Matrix([1, 2]), "r"),
        d.identity("s", Matrix([1, 2]), Matrix([[1, 2]]), "r"),
    ),
    "different": (d.different("s", X, 0, "r"), d.different("s", E, exp(1), "r")),
    "compare": (d.compare("s", E, ">", Rational(27, 10), "r"), d.compare("s", E, "<", Rational(27, 10), "r")),
    "equal constants": (d.compare("s", E, "=", exp(1), "r"), d.compare("s", E, "=", Rational(27, 10), "r")),
    "positive": (d.positive("s", A + 1, "r"), d.positive("s", A - 1, "r")),
    "squares": (d.squares("s", X**2 + 1, 2 * X, [(1, X - 1)], "r"), d.squares("s", X**2 + 1, 2 * X, [(1, X + 1)], "r")),
    "negative weight": (
        d.squares("s", X**2, 0, [(1, X)], "r"),
        d.squares("s", -(X**2), 0, [(-1, X)], "r"),
    ),
    "convex": (d.convex("s", exp(X) - 1 - X, X, 0, "r"), d.convex("s", exp(X) - 1 - 2 * X, X, 0, "r")),
    "not convex": (d.convex("s", X**2, X, 0, "r"), d.convex("s", X**3, X, 0, "r")),
    "limit": (d.limit("s", (N + 1) / N, N, 1, "r"), d.limit("s", (N + 1) / N, N, 2, "r")),
    "infinite limit": (d.limit("s", N, N, sympy.oo, "r"), d.limit("s", N, N, 3, "r")),
    "order": (d.order("s", N**2 + N, N**2, N, "r"), d.order("s", N**2, N, N, "r")),
    "rank": (d.linear("s", [[1, 2], [2, 4]], "r", rank_is=1), d.linear("s", [[1, 2], [2, 4]], "r", rank_is=2)),
    "det": (d.linear("s", [[1, X], [0, X]], "r", det_is=X), d.linear("s", [[1, X], [0, X]], "r", det_is=0)),
    "kernel": (d.linear("s", [[1, 1]], "r", kernel_is=[1, -1]), d.linear("s", [[1, 1]], "r", kernel_is=[1, 1])),
    "words": (d.matrices("s", (S + R) * S, S * S + R * S, "r"), d.matrices("s", S * R, R * S, "r")),
    "cases": (
        d.cases("s", lambda: range(5), lambda n: n < 5, "r"),
        d.cases("s", lambda: range(6), lambda n: n < 5, "r"),
    ),
    "no cases": (d.cases("s", lambda: range(1), lambda n: True, "r"), d.cases("s", list, lambda n: True, "r")),
}


@pytest.mark.parametrize("name", PAIRS)
def test_each_procedure_decides_both_ways(name):
    good, bad = PAIRS[name]
    assert Derivation("t", (good,)).check().decided == 1
    with pytest.raises(StepFailed) as caught:
        Derivation("t", (good, bad)).check()
    assert caught.value.number == 2
    assert caught.value.statement == "s"
    assert caught.value.remainder not in (0, None, {}, [])
    assert "step 2 fails: s; what is left over is" in str(caught.value)


@pytest.mark.parametrize("answer", [None, False, True])
def test_a_procedure_that_does_not_answer_proves_nothing(answer):
    with pytest.raises(TypeError, match="what is left over"):
        Derivation("t", (Step("s", "r", "p", lambda: answer),)).check()


@pytest.mark.parametrize(
    ("step", "left"),
    [
        (d.linear("a matrix", Matrix([[1]]), "nothing"), "nothing was asked of the matrix"),
        (d.positive("no entries are above 0", Matrix(0, 0, []), "nothing"), "nothing to compare"),
        (d.identity("nothing is nothing", [], [], "nothing"), "nothing to compare"),
        (d.cases("nothing holds", tuple, lambda: True, "nothing"), "no case was tried"),
    ],
    ids=["linear", "positive", "identity", "cases"],
)
def test_a_step_that_asks_nothing_proves_nothing(step, left):
    with pytest.raises(StepFailed, match=left):
        Derivation("empty", (step,)).check()


def test_the_remainder_is_in_normal_form():
    with pytest.raises(StepFailed) as caught:
        Derivation("t", (d.identity("s", (X + 1) ** 2, X**2, "r"),)).check()
    assert caught.value.remainder == 2 * X + 1


def test_simplify_is_not_a_procedure(monkeypatch):
    """Deciding must not lean on SymPy's heuristics."""

    def refuse(*arguments, **keywords):
        raise AssertionError("simplify was called")

    monkeypatch.setattr(sympy, "simplify", refuse)
    monkeypatch.setattr(sympy.Expr, "simplify", refuse)
    monkeypatch.setattr(sympy.Expr, "equals", refuse)
    for good, _ in PAIRS.values():
        Derivation("t", (good,)).check()


def test_lemmas_are_counted_and_named():
    lemma = d.lemma("for all n", "induction", "some_theorem", "n")
    chain = Derivation("title", (PAIRS["identity"][0], lemma))
    checked = chain.check()
    assert checked.lemmas == chain.lemmas == (lemma,)
    assert str(checked) == "1 step decided, 1 lemma"
    assert "lemma: induction; closed by the Rocq theorem some_theorem" in str(chain)


def test_shown_as_text_markdown_and_latex():
    chain = Derivation(
        "title", (d.identity("a_b <u> *s*", exp(X), exp(X), "why [not], as e^{−x_i}"), d.lemma("all n", "book"))
    )
    assert str(chain).splitlines()[:3] == [
        "title",
        "  1. a_b <u> *s*",
        "     why [not], as e^{−x_i}  [identity in ℚ(symbols, e^{·})]",
    ]
    markdown = chain._repr_markdown_()
    assert r"1. a<sub>b</sub> \<u\> \*s\*" in markdown
    assert r"*why \[not\], as e<sup>−x<sub>i</sub></sup>*" in markdown
    assert r"$$\displaystyle e^{x} = e^{x}$$" in markdown
    assert "*lemma*: book" in markdown
    latex = chain._repr_latex_()
    assert latex.startswith("$$\\begin{align*}")
    assert "e^{x} = e^{x}" in latex
    assert r"\text{lemma: book}" in latex


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_one_idea_in_several_sizes_holds_where_every_size_does(bad):
    steps = [d.identity(f"size {k}", X**k, X**k + int(k == bad), "why") for k in range(3)]
    step = d.sizes("all sizes", steps)
    assert (step.reason, step.procedure) == ("why", d.IDENTITY)
    assert step.decide() == f"size {bad}: -1"
    assert d.sizes("all others", steps[:bad] + steps[bad + 1 :]).decide() == 0
