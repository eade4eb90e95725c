"""What a run did, as one number: two runs of one program from one state have the same.

A run that finds what another one left where nothing puts it back may take another course, and a proof from it says
nothing of the program as it was given.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

PLAIN = {bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format, type(None)}
MOST = 1 << 12  # bytes of a constant that are compared


class Course:
    """The operations so far, in order, with the shapes and the plain arguments that they were given.

    >>> once, again, other = Course(), Course(), Course()
    >>> for course, factor in (once, 2.0), (again, 2.0), (other, 3.0):
    ...     course.ran("aten.mul", (torch.ones(2), factor), {})
    >>> once.number == again.number, once.number == other.number
    (True, False)
    """

    def __init__(self) -> None:
        self.number = 0

    def ran(self, name: str, args: Any, kwargs: Any) -> None:
        """An operation ran."""
        self.number = hash((self.number, name, _plain(args), _plain(kwargs)))

    def met(self, constant: torch.Tensor) -> None:
        """The program uses a constant, or a parameter, for the first time."""
        storage = constant.untyped_storage()
        first = b""
        if storage.device.type == "cpu" and storage.nbytes():
            first = ctypes.string_at(storage.data_ptr(), min(storage.nbytes(), MOST))
        self.number = hash((self.number, storage.nbytes(), first))


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return () if value.is_nested else tuple(value.shape), value.dtype
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return tuple((key, _plain(value[key])) for key in sorted(value))
    return repr(value) if type(value) in PLAIN else type(value).__name__
