"""The floors of the house are kept, and a linter sees an import that breaks them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from needs import need

ROOT = Path(__file__).parents[1]
PLANTED = {
    "floors": ("symbolic/words.py", "from ..numeric import rank as planted"),
    "causal": ("causal/spans.py", "from .verdict import Verdict as planted"),
    "wings": ("causal/projection/mask.py", "from ..model import check as planted"),
    "plan": ("causal/pipeline/witness.py", "from .decide import __doc__ as planted"),
    "mathematics": ("causal/model/trace/domain.py", "import torch as planted"),
    "transfer": ("causal/model/trace/transfer/context.py", "from ..registry import Rule as planted"),
    "jaxprs": ("causal/model/trace/jaxpr/places.py", "import torch as planted"),
    "tensors": ("causal/model/trace/rules/scans.py", "from ..jaxpr import places as planted"),
    "circles": ("symbolic/exact.py", "from .field import __doc__ as planted"),
}
"""One forbidden import for every contract of pyproject.toml: the file, and the lines added to it."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package's own files in a folder called attnproof."""
    need("importlinter")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for package in settings["tool"]["setuptools"]["packages"]:
        folder = tmp_path.joinpath(*package.split("."))
        folder.mkdir(parents=True, exist_ok=True)
        for file in ROOT.joinpath(*package.split(".")[1:]).glob("*.py"):
            shutil.copy(file, folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    command = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as c; c()"
    chosen = [word for contract in contracts for word in ("--contract", contract)]
    return subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--no-logo", *chosen],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_every_contract_is_kept(copy):
    done = lint(copy)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("contract", PLANTED)
def test_a_planted_import_breaks_its_contract(copy, contract):
    name, line = PLANTED[contract]
    file = copy / "attnproof" / name
    file.write_text(f"{file.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    done = lint(copy, contract)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 broken" in done.stdout, done.stdout
    assert Path(name).stem in done.stdout, done.stdout


def test_every_contract_has_its_planted_import():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {contract["id"] for contract in settings["tool"]["importlinter"]["contracts"]} == set(PLANTED)
