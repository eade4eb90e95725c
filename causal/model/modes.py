"""The modes of modules, training or not: set for a run, put back after it, and those that cannot be set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from . import keras
from .age import is_new, young
from .reachable import reachable
from .restore import restored

if TYPE_CHECKING:
    from torch import nn


@contextmanager
def in_mode(modules: Sequence[nn.Module], mode: str) -> Iterator[None]:
    """Every module in the mode, but for those of `fixed_modes`; each one's own flag comes back afterwards."""
    every = [m for top in modules for m in top.modules()]
    flags = [(m, m.training) for m in every if hasattr(m, "training")]
    without = [m for m in every if not hasattr(m, "training")]  # frozen scripts
    wanted = mode == "train"
    try:
        for top in modules:
            if any(getattr(m, "training", wanted) != wanted for m in top.modules()):
                with suppress(NotImplementedError):  # exported programs have their mode built in
                    top.train(wanted)
        with keras.training_told(mode):
            yield
    finally:
        for module, flag in flags:
            module.training = flag
        for module in without:
            if hasattr(module, "training"):
                del module.training


def fixed_modes(modules: Sequence[nn.Module]) -> list[str]:
    """The classes of modules that have their mode built in: exported, traced or frozen ones. To be asked `in_mode`."""
    import torch

    def is_fixed(module: nn.Module) -> bool:
        if isinstance(module, torch.jit.ScriptModule):
            return isinstance(module, torch.jit._trace.TopLevelTracedModule) or not module._c.hasattr("training")
        if isinstance(module, torch.fx.GraphModule):
            try:
                module.train(module.training)
            except NotImplementedError:
                return True
        return False

    return sorted({type(m).__name__ for top in modules for m in top.modules() if is_fixed(m)})


class Strangers:
    """While it is open, modules that run although the model was not seen to reach them are met and put in the mode.

    They are in `met`; what they keep, and their modes, are as before when it closes. Modules that are made during the
    run are as they were made, in any mode.
    """

    def __init__(self, modules: Sequence[nn.Module], mode: str) -> None:
        self.met: list[nn.Module] = []
        self.values = True  # whether the run computes them, and so may write them
        self._mode = mode
        self._reached = {id(m) for top in modules for m in top.modules()}
        self._stack = ExitStack()

    def __enter__(self) -> Strangers:
        from torch.nn.modules.module import register_module_forward_pre_hook

        self._known = set(self._reached)
        self._stack.enter_context(young())
        self._stack.callback(register_module_forward_pre_hook(self._meet).remove)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _meet(self, module: nn.Module, _: object) -> None:
        if id(module) in self._known or is_new(module):
            return
        self._known.update(id(m) for m in module.modules())
        if not any(module is m for m in self.met):
            self.met.append(module)
        self._stack.enter_context(restored(reachable(module), self.values))
        self._stack.enter_context(in_mode([module], self._mode))
