"""Where an equation stands: the scope that it was traced in, and the line of the user's file."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import jaxlib

from ....ownership import is_own_file
from ...keras import is_inner

HERE = str(Path(__file__).parents[3])  # causal/
OURS = (HERE, "<", *jax.__path__, *jaxlib.__path__)  # what never is the user's, wherever it is installed
STANDARD = sysconfig.get_path("stdlib")


class Places:
    """The equation at hand, and the calls around it."""

    def __init__(self) -> None:
        self._around: list[Any] = []

    @contextmanager
    def at(self, equation: Any) -> Iterator[None]:
        """While the equation is interpreted."""
        self._around.append(equation)
        try:
            yield
        finally:
            self._around.pop()

    inside = at

    def module(self) -> str:
        """The names of the scopes around the equation, joined by dots: `Block_0.MultiHeadAttention_0`."""
        names = [str(e.source_info.name_stack) for e in self._around]
        parts = (part for name in names for part in name.split("/"))
        return ".".join(
            part for part in parts if part and "(" not in part and "->" not in part
        )  # of einsum: its letters

    def line(self) -> str:
        """The innermost frame that belongs to no library, as "file.py:12"; else the innermost beyond JAX's own."""
        fallback = ""
        for equation in reversed(self._around):
            traceback = equation.source_info.traceback
            for frame in traceback.frames if traceback is not None else ():
                name, line = frame.file_name, frame.line_num
                if name.startswith(OURS) or is_inner(name):
                    continue
                if is_own_file(name):
                    return f"{name}:{line}"
                if not fallback and not name.startswith(STANDARD):
                    fallback = f"{name}:{line}"
        return fallback or "?"
