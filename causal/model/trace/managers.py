"""Context managers around an instruction: which of them may swallow an error, as `contextlib.suppress` does.

A frame does not show its managers. The expression of the `with` is looked up by name instead; what is not found that
way may swallow anything.
"""

from __future__ import annotations

import contextlib
import dis
import inspect
import sys
import types
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
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
GENERATORS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
BINDS = ("STORE_", "DELETE_")
IN_C = (types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType)


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
            name = _expression(before, entered[-1]) if entered else ""
            found.append("" if _is_bound(name, code, before, body) else name)
    return tuple(found)


def _is_bound(name: str, code: CodeType, before: Sequence[dis.Instruction], body: Sequence[dis.Instruction]) -> bool:
    """Whether a name of the expression is bound anew while the manager is open, so that it tells of another object."""
    guarded = list(dis.get_instructions(code))[len(before) :]
    parts = name.split(".")
    return any(i.opname.startswith(BINDS) and i.argval in parts for i in guarded if i.offset < body[0].offset)


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
    generator = _generator(value)
    if generator is not None:
        return not isinstance(generator, CodeType) or _guards_its_yield(generator)
    if isinstance(value, types.FunctionType):
        return _gives_what_may(value)
    kind = value if isinstance(value, type) else type(value)
    if _makes_others(value, kind):
        return True
    leaves = [_defined(kind, name) for name in ("__exit__", "__aexit__")]
    return leaves == [None, None] or any(_exits_with_true(leave) for leave in leaves if leave is not None)


def _nothing() -> Iterator[None]:
    yield


async def _nothing_async() -> AsyncIterator[None]:
    yield


_MAKERS = (contextlib.contextmanager(_nothing), contextlib.asynccontextmanager(_nothing_async))
_MADE = tuple(type(maker()) for maker in _MAKERS)
_MAKING = tuple(maker.__code__ for maker in _MAKERS)  # that of all functions which `contextlib` makes of generators


def _generator(value: Any) -> Any:
    """The code of the generator that a manager of `contextlib` is made of, or a function of such managers; None for
    anything else.
    """
    if type(value) in _MADE:
        return getattr(value.gen, "gi_code", None) or getattr(value.gen, "ag_code", "")
    function = value.__func__ if isinstance(value, types.MethodType) else value
    if isinstance(function, types.FunctionType) and any(function.__code__ is code for code in _MAKING):
        return getattr(getattr(function, "__wrapped__", None), "__code__", "")
    return None


def _makes_others(value: Any, kind: type) -> bool:
    """Whether a call of a class, or of an object, may give something that is not of this class."""
    if value is not kind:
        return _defined(kind, "__call__") not in (None, contextlib.ContextDecorator.__call__)
    of_class = type(kind)
    return (
        of_class.__call__ is not type.__call__
        or hasattr(of_class, "__exit__")
        or isinstance(kind.__new__, types.FunctionType)
    )


def _defined(kind: type, name: str) -> Any:
    """What Python finds by this name for objects of a class, as it is written there."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _exits_with_true(leave: Any) -> bool:
    """Whether an `__exit__` may return what is true; what is written in C does not."""
    function = leave.__func__ if isinstance(leave, (staticmethod, classmethod)) else leave
    if isinstance(function, types.FunctionType):
        return _may_return_true(function.__code__)
    return not isinstance(function, IN_C)


def _gives_what_may(function: types.FunctionType) -> bool:
    """Whether a function may return a manager that swallows errors: not if each `return` calls one that does not, by a
    name of its module or of a library that the function itself imports.
    """
    given = _given(function.__code__)
    if not given or given == ("",):
        return True
    found = [_global(name, function) for name in given]
    return any((isinstance(v, types.FunctionType) and _generator(v) is None) or _swallows(v) for v in found)


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
            local = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
            if not name or (first in local and first not in imported):
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
    """Whether a `yield` of a generator stands in a `try` with an `except`, or in a `with`; or in another generator."""
    listed = list(dis.get_instructions(code))
    if not code.co_flags & GENERATORS or any(i.opname == "SEND" for i in listed):
        return True
    for at in (i.offset for i in listed if i.opname == "YIELD_VALUE"):
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
        known = before is not None and before.opname == "LOAD_CONST" and not i.is_jump_target
        if i.opname == "RETURN_VALUE" and not (known and before is not None and not before.argval):
            return True
    return False
