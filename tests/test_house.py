"""The house as it is described: files of a readable length, pages that name what exists, a wheel that holds it all."""

from __future__ import annotations

import ast
import json
import posixpath
import re
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from modules import file_of, module_names
from needs import need

ROOT = Path(__file__).parents[1]
LONGEST = 400
TABLES: dict[str, str] = {}
"""Modules that may be longer, each with its reason: a table is not read from top to bottom."""

ELSEWHERE = {
    "tests/test_no_lookahead.py": "the user's own test file",
    "test_no_lookahead.py": "the user's own test file",
    ".github/workflows/no-lookahead.yml": "the user's own workflow",
    "my_features.py": "the user's own pipeline",
    "tests/test_features.py": "the user's own test file",
    "strategy.py": "the user's own strategy",
    "ask.v": "what the reader writes",
    "proof/recheck.py": "written beside a proof that is saved",
    "file.py": "any file",
    "x.v": "the file of an example",
}
"""Names on pages that are no files of ours; so is every name with NN or NAME in it."""

if not (ROOT / "docs").is_dir():
    pytest.skip("the checkout is not part of this installation", allow_module_level=True)


@pytest.mark.parametrize("name", module_names())
def test_a_file_is_short_enough_to_be_read(name):
    lines = len(file_of(name).read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST or name in TABLES, f"{name} has {lines} lines; cut it where two ideas meet"


# -- what pages and docstrings name -----------------------------------------------------------------------------------


@cache
def files() -> frozenset[str]:
    """Every file of the checkout by its path from the root, without what tools leave behind."""
    hidden = re.compile(r"(^|/)(\.(?!ci|github|pre-commit|gitignore)|__pycache__|build|dist|[\w-]*\.egg-info)")
    names = (path.relative_to(ROOT).as_posix() for path in walk(ROOT) if path.is_file())
    return frozenset(name for name in names if not hidden.search(name))


def walk(folder: Path):
    for entry in folder.iterdir():
        yield entry
        if entry.is_dir() and not entry.is_symlink() and entry.name not in (".git", ".venv", "venv", "node_modules"):
            yield from walk(entry)


def pages():
    """(name, text) of every page, every notebook's prose, and every docstring."""
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")]):
        yield page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    for notebook in sorted(ROOT.glob("notebooks/*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        yield notebook.relative_to(ROOT).as_posix(), text
    for name in sorted(name for name in files() if name.endswith(".py")):
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
        holders = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
        yield name, "\n".join(filter(None, map(ast.get_docstring, holders)))


PAGES = dict(pages())


def missing_files(name: str, text: str) -> list[str]:
    """What the text names as a file of ours and is none: a path from the root or from the page, or a name alone.

    Files of transformers are called `modeling_….py`, none of ours is.
    """
    text = re.sub(r"\w+://\S+", "", text)
    named = set(re.findall(r"(?<![\w/.~\\-])(?:[\w.-]+/)*[\w-]+\.(?:py|md|v|ml|toml|ipynb|cff|yml|smt2)\b", text))
    ours = files()

    def exists(path: str) -> bool:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        return beside in ours or any(f"/{file}".endswith(f"/{path}") for file in ours)

    return sorted(
        path for path in named - set(ELSEWHERE) if not re.search("NN|NAME|^modeling_", path) and not exists(path)
    )


@pytest.mark.parametrize("name", PAGES)
def test_files_that_a_page_names_exist(name):
    missing = missing_files(name, PAGES[name])
    assert not missing, f"{name} names {', '.join(missing)}"


def test_a_file_that_does_not_exist_is_seen():
    assert missing_files("docs/trust.md", "see `causal/wing/check.py`, [a](trust.md) and kernel.v") == [
        "causal/wing/check.py",
        "kernel.v",
    ]


def unresolved(text: str) -> list[str]:
    """The dotted names `attnproof.…` in the text that neither a module nor an attribute has."""
    return sorted(name for name in set(re.findall(r"\battnproof(?:\.[A-Za-z_]\w*)+", text)) if not resolves(name))


@cache
def resolves(name: str) -> bool:
    known = set(module_names())
    module, rest = name, []
    while module not in known:
        module, _, last = module.rpartition(".")
        rest.insert(0, last)
    try:
        value = import_module(module)
        for part in rest:
            value = getattr(value, part)
    except ImportError as error:  # an optional library; CI has them all
        need((error.name or "").partition(".")[0])
        raise
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if "attnproof." in text])
def test_names_that_a_page_gives_exist(name):
    missing = unresolved(PAGES[name])
    assert not missing, f"{name} names {', '.join(missing)}"


def test_a_name_that_does_not_exist_is_seen():
    assert unresolved("attnproof.causal.design, attnproof.check_model, attnproof.causal.wing.check") == [
        "attnproof.causal.wing.check"
    ]


# -- the wheel --------------------------------------------------------------------------------------------------------


def test_the_wheel_holds_every_module(tmp_path):
    need("build")
    need("setuptools")
    copy = tmp_path / "checkout"
    packages = [entry for entry in ROOT.iterdir() if (entry / "__init__.py").is_file()]
    for package in packages:
        shutil.copytree(package, copy / package.name, ignore=shutil.ignore_patterns("__pycache__", "*.vo*", "*.glob"))
    for file in [*ROOT.glob("*.py"), *ROOT.glob("*.md"), ROOT / "pyproject.toml", ROOT / "LICENSE", ROOT / "py.typed"]:
        shutil.copy(file, copy)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("attnproof-*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")}
    ours = {f"attnproof/{name}" for name in files() if name.endswith(".py")}
    tops = tuple(f"attnproof/{package.name}/" for package in packages)
    assert held == {name for name in ours if name.count("/") == 1 or name.startswith(tops)}
    assert "attnproof/causal/model/trace/rules/elementwise.py" in held


def test_a_test_asks_for_what_is_optional_before_it_imports_it():
    """README's second command runs without the optional libraries."""
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if any(word in ast.unparse(node) for word in ("need(", "importorskip(")):
                break
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            optional = {name.partition(".")[0] for name in names} & {"torch", "jax", "transformers"}
            assert not optional, f"{path.name} imports {optional} without need()"
