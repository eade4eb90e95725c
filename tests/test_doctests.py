"""The examples in every public docstring, run by importing the modules under their installed names."""

from __future__ import annotations

import doctest
from importlib import import_module

import attnproof
import pytest
from modules import module_names
from needs import need

OPTIONAL = (
    "torch",
    "jax",
    "dask",
    "cupy",
    "pandas",
    "polars",
    "z3",
    "cvc5",
    "matplotlib",
    "statsmodels",
    "sklearn",
    "arch",
)
EXAMPLES_NEED = {"attnproof.numeric.flops": "torch", "attnproof.numeric.blocks": "dask.array"}


@pytest.mark.parametrize("name", module_names())
def test_examples(name: str) -> None:
    try:
        module = import_module(name)
    except ImportError as error:
        cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        missing = (cause.name or "").split(".")[0]
        if missing in OPTIONAL:
            need(missing)
        raise
    if name in EXAMPLES_NEED:
        need(EXAMPLES_NEED[name])
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in finder.find(module, name):
        for library in OPTIONAL:  # an example that imports what is not here is a visible skip, not a failure
            if any(f"import {library}" in example.source for example in test.examples):
                need(library)
        result = runner.run(test)
        assert result.failed == 0, f"{test.name} in {name}: {result.failed} of {result.attempted} examples fail"


def test_the_public_face_has_examples() -> None:
    finder = doctest.DocTestFinder()
    for name in ("check_projection", "largest_safe_mask", "nearest_safe_projection", "assert_prefix_safe"):
        assert any(test.examples for test in finder.find(getattr(attnproof, name), name)), name
