"""The PyTorch front end: run a model eagerly, with a shadow beside every tensor.

A `TorchDispatchMode` sees each operation below autograd, after composite operations were taken apart. The concrete
operation runs as always; the rule then says what its outputs depend on. Shadows are kept per storage (`memory`), so
views and in-place writes need no replay. What leaves the tensors (`.item()`, `.numpy()`, shapes that depend on values)
is recorded: nothing read out of data ever becomes a constant.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from . import Chain, MaskCondition, Operation, Output, Read, Trace
from .domain import BIG, BIG_MASK, FIXED, NEGINF, PLAIN, ZERO, Shadow, align, compress, join_all, ranked, uniform
from .flow import Flow
from .memory import Geometry, Memory
from .places import Places
from .registry import Rule, find
from .tree import leaves, mapped

try:
    import torch
    import torch.nn.attention
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError as error:  # pragma: no cover
    raise ImportError("PyTorch is not installed; pip install 'attnproof[torch]' to check PyTorch models") from error

from . import families  # noqa: F401  (registers the rules)

NOISE = "random draws are the same in every run"


class TorchOperand:
    """A tensor argument of the call at hand (see `registry.Operand`)."""

    __slots__ = ("_tracer", "memory", "shadow", "shape", "value")

    def __init__(self, tracer: Tracer, tensor: torch.Tensor) -> None:
        self._tracer, self.value = tracer, tensor
        self.shape = tuple(tensor.shape)
        self.memory = tracer.memory_of(tensor)
        self.shadow = tracer.shadow_of(tensor)

    def known(self) -> Shadow:
        """The shadow with every constant looked at."""
        if (self.shadow.kind == FIXED).any():
            self.shadow = look(self.shadow, self.value, self._tracer.finite_masks)
            if self.memory is not None and not self.memory.exposed:
                self.memory.remember(geometry_of(self.value), self.shadow)
        return self.shadow


class TorchCall:
    """One call of an operation (see `registry.Call`)."""

    def __init__(self, tracer: Tracer, info: Info, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.tracer, self.info, self.args, self.kwargs = tracer, info, args, kwargs
        self.name = info.name
        self.value: Any = None
        self._operands: dict[int, TorchOperand] = {}
        self._flat: list[TorchOperand] | None = None

    def __getitem__(self, name: str) -> Any:
        if name in self.kwargs:
            return self._wrap(self.kwargs[name])
        where = self.info.positions[name]
        if where < len(self.args):
            return self._wrap(self.args[where])
        return self.info.defaults[name]

    def has(self, name: str) -> bool:
        """Whether the schema has an argument of this name."""
        return name in self.info.positions

    def _wrap(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            found = self._operands.get(id(value))
            if found is None:
                found = self._operands[id(value)] = TorchOperand(self.tracer, value)
            return found
        if isinstance(value, (list, tuple)):
            return [self._wrap(v) for v in value]
        return value

    def operands(self) -> list[TorchOperand]:
        """Every tensor argument, lists flattened."""
        if self._flat is None:
            found = (
                self._wrap(v) for _, v in leaves((list(self.args), dict(self.kwargs))) if isinstance(v, torch.Tensor)
            )
            self._flat = list(found)
        return self._flat

    def replay(self, *arrays: Any) -> Any:
        """The same operation with the tensor arguments replaced, in order, by `arrays` (torch tensors)."""
        supply = iter(arrays)

        def swap(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return next(supply)
            if isinstance(value, (list, tuple)):
                return type(value)(swap(v) for v in value)
            return value

        return self.info.function(*(swap(a) for a in self.args), **{k: swap(v) for k, v in self.kwargs.items()})

    @property
    def finite_masks(self) -> bool:
        """Whether large negative numbers may stand in for −∞."""
        return self.tracer.finite_masks

    def zeros_used(self, *operands: TorchOperand) -> None:
        """Zeros of these operands removed a dependency."""
        for operand in operands:
            if operand.memory is not None:
                self.tracer.parameter_zeros |= operand.memory.sources

    def masked_zero(self, where: np.ndarray, constant: float | None = None, value: Any = None) -> np.ndarray:
        """Of the outputs in `where`, those that are exactly 0 in the concrete run; records the condition.

        `value`: what to look at instead of the operation's (first) output.
        """
        if value is None:
            value = self.value[0] if isinstance(self.value, (tuple, list)) else self.value
        if not self.tracer.finite_masks or not where.any() or not isinstance(value, torch.Tensor):
            return np.zeros((1,) * max(where.ndim, 1), bool)
        where = np.broadcast_to(align(where, value.dim()), value.shape)
        nonzero = torch.from_numpy(where.copy()).to(value.device) & (value != 0)
        if bool(nonzero.any()):
            where = where & ~nonzero.cpu().numpy()
        if where.any():
            self.tracer.mask_condition(self.info.name, value.dtype, constant)
        return compress(where)

    def nonzero_denominator(self) -> None:
        """An exact 0 is divided by a value that is taken not to be 0; records the condition."""
        operation = self.tracer.operation(self.info.name)
        text = f"the denominator at {operation.line} is never 0"
        self.tracer.conditions.setdefault(
            ("nonzero-denominator", operation.line), MaskCondition("nonzero-denominator", operation, text)
        )

    def starved(self, rows: np.ndarray) -> None:
        """Softmax rows (boolean, any shape) in which nothing is visible."""
        if rows.any():
            operation = self.tracer.operation(self.info.name)
            self.tracer.starved.setdefault((operation.name, operation.module, operation.line), (operation, rows))

    def noise(self) -> None:
        """The outputs hold fresh random numbers."""
        self.tracer.assumptions.setdefault(NOISE)


class Info:
    """What the schema of an operation says, looked up once."""

    def __init__(self, function: Any, extra: Sequence[Rule]) -> None:
        schema = function._schema
        self.function = function
        self.namespace, base = schema.name.split("::")
        overload = schema.overload_name or "default"
        self.name = f"{self.namespace}.{base}"
        self.names = (f"{self.name}.{overload}", self.name)
        self.positions: dict[str, int] = {}
        self.defaults: dict[str, Any] = {}
        self.written: list[str] = []
        for i, argument in enumerate(schema.arguments):
            self.positions[argument.name] = i
            self.defaults[argument.name] = argument.default_value
            if argument.alias_info is not None and argument.alias_info.is_write:
                self.written.append(argument.name)
        self.is_view = not self.written and any(r.alias_info is not None for r in schema.returns)
        tags = getattr(function, "tags", ())
        self.is_random = torch.Tag.nondeterministic_seeded in tags
        self.moves_itself = torch.Tag.inplace_view in tags  # transpose_, set_: another geometry over the same storage
        self.dynamic = torch.Tag.dynamic_output_shape in tags
        self.rule = find(self.names, extra)
        self.functional: Any = None
        if self.written == ["self"] and self.rule is None and base.endswith("_") and not base.endswith("__"):
            packet = getattr(getattr(torch.ops, self.namespace), base[:-1], None)
            self.functional = getattr(packet, overload, None) if packet is not None else None


def geometry_of(tensor: torch.Tensor) -> Geometry:
    """Where a tensor lies in its storage."""
    return Geometry(
        tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.element_size(), str(tensor.dtype)
    )


def look(shadow: Shadow, value: torch.Tensor, finite_masks: bool) -> Shadow:
    """The shadow with its constants looked at: PLAIN, ZERO, NEGINF or BIG instead of FIXED."""
    value = value.detach().resolve_conj().resolve_neg()
    repeated = [a for a in range(value.dim()) if value.stride(a) == 0 and value.shape[a] > 1]
    for a in repeated:
        value = value.narrow(a, 0, 1)
    kinds = np.full(tuple(value.shape), PLAIN, np.uint8)
    if value.numel():
        zero = value == 0
        if bool(zero.any()):
            kinds[zero.cpu().numpy()] = ZERO
        if value.is_floating_point():
            low = value <= BIG_MASK
            if bool(low.any()):
                if finite_masks:
                    kinds[low.cpu().numpy()] = BIG
                kinds[(value == -math.inf).cpu().numpy()] = NEGINF
    return Shadow(shadow.shape, shadow.lo, shadow.hi, compress(np.where(shadow.kind == FIXED, kinds, shadow.kind)))


class Tracer(TorchDispatchMode):
    """The mode under which the model runs."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return "torch._dynamo" in sys.modules  # otherwise the first use would import it, which takes seconds

    def __init__(
        self, last: int, policy: Mapping[str, Any], rules: Sequence[Rule], places: Places, flow: Flow | None
    ) -> None:
        super().__init__()
        self.last, self.rules, self.places, self.flow = last, rules, places, flow
        self.stored = policy["parameters"] == "stored"
        self.finite_masks = policy["finite_masks"]
        self.memories: dict[int, tuple[Any, Memory]] = {}
        self.parameters: dict[int, str] = {}
        self.infos: dict[Any, Info] = {}
        self.counts: Counter[str] = Counter()
        self.unknown: dict[tuple[str, str, str], Operation] = {}
        self.reads: dict[tuple[str, str, str, str], Read] = {}
        self.conditions: dict[tuple[str, str], MaskCondition] = {}
        self.starved: dict[tuple[str, str, str], tuple[Operation, np.ndarray]] = {}
        self.parameter_zeros: frozenset[str] = frozenset()
        self.assumptions: dict[str, None] = {}
        self._purge_at = 256

    # -- shadows --------------------------------------------------------------------------------------------------

    def memory_of(self, tensor: torch.Tensor) -> Memory | None:
        """The shadow of the tensor's storage; None for tensors without one (sparse, meta)."""
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):
            return None
        key = storage._cdata
        found = self.memories.get(key)
        if found is not None:
            memory = found[1]
            if memory.nbytes != storage.nbytes():  # resized behind our back
                memory.nbytes, memory.base, memory.flat, memory.views = storage.nbytes(), None, None, {}
                memory.everywhere = uniform((), 0, 0, self.last)
            return memory
        memory = Memory(storage.nbytes())
        name = self.parameters.get(key)
        if name is None and isinstance(tensor, torch.nn.Parameter):
            name = "a parameter"
        memory.everywhere = uniform((), FIXED if name is None or self.stored else 0)
        memory.dtype = str(tensor.dtype)
        memory.sources = frozenset([name]) if name is not None and self.stored else frozenset()
        self._keep(storage, memory)
        return memory

    def _keep(self, storage: Any, memory: Memory) -> None:
        self.memories[storage._cdata] = (StorageWeakRef(storage), memory)
        if len(self.memories) > self._purge_at:
            self.memories = {k: v for k, v in self.memories.items() if not v[0].expired()}
            self._purge_at = len(self.memories) + 64

    def shadow_of(self, tensor: torch.Tensor) -> Shadow:
        """What the tensor's elements depend on now."""
        memory = self.memory_of(tensor)
        if memory is None:
            return uniform(tuple(tensor.shape), 0, 0, self.last)
        return memory.read(geometry_of(tensor))

    def assign(
        self, tensor: torch.Tensor, shadow: Shadow, sources: frozenset[str] = frozenset(), node: int = -1
    ) -> None:
        """The tensor's elements now have this shadow."""
        assert shadow.shape == tuple(tensor.shape), (shadow.shape, tuple(tensor.shape))
        memory = self.memory_of(tensor)
        if memory is not None:
            memory.write(geometry_of(tensor), shadow)
            memory.sources |= sources
            memory.written = True
            memory.node = node

    # -- dispatch -------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Run the operation, then its rule."""
        kwargs = kwargs or {}
        info = self.infos.get(func)
        if info is None:
            if not hasattr(func, "_schema"):
                return self._foreign_operator(func, args, kwargs)
            info = self.infos[func] = Info(func, self.rules)
        self.counts[info.name] += 1
        if info.name in READS:
            return self._read(info, args, kwargs)
        if info.name in WITHOUT_SHADOW or info.moves_itself:
            return func(*args, **kwargs)
        call = TorchCall(self, info, args, kwargs)
        if info.written:
            return self._mutate(call)
        if info.is_view:
            return self._view(call)
        return self._functional(call)

    def _functional(self, call: TorchCall) -> Any:
        operands = call.operands()  # shadows are taken before the operation runs
        inside = {id(o.memory) for o in operands}
        call.value = call.info.function(*call.args, **call.kwargs)
        outputs = [v for _, v in leaves(call.value) if isinstance(v, torch.Tensor)]
        if not call.name.startswith(BY_SHAPE) and any(
            isinstance(v, (bool, int, float, complex)) for _, v in leaves(call.value)
        ):  # a number that Python may steer by, as torch.allclose gives
            self._record_read(call.name, [o.shadow for o in operands])
        shadows = self._shadows(call, outputs)
        sources = self._sources(operands)
        node = self._node(call, operands, outputs, shadows)
        for tensor, shadow in zip(outputs, shadows, strict=True):
            memory = self.memory_of(tensor) if inside else None
            if memory is not None and id(memory) in inside:  # the operation returned (a view of) what it was given
                if memory.everywhere is None:
                    memory.views.setdefault(geometry_of(tensor), shadow)
                continue
            self.assign(tensor, shadow, sources, node)
        return call.value

    def _view(self, call: TorchCall) -> Any:
        call.value = call.info.function(*call.args, **call.kwargs)
        if call.info.rule is not None:
            outputs = [v for _, v in leaves(call.value) if isinstance(v, torch.Tensor)]
            missing = []
            for tensor in outputs:
                memory = self.memory_of(tensor)
                missing.append(memory is not None and geometry_of(tensor) not in memory.views)
            if any(missing):
                for tensor, shadow, new in zip(outputs, _as_list(call.info.rule(call)), missing, strict=True):
                    memory = self.memory_of(tensor)
                    if new and memory is not None and memory.everywhere is None:
                        assert shadow.shape == tuple(tensor.shape), (call.name, shadow.shape, tuple(tensor.shape))
                        memory.views[geometry_of(tensor)] = shadow
        return call.value

    def _mutate(self, call: TorchCall) -> Any:
        info, operands = call.info, call.operands()
        targets = [v for name in info.written for _, v in leaves(self._raw(call, name)) if isinstance(v, torch.Tensor)]
        if info.functional is not None:
            functional = self.infos.get(info.functional)
            if functional is None:
                functional = self.infos[info.functional] = Info(info.functional, self.rules)
            inner = TorchCall(self, functional, call.args, call.kwargs)
            target = targets[0]
            inner.operands()
            inner.value = info.functional(*call.args, **call.kwargs)
            if isinstance(inner.value, torch.Tensor) and inner.value.shape == target.shape:
                (shadow,) = self._shadows(inner, [inner.value])
                node = self._node(call, operands, [target], [shadow])
                target.copy_(inner.value)
                if target.dtype != inner.value.dtype:
                    shadow = cast(shadow, inner.value.dtype, target.dtype)
                self.assign(target, shadow, self._sources(operands), node)
                return target
        call.value = info.function(*call.args, **call.kwargs)
        memories = [id(o.memory) for o in operands]
        overlapping = len(set(memories)) < len(memories)
        if info.rule is not None and not (overlapping and info.names[1] not in DIRECT):
            shadows = self._shadows(call, targets)
        else:
            shadows = self._unknown(call, targets)
        node = self._node(call, operands, targets, shadows)
        for tensor, shadow in zip(targets, shadows, strict=False):
            self.assign(tensor, shadow, self._sources(operands), node)
        fresh = [v for _, v in leaves(call.value) if isinstance(v, torch.Tensor) and not any(v is t for t in targets)]
        known = {id(self.memory_of(t)) for t in targets} | set(memories)
        rest = shadows[len(targets) :] or self._unknown(call, fresh)  # a rule gives the targets first
        for tensor, shadow in zip(fresh, rest, strict=True):
            if id(self.memory_of(tensor)) not in known:
                self.assign(tensor, shadow, self._sources(operands), node)
        return call.value

    @staticmethod
    def _raw(call: TorchCall, name: str) -> Any:
        if name in call.kwargs:
            return call.kwargs[name]
        where = call.info.positions[name]
        return call.args[where] if where < len(call.args) else None

    def _sources(self, operands: Sequence[TorchOperand]) -> frozenset[str]:
        if not self.stored:
            return frozenset()
        return frozenset().union(*(o.memory.sources for o in operands if o.memory is not None))

    def _shadows(self, call: TorchCall, outputs: list[torch.Tensor]) -> list[Shadow]:
        if call.info.dynamic:
            steering = [o for o in call.operands() if not o.shadow.is_fixed and _steers(call, o)]
            if steering:
                self._record_read(f"{call.name} (a shape that depends on values)", [o.shadow for o in steering])
                return self._unknown(call, outputs)
        if call.info.rule is None:
            return self._unknown(call, outputs)
        return _as_list(call.info.rule(call))

    def _unknown(self, call: TorchCall, outputs: list[torch.Tensor]) -> list[Shadow]:
        """No rule: every output depends on everything that the operation reads."""
        operands = call.operands()
        lo, hi = join_all(o.shadow for o in operands)
        fixed = all(o.shadow.is_fixed for o in operands) and not call.info.is_random
        if hi >= lo and call.info.rule is None:
            operation = self.operation(call.name)
            self.unknown.setdefault((operation.name, operation.module, operation.line), operation)
        if call.info.is_random:
            call.noise()
        return [uniform(tuple(t.shape), FIXED if fixed else 0, lo, hi) for t in outputs]

    def _foreign_operator(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A higher-order operator: it runs out of sight, and its outputs depend on everything it reads."""
        tensors = [v for _, v in leaves((list(args), kwargs)) if isinstance(v, torch.Tensor)]
        shadows = [self.shadow_of(t) for t in tensors]
        value = func(*args, **kwargs)
        operation = self.operation(str(func), "depends on all its inputs and on whatever it captured")
        self.unknown.setdefault((operation.name, operation.module, operation.line), operation)
        lo, hi = min([0, join_all(shadows)[0]]), self.last
        for _, tensor in leaves(value):
            if isinstance(tensor, torch.Tensor):
                self.assign(tensor, uniform(tuple(tensor.shape), 0, lo, hi))
        return value

    # -- what leaves the tensors ------------------------------------------------------------------------------------

    def _read(self, info: Info, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        call = TorchCall(self, info, args, kwargs)
        self._record_read(info.name, [o.shadow for o in call.operands()])
        return info.function(*args, **kwargs)

    def escaped(self, tensor: torch.Tensor, how: str) -> None:
        """Python takes a window on the tensor's values."""
        self._record_read(how, [self.shadow_of(tensor)])
        memory = self.memory_of(tensor)
        if memory is not None:
            memory.exposed = True

    def _record_read(self, how: str, shadows: Sequence[Shadow]) -> None:
        if all(s.is_fixed for s in shadows):
            return
        lo, hi = join_all(shadows)
        operation = self.operation(how)
        source = "input" if hi >= lo else "parameters"
        found = Read(operation, source, *((lo, hi) if hi >= lo else (None, None)))  # type: ignore[arg-type]
        self.reads.setdefault((operation.name, operation.module, operation.line, source), found)

    # -- words ------------------------------------------------------------------------------------------------------

    def operation(self, name: str, detail: str = "") -> Operation:
        """The operation at hand, with the place where it stands."""
        return Operation(name, self.places.module(), self.places.line(), detail)

    def mask_condition(self, name: str, dtype: torch.dtype, constant: float | None) -> None:
        """A masked entry counted as 0 because a large finite number stood in for −∞."""
        operation = self.operation(name)
        margin = {torch.float64: 746.0, torch.float32: 104.0, torch.bfloat16: 94.0, torch.float16: 18.0}.get(dtype)
        short = str(dtype).removeprefix("torch.")
        text = (
            f"in {name} at {operation.line}{f' ({operation.module})' if operation.module else ''}, in every row some "
            f"visible score exceeds every masked score by more than {margin or 104.0:g} ({short})"
        )
        if constant is not None:
            text += f"; the mask adds or sets {constant:g}"
        self.conditions.setdefault(
            ("finite-mask", text), MaskCondition("finite-mask", operation, text, constant, margin, short)
        )

    def _node(
        self,
        call: TorchCall,
        operands: Sequence[TorchOperand],
        outputs: Sequence[torch.Tensor],
        shadows: Sequence[Shadow],
    ) -> int:
        if self.flow is None:
            return -1
        before = {o.memory.node for o in operands if o.memory is not None}
        return self.flow.add(self.operation(call.name), before, shadows)


READS = {"aten._local_scalar_dense", "aten.equal", "aten.is_nonzero"}
# operations whose numbers follow from shapes and types alone
BY_SHAPE = (
    "aten._fused_sdp_choice",
    "aten._scaled_dot_product",
    "aten._flash_attention",
    "aten._efficient_attention",
    "aten._cudnn_attention",
    "aten.is_same_size",
    "aten._has_compatible_shallow_copy_type",
)
WITHOUT_SHADOW = {"aten.set_", "prim.device", "prim.layout", "aten._assert_async", "aten._assert_tensor_metadata"}
DIRECT = {"aten.copy_", "aten.fill_", "aten.zero_"}


def _as_list(result: Any) -> list[Shadow]:
    if isinstance(result, Shadow):
        return [result]
    return [r for r in result if r is not None]


def _steers(call: TorchCall, operand: TorchOperand) -> bool:
    """Whether the operand's values decide the shape of the output."""
    if call.name == "aten.index":
        return operand.value.dtype in (torch.bool, torch.uint8) and operand is not call["self"]
    if call.name in ("aten.repeat_interleave"):
        return operand is call["repeats"]
    if call.name == "aten.masked_select":
        return operand is call["mask"]
    return True


def cast(shadow: Shadow, old: torch.dtype, new: torch.dtype) -> Shadow:
    """The shadow after a change of type: constants are looked at again unless they are 0."""
    kind = shadow.kind
    if new.is_floating_point and old.is_floating_point:
        return shadow
    keep = (kind <= 0) | (kind == ZERO) | (kind == FIXED)
    return Shadow(
        shadow.shape, shadow.lo, shadow.hi, np.where(keep, kind, np.where(kind >= FIXED, np.uint8(FIXED), np.uint8(0)))
    )


# -- runs -------------------------------------------------------------------------------------------------------------


@contextmanager
def _escapes(tracer: Tracer) -> Iterator[None]:
    """While it is open, the doors from tensors to Python that do not dispatch report to the tracer."""
    doors = ("numpy", "tolist", "__array__", "__dlpack__", "__repr__", "__format__")
    saved = {name: torch.Tensor.__dict__.get(name) for name in doors}
    originals = {name: getattr(torch.Tensor, name) for name in doors}

    def door(name: str) -> Callable[..., Any]:
        def through(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            tracer.escaped(self, f"Tensor.{name}()")
            return originals[name](self, *args, **kwargs)

        return through

    for name in doors:
        setattr(torch.Tensor, name, door(name))
    try:
        yield
    finally:
        for name in doors:
            if saved[name] is None:
                delattr(torch.Tensor, name)
            else:
                setattr(torch.Tensor, name, saved[name])


def modules_of(model: Any) -> list[tuple[str, torch.nn.Module]]:
    """The module that a callable runs, with the prefix of its names: itself, its `model`, its owner, or what it closes over."""
    if isinstance(model, torch.nn.Module):
        return [("", model)]
    found: dict[int, tuple[str, torch.nn.Module]] = {}
    cells = [c.cell_contents for c in (getattr(model, "__closure__", None) or ()) if _filled(c)]
    bound = [getattr(model, "__self__", None), getattr(model, "func", None), *getattr(model, "args", ())]
    names = getattr(getattr(model, "__code__", None), "co_names", ())
    globals_ = [getattr(model, "__globals__", {}).get(n) for n in names]
    for candidate in (getattr(model, "model", None), *bound, *cells, *globals_):
        if isinstance(candidate, torch.nn.Module):
            found.setdefault(id(candidate), ("", candidate))
        elif isinstance(candidate, (list, tuple)):
            for c in candidate:
                if isinstance(c, torch.nn.Module):
                    found.setdefault(id(c), ("", c))
    if not found and bound[1] is not None:
        return modules_of(bound[1])
    return list(found.values())


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def run(
    model: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    keywords: Mapping[str, Any],
    input_index: int | str,
    sequence_axis: int,
    ranks: Any = None,
    rules: Sequence[Rule] = (),
    flow: Flow | None = None,
    parameters: str = "any",
    others: str = "given",
    finite_masks: bool = True,
) -> Trace:
    """See `attnproof.causal.trace.run`."""
    for name, value, allowed in (("parameters", parameters, ("any", "stored")), ("others", others, ("given", "any"))):
        if value not in allowed:
            raise ValueError(f"{name} = {value!r} is unknown; use {allowed[0]!r} or {allowed[1]!r}")
    chosen = _chosen(inputs, keywords, input_index, sequence_axis)
    n = chosen.shape[sequence_axis]
    order = np.arange(n) if ranks is None else np.asarray(ranks)
    if order.shape != (n,) or order.dtype.kind not in "iu" or (n and order.min() < -1):
        raise ValueError(f"ranks has shape {order.shape}; pass one whole number ≥ 0 for each of the {n} positions")
    places = Places(modules_of(model))
    policy = {"parameters": parameters, "finite_masks": finite_masks}
    tracer = Tracer(int(order.max(initial=0)), policy, rules, places, flow)
    for module_prefix, module in modules_of(model):
        for name, parameter in module.named_parameters():
            _note_parameter(tracer, module_prefix + name, parameter)
    copies: dict[int, torch.Tensor] = {}

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in copies:
            copies[id(value)] = value.detach().clone()
        return copies[id(value)]

    args = [mapped(copy, v) for v in inputs]
    kwargs = {k: mapped(copy, v) for k, v in keywords.items()}
    for original, tensor in copies.items():
        if original == id(chosen):
            shadow = ranked(tensor.shape, range(tensor.dim())[sequence_axis], order)
        elif others == "any" and (tensor.is_floating_point() or tensor.is_complex()):
            shadow = uniform(tensor.shape)
        else:
            shadow = uniform(tensor.shape, FIXED)
        tracer.assign(tensor, shadow)
        memory = tracer.memory_of(tensor)
        if memory is not None:
            memory.written = False
    started = time.perf_counter()
    with ExitStack() as stack:
        stack.enter_context(torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH))
        stack.enter_context(places)
        stack.enter_context(torch.no_grad())
        stack.enter_context(_escapes(tracer))
        stack.enter_context(tracer)
        value = model(*args, **kwargs)
    outputs = tuple(
        Output(path, tensor, tracer.shadow_of(tensor))
        for path, tensor in leaves(value)
        if isinstance(tensor, torch.Tensor)
    )
    if flow is not None:
        flow.outputs = [m.node if (m := tracer.memory_of(o.value)) is not None else -1 for o in outputs]
    assumptions = [
        "inputs are finite, and no intermediate result overflows or becomes NaN",
        "the model is a pure function of its inputs: what it keeps from earlier calls does not depend on them",
        f"shapes as run: {', '.join(str(tuple(t.shape)) for t in copies.values())}",
        *tracer.assumptions,
    ]
    if FUSED & set(tracer.counts):
        assumptions.append(
            "the fused path of nn.MultiheadAttention, taken without gradients, computes what its plain path does"
        )
    if "aten._safe_softmax" in tracer.counts:
        assumptions.append("fused kernels of scaled_dot_product_attention compute what its math path does")
    if others == "given" and len(copies) > 1:
        assumptions.append("the other inputs keep the values given")
    if any(r.source == "parameters" for r in tracer.reads.values()):
        assumptions.append("the program takes the route that the stored parameters and the random draws give")
    return Trace(
        outputs,
        unknown=tuple(tracer.unknown.values()),
        reads=tuple(tracer.reads.values()),
        conditions=tuple(tracer.conditions.values()),
        parameter_zeros=tuple(sorted(tracer.parameter_zeros)),
        starved=tuple(
            (op, int(row))
            for op, rows in tracer.starved.values()
            for row in np.unique(np.nonzero(rows.squeeze(-1))[-1])
        ),
        written=_written(tracer, model, copies),
        assumptions=tuple(assumptions),
        operations=dict(tracer.counts),
        seconds=time.perf_counter() - started,
    )


FUSED = {"aten._native_multi_head_attention", "aten._transformer_encoder_layer_fwd"}


def _note_parameter(tracer: Tracer, name: str, parameter: torch.Tensor) -> None:
    try:
        tracer.parameters.setdefault(parameter.untyped_storage()._cdata, name)
    except (NotImplementedError, RuntimeError, ValueError):
        return


def _chosen(inputs: Sequence[Any], keywords: Mapping[str, Any], which: int | str, axis: int) -> torch.Tensor:
    try:
        chosen = keywords[which] if isinstance(which, str) else inputs[which]
    except (IndexError, KeyError):
        raise ValueError(
            f"input_index = {which!r} names no input; there are {len(inputs)} inputs and the keywords {sorted(keywords)}"
        ) from None
    if not isinstance(chosen, torch.Tensor):
        raise TypeError(f"input {which!r} is a {type(chosen).__name__}; choose an input that is a tensor")
    if not -chosen.dim() <= axis < chosen.dim():
        raise ValueError(
            f"sequence_axis = {axis} is no axis of an input of shape {tuple(chosen.shape)}; choose another"
        )
    return chosen


def _written(tracer: Tracer, model: Any, copies: Mapping[int, torch.Tensor]) -> tuple[str, ...]:
    """Names of what the run wrote data into: parameters and buffers of the model, and "input"."""
    names = []
    for prefix, module in modules_of(model):
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            memory = tracer.memory_of(tensor)
            if memory is not None and memory.written and tracer.shadow_of(tensor).depends:
                names.append(prefix + name)
    for tensor in copies.values():
        memory = tracer.memory_of(tensor)
        if memory is not None and memory.written:
            names.append("input")
    return tuple(dict.fromkeys(names))


def blame(
    model: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    output: int,
    output_axis: int,
    position: int,
    forbidden: Any,
    keywords: Mapping[str, Any],
    input_index: int | str,
    sequence_axis: int,
    **policy: Any,
) -> Chain:
    """See `attnproof.causal.trace.blame`."""
    marked = np.asarray(forbidden, bool)
    policy.pop("ranks", None)
    # Forbidden positions carry rank 0; the others carry −1, which no element can be seen to depend on.
    flow = Flow(marked, position)
    ranks = np.where(marked, 0, -1)
    run(
        model,
        inputs,
        keywords=keywords,
        input_index=input_index,
        sequence_axis=sequence_axis,
        ranks=ranks,
        flow=flow,
        **policy,
    )
    return flow.chain(output)
