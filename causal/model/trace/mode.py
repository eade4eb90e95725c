"""The dispatch mode that all of ours are built on: it stays on inside control-flow operators and imports nothing."""

from __future__ import annotations

import sys

from torch.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):
    """A dispatch mode that sees the branches of higher-order operators, and whose first use is quick."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()  # type: ignore[no-untyped-call]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return "torch._dynamo" in sys.modules  # otherwise the first use would import it, which takes seconds
