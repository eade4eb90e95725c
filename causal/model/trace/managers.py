"""Context managers around an instruction: which of them may swallow an error, as `contextlib.suppress` does.

A frame does not show its managers. The expression of the `with` is looked up by name instead; what is not found that
way may swallow anything.
"""

from __future__ import annotations

import dis
import inspect
import sys
import types
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from types import CodeType
from typing import Any

from .unwinding import handlers

LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")
CALLING = ("PRECALL", "KW_NAMES", "PUSH_NULL", "BUILD_", "DICT_", "LIST_", "COPY", "SWAP")  # make ready for a call
OTHER_THAN_PLAIN = (
    inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR
)
ENTERS = ("BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL")  # the last since Python 3.14


def named(name: str, frame: Any) -> Any:
    """The object that a dotted name means in a frame; None where it cannot be looked up."""
    first, *rest = name.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first, frame.f_builtins.get(first)))
    for part in rest:
        value = getattr(value, part, None)
    return value


@lru_cache(maxsize=4096)
def managers(code: CodeType, at: int) -> tuple[str, ...]:
    """The dotted name that begins the expression of every `with` around the instruction `at`; "" for another kind.

    >>> def model(x):
    ...     with torch.no_grad(), timer:
    ...         return x + 1
    >>> add = next(i.offset for i in dis.get_instructions(model) if i.opname == "BINARY_OP")
    >>> managers(model.__code__, add)
    ('timer', 'torch.no_grad')
    """
    found = []
    for body, before in handlers(code, at):
        if len(body) > 1 and body[1].opname == "WITH_EXCEPT_START":
            entered = [k for k, i in enumerate(before) if i.opname in ENTERS]
            found.append(_expression(before, entered[-1]) if entered else "")
    return tuple(found)


def _expression(listed: Sequence[dis.Instruction], end: int) -> str:
    """The dotted name that is, or is called in, the expression whose value the instruction `end` enters; or ""."""
    whole = _place(listed[end if listed[end].opname == "LOAD_SPECIAL" else end - 1])
    if whole is None or listed[end].is_jump_target:  # one expression of several
        return ""
    inside = [i for i in listed[:end] if (p := _place(i)) and p[0] == whole[0] and p[1] <= whole[1]]  # from its start
    inside = [i for i in inside if not i.opname.startswith(CALLING)]
    if not inside or inside[0].opname not in LOADS:
        return ""
    name = str(inside[0].argval)
    for k, i in enumerate(inside[1:], 1):
        if not i.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            return name if all(i.opname.startswith("CALL") for i in inside[k:]) and len(inside) == k + 1 else ""
        name += f".{i.argval}"
    return name


def _place(instruction: dis.Instruction) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the text of an instruction starts and ends."""
    where = instruction.positions
    if where is None or None in where:
        return None
    return (where.lineno, where.col_offset), (where.end_lineno, where.end_col_offset)  # type: ignore[return-value]


def swallows(name: str, frame: Any) -> bool:
    """Whether the manager that `name` means in a frame, or makes when called, may swallow an error."""
    return not name or _swallows(named(name, frame))


def _swallows(value: Any) -> bool:
    if str(getattr(value, "__module__", "")).split(".")[0] == "torch":
        return False  # none of PyTorch's own does
    if isinstance(value, types.GenericAlias) or value is None:
        return True
    generator = getattr(value, "__wrapped__", None) or getattr(value, "gen", None)
    if generator is not None:  # of `contextlib.contextmanager`
        code = getattr(generator, "__code__", None) or getattr(generator, "gi_code", None)
        return not isinstance(code, CodeType) or _guards_its_yield(code)
    leave = getattr(value if isinstance(value, type) else type(value), "__exit__", None)
    if leave is None:
        return not isinstance(value, types.FunctionType) or _gives_what_may(value)
    code = getattr(leave, "__code__", None)
    return isinstance(code, CodeType) and _may_return_true(code)  # what is written in C swallows nothing


def _gives_what_may(function: types.FunctionType) -> bool:
    """Whether a function may return a manager that swallows errors: not if each `return` calls one that does not, by a
    name of its module or of a library that the function itself imports.
    """
    given = _given(function.__code__)
    if not given or given == ("",):
        return True
    found = [_global(name, function) for name in given]
    return any((isinstance(v, types.FunctionType) and not hasattr(v, "__wrapped__")) or _swallows(v) for v in found)


@lru_cache(maxsize=1024)
def _given(code: CodeType) -> tuple[str, ...]:
    """The dotted names that are called in what a function returns; ("",) where it returns something else."""
    if code.co_flags & OTHER_THAN_PLAIN:
        return ("",)
    listed = list(dis.get_instructions(code))
    stored = Counter(i.argval for i in listed if i.opname.startswith(("STORE_FAST", "DELETE_FAST")))
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]  # `*args` and `**kwargs` cannot be imported
    imported = {
        i.argval
        for a, i in pairwise(listed)
        if (a.opname, a.argval, i.opname) == ("IMPORT_NAME", i.argval, "STORE_FAST") and stored[i.argval] == 1
    }.difference(taken)
    found = []
    for k, i in enumerate(listed):
        if i.opname in ("RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR", "STORE_GLOBAL"):
            return ("",)
        if i.opname == "RETURN_VALUE":
            name = _expression(listed, k) if k and listed[k - 1].opname.startswith("CALL") else ""
            first = name.partition(".")[0]
            if not name or (first in code.co_varnames and first not in imported):
                return ("",)
            found.append(name)
    return tuple(found)


def _global(name: str, function: types.FunctionType) -> Any:
    """What a dotted name means in a function's module, or among what is imported."""
    first, *rest = name.split(".")
    local = first in function.__code__.co_varnames
    value = sys.modules.get(first) if local else function.__globals__.get(first)
    for part in rest:
        value = getattr(value, part, None)
    return value


@lru_cache(maxsize=1024)
def _guards_its_yield(code: CodeType) -> bool:
    """Whether a `yield` of a generator stands in a `try` with an `except`, or in a `with`."""
    for at in (i.offset for i in dis.get_instructions(code) if i.opname == "YIELD_VALUE"):
        for body, _ in handlers(code, at):
            if body[0].opname != "PUSH_EXC_INFO":
                continue
            for i in body[1:]:
                if i.opname == "RERAISE":
                    break  # a `finally`
                if i.opname.startswith(("CHECK_E", "WITH_EXCEPT", "RETURN_", "POP_EXCEPT")):
                    return True
    return False


@lru_cache(maxsize=1024)
def _may_return_true(code: CodeType) -> bool:
    listed = list(dis.get_instructions(code))
    for before, i in zip([None, *listed], listed, strict=False):
        if i.opname == "RETURN_CONST" and i.argval:
            return True
        if i.opname == "RETURN_VALUE" and not (before and before.opname == "LOAD_CONST" and not before.argval):
            return True
    return False
