"""Tensors inside nested structures: what a model takes and returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every leaf with its path ("", "[0]", ".logits", "['x'][1]"): through mappings, sequences and dataclasses.

    >>> list(leaves({"a": [1, (2,)]}))
    [("['a'][0]", 1), ("['a'][1][0]", 2)]
    """
    if depth > 32:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, f"{path}[{key!r}]", depth + 1)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for key, item in zip(value._fields, value, strict=False):
            yield from leaves(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from leaves(item, f"{path}[{i}]", depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name), f"{path}.{field.name}", depth + 1)
    else:
        yield path, value


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same structure of plain dictionaries, lists and tuples with every other object replaced by its image."""
    if type(value) is dict:
        return {k: mapped(function, v) for k, v in value.items()}
    if type(value) is list:
        return [mapped(function, v) for v in value]
    if type(value) is tuple:
        return tuple(mapped(function, v) for v in value)
    return function(value)
