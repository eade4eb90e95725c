"""The dispatch mode that all of ours are built on: it stays on inside control-flow operators and imports nothing."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# tangents that are 0 are stored here: on those without storage some of PyTorch's kernels crash under a dispatch mode
STORED = {torch.ops.aten._efficientzerotensor.default: torch.ops.aten.zeros.default}


class Mode(TorchDispatchMode):
    """A dispatch mode that sees the branches of higher-order operators, and whose first use is quick."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __init_subclass__(cls) -> None:
        own: Any = cls.__torch_dispatch__

        @functools.wraps(own)
        def dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return own(self, STORED.get(func, func), types, args, kwargs)

        cls.__torch_dispatch__ = dispatch  # type: ignore[method-assign]
        super().__init_subclass__()  # type: ignore[no-untyped-call]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return "torch._dynamo" in sys.modules  # otherwise the first use would import it, which takes seconds
