"""What `import attnproof` and the projection checker load, each in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from modules import file_of, module_names

HEAVY = ["sympy", "flint", "mpmath", "torch", "jax", "dask", "cupy", "pandas", "polars", "z3", "cvc5", "matplotlib"]
HEAVY += ["rich", "typer", "safetensors", "scipy"]


def loaded(code: str) -> set[str]:
    """The heavy libraries that are imported once `code` has run in a fresh interpreter."""
    program = f"{code}\nimport sys, json; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_import_is_light():
    assert loaded("import attnproof") == set()
    assert loaded("import attnproof; attnproof.Boundary, attnproof.Verdict, attnproof.check_projection") == set()


def test_the_support_criterion_needs_numpy_alone():
    code = """
import numpy as np, attnproof as ap
v = ap.check_projection(np.eye(4), layout="slots-first", visible="largest")
assert bool(v) and v.headline() and str(v) and v.to_json() and v.explain() and v._repr_html_()
ap.largest_safe_mask(np.eye(4), layout="slots-first").to_array()
ap.nearest_safe_projection(np.eye(4), layout="slots-first", visible=np.ones((4, 4), bool))
"""
    assert loaded(code) == set()


def test_a_leak_needs_flint_to_be_shown_and_nothing_else():
    code = (
        "import attnproof as ap; v = ap.check_projection([[0.5, 0.5, 0], [0, 0, 1]]); assert v.witness.replay(); str(v)"
    )
    assert loaded(code) <= {"flint"}


WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import attnproof as ap, attnproof.cli
import attnproof.causal.projection.check, attnproof.causal.design.check, attnproof.causal.model.check
import attnproof.causal.pipeline.check, attnproof.plugin
try:
    ap.check_model(print, [1.0])
except ImportError as error:
    print(error)
"""


def test_every_door_opens_without_optional_libraries_and_a_missing_one_is_told_in_a_sentence():
    program = WITHOUT.format(missing=["torch", "jax", "dask", "cupy", "pandas", "polars", "z3", "cvc5", "matplotlib"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "check_model needs torch" in done.stdout
    assert "pip install" in done.stdout


def test_every_public_name_resolves_or_says_that_it_cannot():
    import attnproof

    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    assert attnproof.__version__ == tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["version"]
    for name in ("check_projection", "largest_safe_mask", "nearest_safe_projection", "assert_prefix_safe", "SafeMask"):
        assert getattr(attnproof, name).__doc__
        assert name in dir(attnproof)
    with pytest.raises(
        AttributeError, match=r"module 'attnproof' has no attribute 'check_everything'; it has .*Boundary"
    ):
        _ = attnproof.check_everything


def test_no_module_reads_what_a_clone_lacks():
    """Nothing in the installed package names a folder beside the checkout."""
    assert len(module_names()) > 150
    for name in module_names():
        text = file_of(name).read_text(encoding="utf-8")
        assert "../shared" not in text, name
        assert "/work" not in text, name
