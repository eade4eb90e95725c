"""What tells a tensor's device without a function of PyTorch's: old tensor types, and storages.

`isinstance(x, torch.FloatTensor)` and `x.untyped_storage().device` are answered by C. In a run without values they are
answered as for tensors on the device where the program takes them to lie.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch

if TYPE_CHECKING:
    from .exits import Exits
    from .ledger import Ledger

OLD = type(torch.FloatTensor)  # the type of the old types
PYTORCH = os.path.dirname(torch.__file__) + os.sep
OF_STORAGES = {torch.storage.__file__, torch._tensor.__file__}
KINDS = {"device", "is_cuda", "type", "storage_type", "_get_legacy_storage_class", "__instancecheck__"}
DEVICE = torch._C.StorageBase.device.__get__  # type: ignore[attr-defined]


class Kind(type):
    """An old tensor type as a program sees it: `original` makes tensors; instances are told by dtype and `home`."""

    original: Any
    home: torch.device
    exits: Exits

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """A tensor of the old type."""
        return cls.original(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        with cls.exits.stepping_aside():
            if not isinstance(value, torch.Tensor) or not value.is_meta:
                return isinstance(value, cls.original)
            on_cuda = cls.home.type == "cuda"
            plain = cls.original.is_cuda == on_cuda and not cls.original.is_sparse
            return bool(plain and value.dtype == cls.original.dtype)


def original(value: Any) -> Any:
    """The old type that stands behind what a program sees of it; anything else as it is."""
    return value.original if isinstance(value, Kind) else value


@contextmanager
def answered(exits: Exits, ledger: Ledger, home: torch.device, holders: Iterable[ModuleType] = ()) -> Iterator[None]:
    """While it is open, both are answered for the device `home`.

    `holders`: files of the program, which may have imported a type by its name. ValueNeeded is raised where one of
    them keeps types in a container.
    """
    known: dict[int, Kind] = {}

    def seen(old: Any) -> Kind:
        if id(old) not in known:
            known[id(old)] = Kind(old.__name__, (), {"original": old, "home": home, "exits": exits})
        return known[id(old)]

    def device(storage: torch.UntypedStorage) -> torch.device:
        found: torch.device = DEVICE(storage)
        return home if found.type == "meta" and not exits.is_busy and not _is_pytorch_asking() else found

    with ExitStack() as stack:
        for owner in (torch, torch.cuda, *holders):
            for name, value in list(vars(owner).items()):
                if isinstance(value, OLD):
                    stack.enter_context(patch.object(owner, name, seen(value)))
                elif owner not in (torch, torch.cuda) and _holds_types(value):
                    ledger.need(f"the tensor types in {name}")
        stack.enter_context(patch.object(torch.UntypedStorage, "device", property(device), create=True))
        yield


def _holds_types(value: Any) -> bool:
    return isinstance(value, (tuple, list, set, frozenset)) and any(isinstance(v, OLD) for v in value)


def _is_pytorch_asking() -> bool:
    """Whether a storage's device is asked for by PyTorch, and not for the program."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename in OF_STORAGES and frame.f_code.co_name in KINDS:  # they tell what they find
        frame = frame.f_back
    return bool(frame.f_code.co_filename.startswith(PYTORCH))
