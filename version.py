"""The version, which pyproject.toml alone states."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path


def stated() -> str:
    """The version that the pyproject.toml of a checkout states, else that of the installed distribution."""
    file = Path(__file__).with_name("pyproject.toml")
    if file.is_file():
        found: str = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"]
        return found
    return version("attnproof")


__version__ = stated()
