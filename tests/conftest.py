"""`pytest --claim T5` runs the tests that check T5, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# no example is ever timed: machines are slow and shared
settings.register_profile("untimed", parent=settings.default, deadline=None)
settings.load_profile("untimed")
os.environ.pop("PYTEST_ADDOPTS", None)  # read by now; a pytest that a test starts must not get it


class Checkout:
    """The root of a checkout is the package, installed under its own name: whatever its folder is called, which need
    not be a name that Python can import (`attnproof-main`, as archives unpack), nothing is to be imported from there.
    """

    root = Path(__file__).resolve().parents[1]

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        return pytest.Dir.from_parent(parent, path=path) if path == self.root else None


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Checkout())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--claim", action="append", default=[], metavar="ID", help="run only the tests of this claim, e.g. T5"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = {c.upper() for c in config.getoption("--claim")}
    if not wanted:
        return
    known = {f"T{i}" for i in range(1, 27)}
    if not wanted <= known:
        raise pytest.UsageError(f"--claim {', '.join(sorted(wanted - known))} is unknown; the claims are T1 … T26")
    chosen = [i for i in items if wanted & {c for mark in i.iter_markers("claim") for c in mark.args}]
    config.hook.pytest_deselected(items=[i for i in items if i not in chosen])
    items[:] = chosen
