"""What a run without values shows to the program: plain tensors on the device where it takes them to lie.

Functions of PyTorch that are called from Python pass by here before anything of theirs runs. Whatever tells a tensor on
the meta device from a real one is answered for the device that the program expects; functions that look at devices
before they dispatch are given tensors of one device; numbers that they take out of tensors are those of constants.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from .escapes import called
from .failures import REFUSED, caught
from .kinds import original
from .shadows import PLAIN_TYPES
from .twins import META, flat, mapped, same_place

if TYPE_CHECKING:
    from .exits import Exits
    from .kernels import Shapes

FUSED = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
ON = {"is_cpu": "cpu", "is_cuda": "cuda", "is_xpu": "xpu", "is_mps": "mps"}
FROM_DATA = {"tensor", "as_tensor", "asarray", "new_tensor", "sparse_coo_tensor"}
NEW_GEOMETRY = {"__set__", "set_", "swap_", "resize_as_"}  # of a tensor itself, which no stand-in can take for it


class Disguise(TorchFunctionMode):
    """Sees every function of PyTorch that Python calls, and answers for the device `home`."""

    def __init__(self, exits: Exits, kernels: Shapes) -> None:
        super().__init__()
        self.exits, self.twins, self.home, self.ledger = exits, kernels.twins, kernels.home, kernels.ledger
        self._getters: dict[Any, Callable[[Any], Any]] = {
            torch.Tensor.device.__get__: self._device,
            torch.Tensor.is_meta.__get__: lambda _: False,  # type: ignore[attr-defined]
        }
        for name, kind in ON.items():
            if hasattr(torch.Tensor, name):
                self._getters[getattr(torch.Tensor, name).__get__] = functools.partial(self._lies_on, kind)
        self._methods: dict[str, Callable[..., Any]] = {
            "get_device": self._number_of_device,
            "to": self._to,
            "type_as": lambda x, other: x.to(self._there(other)),
            "cpu": lambda x, **keywords: self._to(x, "cpu", **keywords),
            "cuda": lambda x, device="cuda", *rest, **keywords: self._to(x, device, **keywords),
            "new": lambda *_, **__: self.ledger.need("Tensor.new()"),
            "__dlpack_device__": self._for_others,
            "type": self._type,
            "scaled_dot_product_attention": self._attention,
            "tensor_split": self._split,
            "__getitem__": self._getitem,
            "__setitem__": self._setitem,
        }
        self._methods |= dict.fromkeys(FROM_DATA, self._from_data)
        self._called: Any = None

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Answer, or call with tensors of one device."""
        kwargs = kwargs or {}
        if self.exits.is_busy:
            return func(*args, **kwargs)
        return self.exits.chosen.seen(func, args, kwargs, self._answered)

    def _answered(self, func: Any, args: Any, kwargs: Any) -> Any:
        if torch.is_autocast_enabled(self.home.type):  # which leaves tensors without data as they are
            self.ledger.need("torch.autocast")
        getter = self._getters.get(func) if len(args) < 2 or not isinstance(args[0], torch.Tensor) else None
        first: Any = args[0] if args else None
        if getter is None and getattr(func, "__name__", "") == "__get__":
            getter = self._getters.get(func)
        if getter is not None:
            return getter(first) if first.is_meta else func(*args)
        if any(isinstance(v, torch.device) and v.type == "meta" for v in (*args, *kwargs.values())):
            self.ledger.need("a tensor on the meta device")
        args, kwargs, back = self._of_one_device(func, args, kwargs)
        special = self._methods.get(called(func))
        try:
            if special is not None:
                self._called = func
                result = special(*args, **kwargs)
            else:
                result = func(*args, **kwargs)
        except REFUSED:  # it may run on tensors with data
            if self.exits.suppressing or caught(REFUSED):
                self.ledger.need(f"{getattr(func, '__name__', func)}, whose failure the program catches")
            raise
        return mapped(lambda t: back.get(id(t), t), result) if back else result

    def _of_one_device(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any, dict[int, torch.Tensor]]:
        """The arguments with stand-ins for real tensors beside those without data; and the originals by stand-in."""
        found = [v for v in flat((args, kwargs)) if isinstance(v, torch.Tensor)]
        if len(found) < 2 or len({t.is_meta for t in found}) < 2 or any(type(t) not in PLAIN_TYPES for t in found):
            return args, kwargs, {}
        if getattr(func, "__name__", "") in NEW_GEOMETRY:
            self.ledger.need(f"{getattr(func, '__name__', func)} of tensors from before the run and from it")
        if torch.is_grad_enabled() and any(t.requires_grad for t in found):
            return args, kwargs, {}
        back: dict[int, torch.Tensor] = {}
        stand_ins: dict[int, torch.Tensor] = {}

        def stand_in(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.is_meta:
                return tensor
            if id(tensor) not in stand_ins:
                with self.exits.stepping_aside():
                    made = stand_ins[id(tensor)] = self.twins.stand_in(tensor)
                back[id(made)] = tensor
            return stand_ins[id(tensor)]

        args, kwargs = mapped(stand_in, (list(args), kwargs))
        return tuple(args), kwargs, back

    # -- devices -----------------------------------------------------------------------------------------------------

    def _lies_on(self, kind: str, _: torch.Tensor) -> bool:
        return self.home.type == kind

    def _for_others(self, tensor: torch.Tensor) -> Any:
        """What another library asks of a tensor before it takes its memory."""
        if tensor.is_meta:
            self.ledger.need(f"Tensor.{self._called.__name__}()")
        return self._called(tensor)

    def _device(self, tensor: torch.Tensor) -> torch.device:
        return self.home

    def _number_of_device(self, tensor: torch.Tensor) -> int:
        if not tensor.is_meta:
            return int(self._called(tensor))
        return -1 if self.home.type == "cpu" else self.home.index or 0

    def _there(self, value: Any, of_tensor: bool = True) -> Any:
        """An argument that may name a device, for a tensor without data: the meta device where it names its home."""
        if isinstance(value, (torch.device, str)) or (isinstance(value, int) and not isinstance(value, bool)):
            if not same_place(value, self.home):
                self.ledger.need(f"a tensor on {value}")
            return META
        return value

    def _to(self, tensor: torch.Tensor, *args: Any, **keywords: Any) -> torch.Tensor:
        """Whatever names a device, a dtype, or another tensor that has both."""
        if not tensor.is_meta:
            return torch.Tensor.to(tensor, *args, **keywords)
        other = args[0] if args else keywords.pop("other", None)
        if isinstance(other, torch.Tensor):
            return torch.Tensor.to(tensor, META, other.dtype, *args[1:], **keywords)
        args = (self._there(args[0]), *args[1:]) if args else args
        if keywords.get("device") is not None:
            keywords["device"] = self._there(keywords["device"])
        return torch.Tensor.to(tensor, *args, **keywords)

    def _type(self, tensor: torch.Tensor, *args: Any, **keywords: Any) -> Any:
        if args or keywords or not tensor.is_meta:
            return self._called(tensor, *map(original, args), **{k: original(v) for k, v in keywords.items()})
        with self.exits.stepping_aside():
            return (
                torch.empty(0, dtype=tensor.dtype)
                .type()
                .replace("torch.", "torch.cuda." if self.home.type == "cuda" else "torch.")
            )

    # -- numbers out of tensors --------------------------------------------------------------------------------------

    def _numbers(self, value: Any, how: str) -> Any:
        """Lists in which tensors are taken for numbers, with those of constants in their place."""
        if isinstance(value, torch.Tensor):
            self.exits.read_in_python([value], how)
            return self.exits.shown(value, how)
        if isinstance(value, (list, tuple)):
            return type(value)(self._numbers(v, how) for v in value) if type(value) in (list, tuple) else value
        return value

    def _from_data(self, *args: Any, **keywords: Any) -> Any:
        """A tensor made of numbers, in lists or not, or of another tensor."""
        func, name = self._called, self._called.__name__
        made = args[1:] if name.startswith("new_") else args
        data = made[0] if made else keywords.get("data", keywords.get("obj"))
        if isinstance(data, torch.Tensor):
            if not data.is_meta:
                return func(*args, **keywords)
            new = data
            if keywords.get("dtype") is not None:
                new = new.to(keywords["dtype"])
            if keywords.get("device") is not None:
                new = self._to(new, keywords["device"])
            return new.detach().clone() if name in ("tensor", "new_tensor") or keywords.get("copy") else new
        how = f"{name}() of a list of tensors"
        if name == "new_tensor" and args[0].is_meta:
            keywords = {"dtype": args[0].dtype, **{k: v for k, v in keywords.items() if k != "data"}}
            keywords.pop("device", None)
            return torch.tensor(self._numbers(data, how), **keywords)
        return func(*(self._numbers(a, how) if a is data else a for a in args), **keywords)

    def _split(self, tensor: torch.Tensor, *args: Any, **keywords: Any) -> Any:
        """The places to split at are read through a raw pointer."""
        how = "Tensor.tensor_split()"
        keywords = {k: self._numbers(v, how) for k, v in keywords.items()}
        return self._called(tensor, *(self._numbers(a, how) for a in args), **keywords)

    # -- indexing ----------------------------------------------------------------------------------------------------

    def _index(self, index: Any) -> Any:
        """An index of which PyTorch makes no tensor itself, which it would do on the meta device, without numbers."""
        if type(index) is tuple:
            return tuple(self._part(part) for part in index)
        if isinstance(index, list) and not all(isinstance(v, (int, bool)) for v in index):
            self.ledger.need("an index that is a list of more than numbers")
        return self._part(index)

    def _part(self, part: Any) -> Any:
        """What one axis is indexed by."""
        if isinstance(part, (list, range)):
            part = self._numbers(list(part), "__getitem__() of a list of tensors")
        elif not isinstance(part, np.ndarray) or not part.ndim:
            return part
        return torch.tensor(part, dtype=None if len(part) else torch.long)

    def _getitem(self, tensor: torch.Tensor, index: Any) -> Any:
        return self._called(tensor, self._index(index) if tensor.is_meta else index)

    def _setitem(self, tensor: torch.Tensor, index: Any, value: Any) -> Any:
        return self._called(tensor, self._index(index) if tensor.is_meta else index, value)

    # -- attention ---------------------------------------------------------------------------------------------------

    def _attention(self, query: Any, key: Any, value: Any, *rest: Any, **keywords: Any) -> Any:
        """Causal by its flag alone, it is the fused kernel's, which has a rule of its own."""
        given = dict(zip(("attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"), rest, strict=False)) | keywords
        plain = given.get("is_causal") and given.get("attn_mask") is None and not given.get("dropout_p")
        square = query.shape[-1:] == value.shape[-1:]  # no kernel is fused for values of another width
        heads = query.dim() == 4 == key.dim() and square and key.shape[1] and query.shape[1] % key.shape[1] == 0
        if (
            plain
            and not self.exits.chose_kernels
            and heads
            and (query.shape[1] == key.shape[1] or given.get("enable_gqa"))
            and query.is_meta
            and key.is_meta
            and self.home.type == "cpu"
        ):
            return FUSED(query, key, value, 0.0, True, scale=given.get("scale"))[0]
        return self._called(query, key, value, *rest, **keywords)
