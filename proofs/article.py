"""The statements of the article "Low-rank attention and Linformer", each with what settles it here.

A row names the sentences that it is about by their numbers within a section (counted from 1, formulas belong to the
sentence before them), and quotes a few words at most. What is decided by a small computation is computed by the row's
own `check`, which raises `CheckFailed`; sentences that state nothing are listed as such, so that none is left out.
`python -m attnproof.proofs.article_page` writes the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Matrix, Rational, exp, symbols

from ..symbolic import attention, softmax
from ..symbolic.field import is_zero, sign
from .claim import expect

INTRODUCTION, AXES, EXAMPLE, RANK, SAVING = (
    "Low-rank attention and Linformer",
    "Compress positions, not features",
    "A compression you can calculate",
    "Which matrix has low rank?",
    "Two conditions behind the saving",
)
SENTENCES = {INTRODUCTION: 3, AXES: 11, EXAMPLE: 12, RANK: 11, SAVING: 11}
SILENT = {
    (AXES, 1): "notation",
    (AXES, 4): "a citation",
    (EXAMPLE, 2): "says that the numbers are made up",
    (SAVING, 1): "advice",
    (SAVING, 6): "advice",
}
"""Sentences that state nothing that could be true or false, with what they are."""
PROJECTION = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
FAIRSEQ = "facebookresearch/fairseq, examples/linformer: `MultiheadLinearAttention`"


@dataclass(frozen=True)
class Row:
    """One statement: where it stands, a few of its words, what it says, and what settles it.

    `kind` is "proved" (claims with a derivation, and theorems where they have some), "decided" (by `check`, exactly),
    "measured" (by the pages and notebooks named) or "read" (of another project's source, which nothing here can prove).
    """

    section: str
    sentences: tuple[int, ...]
    words: str
    says: str
    kind: str
    claims: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    check: Callable[[], None] | None = None


def the_same_shapes() -> None:
    """Both heads give a row per query; the compressed one has a weight per slot."""
    queries, keys = [[1], [2], [3], [4]], [[1], [2], [3], [4]]
    projection = [[Rational(1, 2), Rational(1, 2), 0, 0], [0, 0, 1, 0]]
    expect(attention.slot_weights(queries, keys, projection).shape == (4, 2), "n queries times r weights")
    expect(attention.compressed_attention(queries, keys, keys, projection, projection).shape == (4, 1), "n outputs")
    expect(attention.full_attention(queries, keys, keys).shape == (4, 1), "n outputs in full")


def the_example() -> None:
    """The slots of the example, and what each of them holds."""
    example = attention.article_example()
    expect(example.compressed_keys == Matrix([Rational(3, 2), 3]), "compressed keys")
    expect(example.compressed_values == Matrix([15, 30]), "compressed values")
    expect(example.e == Matrix([[Rational(1, 2), Rational(1, 2), 0], [0, 0, 1]]), "the projection")


def no_mixture_of_the_pair() -> None:
    """Whatever the slot weights, positions 1 and 2 get equal shares of the output; the query weighs them 1 : e."""
    first, second = symbols("b_1 b_2", positive=True)
    mixed = Matrix([[first, second]]) * attention.article_projection()
    expect(is_zero(mixed[0] - mixed[1]), "slots mix the two values half and half")
    weights = attention.article_example().weights_full
    expect(is_zero(weights[1] - exp(1) * weights[0]), "the query prefers the second by a factor of e")
    expect(sign(weights[1] - weights[0]) == 1, "so no slot weights give its mixture")


def rank_one_logits() -> None:
    """The logits have rank one, and their softmax has the rows that the article gives."""
    logits = Matrix([[0, 0], [0, 1]])
    expect(logits.rank() == 1, "rank of the logits")
    found = softmax.row_softmax(logits)
    stated = Matrix([[Rational(1, 2), Rational(1, 2)], [1 / (1 + exp(1)), exp(1) / (1 + exp(1))]])
    expect(all(is_zero(entry) for entry in found - stated), "the two rows")
    expect(is_zero(found.det() - (exp(1) - 1) / (2 * (1 + exp(1)))), "the determinant")


def slot_a_exposes_the_future() -> None:
    """Query 0 with slot 0 alone: its output is (v_1 + v_2)/2, and that is a leak."""
    from ..causal.projection.check import check_projection

    first, second, third = symbols("v_1 v_2 v_3")
    held = attention.article_projection() * Matrix([first, second, third])
    expect(is_zero(held[0] - (first + second) / 2), "slot A holds the mean of v_1 and v_2")
    leak = check_projection(PROJECTION, visible=[[True, False], [True, True], [True, True]]).witness
    expect(leak is not None and (leak.query, leak.position) == (0, 1), "slot A alone leaks v_2 at time 1")
    expect(leak is not None and leak.replay(), "the witness replays")


def no_mask_over_other_slots_helps() -> None:
    """As long as query 0 sees slot 0, each of the eight masks over the other slot leaks."""
    from ..causal.projection.check import check_projection

    for bits in range(8):
        visible = [[True, bool(bits >> t & 1)] for t in range(3)]
        expect(check_projection(PROJECTION, visible=visible).status.name == "REFUTED", f"mask {visible} leaks")


def bidirectional_is_another_boundary() -> None:
    """The same projection, where all of the text is available at the time of decision."""
    from ..causal.projection.check import check_projection

    expect(check_projection(PROJECTION, boundary="bidirectional").status.name == "PROVED", "nothing is forbidden")
    expect(check_projection(PROJECTION, boundary="prefix").status.name == "REFUTED", "the prefix boundary forbids")


ROWS = (
    Row(
        INTRODUCTION,
        (1,),
        "reduces the cost",
        "fewer multiply–adds below n = 2r, for a mixing of rank r at most",
        "proved",
        ("T3", "T9"),
    ),
    Row(
        INTRODUCTION,
        (2,),
        "before attention",
        "keys and values are projected along the sequence, then attended to",
        "decided",
        ("T18",),
        (),
        the_same_shapes,
    ),
    Row(
        INTRODUCTION,
        (3,),
        "an empirical question",
        "does a short disclosure survive: a limit, and a measurement",
        "measured",
        ("T8",),
        ("notebooks/08_does_the_disclosure_survive.ipynb",),
    ),
    Row(
        AXES,
        (2, 3),
        "Linformer instead forms",
        "both heads by their formulas, with the shapes given",
        "decided",
        ("T3",),
        ("notebooks/01_the_example.ipynb",),
        the_same_shapes,
    ),
    Row(
        AXES,
        (5,),
        "combine information across positions",
        "features act on one axis, E and F on the other",
        "proved",
        ("T18",),
    ),
    Row(
        AXES,
        (6, 7),
        "All n query positions remain",
        "n queries, r scores each; a slot need be no token",
        "decided",
        ("T18",),
        (),
        the_same_shapes,
    ),
    Row(
        AXES,
        (8,),
        "separates feature projections",
        "layers of their own compress keys (`compress_k`), values (`compress_v`)",
        "read",
        ("T18",),
        (FAIRSEQ,),
    ),
    Row(
        AXES,
        (9,),
        "unless explicitly frozen",
        "weights of `nn.Linear`, trained unless `freeze_compress` is 1",
        "read",
        (),
        (FAIRSEQ,),
    ),
    Row(
        AXES,
        (10,),
        "nonnegative or sum to one",
        "nothing bounds them; what follows for the mixing is T4",
        "read",
        ("T4",),
        (FAIRSEQ,),
    ),
    Row(
        AXES,
        (11,),
        "is archived",
        "about a repository, as it was when the article was written",
        "read",
        (),
        ("facebookresearch/fairseq",),
    ),
    Row(
        EXAMPLE,
        (1, 3, 4, 5),
        "The first slot averages",
        "keys 1.5 and 3, values 15 and 30",
        "decided",
        ("T1",),
        ("notebooks/01_the_example.ipynb",),
        the_example,
    ),
    Row(EXAMPLE, (6,), "≈25.7521", "full attention, exactly and as decimals", "proved", ("T1",)),
    Row(EXAMPLE, (7,), "≈27.2636", "compressed attention, exactly and as decimals", "proved", ("T1",)),
    Row(EXAMPLE, (8,), "about 1.5115 higher", "the difference, and that it is positive", "proved", ("T1",)),
    Row(
        EXAMPLE,
        (9,),
        "before exponentiation",
        "averaging keys loses mass before the softmax (Jensen)",
        "proved",
        ("T2",),
    ),
    Row(
        EXAMPLE,
        (9,),
        "every query's preferred mixture",
        "slots weigh the two averaged values alike; the query does not",
        "decided",
        ("T7",),
        (),
        no_mixture_of_the_pair,
    ),
    Row(
        EXAMPLE,
        (10,),
        "no approximation-error bound",
        "and no bound by the size of Y alone can hold",
        "proved",
        ("T7",),
    ),
    Row(EXAMPLE, (11,), "0.1824, 0.8176", "all five weights and both outputs", "proved", ("T1",)),
    Row(
        EXAMPLE,
        (12,),
        "share a linear scale",
        "the figure, drawn from the exact values",
        "measured",
        (),
        ("notebooks/01_the_example.ipynb",),
    ),
    Row(
        RANK,
        (1, 2),
        "has rank at most r",
        "Ȳ = (BF)V, and the rank of BF, for all sizes and fields",
        "proved",
        ("T1", "T3"),
    ),
    Row(
        RANK,
        (3,),
        "not be a probability matrix",
        "when row sums are 1 and entries not negative, with witnesses",
        "proved",
        ("T4",),
    ),
    Row(
        RANK, (4, 9), "A different claim", "logits of rank one, a softmax of full rank, for every n", "proved", ("T5",)
    ),
    Row(
        RANK,
        (5, 6, 7, 8),
        "softmax matrix has rank two",
        "the matrix, its rank, the rows and the determinant",
        "decided",
        ("T5",),
        ("notebooks/02_which_matrix_has_low_rank.ipynb",),
        rank_one_logits,
    ),
    Row(
        RANK,
        (10, 11),
        "best truncated SVD",
        "no projection beats it for one matrix; a learned one serves all inputs",
        "proved",
        ("T6",),
        ("notebooks/07_real_heads.ipynb",),
    ),
    Row(SAVING, (2,), "cost O(nr)", "the counts, step by step, and the number of coefficients", "proved", ("T9",)),
    Row(
        SAVING,
        (3, 4),
        "only if r stays fixed",
        "linear if r stays bounded, and not for r = log n, √n or αn",
        "proved",
        ("T9",),
    ),
    Row(
        SAVING,
        (5,),
        "end-to-end speedup",
        "the least whole-layer factor, and what the clock says",
        "measured",
        ("T9",),
        ("notebooks/06_what_it_takes_on_a_machine.ipynb", "docs/will-compression-pay.md"),
    ),
    Row(
        SAVING,
        (7,),
        "mix past and future",
        "which slots do, and two inputs that show it",
        "proved",
        ("T10", "T12"),
    ),
    Row(
        SAVING,
        (8,),
        "exposes (v₁+v₂)/2",
        "what slot A holds, and the leak of v₂ at time 1",
        "decided",
        ("T10",),
        ("notebooks/04_is_my_projection_prefix_safe.ipynb",),
        slot_a_exposes_the_future,
    ),
    Row(
        SAVING,
        (9,),
        "cannot undo that mixing",
        "all masks over the other slot leak; what the largest safe mask is",
        "decided",
        ("T13",),
        ("notebooks/04_is_my_projection_prefix_safe.ipynb",),
        no_mask_over_other_slots_helps,
    ),
    Row(
        SAVING,
        (10,),
        "prefix-safe compression",
        "masks and designs that are safe, and the check of pipelines",
        "proved",
        ("T13", "T16", "T17"),
        ("docs/pick-a-design.md", "docs/check-a-pipeline.md"),
    ),
    Row(
        SAVING,
        (11,),
        "a different information boundary",
        "what is available at the decision may be read",
        "decided",
        ("T15",),
        (),
        bidirectional_is_another_boundary,
    ),
)
