"""Exceptions as control flow: an operation that fails on some values steers a program that catches the failure.

Where no handler would catch it, a failure gives no output at all, and nothing is to be proved. So an operation that
may fail because of values counts as a read exactly when the program stands in a `try` whose `except` takes such errors.
"""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any

import torch

from .location import HERE

if TYPE_CHECKING:
    from .calls import TorchOperand
    from .registry import Facts

RAISED = (RuntimeError, IndexError, ValueError, TypeError, ZeroDivisionError, torch.linalg.LinAlgError)  # type: ignore[attr-defined]
TORCH = os.path.dirname(torch.__file__) + os.sep  # its handlers clean up and raise again


def may_fail(facts: Facts, operands: Sequence[TorchOperand]) -> bool:
    """Whether some values of the operands that depend on the input could make the operation raise."""
    loose = [o for o in operands if not o.shadow.is_fixed]
    if facts.fails == "whole numbers":
        return any(not (o.value.is_floating_point() or o.value.is_complex()) for o in loose)
    return facts.fails == "any" and bool(loose)


def caught() -> bool:
    """Whether some frame of the program under way stands in a `try` that takes errors of operations."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(HERE):
            if code.co_name == "run":
                return False
        elif not code.co_filename.startswith(TORCH):
            for wanted in _handlers(code, frame.f_lasti):
                if wanted is None or any(_takes(name, frame) for name in wanted):
                    return True
        frame = frame.f_back
    return False


def _takes(name: str, frame: Any) -> bool:
    """Whether `except name` takes an error that operations raise; a name that cannot be looked up here counts."""
    first, *rest = name.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first, frame.f_builtins.get(first)))
    for part in rest:
        value = getattr(value, part, None)
    kinds = value if isinstance(value, tuple) else (value,)
    return any(not isinstance(k, type) or any(issubclass(e, k) for e in RAISED) for k in kinds)


@lru_cache(maxsize=4096)
def _handlers(code: CodeType, at: int) -> tuple[tuple[str, ...] | None, ...]:
    """Of each handler around the instruction `at`, the names that its `except` clauses take; None for all errors."""
    listed = list(dis.get_instructions(code))
    place = {i.offset: k for k, i in enumerate(listed)}
    found: list[tuple[str, ...] | None] = []
    for entry in dis.Bytecode(code).exception_entries:  # type: ignore[attr-defined]
        if not entry.start <= at < entry.end:
            continue
        body = listed[place[entry.target] :]
        if not body or body[0].opname != "PUSH_EXC_INFO" or body[1].opname == "WITH_EXCEPT_START":
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
