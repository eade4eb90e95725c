"""The examples in every public docstring, run by importing the modules under their installed names."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import attnproof
import pytest
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
FOLDERS = ("attnproof.causal", "attnproof.cli", "attnproof.numeric", "attnproof.proofs", "attnproof.symbolic")


def module_names() -> list[str]:
    """All modules of the package, found by folder, so that notebooks and tests beside it are left alone."""
    found = ["attnproof", "attnproof.errors", "attnproof.lazy", "attnproof.libraries"]
    for folder in FOLDERS:
        package = import_module(folder)
        found.append(folder)
        found += [
            m.name for m in pkgutil.walk_packages(package.__path__, f"{folder}.") if not m.name.endswith("__main__")
        ]
    return found


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
