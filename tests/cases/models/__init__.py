"""Public packages and hand-written layers whose causality is known by brute force (models.csv).

`truth` in models.csv is `causal`, `leaks` or `rounding` (float noise only: refuting it is wrong). One module per
package holds its cases; `load` builds one of them with the seeds under which its truth was found.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


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


def case(n, tokens=None, width=None, output_axis=1, first_query=0, dtype=None):
    """Marks a function of the dtype that returns (model, run) with its input: `n` positions, token ids or numbers."""

    def mark(build):
        build.shape = (1, n) if width is None else (1, n, width)
        build.tokens, build.output_axis, build.queries, build.dtype = tokens, output_axis, n - first_query, dtype
        return build

    return mark


@cache
def rows() -> dict[str, dict[str, str]]:
    """Every row of models.csv by case."""
    with (Path(__file__).parent / "models.csv").open(newline="") as file:
        return {row["case"]: row for row in csv.DictReader(file)}


def load(name: str, dtype: torch.dtype | None = None) -> Case:
    """The case in the dtype of its truth (float64 where the model runs in it, else float32)."""
    row = rows()[name]
    package = "torch_layers" if row["package"] == "torch" else row["package"].lower().replace("-", "_")
    module = import_module(f"{__name__}.{package}")
    build = getattr(module, name)
    if dtype is None and build.dtype is None:
        try:
            found = load(name, torch.float64)
            with torch.no_grad():
                found.run(found.x.clone())
            return found
        except (RuntimeError, TypeError, ValueError, AssertionError):
            dtype = torch.float32
    dtype = dtype or build.dtype
    torch.manual_seed(0)
    model, run = build(dtype)
    run.model = model
    generator = torch.Generator().manual_seed(0)
    if build.tokens:
        x = torch.randint(0, build.tokens, build.shape, generator=generator)
    else:
        x = torch.randn(build.shape, generator=generator, dtype=torch.float64).to(dtype)
    return Case(name, model, run, x, build.output_axis, build.queries, build.tokens, row)
