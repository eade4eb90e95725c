"""Running a model in float64 throughout, and with its parameters moved a little or a lot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from .setting import Setting
    from .trace.mode import Mode


class CannotWiden(Exception):
    """The model cannot be run in float64."""


@contextmanager
def parameters_as(modules: Sequence[nn.Module], setting: Setting, held: Sequence[Tensor] = ()) -> Iterator[None]:
    """Parameters jittered and widened as the setting says; the very same storage comes back afterwards.

    What shared memory goes on sharing it, tensors among those `held` that lie in a parameter's or a buffer's.
    """
    import torch

    wide = setting.precision == "float64"
    if not (wide or setting.jitter or setting.tremor):
        yield
        return
    parameters = {id(p) for top in modules for p in top.parameters()}
    own = {id(t): t for top in modules for t in (*top.parameters(), *top.buffers()) if _is_number(t)}
    noise, together = _Noise(setting), _in_one_memory(own.values(), held)
    before: list[tuple[Tensor, Tensor]] = []
    try:
        for t in own.values():
            memory = together.pop(_memory(t), [])
            if len(memory) > 1:
                before += [(other, other.data) for other in memory]
                _move_together(memory, wide, [noise if id(other) in parameters else None for other in memory])
            elif memory:
                before.append((t, t.data))
                value = wider(t.data) if wide else t.data
                is_moved = id(t) in parameters and t.layout is torch.strided  # sparse ones stay as they are
                t.data = noise.on(value) if is_moved else value
        yield
    finally:
        for t, data in before:
            t.data = data


class _Noise:
    """What a setting adds to parameters."""

    def __init__(self, setting: Setting) -> None:
        import torch

        generator = torch.Generator().manual_seed(1234 + setting.seed)
        trembling = torch.Generator().manual_seed(4321 + setting.tremor_seed)
        self._sources = [(setting.jitter, False, generator), (setting.tremor, True, trembling)]

    def on(self, value: Tensor) -> Tensor:
        """The value with noise, the tremor in proportion to it."""
        import torch

        real = torch.complex128 if value.is_complex() else torch.float64
        for scale, is_relative, source in self._sources:
            if scale:
                noise = torch.randn(value.shape, generator=source, dtype=real).to(value.dtype)
                value = value + scale * (value if is_relative else 1.0) * noise.to(value.device)
        return value


def _is_number(t: Tensor) -> bool:
    return t.is_floating_point() or t.is_complex()


def _memory(t: Tensor) -> tuple[int, torch.dtype]:
    """What memory a tensor lies in, as which type; one without a storage, in none but its own."""
    import torch

    return t.untyped_storage()._cdata if t.layout is torch.strided and not t.is_nested else -id(t), t.dtype


def _in_one_memory(own: Iterable[Tensor], others: Sequence[Tensor]) -> dict[Any, list[Tensor]]:
    """The tensors by their memory, with those others that lie in it."""
    found: dict[Any, list[Tensor]] = {}
    for t in own:
        found.setdefault(_memory(t), []).append(t)
    known = {id(t) for some in found.values() for t in some}
    for t in others:
        if id(t) not in known and _memory(t) in found:
            found[_memory(t)].append(t)
    return found


def _move_together(memory: Sequence[Tensor], wide: bool, noises: Sequence[_Noise | None]) -> None:
    """Give tensors in one memory a new one, laid out alike."""
    import torch

    first, moved = memory[0], set()
    storage = first.untyped_storage()
    flat = torch.empty(0, dtype=first.dtype, device=first.device).set_(storage)
    flat = wider(flat).clone() if wide else flat.clone()
    for t, noise in zip(memory, noises, strict=True):
        geometry = (t.shape, t.stride(), t.storage_offset())
        value = flat.as_strided(*geometry)
        if noise is not None and geometry not in moved and 0 not in t.stride():
            value.copy_(noise.on(value.clone()))
        moved.add(geometry)
        t.data = value


@cache
def _wide_dtypes() -> dict[Any, Any]:
    import torch

    real = dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), torch.float64)
    return {**real, torch.complex32: torch.complex128, torch.complex64: torch.complex128}


def wider(t: Tensor) -> Tensor:
    """The tensor in double precision; whole numbers as they are."""
    wide = _wide_dtypes().get(t.dtype)
    return t if wide is None else t.to(wide)


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

    wide = _wide_dtypes()

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return wider(value)
        return wide.get(value, value) if isinstance(value, torch.dtype) else value

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
                if any(t.dtype in wide for t in written):
                    raise CannotWiden("the model writes into a tensor of its own that is not float64")
            return func(*[mapped(widen, v) for v in args], **{k: mapped(widen, v) for k, v in (kwargs or {}).items()})

    return Widening()
