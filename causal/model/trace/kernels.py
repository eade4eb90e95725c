"""How an operation is computed: on the program's own tensors, or without values.

Without values, an operation on constants is computed for real, on their twins; any other only tells what its results
look like. That is asked of its shape function on the meta device, and where that is stricter than the kernel, or is not
there, of the kernel itself, on zeros.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch._C import DisableTorchFunction

from .domain import BIG_MASK
from .ledger import CERTAIN, WEAK
from .pytree import leaves
from .records import BY_VALUES
from .registry import names
from .twins import META, Twins, blank, flat, laid, mapped, same_place, without_data

if TYPE_CHECKING:
    from .calls import TorchCall
    from .ledger import Ledger
    from .schema import Info

MOST = 2**31  # bytes of zeros that a kernel is run on to see what its results look like
# numbers that no operand has a part in
LIKE = names("ones_like full_like new_ones new_full")
# memory whose kind says all, or nothing, of what it holds
UNWRITTEN = names(
    """
    zeros zeros_like new_zeros _efficientzerotensor empty empty_like new_empty empty_strided new_empty_strided
    empty_permuted
    """
)


# views whose geometry is found by the same lines of code whether there is data or not
SAME_ON_META = names("detach expand permute select slice squeeze t transpose unsqueeze view")


# memory that others hold, too, so that numbers which are not written there are missed elsewhere
OTHERS = names("from_file _pin_memory")


@functools.cache
def warmed() -> None:
    """What PyTorch imports for its shape functions, and draws while it does, is no part of any run."""
    x = torch.empty(2, 2, device=META)
    torch.where(x.triu() > 0, x.softmax(-1), 0.0)


def grouped_product(
    a: torch.Tensor, b: torch.Tensor, offs: Any = None, bias: Any = None, out_dtype: torch.dtype | None = None
) -> torch.Tensor:
    """What `aten._grouped_mm` returns, whose shape function wants bfloat16: rows begin at multiples of 16 bytes."""
    dtype = out_dtype or a.dtype
    groups = (b.shape[0],) if b.dim() == a.dim() == 3 else (offs.shape[0],) if b.dim() == a.dim() else ()
    shape = (*groups, a.shape[-2], b.shape[-1])
    step = 16 // dtype.itemsize
    row = -(-shape[-1] // step) * step
    return torch.empty_strided(shape, (shape[-2] * row, row, 1)[-len(shape) :], dtype=dtype, device=META)


class Look(NamedTuple):
    """All that a tensor without data shows."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    offset: int


def _look(tensor: torch.Tensor) -> Any:
    """The look of a tensor; the tensor itself, where there is more to it."""
    if tensor.is_conj() or tensor.is_neg() or torch._is_zerotensor(tensor):
        return tensor
    return Look(tuple(tensor.shape), tensor.stride(), tensor.dtype, int(tensor.storage_offset()))


def _fresh_looks(value: Any, given: Any) -> Any:
    """The looks of results, where each begins a storage of its own and there is nothing else; else None."""
    if not isinstance(value, (torch.Tensor, tuple)):
        return None
    tensors = list(flat(value))
    looks = [_look(t) if isinstance(t, torch.Tensor) else None for t in tensors]
    if not all(isinstance(look, Look) and not look.offset for look in looks):
        return None
    taken = [t.untyped_storage()._cdata for t in (*tensors, *flat(given)) if isinstance(t, torch.Tensor)]
    if any(taken.count(address) > 1 for address in taken[: len(tensors)]):
        return None
    return mapped(_look, value)


def _hashable(value: Any) -> Any:
    if type(value) in (list, tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return tuple((k, _hashable(v)) for k, v in value.items())
    if isinstance(value, torch.Tensor):
        raise TypeError
    return (type(value), value)  # 1, 1.0 and True are equal


def _made(look: Any) -> Any:
    if isinstance(look, Look):
        return torch.empty_strided(look.shape, look.strides, dtype=look.dtype, device=META)
    return tuple(map(_made, look))


class Kernels:
    """Every operation runs as it is. The second result says whether the numbers of constants were written, too."""

    def admit(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Whether such an operation can run at all; ValueNeeded where it cannot without values."""

    def run(self, call: TorchCall) -> tuple[Any, bool]:
        """What the operation returns."""
        return call.info.function(*call.args, **call.kwargs), True

    def view(self, call: TorchCall) -> Any:
        """What an operation returns that computes nothing."""
        return call.info.function(*call.args, **call.kwargs)

    def write(self, call: TorchCall, targets: Sequence[torch.Tensor]) -> tuple[Any, bool]:
        """What the operation returns, having written into the targets."""
        return call.info.function(*call.args, **call.kwargs), True

    def put(self, target: torch.Tensor, value: torch.Tensor, numbers: bool) -> bool:
        """The target now holds the value; whether it holds the numbers of constants."""
        target.copy_(value)
        return True

    def read(self, call: TorchCall) -> Any:
        """A number for Python."""
        return call.info.function(*call.args, **call.kwargs)

    def silent(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What has no result of its own: another geometry, a check."""
        return info.function(*args, **kwargs)

    def whole(self, what: str) -> None:
        """Something is about to run that nobody takes apart."""

    def may_refuse(self, call: TorchCall) -> bool:
        """Whether a kernel could raise where this run does not."""
        return False


class Shapes(Kernels):
    """Without values; `home` is the device that the program takes its tensors to lie on."""

    def __init__(self, ledger: Ledger, twins: Twins, home: torch.device) -> None:
        self.ledger, self.twins, self.home = ledger, twins, home
        self._known: dict[Any, Any] = {}

    # -- what cannot be done without ---------------------------------------------------------------------------------

    def admit(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """ValueNeeded for tensors that are no plain ones, for other devices, and for whoever may look at values."""
        if torch.is_autocast_enabled(self.home.type):
            self.ledger.need("torch.autocast, which takes no tensor without data")
        for value in flat((args, kwargs)):
            if isinstance(value, torch.Tensor):
                odd = value.layout is not torch.strided or value.is_nested or value.is_quantized
                if odd or (torch._is_zerotensor(value) and not value.is_meta):
                    self.ledger.need(f"{info.name} of a tensor that is no plain array")
            elif isinstance(value, float) and -math.inf < value <= BIG_MASK:
                self.ledger.mask_seen(value)
                if value > CERTAIN:
                    self.ledger.want(WEAK)
            elif isinstance(value, torch.ScriptObject):
                self.ledger.need(f"{info.name}, which is given an object of C++")
        if info.foreign_rule:
            self.ledger.need(f"your rule for {info.name}, which may look at values")
        device = kwargs.get("device")
        if device is not None and torch.device(device).type != "meta" and not same_place(device, self.home):
            self.ledger.need(f"{info.name} on {device}")
        if device is None and self.home.type != "cpu" and info.makes:
            self.ledger.need(f"{info.name} on another device than {self.home}")
        if info.name in OTHERS:
            self.ledger.need(f"{info.name}, whose memory others see")
        if info.undeclared or info.sends:
            self.ledger.need(f"{info.name}, which may write what it is given")

    def whole(self, what: str) -> None:
        """ValueNeeded: what runs out of sight may look at values."""
        self.ledger.need(what)

    def may_refuse(self, call: TorchCall) -> bool:
        """Yes, but where constants are computed, and where a geometry is found as for real tensors."""
        if call.name in SAME_ON_META and not any(o.memory is None or o.memory.is_loose for o in call.operands()):
            return False
        return not all(o.shadow.is_fixed for o in call.operands())

    # -- running -----------------------------------------------------------------------------------------------------

    def run(self, call: TorchCall) -> tuple[Any, bool]:
        """Constants are computed, of anything else only the shape."""
        given = [o.value for o in call.operands()]
        if call.name in UNWRITTEN:
            return self._shaped(call), False
        if call.name in LIKE:
            like = torch.empty_strided(given[0].shape, given[0].stride(), dtype=given[0].dtype)
            return mapped(lambda t: self.twins.shown(t, []), self._real(call, {id(given[0]): like})), True
        if call.name == "aten._to_copy" and self._stays(call):
            self.ledger.need("aten._to_copy to a device, which may copy or not")
        numbers = self._constants(call, given)
        if numbers is None:
            return self._shaped(call), False
        return mapped(lambda t: self.twins.shown(t, given), self._real(call, numbers)), True

    def view(self, call: TorchCall) -> Any:
        """The view lies in what is viewed, real or not; numbers from Python are shown without data."""
        if call.name == "aten.lift_fresh":
            return self.twins.lifted(call.args[0])
        return call.info.function(*call.args, **call.kwargs)

    def write(self, call: TorchCall, targets: Sequence[torch.Tensor]) -> tuple[Any, bool]:
        """Constants are written where constants can lie; of anything else it is only seen that it fits."""
        ids = {id(t) for t in targets}
        if call.name in ("aten.resize_", "aten.resize_as_"):
            if not targets[0].is_meta:
                self.ledger.need(f"{call.name} of a tensor from before the run")
            return self._on_meta(call, call.args, call.kwargs), False
        numbers = self._constants(call, [o.value for o in call.operands() if id(o.value) not in ids])
        found = {id(t): self.twins.target(t) for t in targets} if numbers is not None else {}
        places = {key: place for key, place in found.items() if place is not None}
        if numbers is not None and len(places) == len(found):
            value, done = self._real(call, {**numbers, **places}), True
        else:
            places = {id(t): self.twins.stand_in(t) for t in targets}
            value, done = self._on_meta(call, *mapped(lambda t: places.get(id(t), t), (call.args, call.kwargs))), False
        if any(places[id(t)].shape != t.shape for t in targets):
            self.ledger.need(f"{call.name}, which changes the size of what it writes")
        back = {id(p): t for t in targets for p in [places[id(t)]]}
        given = [o.value for o in call.operands()]
        return mapped(lambda t: back.get(id(t)) if id(t) in back else self._fresh(t, given), value), done

    def _fresh(self, value: torch.Tensor, given: Sequence[torch.Tensor]) -> torch.Tensor:
        return value if value.is_meta else self.twins.shown(value, list(given))

    def put(self, target: torch.Tensor, value: torch.Tensor, numbers: bool) -> bool:
        """The numbers are copied where there are some for the value and a place for them in the target."""
        found = self.twins.numbers(value) if numbers else None
        place = self.twins.target(target) if found is not None else None
        if place is None or found is None:
            return False
        place.copy_(found)
        return True

    def read(self, call: TorchCall) -> Any:
        """The number, where a run with values would have computed the very same."""
        values = {id(o.value): self.twins.value(o.value) for o in call.operands()}
        if any(v is None for v in values.values()):
            self.ledger.need(call.name)
        return self._real(call, values)

    def silent(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Another geometry is one on the meta device, too; checks of values are left out, and devices are told."""
        tensors = [v for v in flat((args, kwargs)) if isinstance(v, torch.Tensor)]
        if info.name == "prim.device":
            return self.home
        if info.facts.silent and info.name != "aten.set_":
            return None if any(t.is_meta for t in tensors) else info.function(*args, **kwargs)
        if len({t.is_meta for t in tensors}) > 1:
            self.ledger.need(f"{info.name} of tensors from before the run and from it")
        return info.function(*args, **kwargs)

    # -- on constants ------------------------------------------------------------------------------------------------

    def _constants(self, call: TorchCall, given: Sequence[torch.Tensor]) -> dict[int, torch.Tensor] | None:
        """The numbers of what is given, where all of it is constant and nothing is drawn."""
        if call.info.is_random:
            return None
        found = {}
        for tensor in given:
            numbers = self.twins.numbers(tensor) if self.twins.of(tensor).is_fixed else None
            if numbers is None:
                return None
            found[id(tensor)] = numbers
        return found

    def _real(self, call: TorchCall, numbers: dict[int, Any]) -> Any:
        args, kwargs = mapped(lambda t: numbers[id(t)], (list(call.args), call.kwargs))
        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": torch.device("cpu")}
        return call.info.function(*args, **kwargs)

    # -- shapes ------------------------------------------------------------------------------------------------------

    def _shaped(self, call: TorchCall) -> Any:
        """Results without data."""
        facts = call.info.facts
        if call.info.dynamic or facts.shaped_by or facts.shaped_by_masks:
            steering = [o for o in call.operands() if call.steers(o)]
            if not all(self.twins.of(o.value).is_fixed for o in steering):
                self.ledger.need(f"{call.name} {BY_VALUES}")
            if steering:
                return self._on_zeros(call)
        value = self._on_meta(call, call.args, call.kwargs)
        if not facts.numbers_by_shape and any(isinstance(v, (bool, int, float, complex)) for _, v in leaves(value)):
            self.ledger.need(call.name)
        return value

    def _on_meta(self, call: TorchCall, args: Any, kwargs: Any) -> Any:
        args, kwargs = mapped(self.twins.stand_in, (list(args), dict(kwargs)))
        if kwargs.get("device") is not None or call.info.makes:
            kwargs["device"] = META
        kwargs.pop("pin_memory", None)
        key = self._key(call, args, kwargs)
        known = self._known.get(key)
        if known is not None:
            return _made(known)
        try:
            with DisableTorchFunction():
                value = call.info.function(*args, **kwargs)
        except Exception:  # a shape function may be stricter than its kernel, or not be there
            if call.info.written:
                raise
            return self._on_zeros(call)
        looks = None if key is None else _fresh_looks(value, (args, kwargs))
        if looks is not None:
            self._known[key] = looks
        return value

    def _key(self, call: TorchCall, args: Any, kwargs: Any) -> Any:
        """What the looks of the results follow from; None where they may lie in what is given."""
        if call.info.written or call.info.is_view:
            return None
        given = mapped(_look, (args, kwargs))
        try:
            key = (call.info.function, _hashable(given), torch.get_default_dtype())
            hash(key)
        except TypeError:
            return None
        return key

    def _on_zeros(self, call: TorchCall) -> Any:
        """What the kernel itself returns of zeros: its shape cannot depend on them. Constants are what they are."""
        if not call.info.is_own:
            self.ledger.need(f"{call.name}, a kernel without a shape function")
        given = [o.value for o in call.operands()]
        if sum(t.untyped_storage().nbytes() for t in given) > MOST:
            if call.name == "aten._grouped_mm":
                return grouped_product(*call.args, **call.kwargs)
            self.ledger.need(f"{call.name}, a kernel without a shape function for tensors of this size")
        zeros = {}
        for t in given:
            numbers = self.twins.numbers(t) if self.twins.of(t).is_fixed else None
            zeros[id(t)] = laid(t, blank(t.untyped_storage().nbytes())) if numbers is None else numbers
        value = self._real(call, zeros)
        return mapped(lambda t: laid(t, without_data(t.untyped_storage().nbytes())), value)

    def _stays(self, call: TorchCall) -> bool:
        """Whether a copy to the device where the program takes it to lie may be none at all."""
        device, dtype = call.kwargs.get("device"), call.kwargs.get("dtype")
        if device is None or call.kwargs.get("memory_format") not in (None, torch.preserve_format):
            return False
        elsewhere = torch.device(device).type != call.args[0].device.type
        return elsewhere and dtype in (None, call.args[0].dtype)
