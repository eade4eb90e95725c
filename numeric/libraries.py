"""Optional libraries, imported when a call needs them; one sentence says how to get a missing one."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def library(name: str, extra: str, purpose: str) -> Any:
    """The module `name`, or ImportError that says what needs it and which extra brings it.

    >>> library("math", "none", "arithmetic").sqrt(4)
    2.0
    >>> library("no_such_library", "torch", "counting operations")
    Traceback (most recent call last):
    ...
    ImportError: counting operations needs no_such_library; install it with pip install 'attnproof[torch]'
    """
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{purpose} needs {name}; install it with pip install 'attnproof[{extra}]'") from None
