"""A model of any of JAX's libraries as a pure function of the arrays that it keeps and of its inputs."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import jax

from .. import keras
from ..reachable import reachable
from ..setting import ModelError
from ..trace.jaxpr.frontend import Given
from .kinds import is_module
from .modes import moded
from .varying import is_inexact

TRAINING = ("train", "training", "is_training")
RESTING = ("deterministic", "use_running_average", "inference")
"""Keywords of a call that say in which mode a model is."""


@dataclass(frozen=True)
class After:
    """What a call returned, and what it left in the model, by name."""

    result: Any
    kept: Mapping[str, Any] = field(default_factory=dict)
    rebuilt: bool = False  # the call changed what is no array


@dataclass(frozen=True)
class Pure:
    """A model as a function: `call(values of the leaves, positional inputs, keywords)`.

    The leaves are the arrays that it keeps: parameters, and other constants (buffers, the key of a stream of draws).
    `held` are parameters that it closes over, by name; `modules` are reached and have a mode, to be set while it is
    recorded. `unset` says why the mode is not the one asked for.
    """

    name: str
    call: Callable[[Sequence[Any], Sequence[Any], Mapping[str, Any]], After]
    leaves: tuple[Given, ...] = ()
    held: Mapping[str, Any] = field(default_factory=dict)
    modules: tuple[Any, ...] = ()
    libraries: tuple[str, ...] = ("jax", "numpy")
    unset: str = ""


def pure(model: Callable[..., Any], mode: str) -> Pure:
    """The model as a function in that mode; ModelError where it is a module of linen without its variables."""
    if type(model).__module__ == "equinox._jit":  # computes what it compiles, whose mode and parameters it hides
        model = getattr(model, "__wrapped__", model)
    reached = reachable(inspect.unwrap(model))
    layers = [value for value in reached if keras.is_layer(value)]
    if layers:
        return _keras(model, reached, layers)
    owner = getattr(model, "__self__", model)
    method = None if owner is model else getattr(model, "__func__", None)
    if is_module(owner, "flax.nnx"):
        return _nnx(owner, method, mode)
    if is_module(owner, "equinox"):
        return _equinox(owner, method, mode)
    if is_module(owner, "flax.linen"):
        return _linen(owner, method, mode)
    return _function(model, mode)


def with_variables(model: Any, inputs: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """A module of linen bound to the variables that stand before its inputs, and those inputs; others as they are."""
    unbound = is_module(model, "flax.linen") and model.scope is None
    if unbound and inputs and isinstance(inputs[0], Mapping) and "params" in inputs[0]:
        return model.bind(inputs[0]), inputs[1:]
    return model, inputs


# -- one adapter a library --------------------------------------------------------------------------------------------


def _nnx(model: Any, method: Any, mode: str) -> Pure:
    from flax import nnx

    groups = (nnx.Param, nnx.RngState, ...)
    copy = nnx.merge(*nnx.split(model))
    copy.train() if mode == "train" else copy.eval()
    graph, *states = nnx.split(copy, *groups)
    flat = [_named(state) for state in states]
    kinds: list[Any] = [jax.tree.structure(state) for state in states]
    roles: tuple[Literal["parameter", "constant"], ...] = ("parameter", "constant", "constant")
    leaves = [Given(n, r, v) for r, arrays in zip(roles, flat, strict=True) for n, v in arrays.items()]

    def call(values: Sequence[Any], given: Sequence[Any], keywords: Mapping[str, Any]) -> After:
        parts, rest = [], list(values)
        for kind in kinds:
            parts.append(jax.tree.unflatten(kind, rest[: kind.num_leaves]))
            rest = rest[kind.num_leaves :]
        module = nnx.merge(graph, *parts)
        result = (method or type(module).__call__)(module, *given, **keywords)
        later, *after = nnx.split(module, *groups)
        parameters, _, others = after  # a stream of draws moves on in every call
        return After(result, _named(parameters) | _named(others), later != graph)

    name, reached = type(model).__name__, reachable(copy, method)
    return Pure(name, call, tuple(leaves), _held(reached, leaves), moded(reached), ("jax", "flax", "numpy"))


def _equinox(model: Any, method: Any, mode: str) -> Pure:
    import equinox as eqx

    set_ = eqx.nn.inference_mode(model, value=mode == "eval")
    arrays, rest = eqx.partition(set_, eqx.is_array)
    kind = jax.tree.structure(arrays)
    leaves = [Given(name, "parameter" if is_inexact(v) else "constant", v) for name, v in _named(arrays).items()]

    def call(values: Sequence[Any], given: Sequence[Any], keywords: Mapping[str, Any]) -> After:
        module = eqx.combine(jax.tree.unflatten(kind, list(values)), rest)
        return After((method or type(module).__call__)(module, *given, **keywords))

    name, reached = type(model).__name__, reachable(set_, method)
    return Pure(name, call, tuple(leaves), _held(reached, leaves), moded(reached), ("jax", "equinox", "numpy"))


def _linen(model: Any, method: Any, mode: str) -> Pure:
    name = type(model).__name__
    if model.scope is None:
        raise ModelError(
            "the model",
            f"is a {name} of flax without its variables",
            "pass module.bind(variables), or the variables before the inputs",
        )
    rngs = dict(model.scope.rngs)
    model, variables = model.unbind()
    named, kind = _named(variables), jax.tree.structure(variables)
    leaves = [
        Given(path.removeprefix("params."), "parameter" if path.startswith("params.") else "constant", v)
        for path, v in named.items()
    ]
    written = [collection for collection in variables if collection != "params"]
    function = method or type(model).__call__
    asked, unset = _mode_keywords(function, mode, name)
    if mode == "train":
        rngs = {"params": jax.random.key(0), "dropout": jax.random.key(0)} | rngs

    def call(values: Sequence[Any], given: Sequence[Any], keywords: Mapping[str, Any]) -> After:
        state = jax.tree.unflatten(kind, list(values))
        more = {k: v for k, v in asked.items() if k not in keywords and _free(function, k, given)}
        result, later = model.apply(
            state, *given, rngs=dict(rngs) or None, mutable=list(written), method=method, **{**keywords, **more}
        )
        return After(result, _named(later))

    reached = reachable(model, method)
    held, libraries = _held(reached, leaves), ("jax", "flax", "numpy")
    return Pure(name, call, tuple(leaves), held, moded(reached), libraries, unset)


def _keras(model: Callable[..., Any], reached: Sequence[Any], layers: Sequence[Any]) -> Pure:
    from keras import StatelessScope

    keras.are_built(layers)
    variables = list({id(v): v for layer in layers for v in layer.variables}.values())
    trained = {id(v) for layer in layers for v in layer._trainable_variables}  # frozen ones, too
    leaves, names = [], Counter[str]()
    for variable in variables:
        name = variable.path.replace("/", ".")
        names[name] += 1
        name = name if names[name] == 1 else f"{name} ({names[name]})"  # two models may have layers of one name
        leaves.append(Given(name, "parameter" if id(variable) in trained else "constant", variable.value))

    def call(values: Sequence[Any], given: Sequence[Any], keywords: Mapping[str, Any]) -> After:
        with StatelessScope(state_mapping=list(zip(variables, values, strict=True))) as scope:
            result = model(*given, **keywords)
        later = {leaf.name: scope.get_current_value(v) for leaf, v in zip(leaves, variables, strict=True)}
        return After(result, {n: v for n, v in later.items() if not n.endswith("seed_generator_state")})

    name = type(model).__name__ if keras.is_layer(model) else _name(model)
    return Pure(name, call, tuple(leaves), _held(reached, leaves), moded(reached), ("keras", "jax", "numpy"))


def _function(model: Callable[..., Any], mode: str) -> Pure:
    name, reached = _name(model), reachable(inspect.unwrap(model))
    inside = moded(reached)
    unset = f"{name} has no mode that could be set: it ran as it is, not in train mode"

    def call(values: Sequence[Any], given: Sequence[Any], keywords: Mapping[str, Any]) -> After:
        return After(model(*given, **keywords))

    return Pure(name, call, held=_held(reached), modules=inside, unset=unset if mode == "train" and not inside else "")


def _name(model: Callable[..., Any]) -> str:
    """What to call a function."""
    named = getattr(inspect.unwrap(model), "__name__", None)
    return named if isinstance(named, str) and named != "<lambda>" else "the function"


# -- modes ------------------------------------------------------------------------------------------------------------


def _mode_keywords(function: Callable[..., Any], mode: str, name: str) -> tuple[dict[str, bool], str]:
    """The keywords that set the mode of a call to a method, and why it cannot be set where there are none."""
    taken = list(inspect.signature(function).parameters)[1:]
    said = {k: mode == "train" for k in TRAINING if k in taken}
    said |= {k: mode != "train" for k in RESTING if k in taken}
    unset = f"{name} takes no keyword that sets its mode: it ran as it is, not in train mode"
    return said, unset if mode == "train" and not said else ""


def _free(function: Callable[..., Any], keyword: str, given: Sequence[Any]) -> bool:
    """Whether a keyword was not given by its place."""
    return list(inspect.signature(function).parameters).index(keyword) > len(given)


# -- parameters -------------------------------------------------------------------------------------------------------


def _held(reached: Sequence[Any], leaves: Sequence[Given] = ()) -> dict[str, Any]:
    """The parameters among what a function reaches, by name: of modules, and of linen's variables; but no leaves."""
    found: dict[str, Any] = {}
    known = {id(leaf.value) for leaf in leaves}
    for value in reached:
        for name, array in _parameters(value).items():
            if id(array) not in known:
                known.add(id(array))
                found[name if name not in found else f"{name} ({len(found)})"] = array
    return found


def _parameters(value: Any) -> dict[str, Any]:
    """The parameters of one object, where it is a module or holds a module's variables."""
    if is_module(value, "flax.nnx"):
        from flax import nnx

        return _named(nnx.state(value, nnx.Param))
    if isinstance(value, getattr(sys.modules.get("flax.nnx"), "Param", ())):
        return _named({"a parameter": value})
    if is_module(value, "equinox"):
        return {n: v for n, v in _named(value).items() if isinstance(v, jax.Array) and is_inexact(v)}
    if is_module(value, "flax.linen"):
        return {} if value.scope is None else _named(value.variables.get("params", {}))
    if isinstance(value, Mapping) and "params" in value and isinstance(value["params"], Mapping):
        return {n: v for n, v in _named(value["params"]).items() if isinstance(v, jax.Array)}
    return {}


def _named(tree: Any) -> dict[str, Any]:
    """The leaves of a structure by their paths, `blocks.0.attention.kernel`."""
    return {dotted(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def dotted(path: Sequence[Any]) -> str:
    """A path of JAX's as names joined by dots; flax's `.value` is left out."""
    keys = [str(getattr(k, "key", getattr(k, "idx", getattr(k, "name", k)))) for k in path]
    return ".".join(keys[:-1] if len(keys) > 1 and keys[-1] == "value" else keys)
