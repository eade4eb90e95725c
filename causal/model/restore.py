"""What modules keep between calls, taken down before a use and put back after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn


class Snapshot:
    """Buffers, attributes and parameters of the modules, so that a call's writes can be named and undone."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        import torch

        self.dicts: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = []
        self.tensors: list[tuple[str, Tensor, Tensor]] = []
        self.parameters: list[tuple[str, Tensor, int]] = []
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
            self.parameters += [(name, p, p._version) for name, p in top.named_parameters()]

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
