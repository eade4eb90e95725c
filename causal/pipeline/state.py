"""What a function keeps outside its argument, such as a cache in its module: put back before every call.

A scaler that is fitted at the first call and kept would hide its look-ahead from every later call. It is put back
before a call and not after one, for a result may be a view of what is kept.
"""

from __future__ import annotations

import contextvars
import copy
import operator
import os
import types
from typing import Any

import numpy as np

from .beforehand import is_fitted, numbers_in
from .files import COMPILED_WRITER, Files, named_files
from .frames import library_of
from .values import MOST_BYTES, equal, size
from .variables import ABSENT, CACHED, LOCKS, Variable, is_ours, reached


class State:
    """The variables that a function and the functions it calls read or write outside their arguments.

    As a context it leaves them as it found them.
    """

    def __init__(self, function: Any) -> None:
        found = reached(function)
        self.variables = found.variables
        self.namespaces = {id(names): (names, dict(names)) for names in found.namespaces}
        self.writers = sorted(filter(COMPILED_WRITER.fullmatch, found.names))
        self.kept: list[str] = []  # what some call changed
        self.files, self.environ = Files(named_files(found.texts)), dict(os.environ)
        self.environment = dict(_environment())
        self.fitted = [v.name for v in self.variables if is_fitted(v.value)]
        self.numbers = [found for v in self.variables for found in numbers_in(v.name, v.value)]
        for variable in self.variables:
            if variable.value is not ABSENT and size(variable.value) <= MOST_BYTES:
                try:
                    variable.copy, variable.known = copy.deepcopy(variable.value), True
                except Exception:  # a connection, a generator: what cannot be copied is left alone
                    variable.known = False
        self.left_alone = [v.name for v in self.variables if _is_left_alone(v)]

    def __enter__(self) -> State:
        return self

    def __exit__(self, *error: object) -> None:
        self.put_back()

    def put_back(self) -> None:
        """Everything as it was when the check began; caches of functions are emptied."""
        self._remember(self.files.put_back())
        if _environment() != self.environment and os.environ != self.environ:
            self._remember(["os.environ"])
            os.environ.clear()
            os.environ.update(self.environ)
        for variable in self.variables:
            if isinstance(variable.value, CACHED):
                self._remember([f"the cache of {variable.name}"] * (variable.value.cache_info().currsize > 0))
                variable.value.cache_clear()
            now = variable.now()
            if now is not variable.value or (variable.known and not equal(variable.copy, now, set())):
                self._remember([variable.name])
                variable.put_back()
                if id(variable.holder) in self.namespaces:
                    names, before = self.namespaces[id(variable.holder)]
                    before.update({variable.key: names[variable.key]} if variable.key in names else {})
        for names, before in self.namespaces.values():
            if len(names) != len(before) or not all(map(operator.is_, names.values(), before.values())):
                self._put_names_back(names, before)

    def _put_names_back(self, names: dict[str, Any], before: dict[str, Any]) -> None:
        """What `globals()` gave a module, and took from it; modules that were imported meanwhile stay."""
        for name in [name for name in names if name not in before]:
            if not name.startswith("__") and not isinstance(names[name], types.ModuleType):
                del names[name]
                self._remember([name])
        for name, value in before.items():
            if names.get(name, ABSENT) is not value and not isinstance(value, types.ModuleType):
                names[name] = value
                self._remember([name])

    def _remember(self, changed: list[str]) -> None:
        self.kept += [name for name in changed if name not in self.kept]

    @property
    def unseen_files(self) -> list[str]:
        """The writers of files that it calls, where its code names no file of a kind that they write."""
        return [] if self.files.names_compiled else self.writers

    def tables(self, n: int) -> list[str]:
        """The names of tables among them, and of arrays with `n` rows."""
        return [
            v.name
            for v in self.variables
            if library_of(v.value) in ("pandas", "polars") or (library_of(v.value) and np.shape(v.value)[:1] == (n,))
        ]


def _environment() -> Any:
    """The environment as Python keeps it, which is compared without decoding every word."""
    return getattr(os.environ, "_data", os.environ)


def _is_left_alone(variable: Variable) -> bool:
    """Whether a variable may keep something that nothing puts back, which its parts do not name by themselves."""
    harmless = (CACHED, *LOCKS, contextvars.ContextVar, types.MappingProxyType)
    copied = variable.known and not hasattr(type(variable.value), "__next__")  # nobody sees how far an iterator is
    told = copied or variable.in_parts or variable.value is ABSENT or isinstance(variable.value, harmless)
    return not told and not is_ours(variable.value) and not library_of(variable.value)
