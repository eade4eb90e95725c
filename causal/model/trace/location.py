"""Where an operation stands: the path of the module that runs it, and the source line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch

from ..keras import is_call, is_inner, path_of

HERE = os.path.dirname(__file__)
CALL = torch.nn.Module._call_impl.__code__


class Places:
    """Knows which module is running, and where, from the frames of Python."""

    def __init__(self, roots: Sequence[tuple[str, Any]]) -> None:
        self._names: dict[int, str] = {
            id(m): path_of(m) or prefix + name for prefix, root in roots for name, m in root.named_modules()
        }

    def module(self) -> str:
        """The path of the innermost named module that is running, hooks of its own included, "" at the top."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not _is_run(frame):
            if frame.f_code is CALL or is_call(frame.f_code):
                name = self._names.get(id(frame.f_locals["self"]))
                if name:
                    return name
            frame = frame.f_back
        return ""

    def line(self) -> str:
        """The innermost frame that is neither PyTorch's nor ours, else of PyTorch's modules, as "file.py:12"."""
        frame: FrameType | None = sys._getframe(1)
        fallback = "?"
        inside = os.sep + "torch" + os.sep
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(HERE):
                if _is_run(frame):
                    break
            elif inside not in name and not name.startswith("<") and not is_inner(name):
                return f"{name}:{frame.f_lineno}"
            elif fallback == "?" and inside + "nn" + os.sep in name:
                fallback = f"{name}:{frame.f_lineno}"
            frame = frame.f_back
        return fallback


def _is_run(frame: FrameType) -> bool:
    """Whether it is the frame of the run itself, above which nothing belongs to the model."""
    return frame.f_code.co_name == "run" and frame.f_code.co_filename.startswith(HERE)
