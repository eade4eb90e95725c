"""What a function and the functions that it calls read or write outside their arguments, by name and holder."""

from __future__ import annotations

import collections
import copy
import dis
import functools
import importlib.util
import sys
import threading
import types
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ownership import is_own_file
from .beforehand import parameters_of
from .frames import library_of
from .values import PASSIVE, PLAIN, Slots, fill, inside, members, slots

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHED = type(functools.lru_cache(len))
CONTAINERS = (dict, list, set, bytearray, np.ndarray, collections.deque)
HOLDERS = (dict, list, tuple, set, frozenset, collections.deque)  # of functions and objects, such as a registry
MOST_HELD = 4096
BY_ANY_NAME = {
    "globals",
    "vars",
    "setattr",
    "exec",
    "eval",
    "__globals__",
    "__dict__",
}  # ways to set what no code names
LOCKS = (type(threading.Lock()), type(threading.RLock()))


ABSENT = object()


@dataclass
class Variable:
    """A name, where its value is held (a dictionary, class or cell, or nowhere to be set), the value, and a copy."""

    name: str
    holder: Any
    key: Any
    value: Any
    in_parts: bool = False  # whether what it holds is given by variables of its own as well
    copy: Any = None
    known: bool = False

    def now(self) -> Any:
        """Its value now; the old one where it cannot be told."""
        if isinstance(self.holder, types.CellType):
            return self.holder.cell_contents
        if isinstance(self.holder, type):
            return vars(self.holder).get(self.key, ABSENT)
        return self.value if self.holder is None else self.holder.get(self.key, ABSENT)

    def put_back(self) -> None:
        """Bind the old value again, and give it its old content."""
        if self.known and library_of(self.value) in ("pandas", "polars"):
            self.value = copy.deepcopy(self.copy)
        elif self.known:
            fill(self.value, copy.deepcopy(self.copy))
        if isinstance(self.holder, types.CellType):
            self.holder.cell_contents = self.value
        elif isinstance(self.holder, type):
            if self.value is ABSENT:
                delattr(self.holder, self.key)
            else:
                setattr(self.holder, self.key, self.value)
        elif self.holder is not None:
            if self.value is ABSENT:
                self.holder.pop(self.key, None)
            else:
                self.holder[self.key] = self.value


@dataclass(frozen=True)
class Reached:
    """What a function reaches: `variables` by name, `functions` of the user's own, and `texts` in their code."""

    variables: list[Variable]
    functions: list[types.FunctionType]
    texts: set[Any]

    @property
    def names(self) -> set[str]:
        """The names of variables and attributes in their code."""
        return {name for f in self.functions for name in _names(f.__code__)}

    @property
    def namespaces(self) -> list[dict[str, Any]]:
        """The globals of the modules whose functions may put anything there, as by `globals()`."""
        found = {id(f.__globals__): f.__globals__ for f in self.functions if set(_names(f.__code__)) & BY_ANY_NAME}
        return list(found.values())


def reached(function: Any) -> Reached:
    """Everything that a function can be seen to read or write outside its arguments."""
    seen = dict[int, Any]()  # what was seen is kept, for ids are used again
    variables = list(_variables(function, seen))
    functions = [f for f in seen.values() if isinstance(f, types.FunctionType)]
    constants = {text for f in functions for code in _codes(f.__code__) for text in code.co_consts}
    texts: set[Any] = {text for text in constants if isinstance(text, str)}
    texts |= {v.value for v in variables if isinstance(v.value, (str, Path))}
    return Reached(variables, functions, texts)


def _variables(function: Any, seen: dict[int, Any]) -> Iterator[Variable]:
    queue, named = [function], set()
    queue += parameters_of(function) or []  # scikit-learn's transformers hold functions as parameters
    while queue:
        f = queue.pop()
        if id(f) in seen:
            continue
        seen[id(f)] = f
        if isinstance(f, HOLDERS):
            queue += _held(f)
            continue
        for variable in _of(f, queue):
            holder = variable.holder.owner if isinstance(variable.holder, Slots) else variable.holder
            at = (id(variable.value), None) if holder is None else (id(holder), variable.key)
            if at in named:
                continue
            named.add(at)
            if is_ours(variable.value) or isinstance(variable.value, HOLDERS):
                queue.append(variable.value)
            if not isinstance(variable.value, PASSIVE):
                yield variable


def _of(f: Any, queue: list[Any]) -> Iterator[Variable]:
    """The variables of one function, method, partial or object; further functions go into the queue."""
    if isinstance(f, CACHED):
        queue.append(f.__wrapped__)
    elif _wrapped_by_library(f) is not None:
        queue.append(_wrapped_by_library(f))
    elif isinstance(f, functools.partial):
        queue.append(f.func)
        for name, value in [*enumerate(f.args), *f.keywords.items()]:
            yield Variable(f"argument {name}", None, None, value)
    elif isinstance(f, types.MethodType):
        queue += [f.__func__, f.__self__]
    elif isinstance(f, types.FunctionType):
        yield from _of_function(f)
        if hasattr(f, "__wrapped__"):
            queue.append(f.__wrapped__)
    elif isinstance(f, type):
        yield from _of_class(f, queue)
    elif is_ours(type(f)):
        for name, value in list(getattr(f, "__dict__", {}).items()):
            yield Variable(f"{type(f).__name__}.{name}", f.__dict__, name, value)
        yield Variable(f"{type(f).__name__}'s attributes", None, None, getattr(f, "__dict__", {}), in_parts=True)
        for name in slots(type(f)):
            yield Variable(f"{type(f).__name__}.{name}", Slots(f), name, getattr(f, name, ABSENT))
        queue.append(type(f))


def _held(container: Any) -> list[Any]:
    """The user's functions in a container, and the classes of the objects in it, whose attributes it holds itself."""
    found, seen, queue = [], dict[int, Any](), [container]
    while queue and len(seen) < MOST_HELD:
        value = queue.pop()
        if id(value) in seen or isinstance(value, PLAIN):
            continue
        seen[id(value)] = value
        if isinstance(value, HOLDERS):
            queue += inside(value)[:MOST_HELD]
        elif isinstance(value, (*PASSIVE, CACHED, functools.partial)):
            found += [value] if is_ours(value) else []
        elif is_ours(value):
            found.append(type(value))
            queue += members(value).values()
    return found


def _of_class(f: type, queue: list[Any]) -> Iterator[Variable]:
    """What a class holds, and what its methods might give it."""
    queue += [base for base in (*f.__mro__[1:], type(f)) if is_ours(base)]
    members = [member for base in f.__mro__ if is_ours(base) for member in vars(base).values()]
    methods = [getattr(member, "__func__", getattr(member, "fget", member)) for member in members]
    methods = [method for method in methods if isinstance(method, types.FunctionType)]
    queue += methods
    names = {name for name in vars(f) if not name.startswith("__")}
    for name in sorted(names.union(*(_names(method.__code__) for method in methods))):
        yield Variable(f"{f.__name__}.{name}", f, name, vars(f).get(name, ABSENT))


def _imported_within(f: types.FunctionType) -> Iterator[types.ModuleType]:
    """The modules of the user's own that a function imports when it runs, imported now: what they hold counts."""
    package = f.__globals__.get("__package__") or ""
    imported = {
        i.argval for code in _codes(f.__code__) for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"
    }
    for name in sorted(imported):
        for path in filter(None, (name, f"{package}.{name}" if package else "")):
            try:
                spec = importlib.util.find_spec(path)
                if spec is not None and spec.origin and is_own_file(spec.origin):
                    yield importlib.import_module(path)
            except Exception:  # it says so itself where it is called
                continue


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _of_module(path: str, module: types.ModuleType, names: set[str], depth: int) -> Iterator[Variable]:
    """What a module of the user's own holds under some names, and the modules within it."""
    for inner in sorted(names & set(vars(module))):
        value = vars(module)[inner]
        yield Variable(f"{path}.{inner}", vars(module), inner, value)
        if isinstance(value, types.ModuleType) and is_ours(value) and depth < len(names):
            yield from _of_module(f"{path}.{inner}", value, names, depth + 1)


def _stored_in_libraries(f: types.FunctionType) -> Iterator[Variable]:
    """The attributes that a function may set on modules and classes of libraries."""
    codes = list(_codes(f.__code__))
    names = {name for code in codes for name in code.co_names}
    steps = [step for code in codes for step in dis.get_instructions(code)]
    stored = {step.argval for step in steps if step.opname == "STORE_ATTR"}
    if names & BY_ANY_NAME:
        stored |= {text for code in codes for text in code.co_consts if isinstance(text, str) and text.isidentifier()}
    if not stored:
        return
    imported = {step.argval for step in steps if step.opname == "IMPORT_NAME"}
    here = {name: f.__globals__[name] for name in names if name in f.__globals__}
    queue = [*here.items(), *((name, sys.modules[name]) for name in imported if name in sys.modules)]
    done = set[int]()
    while queue:
        path, owner = queue.pop()
        if id(owner) in done or not isinstance(owner, (types.ModuleType, type)) or is_ours(owner):
            continue
        done.add(id(owner))
        queue += [(f"{path}.{name}", vars(owner)[name]) for name in names if name in vars(owner)]
        holder = owner if isinstance(owner, type) else vars(owner)
        for name in sorted(stored):
            yield Variable(f"{path}.{name}", holder, name, vars(owner).get(name, ABSENT))


def _of_function(f: types.FunctionType) -> Iterator[Variable]:
    names = set(_names(f.__code__))
    if names & BY_ANY_NAME:
        names |= {text for code in _codes(f.__code__) for text in code.co_consts if isinstance(text, str)}
    yield from _stored_in_libraries(f)
    for name in sorted(names):
        value = f.__globals__.get(name, ABSENT)
        yield Variable(name, f.__globals__, name, value)
        if isinstance(value, types.ModuleType) and is_ours(value):
            yield from _of_module(name, value, names, 0)
        elif isinstance(value, type) and is_ours(value):
            for inner in sorted(names - set(vars(value))):
                yield Variable(f"{name}.{inner}", value, inner, ABSENT)
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        yield Variable(name, cell, None, value)
        if isinstance(value, types.ModuleType) and is_ours(value):
            yield from _of_module(name, value, names, 0)
    for module in _imported_within(f):
        yield from _of_module(module.__name__, module, names, 0)
    for value in [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]:
        yield Variable(f"a default of {f.__name__}", None, None, value)
    for name, value in list(f.__dict__.items()):
        if name != "__wrapped__":
            yield Variable(f"{f.__name__}.{name}", f.__dict__, name, value)
    yield Variable(f"{f.__name__}'s attributes", None, None, f.__dict__, in_parts=True)


def _wrapped_by_library(value: Any) -> Any:
    """The user's own function inside a library's object, such as one that `joblib.Memory` caches."""
    inner = (
        vars(value).get("func")
        if hasattr(value, "__dict__") and not isinstance(value, (*PASSIVE, functools.partial))
        else None
    )
    return inner if isinstance(inner, types.FunctionType) and is_ours(inner) else None


def _names(code: types.CodeType) -> Iterator[str]:
    for inner in _codes(code):
        yield from inner.co_names


def is_ours(value: Any) -> bool:
    """Whether a function, class, module or object is from the user's own code, no library's."""
    if isinstance(value, functools.partial):
        return True
    if isinstance(value, CACHED):
        return is_ours(value.__wrapped__)
    if _wrapped_by_library(value) is not None:
        return True
    if isinstance(value, types.MethodType):
        return is_ours(value.__func__)
    if isinstance(value, types.FunctionType):
        file: str | None = value.__code__.co_filename
    elif isinstance(value, types.ModuleType):
        file = getattr(value, "__file__", None)
    elif isinstance(value, type):
        module = sys.modules.get(value.__module__)
        file = getattr(module, "__file__", None) if module is not None else None
        return value.__module__ == "__main__" or (file is not None and is_own_file(file))
    else:
        return not isinstance(value, CONTAINERS) and is_ours(type(value))
    return file is not None and is_own_file(file)
