"""The package's modules, found by walking it, so that no new folder can be forgotten by a test."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import attnproof


@cache
def module_names() -> tuple[str, ...]:
    """Every module and package by its name, but for the `__main__` ones, which run when they are imported."""
    found = [m.name for m in pkgutil.walk_packages(attnproof.__path__, "attnproof.")]
    return ("attnproof", *(name for name in found if not name.endswith("__main__")))


def file_of(name: str) -> Path:
    """The file of a module."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None, f"{name} is a folder without an __init__.py"
    return Path(spec.origin)
