"""What modules keep between calls, taken down before a use and put back after it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn


HELD = (list, tuple, dict, deque)


class Snapshot:
    """Buffers, attributes and parameters of the modules, so that a call's writes can be named and undone."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        import torch

        self.dicts: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = []
        self.tensors: list[tuple[str, Tensor, Tensor]] = []
        self.parameters: list[tuple[str, Tensor, int]] = []
        self.contents: dict[int, tuple[Any, Any]] = {}  # lists, dictionaries, … among the attributes, by address
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
        if not _is_held(value) or id(value) in self.contents or depth > DEEPEST:
            return
        self.contents[id(value)] = value, _contents(value)
        with suppress(TreeError):  # what cannot be followed is left as it is
            node = node_of(value)
            for key, child in zip(node.keys, node.children, strict=True) if node is not None else ():
                self._take_down(name + key, child, depth + 1)

    def changes(self) -> list[str]:
        """The names of buffers, tensors and parameters that differ from the snapshot."""
        import torch

        # values are compared, not versions: batch normalisation writes its running statistics behind autograd's back
        changed = [n for n, t, kept in self.tensors if not _same(t, kept)]
        changed += [n for n, p, v in self.parameters if p._version != v]
        for dot, module, attributes, buffers in self.dicts:
            for key, value in {**vars(module), **module._buffers}.items():
                old = buffers.get(key, attributes.get(key))
                if isinstance(value, torch.Tensor) and isinstance(old, torch.Tensor) and value is not old:
                    changed += [] if _same(value, old) else [dot + key]
        return sorted(set(changed))

    def restore(self) -> None:
        """Put back what changed, in the same tensors where they are still there."""
        for _, t, kept in self.tensors:
            if not _same(t, kept):
                t.detach().copy_(kept)
        for value, kept in self.contents.values():
            _refill(value, kept)
        for _, module, attributes, buffers in self.dicts:
            for key in set(module.__dict__) - set(attributes):
                del module.__dict__[key]
            for key, value in attributes.items():
                if key != "training" and module.__dict__.get(key) is not value:
                    module.__dict__[key] = value
            for key in set(module._buffers) - set(buffers):
                del module._buffers[key]
            for key, value in buffers.items():
                if key not in module._buffers or module._buffers[key] is not value:
                    module._buffers[key] = value


def _is_held(value: Any) -> bool:
    """Whether it is a structure whose contents count as a module's own state."""
    return isinstance(value, HELD) or (is_dataclass(value) and not isinstance(value, type))


def _contents(value: Any) -> Any:
    """A copy of what a structure holds; None for one that cannot be refilled."""
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, (list, deque)):
        return list(value)
    return dict(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, tuple) else None


def _items(contents: Any) -> list[Any]:
    return [part for pair in contents.items() for part in pair] if isinstance(contents, dict) else contents


def _refill(value: Any, kept: Any) -> None:
    """Give a structure the very items again that it held; it is not touched where it still holds them."""
    if kept is None:
        return
    now, then = _items(_contents(value)), _items(kept)
    if len(now) == len(then) and all(a is b for a, b in zip(now, then, strict=True)):
        return
    if isinstance(value, dict):
        value.clear()
        value.update(kept)
    elif isinstance(value, (list, deque)):
        value.clear()
        value.extend(kept)
    else:
        vars(value).clear()
        vars(value).update(kept)


def _same(a: Tensor, b: Tensor) -> bool:
    import torch

    return a.shape == b.shape and a.dtype == b.dtype and bool(torch.equal(a, b))


@contextmanager
def restored(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Whatever the modules keep is as before afterwards."""
    snapshot = Snapshot(modules)
    try:
        yield
    finally:
        snapshot.restore()
