"""The page about the article: every sentence has a row or a reason, every row has something that settles it."""

from __future__ import annotations

from pathlib import Path

import pytest
from attnproof.proofs.article import ROWS, SENTENCES, SILENT
from attnproof.proofs.article_page import main, page
from attnproof.proofs.claim import registry
from attnproof.symbolic import attention
from needs import need

ROOT = Path(__file__).parents[2]


def test_every_sentence_has_a_row_or_states_nothing():
    told = {(row.section, n) for row in ROWS for n in row.sentences}
    assert told | set(SILENT) == {(section, n + 1) for section, count in SENTENCES.items() for n in range(count)}
    assert not told & set(SILENT)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_a_row_leads_to_what_settles_it(row):
    assert len(row.words.split()) <= 5  # the article is quoted, not copied
    assert set(row.claims) <= set(registry())
    if row.kind == "proved":
        assert row.claims
        assert any(registry()[name].derive for name in row.claims)
    elif row.kind == "decided":
        assert row.check
        row.check()
    else:
        assert row.kind in ("measured", "read")
        assert row.seen
    for place in row.seen:
        assert not place.startswith(("docs/", "notebooks/")) or (ROOT / place).is_file()


def test_a_row_that_is_decided_can_fail(monkeypatch):
    wrong = attention.article_projection().copy()
    wrong[0, 0], wrong[0, 1] = wrong[0, 0] / 2, wrong[0, 1] * 3 / 2  # slot A weighs the pair 1 : 3
    monkeypatch.setattr(attention, "article_projection", lambda: wrong)
    for words in ("every query's preferred mixture", "exposes (v₁+v₂)/2", "The first slot averages"):
        (row,) = (row for row in ROWS if row.words == words)
        with pytest.raises(AssertionError):
            row.check()


def test_what_is_read_in_another_source_is_so_of_an_implementation_at_hand():
    linformer, torch = need("linformer"), need("torch")
    torch.manual_seed(0)
    layer = linformer.LinformerSelfAttention(dim=8, seq_len=6, k=3, heads=2)
    own = {name: weight for name, weight in layer.named_parameters() if name.startswith("proj_")}
    assert set(own) == {"proj_k", "proj_v"}  # apart from to_k and to_v, one for keys and one for values
    for weight in own.values():
        assert weight.requires_grad
        assert (weight < 0).any()
        assert not torch.allclose(weight.sum(0), torch.ones(3))


def test_the_committed_page_is_current(tmp_path, capsys):
    text = (ROOT / "docs" / "article.md").read_text(encoding="utf-8")
    assert text == page(), "docs/article.md is not current; run `python -m attnproof.proofs.article_page`"
    assert main([str(tmp_path / "article.md")]) == 0
    assert (tmp_path / "article.md").read_text(encoding="utf-8") == text
    assert capsys.readouterr().out.startswith("wrote ")
    with pytest.raises(SystemExit):
        main([str(tmp_path / "none" / "article.md")])
