"""The picture of a model's verdict, its data and its files."""

from __future__ import annotations

import dataclasses

import attnproof as ap
import numpy as np
import pytest
from attnproof.causal.model.picture import caption, cells, receptive_field, save
from needs import need

torch = need("torch")
need("matplotlib").use("Agg")
from torch import nn


@pytest.fixture(scope="module")
def leak():
    torch.manual_seed(0)
    mix = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4, batch_first=True, bidirectional=True))
    return ap.check_model(mix, torch.randn(1, 6, 4))


@pytest.fixture(scope="module")
def window():
    torch.manual_seed(0)
    conv = nn.Conv1d(4, 4, 3)
    return ap.check_model(lambda x: conv(nn.functional.pad(x.mT, (2, 0))).mT, torch.randn(1, 6, 4))


def test_the_receptive_field_is_data(window):
    field = receptive_field(window)
    assert field.tolist() == [[0, 0], [0, 1], [0, 2], [1, 3], [2, 4], [3, 5]]
    untraced = dataclasses.replace(window, details={**window.details, "earliest": None})
    with pytest.raises(ValueError, match="the verdict has no intervals"):
        receptive_field(untraced)


def test_cells_tell_used_forbidden_and_leaking(window, leak):
    picture, rows, columns = cells(window)
    assert rows.tolist() == columns.tolist() == list(range(6))
    assert picture[4].tolist() == [0, 0, 2, 2, 2, 1]
    assert cells(leak)[0][0].tolist() == [2, 3, 3, 3, 3, 3]


def test_long_sequences_are_thinned_out():
    verdict = ap.Verdict(
        "model", "m", ap.Status.PROVED, boundary=ap.Boundary.prefix(5000),
        details={"earliest": [0] * 5000, "latest": list(range(5000))},
    )  # fmt: skip
    picture, rows, columns = cells(verdict)
    assert picture.shape == (512, 512)
    assert (rows[0], rows[-1], columns[-1]) == (0, 4999, 4999)
    assert not (picture == 3).any()


def test_the_caption_names_the_blamed_operation(leak, window):
    assert caption(leak).startswith("the future enters at aten.")
    assert "in 1" in caption(leak)
    assert caption(window) == "every interval lies inside what the boundary allows"


def test_plot_shows_the_pattern_and_the_witness(leak):
    axes = leak.plot()
    assert axes.get_xlabel() == "input position"
    assert axes.get_ylabel() == "output position"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert f"witness: {leak.witness.query} ← {leak.witness.position}" in labels
    assert "forbidden and not excluded" in labels
    assert axes.get_title() == leak.headline()
    axes.figure.canvas.draw()
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1  # it hides no cell
    page, words = axes.figure.bbox, [axes.title, axes.xaxis.label, *axes.texts]
    assert all(page.y0 <= w.get_window_extent().y0 and w.get_window_extent().y1 <= page.y1 for w in words)


def test_saving(tmp_path, leak):
    save(leak, tmp_path / "leak.png")
    assert (tmp_path / "leak.png").read_bytes().startswith(b"\x89PNG")
    save(leak, tmp_path / "leak.html")
    page = (tmp_path / "leak.html").read_text()
    assert "data:image/png;base64," in page
    assert "REFUTED" in page
    with pytest.raises(ValueError, match=r"has no suffix that can be written; use \.png"):
        save(leak, tmp_path / "leak.xyz")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["leak.html", "leak.png"]


def test_a_verdict_without_a_boundary_has_no_picture():
    with pytest.raises(ValueError, match="has no boundary"):
        ap.Verdict("model", "m", ap.Status.PROVED).plot()


def test_the_vectors_of_the_picture_are_numbers(window):
    assert np.issubdtype(receptive_field(window).dtype, np.integer)
