"""A package's face: names that load the module that defines them when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def face(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose public names stand in the modules that `homes` gives.

    `homes` maps a name to a module, relative to the package ("check", "trace.records").

    >>> get, names = face("attnproof.causal", {"Status": "verdict"})
    >>> get("Status").__name__, "Status" in names()
    ('Status', True)
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {', '.join(sorted(homes))}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*homes, *getattr(sys.modules[package], "__all__", ())})

    return get, names
