"""Qualifiers without which a sentence of the pages would be false, each beside what contradicts the bare sentence."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
QUALIFIED = {
    "row sums, for every B": ("notebooks/02_*.ipynb", "rows sum to one for every row-stochastic $B$ exactly when"),
    "full rank, of these logits": ("notebooks/02_*.ipynb", "softmax of these rank-one logits"),
    "the saving, where α ≤ ½": ("notebooks/03_*.ipynb", "for α ≤ ½ it is at most 1/(2α)"),
    "masks, where T10 is passed": ("notebooks/04_*.ipynb", "a mask that passes T10"),
    "no bound, for the example": (
        "notebooks/07_*.ipynb",
        "says of its example that no approximation bound",
    ),
    "the largest mask, at other boundaries": ("docs/theory.md", "visible(t,s) ⇔ supp(s) ⊆ allowed(t)"),
    "the witness, another one in Rocq": ("docs/theory.md", "The Rocq theorem uses another witness"),
}


@pytest.mark.parametrize("name", QUALIFIED)
def test_a_sentence_has_what_makes_it_true(name):
    pattern, words = QUALIFIED[name]
    (page,) = ROOT.glob(pattern)
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = json.dumps(json.loads(text), ensure_ascii=False).replace("\\\\", "\\").replace("\\>", ">")
    assert words in " ".join(text.replace("\\<", "<").split()), f"{page.name} lacks {words!r}"


def test_the_bare_sentences_are_false():
    B, F = np.array([[1, 0], [1, 0]]), np.array([[1, 0], [3, 4]])
    assert (B @ F).sum(1).tolist() == [1, 1] != F.sum(1).tolist()  # rows of BF sum to 1 for this B alone
    assert np.linalg.matrix_rank(np.exp(np.outer([1, 1], [1, 2]))) == 1  # rank-one logits that repeat
    n, D, c, alpha = 2, 1, 1, Fraction(3, 4)
    saved = Fraction(D * n * n + c * n, 1) / (2 * D * alpha * n * n + c * n)
    assert saved > 1 / (2 * alpha)  # above ½ the saving is more than 1/(2α)
