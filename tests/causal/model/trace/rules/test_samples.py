"""Images at points of a grid, maxima sent back, distances between rows, margins: against brute force."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from tensor_probe import check, normal

X = normal(6, 16)
PLACES = torch.tensor([[[0, 3], [9, 14]]]).expand(6, 1, 2, 2)
CUBES = torch.tensor([[[[0]]]]).expand(6, 2, 1, 1, 1)
TARGET = torch.tensor([0, 3, 1, 2, 0, 1])
CASES = {
    "maxima sent back": lambda x: [
        F.max_unpool2d(x[:, :4].reshape(6, 1, 2, 2), PLACES, 2),
        F.max_unpool3d(x[:, :2].reshape(6, 2, 1, 1, 1), CUBES, 2),
        F.max_unpool2d(x[:, :4].reshape(6, 2, 2), PLACES[:, 0], 2),
    ],
    "points": lambda x: [
        F.grid_sample(x.reshape(6, 1, 4, 4), x[:, :12].reshape(6, 3, 2, 2).tanh(), align_corners=False),
        F.grid_sample(normal(6, 2, 4, 4), x[:, :8].reshape(6, 2, 2, 2).tanh(), align_corners=True),
        F.grid_sample(x.reshape(6, 2, 2, 2, 2), x[:, :3].reshape(6, 1, 1, 1, 3).tanh(), align_corners=False),
    ],
    "drawn windows": lambda x: [
        *F.fractional_max_pool2d(
            x.reshape(6, 1, 4, 4), 2, 2, return_indices=True, _random_samples=normal(6, 1, 2).sigmoid()
        ),
        F.fractional_max_pool2d(x.reshape(6, 4, 4), 2, 2, _random_samples=x[:, :2].sigmoid()[None]),
        F.fractional_max_pool3d(x[:, :8].reshape(6, 2, 2, 2), 1, 1, _random_samples=x[:, :3].sigmoid()[None]),
    ],
    "grids": lambda x: [F.affine_grid(x[:, :6].reshape(6, 2, 3), (6, 1, 2, 2), align_corners=False)],
    "distances": lambda x: [F.pdist(x), F.pdist(x * 2, 1.0)],
    "margins": lambda x: [
        F.multi_margin_loss(x[:, :4], TARGET, reduction="none"),
        F.multi_margin_loss(x[:, :4], TARGET, weight=normal(4).abs(), reduction="none"),
        F.multi_margin_loss(x[:, :4], TARGET),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=False)


def test_images_stay_apart_and_points_of_one_image_do_not():
    def sampled(x, grid):
        return F.grid_sample(x.reshape(6, 1, 4, 4), grid.reshape(6, 1, 2, 2).tanh(), align_corners=False).flatten(1)

    rows = check(lambda x: sampled(x, x[:, :4]), X, exact=False)
    assert (rows.outputs[0].along(0)[1] == range(6)).all()
    later = lambda x: sampled(x[0], x[0].roll(-1, 0)[:, :4])[None]  # noqa: E731
    assert ap.check_model(later, X[None]).status.name == "REFUTED"


def test_a_distance_depends_on_its_two_rows_alone():
    run = check(lambda x: F.pdist(x), X, exact=False)
    assert run.outputs[0].along(0)[1].tolist() == [j for i in range(6) for j in range(i + 1, 6)]
    assert run.outputs[0].along(0)[0].tolist() == [i for i in range(6) for _ in range(i + 1, 6)]
