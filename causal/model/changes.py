"""What a call changes of what modules keep: buffers, tensors and parameters, by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from .restore import same

if TYPE_CHECKING:
    from torch import Tensor, nn


NUMBERS = (bool, int, float, str)
HELD = (list, tuple, dict, deque)


class Snapshot:
    """Buffers, attributes and parameters of the modules, so that what a call writes can be named."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        import torch

        self.dicts: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = []
        self.tensors: list[tuple[str, Tensor, Tensor]] = []
        self.parameters: list[tuple[str, Tensor, int]] = []
        self.known: dict[int, Any] = {}  # lists, dictionaries, … among the attributes, by address
        own = vars(torch.nn.Module()).keys()  # PyTorch's tables of parameters, buffers, modules and hooks
        for top in modules:
            for name, module in top.named_modules():
                dot = f"{name}." if name else ""
                if not isinstance(module, torch.jit.ScriptModule):  # its attributes live outside Python
                    self.dicts.append((dot, module, dict(module.__dict__), dict(module._buffers)))
                held = {
                    **{k: v for k, v in vars(module).items() if isinstance(v, torch.Tensor)},
                    **dict(module.named_buffers(recurse=False)),
                }
                for key, t in held.items():
                    if t is not None:
                        self.tensors.append((dot + key, t, t.detach().clone()))
                for key, value in vars(module).items():
                    if _is_held(value) and key not in own:
                        self._take_down(dot + key, value)
            self.parameters += [(name, p, p._version) for name, p in top.named_parameters()]

    def _take_down(self, name: str, value: Any, depth: int = 0) -> None:
        """What an attribute's lists, tuples, dictionaries and dataclasses hold, and the tensors in them."""
        import torch

        from .trace.pytree import DEEPEST, TreeError, node_of

        if isinstance(value, torch.Tensor):
            if depth and value.layout is torch.strided and not (value.is_meta or value.is_nested):
                self.tensors.append((name, value, value.detach().clone()))
            return
        if not _is_held(value) or id(value) in self.known or depth > DEEPEST:
            return
        self.known[id(value)] = value
        with suppress(TreeError):  # what cannot be followed is left as it is
            node = node_of(value)
            for key, child in zip(node.keys, node.children, strict=True) if node is not None else ():
                self._take_down(name + key, child, depth + 1)

    def changes(self) -> list[str]:
        """The names of buffers, tensors and parameters that differ from the snapshot."""
        import torch

        # values are compared, not versions: batch normalisation writes its running statistics behind autograd's back
        changed = [n for n, t, kept in self.tensors if not same(t, kept)]
        changed += [n for n, p, v in self.parameters if p._version != v]
        for dot, module, attributes, buffers in self.dicts:
            for key, value in {**vars(module), **module._buffers}.items():
                old = buffers.get(key, attributes.get(key))
                if isinstance(value, torch.Tensor) and isinstance(old, torch.Tensor) and value is not old:
                    changed += [] if same(value, old) else [dot + key]
                elif type(value) in NUMBERS and (type(old) is not type(value) or old != value) and key != "training":
                    changed.append(dot + key)  # a counter of calls may steer the next one
        return sorted(set(changed))


def _is_held(value: Any) -> bool:
    """Whether it is a structure whose contents count as a module's own state."""
    return isinstance(value, HELD) or (is_dataclass(value) and not isinstance(value, type))
