"""The dispatch mode: run each operation, then its rule, and give its results their shadows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import torch

from . import signs
from .calls import TorchCall, TorchOperand
from .cancelling import Cancelling
from .chosen import MASKED
from .composed import OF_OTHERS
from .domain import FIXED, VARIES, Shadow, join_all, uniform
from .failures import REFUSED, caught, may_fail
from .frames import Frames
from .higher import APART, Writes
from .layouts import VIEWS, Layouts
from .memory import overlap
from .mode import Mode
from .outs import computed_apart, fits
from .picks import Picks
from .pytree import leaves, tensors_of
from .records import BY_VALUES
from .schema import Info
from .shadows import PLAIN_TYPES, Shadows, cast, geometry_of, shape_of
from .sharing import Sharing, as_list
from .sparse import on_dense

if TYPE_CHECKING:
    from .exits import Exits
    from .kernels import Kernels
    from .ledger import Ledger
    from .numbering import Numbering
    from .provenance import Graph
    from .registry import Rule


COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
COMPARING = ("aten.eq", "aten.ne")


class Tracer(Mode):
    """The mode under which the model runs."""

    def __init__(
        self,
        ledger: Ledger,
        shadows: Shadows,
        exits: Exits,
        kernels: Kernels,
        rules: Sequence[Rule] = (),
        flow: Graph | None = None,
        real: bool = False,
    ) -> None:
        super().__init__()
        self.ledger, self.shadows, self.exits, self.rules, self.flow = ledger, shadows, exits, rules, flow
        self.kernels = kernels
        self._infos: dict[Any, Info] = {}
        self.sharing = Sharing()
        self.forms = Cancelling(ledger) if real else None
        self.chosen, self.frames = exits.chosen, Frames(ledger)
        self.picks, self.layouts = Picks(ledger), Layouts(ledger, shadows)
        self.numbering: Numbering | None = None

    def __exit__(self, *error: Any) -> None:
        """The run is over."""
        with self.exits.busy():
            super().__exit__(*error)  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Run the operation, then its rule."""
        if any(t not in PLAIN_TYPES for t in types):
            return NotImplemented  # a wrapper of other tensors takes itself apart first
        if self.exits.aside:
            return func(*args, **(kwargs or {}))
        with self.exits.busy():
            return self._dispatch(func, args, kwargs or {})

    def _dispatch(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not hasattr(func, "_schema"):
            return self._foreign_operator(func, args, kwargs)
        info = self._info(func)
        if (instead := self._instead(func, info, args, kwargs)) is not None:
            with self.exits.idle(), self:
                return instead()
        apart = computed_apart(self.shadows, info, args, kwargs, self.rules)
        if apart is not None:
            with self.exits.idle(), self:
                value = apart(*args, **{k: v for k, v in kwargs.items() if k != "out"})
                if fits(value, kwargs["out"]):
                    return kwargs["out"].copy_(value)
        if info.name == "aten.lift_fresh":  # numbers from Python: what came out of data on the way there was recorded
            self.shadows.memory_of(args[0], literal=True)
        if self.numbering is None:
            return self._operate(info, args, kwargs)
        return self.numbering.numbered(self.shadows, info, args, kwargs, lambda: self._operate(info, args, kwargs))

    def _instead(
        self, func: Any, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[], Any] | None:
        """What does the same by operations that have rules; None where it is followed as it is."""
        if info.rule is None and torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), COMPOSITE):
            return partial(func.decompose, *args, **kwargs)  # called from where autograd was passed
        if info.name in OF_OTHERS and not info.written:
            return partial(OF_OTHERS[info.name], *args, **kwargs)
        if self.shadows.has_values or info.name not in MASKED:
            return on_dense(self.shadows, info.name, args, kwargs)
        call = self._call(info, args, kwargs)
        return self.chosen.instead(call, lambda shadows: self._node(call, shadows))

    def _operate(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.chosen.followed(info, args, kwargs, self.frames, self._followed)

    def _followed(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.ledger.counts[info.name] += 1
        self.shadows.course.ran(info.name, args, kwargs)
        self.kernels.admit(info, args, kwargs)
        if info.facts.reads:
            return self._read(info, args, kwargs)
        if info.facts.silent or info.moves_itself:
            if info.facts.silent and info.facts.fails != "never":
                self._examine(self._call(info, args, kwargs))
            return self.kernels.silent(info, args, kwargs)
        call = self._call(info, args, kwargs)
        self._examine(call)
        if self.chosen.begins(call):
            return self.chosen.places(call, lambda shadows: self._node(call, shadows))
        if info.facts.shaped_by and not info.dynamic:
            self.ledger.read(f"{info.name} {BY_VALUES}", [call[info.facts.shaped_by].shadow])
        if info.undeclared:
            return self._fill(call)
        if info.written:
            return self._mutate(call)
        if info.is_view:
            return self._view(call)
        return self._functional(call)

    def _call(self, info: Info, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TorchCall:
        return TorchCall(self.shadows, self.ledger, info, args, kwargs)

    def _info(self, func: Any) -> Info:
        found = self._infos.get(func)
        if found is None:
            found = self._infos[func] = Info(func, self.rules)
        return found

    def _examine(self, call: TorchCall) -> None:
        """What an operation may tell beside its result: signs of zeros, and failures that the program catches."""
        info = call.info if call.info.functional is None else self._info(call.info.functional)
        how = signs.sees(info, call.operands())
        if how and any(signs.is_open(self.shadows, o.value) for o in call.operands()):
            self.ledger.unseen(f"{call.name}, which {how} the sign of a zero")
        if self.kernels.may_refuse(call) and (self.exits.suppressing or caught(REFUSED)):
            self.ledger.need(f"{call.name}, whose failure the program would catch")
        loose = [o for o in call.operands() if not self.frames.is_within(call, o)]
        if may_fail(info.facts, loose) and (self.exits.suppressing or caught()):
            self.ledger.unseen(f"{call.name}, whose failure the program catches")

    def _keeps(self, call: TorchCall, tensor: torch.Tensor, shadow: Shadow, numbers: bool) -> None:
        """Hold the rule to what it promises, as far as numbers were computed."""
        if not self.shadows.has_values and not (numbers and shadow.is_fixed):
            return
        found = self.shadows.numbers(tensor)
        if found is not None and not signs.keeps(call.info.facts, call.operands(), found, shadow):
            self.ledger.broken(call.name)

    def _functional(self, call: TorchCall) -> Any:
        operands = call.operands()  # shadows are taken before the operation runs
        self._indices(operands)
        if call.name in COMPARING and type(call["other"]) is int and operands[0].shadow.depends:
            self.ledger.compared.setdefault(call["other"])
        inside = {id(o.memory) for o in operands}
        call.value, numbers = self.kernels.run(call)
        outputs = tensors_of(call.value)
        if not call.info.facts.numbers_by_shape and any(
            isinstance(v, (bool, int, float, complex)) for _, v in leaves(call.value)
        ):  # a number that Python may steer by, as torch.allclose gives
            self.ledger.read(call.name, [o.shadow for o in operands])
        if any(t.layout is not torch.strided for t in outputs):  # how many elements are stored depends on values
            self.ledger.read(f"{call.name} (a sparse shape that depends on values)", [o.shadow for o in operands])
        shadows = self._results(call, outputs)
        made = call.made(self._node(call, shadows))
        for tensor, shadow in zip(outputs, shadows, strict=True):
            memory = self.shadows.memory_of(tensor, made=True) if inside else None
            if memory is not None and id(memory) in inside:  # the operation returned (a view of) what it was given
                self.shadows.note_view(tensor, shadow)
                continue
            self._keeps(call, tensor, shadow, numbers)
            self.shadows.assign(tensor, shadow, **made, numbers=numbers)
        self.layouts.made(call, outputs, numbers)
        self._keep(call, outputs)
        return call.value

    def _view(self, call: TorchCall) -> Any:
        given = tensors_of((list(call.args), dict(call.kwargs)))
        if call.name == "aten.as_strided":
            self.layouts.used(given, f"{call.name} of")
        for tensor in given:
            self.shadows.memory_of(tensor)  # so that the view's storage is known
        if call.name not in VIEWS:
            self.layouts.mixed(given)
        call.value = self.kernels.view(call)
        if call.info.rule is None or any(t.is_nested for t in given):
            return call.value
        outputs = tensors_of(call.value)
        if not all(self.shadows.knows_view(t) for t in outputs):
            for tensor, shadow in zip(outputs, self._found(call), strict=True):
                self.shadows.note_view(tensor, shadow)
        self._noted(call, outputs, [])
        self._keep(call, outputs)
        return call.value

    def _mutate(self, call: TorchCall) -> Any:
        info, operands = call.info, call.operands()
        self._indices(operands)
        targets = [t for name in info.written for t in tensors_of(call.raw(name))]
        self.layouts.written(targets, f"{call.name} into")
        if any(self.shadows.memory_of(t) is None for t in targets):  # nested, sparse: other views are not known
            self.ledger.unseen(f"{call.name} into a tensor without a storage of its own")
        entangled = self._tangled(targets) or any(
            self._entangled(t, o.value) for t in targets for o in operands if o.value is not t
        )
        if info.functional is not None and not entangled and not any(t.is_nested for t in targets):
            inner = self._call(self._info(info.functional), call.args, call.kwargs)
            inner.operands()
            inner.value, numbers = self.kernels.run(inner)
            if isinstance(inner.value, torch.Tensor) and inner.value.shape == targets[0].shape:
                return self._replace(call, inner, targets[0], numbers)
        call.value, numbers = self.kernels.write(call, targets)
        memories = {id(o.memory) for o in operands}
        apart = len(memories) == len(operands) or self._are_apart(operands, targets)
        ruled = info.rule is not None and not entangled and (info.facts.overlaps or apart)
        shadows = self._results(call, targets) if ruled else self._unknown(call, targets)
        made = call.made(self._node(call, shadows))
        for tensor, shadow in zip(targets, shadows, strict=False):
            self._keeps(call, tensor, shadow, numbers)
            self.shadows.assign(tensor, shadow, **made, numbers=numbers)
        fresh = [v for v in tensors_of(call.value) if not any(v is t for t in targets)]
        known = {id(self.shadows.memory_of(t)) for t in targets} | memories
        rest = shadows[len(targets) :] or self._unknown(call, fresh)  # a rule gives the targets first
        for tensor, shadow in zip(fresh, rest, strict=True):
            if id(self.shadows.memory_of(tensor, made=True)) not in known:
                self.shadows.assign(tensor, shadow, **made, numbers=numbers)
        return call.value

    def _fill(self, call: TorchCall) -> Any:
        """An operation that may write all that it is given, whatever its schema says, and go on when it returns."""
        given = [o.value for o in call.operands()]
        self._indices(call.operands())
        if any(self.shadows.memory_of(t) is None for t in given):
            self.ledger.unseen(f"{call.name} of a tensor without a storage of its own")
        call.value = call.info.function(*call.args, **call.kwargs)
        results = [v for _, v in leaves(call.value)]
        if any(isinstance(v, (bool, int, float, complex)) for v in results):
            self.ledger.read(call.name, [o.shadow for o in call.operands()])
        tensors = [*given, *(v for v in results if isinstance(v, torch.Tensor))]
        shadows = self._results(call, tensors)
        if call.info.sends and torch.distributed.get_world_size() > 1:
            shadows = [uniform(s.shape, VARIES, 0, self.shadows.last) for s in shadows]
        made = call.made(self._node(call, shadows))
        for tensor, shadow in zip(tensors, shadows, strict=True):
            self.shadows.assign(tensor, shadow, **made)
        if call.info.sends or any(isinstance(v, torch.ScriptObject) for v in results):
            self.shadows.expose(tensors)
        return call.value

    def _replace(self, call: TorchCall, inner: TorchCall, target: torch.Tensor, numbers: bool) -> torch.Tensor:
        """What `call` writes in place into the target is what `inner` has computed out of place."""
        (shadow,) = self._results(inner, [inner.value])
        self._keeps(inner, inner.value, shadow, numbers)
        made = inner.made(self._node(call, [shadow]))  # before the target, an operand, changes
        numbers = self.kernels.put(target, inner.value, numbers)
        if target.dtype != inner.value.dtype:
            shadow = cast(shadow, inner.value.dtype, target.dtype)
        self.shadows.assign(target, shadow, **made, numbers=numbers)
        self._keep(inner, [target])
        return target

    def _indices(self, operands: Sequence[TorchOperand]) -> None:
        """Whole numbers and truth values made of parameters say where and what an operation reads."""
        for operand in operands:
            if self.shadows.stored and not (operand.value.is_floating_point() or operand.value.is_complex()):
                self.ledger.values_of(operand.memory)

    def _are_apart(self, operands: Sequence[TorchOperand], targets: Sequence[torch.Tensor]) -> bool:
        """Whether each target has a memory of its own, which nothing that is read lies in."""
        own = {id(self.shadows.memory_of(t)) for t in targets}
        read = [o for o in operands if not any(o.value is t for t in targets)]
        once = len(operands) - len(read) == len(own) == len(targets)
        return once and not any(id(o.memory) in own for o in read)

    def _entangled(self, target: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether a write to the target changes elements of the other that are yet to be read, in whatever order."""
        memory = self.shadows.memory_of(target)
        if memory is None or memory is not self.shadows.memory_of(other):
            return False
        return overlap(geometry_of(target), geometry_of(other))

    def _tangled(self, targets: Sequence[torch.Tensor]) -> bool:
        """Whether some byte is written more than once: one target overlaps itself, or two share memory."""
        plain = [t for t in targets if self.shadows.memory_of(t) is not None]
        return any(geometry_of(t).overlaps_itself() for t in plain) or any(
            geometry_of(a) == geometry_of(b) or overlap(geometry_of(a), geometry_of(b))
            for a, b in combinations(plain, 2)
            if self.shadows.memory_of(a) is self.shadows.memory_of(b)
        )

    def _results(self, call: TorchCall, outputs: list[torch.Tensor]) -> list[Shadow]:
        if call.info.dynamic:
            call.values_used(*call.operands())
            steering = [o for o in call.operands() if not o.shadow.is_fixed and call.steers(o)]
            if steering:
                self.ledger.read(f"{call.name} {BY_VALUES}", [o.shadow for o in steering])
                return self._unknown(call, outputs)
        if call.info.rule is None or any(t.is_nested for t in [*outputs, *(o.value for o in call.operands())]):
            return self._unknown(call, outputs)
        return self._noted(call, outputs, self._found(call))

    def _noted(self, call: TorchCall, outputs: list[torch.Tensor], shadows: list[Shadow]) -> list[Shadow]:
        """The shadows, sharper where more is known of the operands; what is known then is left in the call."""
        shadows = self.picks.follow(call, outputs, self.frames.follow(call, outputs, shadows))
        return shadows if self.forms is None else self.forms.follow(call, outputs, shadows)

    def _keep(self, call: TorchCall, tensors: list[torch.Tensor]) -> None:
        """What was noted of the call's results holds of these tensors."""
        self.frames.keep(call, tensors)
        self.picks.keep(call, tensors)
        if self.forms is not None:
            self.forms.keep(call, tensors)

    def _found(self, call: TorchCall) -> list[Shadow]:
        """What the rule finds."""
        assert call.info.rule is not None
        return as_list(call.info.rule.function(call)) if self.shadows.has_values else self.sharing.results(call)

    def _unknown(self, call: TorchCall, outputs: list[torch.Tensor]) -> list[Shadow]:
        """No rule: every output depends on everything that the operation reads."""
        operands = call.operands()
        lo, hi = join_all(o.shadow for o in operands)
        fixed = all(o.shadow.is_fixed for o in operands) and not call.info.is_random
        if hi >= lo and call.info.rule is None and (outputs or not call.info.facts.numbers_by_shape):
            self.ledger.without_rule(call.name)
        if call.info.is_random:
            call.noise()
        return [uniform(shape_of(t), FIXED if fixed else VARIES, lo, hi) for t in outputs]

    def _foreign_operator(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A higher-order operator: taken apart, or run out of sight; then all that it returns or is given depends on
        everything.
        """
        apart = APART.get(str(func)) if isinstance(func, torch._ops.HigherOrderOperator) else None
        if apart is not None:
            with self.exits.idle(), self:  # it is the program that runs
                return apart(*args, **kwargs)
        self.kernels.whole(f"the higher-order operator {func}")
        if self.numbering is not None:
            self.numbering.lost = True
        tensors = tensors_of((list(args), kwargs))
        shadows = [self.shadows.of(t) for t in tensors]
        value = func(*(self._watched(a) for a in args), **{k: self._watched(v) for k, v in kwargs.items()})
        self.ledger.without_rule(str(func), "depends on all its inputs and on whatever it captured")
        lo, hi = min([0, join_all(shadows)[0]]), self.shadows.last
        for tensor in [*tensors, *tensors_of(value)]:
            self.shadows.assign(tensor, uniform(tuple(tensor.shape), VARIES, lo, hi))
        return value

    def _watched(self, function: Any) -> Any:
        """What a higher-order operator is given: a function of the program writes nothing that nobody sees."""
        if not isinstance(function, (FunctionType, MethodType)):
            return function

        def watched(*args: Any, **kwargs: Any) -> Any:
            with Writes(self.ledger):
                return function(*args, **kwargs)

        return watched

    def _read(self, info: Info, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        call = self._call(info, args, kwargs)
        operands = call.operands()
        is_truth = len(operands) == 1 and operands[0].value.dtype == torch.bool
        self.ledger.read(info.name, [o.shadow for o in operands], is_truth)
        call.values_used(*operands)
        if info.facts.sees_sign is not False:
            self.exits.sign_read(info.name, [o.value for o in operands])
        value = self.kernels.read(call)
        if self.numbering is None or not is_truth or not operands[0].shadow.depends:
            return value
        return self.numbering.read(self.shadows, operands[0].value, value, self.ledger.operation(info.name))

    def _node(self, call: TorchCall, shadows: Sequence[Shadow]) -> int:
        if self.flow is None:
            return -1
        before = {o.memory.node for o in call.operands() if o.memory is not None}
        return self.flow.add(self.ledger.operation(call.name), before, shadows, call.info.facts.carries)
