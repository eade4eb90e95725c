"""Every claim is derived and checked, and every check of every claim can fail.

A mutation breaks one formula that a claim uses; the claim's row must then fail. For each claim the mutations together
must make every kind of its evidence fail, so that nothing in the table of `attnproof verify` is a constant.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from typing import Any

import array_api_compat.numpy
import numpy as np
import pytest
import sympy
from attnproof.causal.model.trace.transfer import contractions
from attnproof.numeric import balls
from attnproof.proofs import rocq_source
from attnproof.proofs.claim import Scale, claim_by_id, registry
from attnproof.proofs.verify import check_claim
from attnproof.symbolic import attention, cost, derivation, prefix, rank, self_attention, several_heads, softmax
from attnproof.symbolic.derivation import Lemma
from attnproof.symbolic.self_attention import Case
from sympy import Matrix, Rational

MINE = [f"T{i}" for i in (*range(1, 16), *range(18, 23), 24)]
OFF_ARRAYS = ["T23", "T25", "T26"]  # claims without a check on arrays
DERIVED = [pytest.param(n, marks=pytest.mark.claim(n)) for n in [*MINE, *OFF_ARRAYS]]


def by_claim(values):
    return [pytest.param(*v, marks=pytest.mark.claim(v[0]), id="-".join(map(str, v[:2]))) for v in values]


@pytest.fixture(scope="module")
def rows():
    return {name: check_claim(name, digits=20) for name in [*MINE, *OFF_ARRAYS]}


@pytest.mark.parametrize("name", DERIVED)
def test_every_claim_is_proved_up_to_its_lemmas(rows, name):
    row = rows[name]
    assert row.status == ("derived" if row.lemmas else "proved"), [e.detail for e in row.evidence if not e.ok]
    assert {e.kind for e in row.evidence} >= {"symbolic", "property"}
    assert all(e.ok for e in row.evidence)
    assert all(e.detail and e.seconds is not None for e in row.evidence)


@pytest.mark.parametrize("name", DERIVED)
def test_another_seed_and_precision_change_nothing(name):
    row = check_claim(name, digits=45, seed=20260)
    assert row.status == ("derived" if row.lemmas else "proved"), [e.detail for e in row.evidence if not e.ok]


@pytest.mark.parametrize("n", [5, 300])
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.claim(n)) for n in MINE])
def test_checks_on_arrays_hold(name, n):
    check, most = registry()[name].scale, registry()[name].largest_n
    assert check is not None
    assert "n = " in check(Scale(array_api_compat.numpy, None, min(n, most or n), seed=n))


def test_the_register_is_complete_and_in_order():
    assert list(registry()) == [f"T{i}" for i in range(1, 27)]
    for claim in registry().values():
        assert claim.title
        assert claim.source
        assert claim.latex
        assert len(claim.statement) <= 125
        assert claim.reading or claim.id in ("T16", "T17")


def sides(latex: str) -> list[str]:
    """What stands between the relations of a formula, without spaces."""
    return [re.sub(r"\s|\\[,;: ]", "", part) for part in re.split(r"=|\\ge\b|\\le\b|\\neq\b|<|>", latex)]


@pytest.mark.parametrize("name", DERIVED)
def test_no_step_shows_the_same_on_both_sides(name):
    """Of `1 = 1` nobody learns what was decided."""
    shown = [(step.statement, sides(step.latex)) for step in claim_by_id(name).derive()]
    assert [s for s, parts in shown if len(parts) == 2 and parts[0] == parts[1]] == []


def test_a_step_shows_its_left_side_before_it_is_worked_out():
    assert sides(derivation.identity("break-even", sympy.S.One, 1, "r = n/2").latex) == ["1", "1"]
    assert derivation.identity("break-even", sympy.S.One, 1, "r = n/2", shown="2r/n").latex == "2r/n = 1"


def test_a_row_shows_itself_in_a_notebook(rows):
    shown = rows["T3"]._repr_markdown_()
    assert shown.startswith("**T3. The effective mixing has rank at most r** — derived, 3 lemmas")
    assert registry()["T3"].latex in shown
    assert "| symbolic | ✓ | 5 steps decided, 3 lemmas |" in shown
    assert len(shown.splitlines()) == 8 + len(rows["T3"].evidence)


def test_the_package_offers_its_front_door():
    from attnproof import proofs

    assert proofs.check_claim is check_claim
    assert proofs.registry is registry
    with pytest.raises(AttributeError, match="it has Claim, claim_by_id"):
        proofs.nothing  # noqa: B018


def test_ids_are_forgiving_and_unknown_ones_suggest():
    assert claim_by_id("t11") is claim_by_id("11") is claim_by_id(" T11 ") is registry()["T11"]
    with pytest.raises(ValueError, match="did you mean T1"):
        claim_by_id("T111")
    with pytest.raises(ValueError, match="claim 'nonsense' is unknown; the claims are T1, T2"):
        claim_by_id("nonsense")


def rocq_names() -> tuple[set[str], set[str]]:
    """Theorems pinned in Claims.v, and all that a compiled file of the development states as a theorem or lemma."""
    folder = resources.files("attnproof.proofs") / "rocq"
    pins = rocq_source.pins((folder / "Claims.v").read_text(encoding="utf-8"))[0]
    listed, _ = rocq_source.project_files((folder / "_CoqProject").read_text(encoding="utf-8"))
    sources = [(folder / name).read_text(encoding="utf-8") for name in listed]
    stated = {
        name for text in sources for name in re.findall(r"^(?:Theorem|Lemma|Corollary)\s+(\w+)", text, re.MULTILINE)
    }
    return {pin.name.rpartition(".")[2] for pin in pins}, stated


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.claim(n)) for n in MINE])
def test_theorems_named_are_pinned_in_rocq(name):
    """A claim names pinned theorems only, and each of its lemmas is closed by a pinned theorem."""
    claim, (pinned, stated) = registry()[name], rocq_names()
    lemmas = [step for step in claim.derive() if isinstance(step, Lemma)]
    assert {lemma.statement for lemma in lemmas if not lemma.theorems or not set(lemma.theorems) <= pinned} == set()
    assert set(claim.theorems) <= pinned <= stated


# -- mutations ----------------------------------------------------------------------------------------------------


def after(change: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A mutation that changes what a function returns."""
    return lambda original: lambda *arguments, **keywords: change(original(*arguments, **keywords))


def instead(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A mutation that puts another function in its place."""
    return lambda original: function


def module(name: str) -> Any:
    return importlib.import_module(f"attnproof.proofs.{name}")


t01, t02, t03, t04, t05, t06 = map(
    module, ("t01_example", "t02_jensen", "t03_rank", "t04_not_stochastic", "t05_softmax_rank", "t06_best_low_rank")
)
t07, t08, t09, t10, t11 = map(
    module, ("t07_no_relative_error", "t08_retention", "t09_cost", "t10_support", "t11_exact")
)
t12, t13, t14, t15, t18, t19 = map(
    module,
    ("t12_witness", "t13_largest_mask", "t14_freshness", "t15_composition", "t18_two_axes", "t19_leak_size"),
)
t20, t21, t22, t24 = map(module, ("t20_self_attention", "t21_no_starvation", "t22_several_heads", "t24_floats"))
t25, t26 = map(module, ("t25_frames", "t26_every_length"))
double = after(lambda x: 2 * x)
more = after(lambda x: x + 1)
swapped = after(lambda pair: (pair[1], pair[0]))
EPS = Rational(1, 10**6)


def wrong_softmax(logits, visible=None):
    """Softmax of twice the logits."""
    return row_softmax(2 * rank.as_matrix(logits), visible)


row_softmax = softmax.row_softmax
t20_example = t20.blind_example

MUTATIONS: list[tuple[str, str, Any, str, Any]] = [
    ("T1", "closed y", t01, "closed_full", after(lambda x: x + EPS)),
    ("T1", "closed ȳ", t01, "closed_compressed", after(lambda x: x + EPS)),
    ("T1", "closed error", t01, "closed_error", double),
    ("T1", "projection", attention, "article_projection", after(lambda e: 2 * e)),
    ("T1", "softmax", attention, "row_softmax", instead(wrong_softmax)),
    ("T1", "slot weights", attention, "slot_weights", after(lambda b: b * 2)),
    ("T2", "Jensen's gap", t02, "jensen_gap", after(lambda x: -x)),
    ("T2", "share", softmax, "uniform_slot_share", double),
    ("T2", "log m", t02, "corrected_output", more),
    ("T3", "minor", t03, "mixing_minor", after(lambda m: m + sympy.eye(m.rows))),
    ("T3", "padding", rank, "padded", after(lambda p: (p[0] + sympy.ones(*p[0].shape), p[1]))),
    ("T3", "rank", rank, "rank", more),
    ("T4", "tilted mean", t04, "tilted_mean", double),
    ("T4", "witness", t04, "signed_projection", after(lambda f: f.applyfunc(abs) / 2)),
    ("T4", "mixing", attention, "mixing", after(lambda m: -m)),
    ("T5", "law", softmax, "determinant_law", double),
    ("T5", "power softmax", softmax, "power_softmax", after(lambda m: m.T)),
    ("T5", "determinant", t05, "article_determinant", after(lambda x: x + EPS)),
    ("T5", "logits", t05, "article_logits", after(lambda m: m * 2)),
    ("T6", "norm", t06, "frobenius_square", after(lambda x: x / 100)),
    ("T6", "centring", t06, "centred", instead(lambda m: m)),
    ("T6", "singular values", t06, "singular_values", instead(lambda m, d: balls.singular_values(m, d)[::-1])),
    ("T6", "mixing", t06, "comparisons", after(lambda cs: [replace(c, mixing=c.full) for c in cs])),
    ("T7", "minors", t07, "signed_minors", after(lambda v: v.applyfunc(lambda x: x + 1))),
    ("T7", "kernel vector", t07, "blind_values", after(lambda v: v + Matrix([1, 0, 0]))),
    ("T7", "norm", t07, "squared_norm", more),
    ("T7", "null space", rank, "null_space", after(lambda m: m.applyfunc(lambda x: x + 1))),
    ("T8", "projector", t08, "projector", double),
    ("T8", "leverages", t08, "leverages", after(lambda x: [2 * v for v in x])),
    ("T8", "decoder", t08, "unexplained", after(lambda x: x / 2)),
    ("T9", "products", cost, "compressed_head", after(lambda ps: ps[1:])),
    ("T9", "full products", cost, "full_head", after(lambda ps: ps + ps)),
    ("T9", "speed-up", cost, "speedup", double),
    ("T9", "regimes", cost, "regimes", after(lambda rs: {k: (r, o**2) for k, (r, o) in rs.items()})),
    ("T9", "coefficients", cost, "compressed_coefficients", double),
    ("T9", "parameters", cost, "extra_parameters", instead(lambda n, r, shared=False: 2 * r * n)),
    ("T10", "criterion", prefix.Head, "safe_by_support", instead(lambda self: True)),
    ("T10", "definition", prefix.Head, "safe_by_definition", instead(lambda self: False)),
    ("T10", "masking", t10, "masked_after", instead(lambda kappa, v, seen=(0,): v[0])),
    ("T10", "floats", t10, "_float_output", instead(lambda e, f, k, v: float(v.sum()))),
    ("T11", "(1)", prefix.Head, "value_violations", instead(lambda self: iter(()))),
    ("T11", "(2)", prefix.Head, "score_violations", instead(lambda self: iter(()))),
    ("T11", "(2′)", prefix.Head, "step_violations", instead(lambda self: iter(()))),
    ("T11", "pair sum", t11, "pair_sum", after(lambda x: -x)),
    ("T11", "step sum", t11, "step_sum", after(lambda x: -x)),
    ("T11", "product", t11, "product_example", instead(lambda bump=None: prefix.product_example((0, 0)))),
    ("T11", "rounding", t11, "fragile_head", instead(lambda: prefix.product_example())),
    ("T12", "separation", prefix, "separating", instead(lambda rows: (Rational(0),) * len(next(iter(rows))))),
    ("T12", "steepness", softmax, "two_slot_step", double),
    ("T12", "variance", t12, "popoviciu", double),
    ("T12", "leak", prefix.Head, "witness", instead(lambda self: None)),
    ("T12", "bad step", t12, "blind_step", instead(lambda: prefix.product_example((0, 0)).witness())),
    ("T13", "release", t13, "release", more),
    ("T13", "criterion", t13, "passes", instead(lambda support, t: True)),
    ("T13", "starved", t13, "starved", after(lambda x: x[1:])),
    ("T13", "rivals", t13, "rival_heads", after(lambda hs: hs[:1] * 3)),
    ("T14", "bound", t14, "bound", more),
    ("T14", "staleness", t14, "staleness", after(lambda x: max(0, x - 1))),
    ("T14", "spacing", t14, "even_releases", after(lambda x: x[1:])),
    ("T15", "composition", t15, "compose", instead(lambda second, first: second)),
    ("T15", "transitivity", t15, "is_transitive", instead(lambda a: True)),
    ("T15", "layer", t15, "averaging_layer", instead(lambda allowed, values: values)),
    ("T15", "times", t15, "times", instead(lambda a, d: tuple(tuple(True for _ in a) for _ in d))),
    ("T18", "features first", t18, "features_then_sequence", instead(lambda e, x, w, o, b: e * (x * w))),
    ("T18", "sequence first", t18, "sequence_then_features", instead(lambda e, x, w, o, b: e * (x * w))),
    ("T19", "split", t19, "by_old_values", double),
    ("T19", "steepness", softmax, "two_slot_step", double),
    ("T19", "bound", t19, "bound", after(lambda x: x / 2)),
    ("T19", "one position", t19, "at_once", after(lambda pair: (pair[0] * 2, pair[1]))),
    ("T20", "tied sum", t20, "tied_sum", after(lambda x: -x)),
    ("T20", "case", self_attention.SelfAttention, "case", instead(property(lambda self: Case.EXACT))),
    ("T20", "column", self_attention, "without", instead(lambda head, position: head)),
    ("T20", "example", t20, "TURN", instead(sympy.eye(2))),
    ("T20", "blind", t20, "blind_example", instead(lambda: replace(t20_example(), query=sympy.eye(2)))),
    ("T21", "bound", t21, "bound", more),
    ("T21", "staleness", t21, "staleness", after(lambda x: max(0, x - 1))),
    ("T21", "spacing", t21, "even_releases", after(lambda x: x[1:])),
    ("T22", "choices", t22, "choices_sum", after(lambda x: -x)),
    ("T22", "signs", t22, "_WAYS", instead((([1, 0], 1), ([0, 1], 1)))),
    ("T22", "sums", several_heads, "_not_zero", instead(lambda total: False)),
    ("T23", "interval", contractions, "matrix_product", after(lambda s: replace(s, hi=np.minimum(s.hi, 0)))),
    ("T23", "zero", contractions, "ZERO", instead(np.uint8(4))),
    ("T24", "same", t24, "same", instead(lambda x, y: x is y)),
    ("T24", "support", t24, "_random_head", after(lambda head: (head[0] + 1, *head[1:]))),
    ("T24", "mean", t24, "cancelled_mean", instead(lambda allowed, forbidden: allowed / 2)),
    ("T25", "frame", t25, "framed", after(sorted)),
    ("T25", "room", t25, "with_capacity", instead(lambda order, rows, room: [0] * len(rows))),
    ("T26", "window", t26, "reads", instead(lambda t, n: [t])),
    ("T26", "guard", t26, "window", instead(lambda rows, guarded: list(rows))),
    ("T22", "move", several_heads, "_pair", after(lambda sums: (*sums[:2], *sums[:2]))),
]  # fmt: skip


@pytest.fixture(scope="module")
def failures():
    return {}


@pytest.mark.parametrize(("name", "what", "home", "attribute", "mutate"), by_claim(MUTATIONS))
def test_a_broken_formula_fails_its_row(monkeypatch, failures, name, what, home, attribute, mutate):
    monkeypatch.setattr(home, attribute, mutate(getattr(home, attribute)))
    t08._generic.cache_clear()
    row = check_claim(name, digits=15)
    t08._generic.cache_clear()
    assert row.status == "failed", f"{name} is still {row.status} with {what} broken"
    failures.setdefault(name, set()).update(e.kind for e in row.evidence if e.ok is False)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.claim(n)) for n in MINE])
def test_every_kind_of_evidence_can_fail(rows, failures, name):
    """Runs after the mutations: together they made each kind of evidence of the claim fail."""
    if name not in failures:
        pytest.skip("the mutations of this claim were not run")
    assert failures[name] >= {e.kind for e in rows[name].evidence}
