"""Which files may have imported a door out of the tensors by its name, and so must be shown another one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...ownership import is_own_file
from ..kept import are_same

if TYPE_CHECKING:
    import torch


class _Own:
    """The modules that are no library's, found anew only where others are loaded: there are thousands."""

    def __init__(self) -> None:
        self._names, self._modules, self._own = list[str](), list[Any](), list[str]()

    def among(self, loaded: dict[str, Any]) -> list[str]:
        """Their names."""
        names, modules = list(loaded), list(loaded.values())
        if not (names == self._names and are_same(modules, self._modules)):
            files = [getattr(module, "__file__", None) for module in modules]
            self._own = [n for n, file in zip(names, files, strict=True) if n == "__main__" or is_own_file(file)]
            self._names, self._modules = names, modules
        return self._own


_own = _Own()


def importers(model: Any, modules: Sequence[torch.nn.Module]) -> list[ModuleType]:
    """The modules that are no library's, and those of the model's own classes."""
    its = {str(getattr(part, "__module__", "")) for part in (model, *map(type, modules))}
    loaded = dict(sys.modules)
    names = sorted({*_own.among(loaded), *(name for name in its if name in loaded)})
    return [loaded[name] for name in names if name.partition(".")[0] not in ("torch", "attnproof")]
