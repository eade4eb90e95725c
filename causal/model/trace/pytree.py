"""The one walker of nested structures: what a model takes, returns and keeps.

Nodes are what PyTorch's own pytree takes for nodes: lists, tuples, dictionaries, namedtuples, `OrderedDict`,
`defaultdict`, `deque`, and whatever was registered with `torch.utils._pytree` (as transformers' `ModelOutput` is). What
PyTorch takes for leaves although tensors may lie in it counts as a node as well: dataclasses, and other mappings and
sequences. Nothing is passed over in silence: what cannot be walked or rebuilt raises TreeError.
"""

from __future__ import annotations

import array
import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from ....errors import ArgumentError

DEEPEST = 64  # levels; a structure that holds itself has no end
PLAIN = frozenset({torch.Tensor, torch.nn.Parameter, torch.dtype, torch.Size, type(None), bool, int, float, str})
PLACES = [f"[{i}]" for i in range(64)]
LEAVES = (torch.Tensor, torch.nn.Module, str, bytes, bytearray, memoryview, range, array.array, type)


class TreeError(ArgumentError):
    """A structure that cannot be walked to its end, or not be rebuilt with other leaves."""


class Node(NamedTuple):
    """One level of a structure: its children with the ends of their paths, and how to build it with others."""

    keys: Sequence[str]
    children: Sequence[Any]
    rebuilt: Callable[[list[Any]], Any]


def leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Every leaf with its path ("", "[0]", ".logits", "['x'][1]").

    >>> from collections import OrderedDict
    >>> list(leaves(OrderedDict(a=[1, (2,)])))
    [("['a'][0]", 1), ("['a'][1][0]", 2)]
    """
    return _leaves(value, "", 0)


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors among the leaves, in order."""
    found: list[torch.Tensor] = []
    _gather(found, value, 0)
    return found


def _gather(found: list[torch.Tensor], value: Any, depth: int) -> None:
    node = node_of(value, depth)
    if node is not None:
        for child in node.children:
            _gather(found, child, depth + 1)
    elif isinstance(value, torch.Tensor):
        found.append(value)


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    node = node_of(value, depth)
    if node is None:
        yield path, value
        return
    for key, child in zip(node.keys, node.children, strict=True):
        yield from _leaves(child, path + key, depth + 1)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same structure with every leaf replaced by its image; every node is built anew.

    >>> mapped(lambda leaf: -leaf, {"a": [1, (2,)]})
    {'a': [-1, (-2,)]}
    """
    return _mapped(function, value, 0)


def _mapped(function: Callable[[Any], Any], value: Any, depth: int) -> Any:
    node = node_of(value, depth)
    if node is None:
        return function(value)
    return node.rebuilt([_mapped(function, child, depth + 1) for child in node.children])


def node_of(value: Any, depth: int = 0) -> Node | None:
    """One level of the structure, `depth` levels below its top; None for a leaf. Raises TreeError below DEEPEST."""
    kind = type(value)
    if kind in PLAIN:
        return None
    node = _level(value, kind)
    if node is not None and depth >= DEEPEST:
        raise TreeError(
            f"a {kind.__name__}",
            f"lies more than {DEEPEST} levels deep or in itself",
            "pass a structure without circles",
        )
    return node


def _level(value: Any, kind: type) -> Node | None:
    if kind is list or kind is tuple:  # these three are the most frequent by far, and the same as PyTorch's
        many = len(value)
        return Node(PLACES[:many] if many <= len(PLACES) else [f"[{i}]" for i in range(many)], value, kind)
    if kind is dict:
        names = list(value)
        return Node([f"[{n!r}]" for n in names], list(value.values()), lambda o: dict(zip(names, o, strict=True)))
    registered = pytree.SUPPORTED_NODES.get(pytree._get_node_type(value))
    if registered is not None:
        return _registered(value, registered)
    if isinstance(value, LEAVES):
        return None
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, Sequence):
        return _sequence(value)
    if dataclasses.is_dataclass(value):
        return _dataclass(value)
    return None


def _registered(value: Any, how: pytree.NodeDef) -> Node:
    children, context = how.flatten_fn(value)
    children = list(children)
    if type(value) not in pytree.BUILTIN_TYPES and any(isinstance(t, torch.Tensor) for _, t in leaves(context)):
        raise TreeError(
            type(value).__name__,
            "is registered as a node with a tensor in its context, where it cannot be followed",
            "make it one of the node's children",
        )
    if how.flatten_with_keys_fn is None:
        keys = [f"[{i}]" for i in range(len(children))]
    else:
        keys = [str(key) for key, _ in how.flatten_with_keys_fn(value)[0]]
    return Node(keys, children, lambda others: how.unflatten_fn(others, context))


def _mapping(value: Mapping[Any, Any]) -> Node:
    names = list(value)

    def build(others: list[Any]) -> Any:
        if not isinstance(value, MutableMapping):
            return type(value)(dict(zip(names, others, strict=True)))  # type: ignore[call-arg]
        new = copy.copy(value)
        for name, other in zip(names, others, strict=True):
            new[name] = other
        return new

    return _unregistered(value, [f"[{name!r}]" for name in names], [value[name] for name in names], build)


def _sequence(value: Sequence[Any]) -> Node:
    children = [value[i] for i in range(len(value))]
    names = getattr(value, "_fields", None) if isinstance(value, tuple) else None

    def build(others: list[Any]) -> Any:
        if names is not None:
            return type(value)._make(others)  # type: ignore[attr-defined]
        if not isinstance(value, MutableSequence):
            return type(value)(others)  # type: ignore[call-arg]
        new = copy.copy(value)
        for i, other in enumerate(others):
            new[i] = other
        return new

    keys = [f"[{i}]" for i in range(len(children))] if names is None else [f".{name}" for name in names]
    return _unregistered(value, keys, children, build)


def _dataclass(value: Any) -> Node:
    names = list(dict.fromkeys([*(f.name for f in dataclasses.fields(value)), *getattr(value, "__dict__", ())]))
    held = {name: child for name in names if (child := _attribute(value, name)) is not MISSING}

    def build(others: list[Any]) -> Any:
        new = copy.copy(value)
        for name, other in zip(held, others, strict=True):
            object.__setattr__(new, name, other)  # frozen ones, too, and fields that __init__ does not take
        return new

    return _unregistered(value, [f".{name}" for name in held], list(held.values()), build)


MISSING = object()


def _attribute(value: Any, name: str) -> Any:
    """What the object holds by this name, though its class may refuse to show it."""
    try:
        return getattr(value, name)
    except AttributeError:
        return MISSING
    except Exception:
        return object.__getattribute__(value, name)


def _unregistered(value: Any, keys: list[str], children: list[Any], build: Callable[[list[Any]], Any]) -> Node:
    """A node that PyTorch does not know: what is built must show the very children that it was given."""

    def rebuilt(others: list[Any]) -> Any:
        try:
            new = build(others)
            again = _level(new, type(new))
        except Exception:  # somebody's own class may raise anything
            again = None
        if again is not None and _same(again.children, others):
            return new
        if _same(children, others):
            return value
        raise TreeError(
            f"a {type(value).__name__}",
            "cannot be built anew with other tensors",
            "register it with torch.utils._pytree.register_pytree_node, or pass its tensors in a tuple or a dictionary",
        )

    return Node(keys, children, rebuilt)


def _same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))
