"""Ready designs: proved for every n, checked by the projection checker for every n ≤ 40, and their closed forms."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from attnproof.causal.boundary import Boundary
from attnproof.causal.design.blocks import blocks_with_window, completed_blocks, decaying, dyadic, strided_blocks
from attnproof.causal.design.catalogue import BUILD, build
from attnproof.causal.design.packed import packed_blocks, packed_blocks_with_window, packed_decaying
from attnproof.causal.design.picture import draw
from attnproof.causal.design.smt import Problem, decide
from attnproof.causal.design.unsafe import triangular_scores
from attnproof.causal.projection.check import check_projection
from attnproof.causal.verdict import Status
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T13", "T14", "T16")
UNSAFE = ("incomplete-blocks", "triangular-scores", "segment-means", "dense")
SAFE = tuple(name for name in BUILD if name not in UNSAFE)
COMPLETE = ("blocks-with-window", "dyadic", "packed-blocks-with-window")

SIZES = st.integers(1, 40)
LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=6)


@st.composite
def designs(draw):
    """A safe design with random parameters, and a size."""
    n, p, q, extra, lengths = (
        draw(SIZES),
        draw(st.integers(1, 7)),
        draw(st.integers(1, 9)),
        draw(st.integers(0, 4)),
        draw(LENGTHS),
    )
    packed = sum(lengths)
    return draw(
        st.sampled_from(
            [
                (completed_blocks(p), n),
                (blocks_with_window(p, p - 1 + extra), n),
                (strided_blocks(p, q), n),
                (dyadic(), n),
                (decaying((0.5, 0.9), q), n),
                (packed_blocks(p, lengths), packed),
                (packed_blocks_with_window(p, lengths, p - 1 + extra), packed),
                (packed_decaying(lengths, 0.5, q), packed),
            ]
        )
    )


@pytest.mark.parametrize("name", BUILD)
def test_every_design_is_decided_for_every_n(name):
    need("z3")
    need("cvc5")
    design = build(name, 20)
    verdict = design.check()
    assert verdict.status is (Status.REFUTED if name in UNSAFE else Status.PROVED)
    assert design.safe == (name in SAFE)
    if name in UNSAFE:
        assert verdict.witness.n == 2
        assert verdict.witness.replay()
    else:
        assert {e.detail.split(":")[0] for e in verdict.evidence if e.kind == "solver"} == {"Z3", "cvc5"}
        assert ("complete" in verdict.about) == (design.family.covers is not None)


@pytest.mark.parametrize("name", SAFE)
def test_the_questions_are_not_vacuous(name):
    """Without the last conjunct, what contradicts safety or completeness, each question has an answer."""
    need("z3")
    for problem in build(name, 20).family.problems().values():
        weaker = Problem(problem.title, problem.variables, problem.assertions[:-1], problem.starts)
        assert decide(weaker, confirm=False).status == "sat"


@pytest.mark.parametrize("name", BUILD)
def test_the_projection_checker_agrees_at_every_n_up_to_40(name):
    for n in range(1, 41):
        design = build(name, n)
        member = design.matrices(n)
        if not len(member.support):
            assert not member.visible.size
            continue
        verdict = check_projection(member.F, layout="slots-first", visible=member.visible, boundary=member.boundary)
        expected = Status.PROVED if name in SAFE or n == 1 else Status.REFUTED
        assert verdict.status is expected, (name, n)


@settings(max_examples=150, deadline=None)
@given(designs())
def test_closed_forms_are_what_the_matrices_show(case):
    design, n = case
    member = design.matrices(n)
    allowed = member.boundary.to_array()
    assert not (member.shown & ~allowed).any()
    assert design.staleness(n) == member.staleness.max()
    assert design.window(n) == member.window
    assert design.seeing(n) == member.visible.sum()
    compressing = member.support[: n // design.values["p"]] if "window" in design.name else member.support
    if "decaying" not in design.name:  # whose recurrence reads each position once per rate
        assert design.reading(n) == compressing.sum()
    cost = design.cost(n, 3, 5)
    assert cost["total"] == 8 * (design.reading(n) + design.seeing(n))
    assert cost["full attention, masked"] == 8 * n * (n + 1) // 2
    if design.name in COMPLETE:
        assert np.array_equal(member.shown, allowed)


@settings(max_examples=100, deadline=None)
@given(designs())
def test_no_design_beats_the_bound_on_freshness(case):
    design, n = case
    r = len(design.matrices(n).support)
    if isinstance(design.matrices(n).boundary, Boundary) and design.matrices(n).boundary.kind == "prefix":
        assert design.staleness(n) >= n // (r + 1)


def test_completed_blocks_attain_the_bound_on_freshness():
    for p in range(1, 8):
        for n in (p - 1 + p * k for k in range(1, 6)):
            assert completed_blocks(p).staleness(n) == n // (n // p + 1)


@settings(max_examples=60, deadline=None)
@given(designs())
def test_weights_average_and_stay_in_the_support(case):
    design, n = case
    member = design.matrices(n)
    assert not member.F[~member.support].any()
    used = member.support.any(axis=1)
    np.testing.assert_allclose(member.F[used].sum(axis=1), 1)


def test_dyadic_tiles_the_prefix_exactly_with_few_slots():
    for n in (1, 2, 7, 33, 100):
        member = dyadic().matrices(n)
        shown_times = member.visible.astype(int) @ member.support.astype(int)
        assert np.array_equal(shown_times, np.tri(n, dtype=int))
        assert member.visible.sum(axis=1).max() <= n.bit_length()
        assert len(member.support) < 2 * n


def test_decaying_weights_fade_by_the_rate():
    F = decaying([0.5, 1.0]).matrices(4).F
    np.testing.assert_allclose(F[6], np.array([1, 2, 4, 8]) / 15)
    np.testing.assert_allclose(F[7], 0.25)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: completed_blocks(0), r"p = 0 does not fit; pass a whole number of at least 1"),
        (lambda: completed_blocks(2.5), r"p = 2.5 does not fit"),
        (lambda: blocks_with_window(4, 2), r"w = 2 does not fit; pass a whole number of at least 3"),
        (lambda: strided_blocks(2, 0), r"stride = 0 does not fit"),
        (lambda: decaying([]), r"number of rates = 0 does not fit"),
        (lambda: decaying([1.5]), r"rates has 1.5; pass rates above 0 and at most 1"),
        (lambda: packed_decaying([2], rate=0), r"rate = 0 does not fit; pass a rate above 0 and at most 1"),
        (lambda: packed_blocks(2, [3, 0]), r"lengths = 0 does not fit"),
        (lambda: packed_blocks(2, [3]).matrices(4), r"lengths \[3\] are no documents over n = 4 positions"),
        (lambda: completed_blocks(2).matrices(0), r"n = 0 is no size"),
        (
            lambda: build("dyadik", 4),
            r"design 'dyadik' is unknown; did you mean dyadic\? The designs are completed-blocks, ",
        ),
        (lambda: build("dyadic", 4, p=3), r"design dyadic takes no p; it takes no argument"),
        (lambda: build("completed-blocks", 4, w=3), r"design completed-blocks takes no w; it takes p"),
    ],
)
def test_bad_input_gets_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", ["blocks-with-window", "triangular-scores", "packed-blocks"])
def test_pictures_show_the_matrices(tmp_path, name):
    need("matplotlib")
    design = build(name, 12)
    figure = draw(design, 12)
    reads, sees, effect = figure.axes
    member = design.matrices(12)
    assert np.array_equal(reads.images[0].get_array(), member.support)
    assert np.array_equal(sees.images[0].get_array(), member.visible)
    state = effect.images[0].get_array()
    assert np.array_equal(state == 3, member.shown & ~member.boundary.to_array())
    assert np.array_equal(state == 2, member.shown & member.boundary.to_array())
    figure.savefig(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 5000


def test_a_picture_without_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'attnproof\[plot\]'"):
        draw(triangular_scores(2), 3)


def test_the_exported_questions_are_current():
    """docs/smt holds what the solvers decide now; `attnproof design export docs/smt` renews it."""
    folder = Path(__file__).parents[3] / "docs" / "smt"
    if not folder.is_dir():
        pytest.skip("docs/smt is not part of this installation")
    need("z3")
    need("cvc5")
    from attnproof.cli.design import smtlib_texts

    texts = smtlib_texts()
    assert sorted(texts) == sorted(f.name for f in folder.glob("*.smt2"))
    for name, text in texts.items():
        assert (folder / name).read_text(encoding="utf-8") == text, name
