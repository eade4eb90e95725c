"""Exceptions as control flow: an operation that fails on some values steers a program that catches the failure.

Where no handler would catch it, a failure gives no output at all, and nothing is to be proved. So an operation that
may fail because of values counts as a read when the program stands in a `try` whose `except` takes such errors, in a
`with` whose manager may swallow them (`managers`), or in a call whose errors Python itself drops.
"""

from __future__ import annotations

import dis
import os
import sys
import weakref
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any

import torch

from ..keras import CALLS
from .location import HERE
from .managers import managers, named, swallows
from .unwinding import handlers

if TYPE_CHECKING:
    from .calls import TorchOperand
    from .registry import Facts

RAISED = (RuntimeError, IndexError, ValueError, TypeError, ZeroDivisionError, torch.linalg.LinAlgError)  # type: ignore[attr-defined]
# of them, those of a kernel that cannot do what its shape function says it does
REFUSED = (RuntimeError, NotImplementedError, IndexError, ValueError)
# methods whose errors Python, or NumPy, drops; `__getitem__` is among them where it serves an iteration
DROPPED = ("__del__", "__len__", "__length_hint__", "__array__")
FUTURES = torch.futures.__file__  # keeps a callback's error for whoever asks
MOST_PLACES = 4096
TORCH = os.path.dirname(torch.__file__) + os.sep  # its handlers clean up and raise again, as those of CALLS


def may_fail(facts: Facts, operands: Sequence[TorchOperand]) -> bool:
    """Whether some values of the operands that depend on the input could make the operation raise."""
    loose = [o for o in operands if not o.shadow.is_fixed]
    if facts.fails == "whole numbers":
        return any(not (o.value.is_floating_point() or o.value.is_complex()) for o in loose)
    return facts.fails == "any" and bool(loose)


def caught(raised: tuple[type[BaseException], ...] = RAISED) -> bool:
    """Whether a frame of the program under way takes such errors, or Python swallows what leaves one."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        place = _place_of(code.co_filename)
        if place == "here":
            if code.co_name == "run":
                return False
        elif place == "futures" or (place != "torch" and (_guarded(frame, raised) or _unheard(frame))):
            return True
        frame = frame.f_back
    return False


@lru_cache(maxsize=4096)
def _place_of(file: str) -> str:
    """Whose file it is, as far as that matters here."""
    if file.startswith(HERE):
        return "here"
    return "futures" if file == FUTURES else "torch" if file.startswith(TORCH) or file.endswith(CALLS) else ""


def _guarded(frame: Any, raised: tuple[type[BaseException], ...]) -> bool:
    """Whether the frame itself takes such an error, by an `except` or by a `with`."""
    taking, swallowing = _around(frame.f_code, frame.f_lasti)
    return any(_takes(names, frame, raised) for names in taking) or any(swallows(name, frame) for name in swallowing)


def _takes(names: tuple[str, ...] | None, frame: Any, raised: tuple[type[BaseException], ...]) -> bool:
    """Whether one `except` of these names takes such an error; one that is not found here counts."""
    if names is None:
        return True
    for value in (named(name, frame) for name in names):
        kinds = value if isinstance(value, tuple) else (value,)
        if any(not isinstance(k, type) or any(issubclass(e, k) for e in raised) for k in kinds):
            return True
    return False


def _unheard(frame: Any) -> bool:
    """Whether Python itself called this frame, so that an error that leaves it is dropped or ends an iteration."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + 1]
    if not names:
        return False
    known = frame.f_locals
    for name in names:
        value = known.get(name)
        if issubclass(type(value), weakref.ReferenceType) and value() is None:
            return True  # what is called when an object has died is given its dead reference
    kind = type(known.get(names[0]))
    if any(getattr(getattr(kind, name, None), "__code__", None) is code for name in DROPPED):
        return True
    if getattr(getattr(kind, "__getitem__", None), "__code__", None) is not code:
        return False
    caller = frame.f_back
    return not (caller and _operation(caller.f_code, caller.f_lasti).startswith("BINARY"))


@lru_cache(maxsize=4096)
def _operation(code: CodeType, at: int) -> str:
    return next((i.opname for i in dis.get_instructions(code) if i.offset == at), "")


Around = tuple[tuple[tuple[str, ...] | None, ...], tuple[str, ...]]
_KNOWN: dict[tuple[int, int], tuple[CodeType, Around]] = {}


def _around(code: CodeType, at: int) -> Around:
    """What the handlers, and the managers, around an instruction are named; a code's own hash takes long."""
    found = _KNOWN.get((id(code), at))
    if found is None:
        if len(_KNOWN) > MOST_PLACES:
            _KNOWN.clear()
        found = _KNOWN[id(code), at] = (code, (_handlers(code, at), managers(code, at)))
    return found[1]


def _handlers(code: CodeType, at: int) -> tuple[tuple[str, ...] | None, ...]:
    """Of each handler around the instruction `at`, the names that its `except` clauses take; None for all errors."""
    found: list[tuple[str, ...] | None] = []
    for body, _ in handlers(code, at):
        if body[0].opname != "PUSH_EXC_INFO" or body[1].opname == "WITH_EXCEPT_START":
            continue  # the end of a `with`, or the clearing up after a handler
        clause: list[str] = []
        taken: list[str] = []
        for i in body[1:]:
            if i.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF"):
                clause.append(str(i.argval))
            elif i.opname == "LOAD_ATTR" and clause:
                clause[-1] += f".{i.argval}"
            elif i.opname == "CHECK_EXC_MATCH" and clause:
                taken += clause
            elif i.opname.startswith("POP_JUMP") or i.opname == "POP_EXCEPT":
                clause = []  # what is named in the body of a clause says nothing about the next
            elif i.opname == "RERAISE":
                break
            elif i.opname.startswith("CHECK_E") or (not taken and i.opname.startswith("RETURN_")):
                return (None,)  # an `except*` or one of an unknown kind, a `finally` that returns
            elif i.opname == "POP_TOP" and i is body[1]:  # a bare `except`
                return (None,)
        if taken:
            found.append(tuple(taken))
    return tuple(found)
