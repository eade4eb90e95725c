"""Where an operation stands: the path of the module that runs it, and the source line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

HERE = os.path.dirname(__file__)


class Places:
    """While it is open, knows which module is running (by global forward hooks)."""

    def __init__(self, roots: Sequence[tuple[str, Any]]) -> None:
        self._names = {id(m): prefix + name for prefix, root in roots for name, m in root.named_modules()}
        self._stack: list[str] = []
        self._hooks: list[Any] = []

    def __enter__(self) -> Places:
        from torch.nn.modules import module

        def enter(m: Any, _: Any) -> None:
            self._stack.append(self._names.get(id(m)) or (self._stack[-1] if self._stack else ""))

        def leave(*_: Any) -> None:
            if self._stack:
                self._stack.pop()

        self._hooks = [
            module.register_module_forward_pre_hook(enter),
            module.register_module_forward_hook(leave, always_call=True),
        ]
        return self

    def __exit__(self, *_: Any) -> None:
        for hook in self._hooks:
            hook.remove()

    def module(self) -> str:
        """The path of the innermost named module that is running, "" at the top."""
        return self._stack[-1] if self._stack else ""

    def line(self) -> str:
        """The innermost frame that is neither PyTorch's nor ours, else of PyTorch's modules, as "file.py:12"."""
        frame, fallback = sys._getframe(1), "?"
        inside = os.sep + "torch" + os.sep
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(HERE):
                if frame.f_code.co_name == "run":
                    break
            elif inside not in name and not name.startswith("<"):
                return f"{name}:{frame.f_lineno}"
            elif fallback == "?" and inside + "nn" + os.sep in name:
                fallback = f"{name}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]
        return fallback
