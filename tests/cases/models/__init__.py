"""Public packages and hand-written layers whose causality is known by brute force (models.csv).

`truth` in models.csv is `causal`, `leaks` or `rounding` (float noise only: refuting it is wrong); its `note` says what
is special about a case. One module per package holds a recipe under each case's name: the call of the package's
constructor, the shape of the input, and how the model runs on it. `load` makes the case with the seeds under which its
truth was found.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attnproof as ap
import torch

if TYPE_CHECKING:
    from attnproof.causal.verdict import Verdict

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def output(model, x):
    """What the model returns."""
    return model(x)


def first_output(model, x):
    """The first of what the model returns: states or losses follow."""
    return model(x)[0]


@dataclass(frozen=True)
class Recipe:
    """How a case is made: `run(model, x, **others)` on an input of `n` positions.

    An input has `vocabulary` token ids to draw from, or (with None) numbers, `width` of them at each position. `others`
    are further inputs by name, functions of the dtype; their random numbers come after the model's, or before them with
    `others_first`.
    """

    build: Callable[[], torch.nn.Module]
    run: Callable[..., torch.Tensor] = output
    n: int = 32
    vocabulary: int | None = None
    width: int | None = None
    output_axis: int = 1
    first_query: int = 0
    dtype: torch.dtype | None = None
    training: bool = False
    others: Mapping[str, Callable[[torch.dtype], torch.Tensor]] = field(default_factory=dict)
    others_first: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return (1, self.n) if self.width is None else (1, self.n, self.width)

    def beside(self, **others: Callable[[torch.dtype], torch.Tensor]) -> Recipe:
        """The same with these further inputs."""
        return replace(self, others=others)

    def run_by(self, run: Callable[..., torch.Tensor]) -> Recipe:
        """Decorates the function that runs the model."""
        return replace(self, run=run)


tokens = partial(Recipe, vocabulary=50)
numbers = partial(Recipe, width=32)


@dataclass(frozen=True)
class Case:
    """A model, the function that runs it on its sequence, an input, and what is known of it."""

    name: str
    model: torch.nn.Module
    run: Any
    x: torch.Tensor
    output_axis: int
    queries: int
    tokens: int | None
    row: dict[str, str]

    @property
    def truth(self) -> str:
        return self.row["truth"]

    def check(self, replay: str = "auto") -> Verdict:
        """`check_model` in the mode of the case."""
        return ap.check_model(
            self.run,
            self.x,
            sequence_axis=1,
            output_axis=self.output_axis,
            boundary=ap.Boundary.prefix(self.x.shape[1], queries=self.queries),
            modes=("train" if self.model.training else "eval",),
            vocabulary=self.tokens,
            replay=replay,
        )


@cache
def rows() -> dict[str, dict[str, str]]:
    """Every row of models.csv by case."""
    with (Path(__file__).parent / "models.csv").open(newline="") as file:
        return {row["case"]: row for row in csv.DictReader(file)}


def load(name: str, dtype: torch.dtype | None = None) -> Case:
    """The case in the dtype of its truth (float64 where the model runs in it, else float32)."""
    row = rows()[name]
    package = "torch_layers" if row["package"] == "torch" else row["package"].lower().replace("-", "_")
    recipe = getattr(import_module(f"{__name__}.{package}"), name)
    if dtype is None and recipe.dtype is None:
        try:
            found = load(name, torch.float64)
            with torch.no_grad():
                found.run(found.x.clone())
            return found
        except (RuntimeError, TypeError, ValueError, AssertionError):
            dtype = torch.float32
    dtype = dtype or recipe.dtype
    model, run = _made(recipe, dtype)
    return Case(
        name,
        model,
        run,
        _input(recipe, dtype),
        recipe.output_axis,
        recipe.n - recipe.first_query,
        recipe.vocabulary,
        row,
    )


def _made(recipe: Recipe, dtype: torch.dtype) -> tuple[torch.nn.Module, Callable[[torch.Tensor], torch.Tensor]]:
    torch.manual_seed(0)
    if recipe.others_first:
        others = {name: make(dtype) for name, make in recipe.others.items()}
    model = recipe.build()
    if not recipe.others_first:
        others = {name: make(dtype) for name, make in recipe.others.items()}
    model.train(recipe.training).to(dtype)
    call = recipe.run

    def run(x):
        return call(model, x, **others)

    run.model = model
    return model, run


def _input(recipe: Recipe, dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    if recipe.vocabulary:
        return torch.randint(0, recipe.vocabulary, recipe.shape, generator=generator)
    return torch.randn(recipe.shape, generator=generator, dtype=torch.float64).to(dtype)
