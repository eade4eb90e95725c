"""The dispatch mode: run each operation, then its rule; keep shadows per storage; note what leaves the tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from . import signs
from .age import is_new
from .calls import TorchCall, TorchOperand, cast, geometry_of, shape_of
from .domain import FIXED, VARIES, Shadow, coarsen, join_all, uniform
from .failures import caught, may_fail
from .location import Places
from .memory import Memory, overlap
from .mode import Mode
from .policy import Policy
from .provenance import Flow
from .pytree import leaves
from .records import MaskCondition, Operation, Read
from .schema import Info

KNOWN = (
    torch.Tensor,
    np.ndarray,
    np.generic,
    str,
    bytes,
    bytearray,
    memoryview,
    range,
    torch.Size,
    torch.UntypedStorage,
)
PLAIN_TYPES = {torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.nn.Parameter)}


class Tracer(Mode):
    """The mode under which the model runs."""

    def __init__(self, last: int, policy: Policy, places: Places, flow: Flow | None) -> None:
        super().__init__()
        self.last, self.rules, self.places, self.flow = last, policy.rules, places, flow
        self.stored = policy.parameters == "stored"
        self.finite_masks = policy.finite_masks
        self.memories: dict[int, tuple[Any, Memory]] = {}
        self.busy = 0  # inside an operation: what happens there is not the program's doing
        self.parameters: dict[int, str] = {}
        self.buffers: dict[int, str] = {}
        self.infos: dict[Any, Info] = {}
        self.counts: Counter[str] = Counter()
        self.unknown: dict[tuple[str, str, str], Operation] = {}
        self.reads: dict[tuple[str, str, str, str], Read] = {}
        self.breaches: dict[tuple[str, str, str], Operation] = {}
        self.suppressing = 0  # how many contextlib.suppress are open
        self.conditions: dict[tuple[str, str], MaskCondition] = {}
        self.starved: dict[tuple[str, str, str], tuple[Operation, np.ndarray]] = {}
        self.parameter_zeros: frozenset[str] = frozenset()
        self.parameter_values: frozenset[str] = frozenset()
        self.assumptions: dict[str, None] = {}
        self._purge_at = 256

    # -- shadows --------------------------------------------------------------------------------------------------

    def memory_of(self, tensor: torch.Tensor, made: bool = False, literal: bool = False) -> Memory | None:
        """The shadow of the tensor's storage; None for tensors without one (sparse, meta, wrappers of others).

        Where the storage is new: `made`, an operation that was seen made it, and its shadow is written next;
        `literal`, it holds numbers from Python.
        """
        if tensor.is_nested or (type(tensor) is not torch.Tensor and is_traceable_wrapper_subclass(tensor)):
            return None
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):
            return None
        found = self.memories.get(storage._cdata)
        if found is None:
            if made:
                memory = Memory(storage.nbytes())
            else:
                memory = self._first_seen(tensor, storage._cdata, storage.nbytes(), literal)
            # bytes that PyTorch may not move belong to NumPy, a file or another library, who may read or change them
            memory.exposed = not storage.resizable()
            self._keep(storage, memory)
            return memory
        memory = found[1]
        if memory.nbytes != storage.nbytes():  # resized behind our back
            memory.nbytes, memory.base, memory.flat, memory.views = storage.nbytes(), None, None, {}
            memory.everywhere = uniform((), 0, 0, self.last)
        return memory

    def _first_seen(self, tensor: torch.Tensor, key: int, nbytes: int, literal: bool) -> Memory:
        """A parameter, a constant from before the run, or something that an operation out of sight made."""
        name = self.parameters.get(key)
        if name is None and (isinstance(tensor, torch.nn.Parameter) or (tensor.requires_grad and tensor.is_leaf)):
            name = "a parameter outside the modules"
        memory = Memory(nbytes, dtype=str(tensor.dtype))
        if name is not None:
            memory.everywhere = uniform((), FIXED if self.stored else 0)
            memory.sources = frozenset([name]) if self.stored else frozenset()
        elif literal or key in self.buffers or not is_new(tensor):
            memory.everywhere = uniform((), FIXED)
        else:
            memory.everywhere = uniform((), 0, 0, self.last)
            operation = self.operation("a tensor of unknown origin")
            self.unknown.setdefault((operation.name, operation.module, operation.line), operation)
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
            return uniform(shape_of(tensor), 0, 0, self.last)
        shadow = memory.read(geometry_of(tensor))
        return coarsen(shadow) if tensor.is_neg() else shadow  # a lazily negated view shows other constants

    def assign(
        self,
        tensor: torch.Tensor,
        shadow: Shadow,
        sources: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset()),
        node: int = -1,
        signed: bool = False,
    ) -> None:
        """The tensor's elements now have this shadow; `signed`: the signs of its zeros may depend on the input."""
        assert shadow.shape == shape_of(tensor), (shadow.shape, shape_of(tensor))
        memory = self.memory_of(tensor, made=True)
        if memory is not None:
            if memory.exposed and not shadow.is_fixed:
                self._unseen("a write into memory that NumPy, a file or another library may hold as well")
            memory.write(geometry_of(tensor), shadow)
            if bool((shadow.kind != VARIES).any()):  # else nothing that was found rests on what the parameters hold
                memory.sources, memory.valued = memory.sources | sources[0], memory.valued | sources[1]
            memory.signed |= signed and (tensor.is_floating_point() or tensor.is_complex())
            memory.written = True
            memory.node = node

    # -- dispatch -------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Run the operation, then its rule."""
        if any(t not in PLAIN_TYPES for t in types):
            return NotImplemented  # a wrapper of other tensors takes itself apart first
        self.busy += 1
        try:
            return self._dispatch(func, args, kwargs or {})
        finally:
            self.busy -= 1

    def _dispatch(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not hasattr(func, "_schema"):
            return self._foreign_operator(func, args, kwargs)
        info = self._info(func)
        self.counts[info.name] += 1
        if info.facts.reads:
            return self._read(info, args, kwargs)
        if info.facts.silent or info.moves_itself:
            if info.facts.silent and info.facts.fails != "never":
                self._examine(TorchCall(self, info, args, kwargs))
            return func(*args, **kwargs)
        if info.name == "aten.lift_fresh":  # numbers from Python: what came out of data on the way there was recorded
            self.memory_of(args[0], literal=True)
        call = TorchCall(self, info, args, kwargs)
        self._examine(call)
        if info.facts.shaped_by and not info.dynamic:
            self._record_read(f"{info.name} (a shape that depends on values)", [call[info.facts.shaped_by].shadow])
        if info.written:
            return self._mutate(call)
        if info.is_view:
            return self._view(call)
        return self._functional(call)

    def _info(self, func: Any) -> Info:
        found = self.infos.get(func)
        if found is None:
            found = self.infos[func] = Info(func, self.rules)
        return found

    def _examine(self, call: TorchCall) -> None:
        """What an operation may tell beside its result: signs of zeros, and failures that the program catches."""
        info = call.info if call.info.functional is None else self._info(call.info.functional)
        how = signs.sees(info, call.operands())
        if how and any(signs.is_open(o.value, o.shadow, o.memory) for o in call.operands()):
            self._unseen(f"{call.name}, which {how} the sign of a zero")
        if may_fail(info.facts, call.operands()) and (self.suppressing or caught()):
            self._unseen(f"{call.name}, whose failure the program catches")

    def _keeps(self, call: TorchCall, tensor: torch.Tensor, shadow: Shadow) -> None:
        if not signs.keeps(call.info.facts, call.operands(), tensor, shadow):
            self.broken(call.name)

    def _functional(self, call: TorchCall) -> Any:
        operands = call.operands()  # shadows are taken before the operation runs
        self._indices(operands)
        inside = {id(o.memory) for o in operands}
        call.value = call.info.function(*call.args, **call.kwargs)
        outputs = [v for _, v in leaves(call.value) if isinstance(v, torch.Tensor)]
        if not call.info.facts.numbers_by_shape and any(
            isinstance(v, (bool, int, float, complex)) for _, v in leaves(call.value)
        ):  # a number that Python may steer by, as torch.allclose gives
            self._record_read(call.name, [o.shadow for o in operands])
        if any(t.layout is not torch.strided for t in outputs):  # how many elements are stored depends on values
            self._record_read(f"{call.name} (a sparse shape that depends on values)", [o.shadow for o in operands])
        shadows = self._shadows(call, outputs)
        sources, signed = self._sources(call, operands), self._signed(call, operands)
        node = self._node(call, operands, outputs, shadows)
        for tensor, shadow in zip(outputs, shadows, strict=True):
            memory = self.memory_of(tensor, made=True) if inside else None
            if memory is not None and id(memory) in inside:  # the operation returned (a view of) what it was given
                if memory.everywhere is None:
                    memory.views.setdefault(geometry_of(tensor), shadow)
                continue
            self._keeps(call, tensor, shadow)
            self.assign(tensor, shadow, sources, node, signed)
        return call.value

    def _view(self, call: TorchCall) -> Any:
        nested = False
        for _, v in leaves((list(call.args), dict(call.kwargs))):
            if isinstance(v, torch.Tensor):
                self.memory_of(v)  # so that the view's storage is known
                nested = nested or v.is_nested
        call.value = call.info.function(*call.args, **call.kwargs)
        if call.info.rule is not None and not nested:
            outputs = [v for _, v in leaves(call.value) if isinstance(v, torch.Tensor)]
            missing = []
            for tensor in outputs:
                memory = self.memory_of(tensor)
                missing.append(memory is not None and geometry_of(tensor) not in memory.views)
            if any(missing):
                for tensor, shadow, new in zip(outputs, _as_list(call.info.rule.function(call)), missing, strict=True):
                    memory = self.memory_of(tensor)
                    if new and memory is not None and memory.everywhere is None:
                        assert shadow.shape == tuple(tensor.shape), (call.name, shadow.shape, tuple(tensor.shape))
                        memory.views[geometry_of(tensor)] = shadow
        return call.value

    def _mutate(self, call: TorchCall) -> Any:
        info, operands = call.info, call.operands()
        self._indices(operands)
        targets = [v for name in info.written for _, v in leaves(self._raw(call, name)) if isinstance(v, torch.Tensor)]
        if any(self.memory_of(t) is None for t in targets):  # nested, sparse: other views of the bytes are not known
            self._unseen(f"{call.name} into a tensor without a storage of its own")
        entangled = any(self._entangled(t, o) for t in targets for o in operands if o.value is not t)
        if info.functional is not None and not entangled and not any(t.is_nested for t in targets):
            inner = TorchCall(self, self._info(info.functional), call.args, call.kwargs)
            target = targets[0]
            inner.operands()
            inner.value = info.functional(*call.args, **call.kwargs)
            if isinstance(inner.value, torch.Tensor) and inner.value.shape == target.shape:
                (shadow,) = self._shadows(inner, [inner.value])
                node = self._node(call, operands, [target], [shadow])
                self._keeps(inner, inner.value, shadow)
                target.copy_(inner.value)
                if target.dtype != inner.value.dtype:
                    shadow = cast(shadow, inner.value.dtype, target.dtype)
                self.assign(target, shadow, self._sources(inner, operands), node, self._signed(inner, operands))
                return target
        call.value = info.function(*call.args, **call.kwargs)
        memories = [id(o.memory) for o in operands]
        overlapping = len(set(memories)) < len(memories)
        if info.rule is not None and not entangled and (info.facts.overlaps or not overlapping):
            shadows = self._shadows(call, targets)
        else:
            shadows = self._unknown(call, targets)
        node = self._node(call, operands, targets, shadows)
        for tensor, shadow in zip(targets, shadows, strict=False):
            self._keeps(call, tensor, shadow)
            self.assign(tensor, shadow, self._sources(call, operands), node, self._signed(call, operands))
        fresh = [v for _, v in leaves(call.value) if isinstance(v, torch.Tensor) and not any(v is t for t in targets)]
        known = {id(self.memory_of(t)) for t in targets} | set(memories)
        rest = shadows[len(targets) :] or self._unknown(call, fresh)  # a rule gives the targets first
        for tensor, shadow in zip(fresh, rest, strict=True):
            if id(self.memory_of(tensor, made=True)) not in known:
                self.assign(tensor, shadow, self._sources(call, operands), node, self._signed(call, operands))
        return call.value

    def _indices(self, operands: Sequence[TorchOperand]) -> None:
        """Whole numbers and truth values made of parameters say where and what an operation reads."""
        for operand in operands:
            if self.stored and not (operand.value.is_floating_point() or operand.value.is_complex()):
                self.values_of(operand.memory)

    def _entangled(self, target: torch.Tensor, operand: TorchOperand) -> bool:
        """Whether a write to the target changes elements that the operand has yet to read, in whatever order."""
        memory = self.memory_of(target)
        if memory is None or memory is not operand.memory:
            return False
        return overlap(geometry_of(target), geometry_of(operand.value))

    @staticmethod
    def _raw(call: TorchCall, name: str) -> Any:
        if name in call.kwargs:
            return call.kwargs[name]
        where = call.info.positions[name]
        return call.args[where] if where < len(call.args) else None

    def _sources(self, call: TorchCall, operands: Sequence[TorchOperand]) -> tuple[frozenset[str], frozenset[str]]:
        """The parameters whose zeros make the zeros of the outputs, and those whose values make their constants."""
        zeros: frozenset[str] = frozenset()
        values: frozenset[str] = frozenset()
        for memory in (o.memory for o in operands if self.stored and o.memory is not None):
            zeros, values = zeros | memory.sources, values | memory.valued
        return (zeros, values) if call.info.facts.zero_from_zero else (frozenset(), zeros | values)

    def values_of(self, memory: Memory | None) -> None:
        """What was found rests on the constants in this memory: on the parameters that they were made of."""
        if memory is not None:
            self.parameter_values |= memory.sources | memory.valued

    @staticmethod
    def _signed(call: TorchCall, operands: Sequence[TorchOperand]) -> bool:
        """Whether a zero among the outputs may have either sign: 0 · x is −0 for x < 0."""
        killed = call.killed and not all(o.shadow.is_fixed for o in operands)
        return killed or any(o.memory is not None and o.memory.signed for o in operands)

    def _shadows(self, call: TorchCall, outputs: list[torch.Tensor]) -> list[Shadow]:
        if call.info.dynamic:
            call.values_used(*call.operands())
            steering = [o for o in call.operands() if not o.shadow.is_fixed and _steers(call, o)]
            if steering:
                self._record_read(f"{call.name} (a shape that depends on values)", [o.shadow for o in steering])
                return self._unknown(call, outputs)
        if call.info.rule is None or any(t.is_nested for t in [*outputs, *(o.value for o in call.operands())]):
            return self._unknown(call, outputs)
        return _as_list(call.info.rule.function(call))

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
        return [uniform(shape_of(t), FIXED if fixed else 0, lo, hi) for t in outputs]

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
        call.values_used(*call.operands())
        if info.facts.sees_sign is not False:
            self._sign_read(info.name, [o.value for o in call.operands()])
        return info.function(*args, **kwargs)

    def escaped(self, tensor: torch.Tensor, how: str, window: bool) -> None:
        """Python looks at the tensor's values; `window`: and keeps looking at its bytes."""
        if self.busy:
            return
        self._record_read(how, [self.shadow_of(tensor)])
        self._sign_read(how, [tensor])
        memory = self.memory_of(tensor)
        self.values_of(memory)
        if memory is not None and window:
            memory.exposed = True

    def _sign_read(self, how: str, tensors: Sequence[torch.Tensor]) -> None:
        if any(signs.is_open(t, self.shadow_of(t), self.memory_of(t)) for t in tensors):
            self._unseen(f"{how} of a zero whose sign is open")

    def out_of_sight(self, how: str) -> None:
        """Something runs where the mode does not see it."""
        if not self.busy:
            self._unseen(how)

    def _unseen(self, how: str) -> None:
        operation = self.operation(how)
        self.reads.setdefault((how, operation.module, operation.line, "input"), Read(operation, "input", 0, self.last))

    def read_in_python(self, values: Any, how: str) -> None:
        """A constructor takes numbers out of tensors that lie in Python lists, which dispatches nothing."""
        if self.busy:
            return
        found = [v for _, v in leaves(values)]
        tensors = [v for v in found if isinstance(v, torch.Tensor)]
        if tensors:
            self._record_read(how, [self.shadow_of(t) for t in tensors])
            self._sign_read(how, tensors)
            for t in tensors:
                self.values_of(self.memory_of(t))
        if any(hasattr(v, "__len__") and hasattr(v, "__getitem__") and not isinstance(v, KNOWN) for v in found):
            self._unseen(f"{how}, through a sequence of its own kind")

    def broken(self, name: str) -> None:
        """This run breaks the assumption that numbers are finite, just where a rule rests on it."""
        operation = self.operation(name)
        self.breaches.setdefault((operation.name, operation.module, operation.line), operation)

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

    def mask_condition(self, name: str, dtype: torch.dtype, constant: float | None, alone: bool = False) -> None:
        """A masked entry counted as 0 because a large finite number stood in for −∞."""
        operation = self.operation(name)
        # beyond this the exponential is 0; a row of a small format is summed in float32, where less still counts
        small = {torch.bfloat16: 94.0, torch.float16: 18.0}.get(dtype, 104.0) if alone else 104.0
        margin = 746.0 if dtype is torch.float64 else small
        short = str(dtype).removeprefix("torch.")
        text = f"in {name} at {operation.line}{f' ({operation.module})' if operation.module else ''}, "
        if not alone:
            text += f"in every row some visible score exceeds every masked score by more than {margin:g} ({short})"
        elif name == "aten.relu":
            text += "every masked value is at most 0"
        elif name == "aten.exp":
            text += f"every masked value is below −{margin:g} ({short})"
        else:
            text += f"every masked value is so low that the result is exactly 0 ({short})"
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
        return self.flow.add(self.operation(call.name), before, shadows, call.info.facts.carries)


def _as_list(result: Any) -> list[Shadow]:
    if isinstance(result, Shadow):
        return [result]
    return [r for r in result if r is not None]


def _steers(call: TorchCall, operand: TorchOperand) -> bool:
    """Whether the operand's values decide the shape of the output."""
    facts = call.info.facts
    if facts.shaped_by_masks:
        given = call[facts.shaped_by_masks]
        among = operand in given if isinstance(given, list) else operand is given
        return among and operand.value.dtype in (torch.bool, torch.uint8)
    return not facts.shaped_by or operand is call[facts.shaped_by]
