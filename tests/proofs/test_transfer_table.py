"""The table of docs/trust.md names every transfer function once, and calls compared what is compared."""

import ast
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from attnproof.causal.model.trace.transfer import contractions, elementwise, normalising, reductions, scans
from attnproof.proofs import transfers
from attnproof.proofs.claim import claim_by_id

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
MODULES = {m.__name__.rpartition(".")[2]: m for m in (contractions, elementwise, normalising, reductions, scans)}
pytestmark = pytest.mark.claim("T23")

if not PAGE.is_file():
    pytest.skip("the checkout is not part of this installation", allow_module_level=True)


def table() -> list[tuple[str, str, list[str]]]:
    """Status, theorems and functions of each row."""
    text = PAGE.read_text(encoding="utf-8").partition("## The rules of the tracer")[2].partition("\n## ")[0]
    rows = [line.strip("| \n").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    return [(row[0], row[1], re.findall(r"`(\w+\.\w+)`", row[-1])) for row in rows]


def functions() -> list[str]:
    """The public functions of the transfer rules' files."""
    found = []
    for file in (resources.files("attnproof.causal.model.trace") / "transfer").iterdir():
        if file.name.endswith(".py"):
            body = ast.parse(file.read_text(encoding="utf-8")).body
            names = [n.name for n in body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
            found += [f"{file.name.removesuffix('.py')}.{name}" for name in names]
    return sorted(found)


def test_every_transfer_function_has_one_row():
    assert sorted(name for _, _, names in table() for name in names) == functions()


def test_what_is_called_compared_is_compared(monkeypatch):
    rng, called = np.random.default_rng(0), set()

    def seen(name, function):
        return lambda *arguments: called.add(name) or function(*arguments)

    claimed = {name for status, _, names in table() if status == "proved, compared" for name in names}
    for name in functions():
        file, _, function = name.partition(".")
        if file in MODULES and name in claimed:
            monkeypatch.setattr(MODULES[file], function, seen(name, getattr(MODULES[file], function)))
    for rule, sizes in transfers.RULES.items():
        for n in sizes:
            rows = transfers.random_rows(rng, rule, 9, n)
            transfers.answers(rule, rows, rng.random(rows.shape) < 0.5)
    assert called == claimed


def test_theorems_named_are_those_of_the_claims():
    known = {name for claim in ("T23", "T25") for name in claim_by_id(claim).theorems}
    assert {t for _, theorems, _ in table() for t in re.findall(r"`(\w+)`", theorems)} <= known
