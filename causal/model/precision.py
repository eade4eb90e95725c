"""Running a model in float64 throughout, and with its parameters moved a little or a lot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .setting import Setting
    from .trace.mode import Mode


class CannotWiden(Exception):
    """The model cannot be run in float64."""


@contextmanager
def parameters_as(modules: Sequence[nn.Module], setting: Setting) -> Iterator[None]:
    """Parameters jittered and widened as the setting says; the very same storage comes back afterwards."""
    import torch

    wide = setting.precision == "float64"
    if not (wide or setting.jitter or setting.tremor):
        yield
        return
    held: dict[int, tuple[Tensor, Tensor]] = {}
    generator = torch.Generator().manual_seed(1234 + setting.seed)
    trembling = torch.Generator().manual_seed(4321 + setting.tremor_seed)
    parameters = {id(p) for top in modules for p in top.parameters()}
    tensors = [t for top in modules for t in (*top.parameters(), *top.buffers())]
    try:
        for t in tensors:
            if id(t) in held or not (t.is_floating_point() or t.is_complex()):
                continue
            held[id(t)] = (t, t.data)
            value = wider(t.data) if wide else t.data
            if id(t) in parameters and (setting.jitter or setting.tremor):
                real = torch.float64 if not t.is_complex() else torch.complex128
                for scale, factor, source in ((setting.jitter, 1.0, generator), (setting.tremor, value, trembling)):
                    if scale:
                        noise = torch.randn(value.shape, generator=source, dtype=real).to(value.dtype)
                        value = value + scale * factor * noise.to(value.device)
            t.data = value
        yield
    finally:
        for t, data in held.values():
            t.data = data


def _wide_dtype(dtype: Any) -> Any:
    import torch

    if dtype in (torch.float16, torch.bfloat16, torch.float32):
        return torch.float64
    if dtype in (torch.complex32, torch.complex64):
        return torch.complex128
    return dtype


def wider(t: Tensor) -> Tensor:
    """The tensor in double precision; whole numbers as they are."""
    wide = _wide_dtype(t.dtype)
    return t if wide is t.dtype else t.to(wide)


@contextmanager
def in_float64() -> Iterator[None]:
    """Every floating operation in double precision, `.float()` inside the model included."""
    import torch

    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with uncompiled(), widening():
            yield
    finally:
        torch.set_default_dtype(default)


@contextmanager
def uncompiled() -> Iterator[None]:
    """`torch.compile` returns what it is given, for runs beside a dispatch mode.

    Control flow such as `torch.cond` would try to compile the mode, fail, and fail for ever after in this process.
    """
    import torch

    original = torch.compile
    torch.compile = lambda model=None, **_: (lambda f: f) if model is None else model  # type: ignore[assignment]
    try:
        yield
    finally:
        torch.compile = original


def widening() -> Mode:
    """The dispatch mode that turns every smaller float, and every request for one, into double precision."""
    import torch

    from .trace.mode import Mode
    from .trace.pytree import leaves, mapped

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return wider(value)
        return _wide_dtype(value) if isinstance(value, torch.dtype) else value

    class Widening(Mode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not hasattr(func, "_schema"):  # a higher-order operator, whose branches run under this mode, too
                return func(*mapped(widen, args), **mapped(widen, kwargs or {}))
            if func is torch.ops.aten.view.dtype:
                raise CannotWiden("the model reads the bits of a float; it cannot be run in float64")
            if func._schema.is_mutable:
                given = {a.name: v for a, v in zip(func._schema.arguments, args, strict=False)} | (kwargs or {})
                marked = [a.name for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write]
                written = [t for _, t in leaves([given.get(name) for name in marked]) if isinstance(t, torch.Tensor)]
                if any(_wide_dtype(t.dtype) is not t.dtype for t in written):
                    raise CannotWiden("the model writes into a tensor of its own that is not float64")
            args, kwargs = mapped(widen, (args, kwargs or {}))
            return func(*args, **kwargs)

    return Widening()
