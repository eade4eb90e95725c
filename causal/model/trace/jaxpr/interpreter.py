"""Walks over the equations of a jaxpr with a shadow beside every array."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..domain import FIXED, VARIES, ZERO, Shadow, join_all, uniform
from . import contractions, control, convolution, elementwise, indexing, movement, random, reductions  # noqa: F401
from .calls import JaxCall, called
from .memory import Memory
from .operands import COMPLEX, NOBODY, WHOLE, JaxOperand, sort_of
from .registry import BINDINGS, Binding
from .walk import walked

if TYPE_CHECKING:
    from ..ledger import Ledger
    from ..policy import Policy
    from ..provenance import Graph
    from .places import Places


class Interpreter:
    """One run: what the program is assumed to be (`policy`), what it found (`ledger`), who reads what (`flow`)."""

    def __init__(
        self,
        policy: Policy,
        ledger: Ledger,
        places: Places,
        flow: Graph | None = None,
        held: Mapping[int, str] | None = None,
    ) -> None:
        self.policy, self.ledger, self.places, self.flow = policy, ledger, places, flow
        self.memory = Memory()
        self.held = held or {}  # of arrays that the program closes over, by their addresses: parameters
        self.nodes: dict[int, int] = {}  # of an operand, by its address: the node of the flow that made it
        self.kept: list[JaxOperand] = []  # alive, since addresses are given away again

    # -- operands -------------------------------------------------------------------------------------------------

    def operand(self, shadow: Shadow, dtype: Any, compute: Callable[[], Any] | None = None, **made: Any) -> JaxOperand:
        """An operand of this run."""
        return JaxOperand(self.ledger, self.policy.finite_masks, shadow, dtype, compute, **made)

    def derived(self, shadow: Shadow, source: JaxOperand, compute: Callable[[], Any] | None = None) -> JaxOperand:
        """An operand that holds what another one does, in another shape."""
        made: dict[str, Any] = {"sources": source.sources, "valued": source.valued}
        made |= {"signed": source.signed, "scaled": source.scaled}
        operand = self.operand(shadow, source.dtype, compute, **made)
        if self.flow is not None:
            self.note([operand], self.nodes.get(id(source), -1))
        return operand

    def constant(self, value: Any, aval: Any) -> JaxOperand:
        """A number or array that stands in the program, the same in every run unless it is a parameter."""
        name = self.held.get(id(value))
        if name is not None:
            return self.parameter(value, aval, name)
        made = self.operand(uniform(aval.shape, FIXED), aval.dtype, lambda: value)
        return self.memory.constant(value, aval.dtype, made)

    def parameter(self, value: Any, aval: Any, name: str) -> JaxOperand:
        """A parameter: any numbers, or the constants that it holds, as the policy says.

        Zeros of whole numbers and truth values say nothing alone: 0 names a place, and what is false selects as well.
        """
        if self.policy.parameters == "any":
            return self.operand(uniform(aval.shape, VARIES), aval.dtype)
        part = "valued" if sort_of(aval.dtype) == WHOLE else "sources"
        made: dict[str, Any] = {part: frozenset({name})}
        return self.operand(uniform(aval.shape, FIXED), aval.dtype, lambda: value, **made)

    # -- jaxprs ---------------------------------------------------------------------------------------------------

    def closed(self, closed: Any, arguments: Sequence[JaxOperand]) -> list[JaxOperand]:
        """The results of a jaxpr that brings its constants, or has none."""
        return walked(closed, arguments, self.constant, self.equation)

    def equation(self, equation: Any, operands: Sequence[JaxOperand]) -> list[JaxOperand]:
        """The results of one equation."""
        name = equation.primitive.name
        body = called(equation)
        if body is not None and _is_whole(equation):
            with self.places.inside(equation):
                return self.closed(body, operands)
        self.ledger.counts[name] += 1
        binding = BINDINGS.get(name)
        with self.places.at(equation):
            call = JaxCall(self, equation, operands)
            made_anew = equation.effects or "callback" in name or (binding is not None and binding.draws)
            if not made_anew and all(o.is_constant for o in operands):
                return self._computed(call)
            if binding is not None and binding.whole:
                return self._followed(call, binding)
            return self._ruled(call, binding)

    def _followed(self, call: JaxCall, binding: Binding) -> list[JaxOperand]:
        """The results of a loop or branch."""
        results = list(binding.rule(call))
        if self.flow is not None:
            fresh = [o for o in results if id(o) not in self.nodes]
            before = (self.nodes.get(id(o), -1) for o in (*call.operands, *call.inner))
            if fresh:
                operation = self.ledger.operation(call.name)
                self.note(fresh, self.flow.add(operation, before, [o.shadow for o in fresh], True))
        return results

    def _computed(self, call: JaxCall) -> list[JaxOperand]:
        """The results on constants, computed by the primitive itself where someone asks for them."""

        key = self.memory.key(call)
        known: list[JaxOperand] | None = self.memory.get(key)
        if known is not None:
            return known

        @cache
        def values() -> Any:
            found = call.bind(*(o.number() for o in call.operands))
            return found if call.equation.primitive.multiple_results else [found]

        made = self._made_of(call, BINDINGS.get(call.name))

        def one(i: int) -> Callable[[], Any]:
            return lambda: values()[i]

        pairs = enumerate(zip(call.shapes, call.dtypes, strict=True))
        results = [self.operand(uniform(shape, FIXED), dtype, one(i), **made) for i, (shape, dtype) in pairs]
        self.memory.put(key, results)
        return results

    def _ruled(self, call: JaxCall, binding: Binding | None) -> list[JaxOperand]:
        """The results by the primitive's rule."""
        if binding is None:
            shadows = self._unknown(call)
        elif self._is_open(call, binding):
            self.ledger.without_rule(call.name, "tells +0 from −0, where a product of an exact 0 may be either")
            shadows = call.everything()
        else:
            shadows = self._by_rule(call, binding)
        made = self._made_of(call, binding)
        results = [self.operand(s, d, **made) for s, d in zip(shadows, call.dtypes, strict=True)]
        if self.flow is not None:
            before = (self.nodes.get(id(o), -1) for o in call.operands)
            carries = binding is not None and (binding.moves or binding.carries)
            node = self.flow.add(self.ledger.operation(call.name), before, shadows, carries)
            self.note(results, node)
        return results

    def _by_rule(self, call: JaxCall, binding: Binding) -> list[Shadow]:
        """The shadows that the rule gives, or gave for an equal equation, with what it said then."""
        key = self.memory.key(call)
        known = self.memory.get(key)
        if known is not None:
            shadows, call.killed, call.factor, said = known
            for say in said:
                say(self.ledger, call.name)
            return list(shadows)
        found = binding.rule(call)
        shadows = [self.memory.one(s) for s in ([found] if isinstance(found, Shadow) else found)]
        self.memory.put(key, (shadows, call.killed, call.factor, call.said))
        return list(shadows)

    def note(self, operands: Sequence[JaxOperand], node: int) -> None:
        """These operands were made by a node of the flow."""
        self.kept += operands
        self.nodes.update(dict.fromkeys(map(id, operands), node))

    def _made_of(self, call: JaxCall, binding: Binding | None) -> dict[str, Any]:
        """Which parameters the results' constants are made of, and whether a zero among them is of open sign."""
        sources = NOBODY.union(*(o.sources for o in call.operands))
        valued = NOBODY.union(*(o.valued for o in call.operands))
        if binding is None or not binding.moves:
            sources, valued = NOBODY, sources | valued
        killed = call.killed and not all(o.shadow.is_fixed for o in call.operands)
        signed = killed or any(o.signed for o in call.operands)
        return {"sources": sources, "valued": valued, "signed": signed, "scaled": call.scaled()}

    def _is_open(self, call: JaxCall, binding: Binding) -> bool:
        """Whether the primitive tells apart what an exact zero hides."""
        sees = binding.sees_sign is True or (
            binding.sees_sign == "complex" and any(sort_of(o.dtype) == COMPLEX for o in call.operands)
        )
        if sees and any(o.signed for o in call.operands):
            return True
        divisor = binding.divides(call) if callable(binding.divides) else binding.divides
        if divisor is None or not call.operands[divisor].signed:
            return False
        return bool((call.operands[divisor].known().kind == ZERO).any())

    def _unknown(self, call: JaxCall) -> list[Shadow]:
        """Whatever it does, it depends on what it reads; on everything, where it does more than compute."""
        if call.equation.effects or any(_is_reference(v) for v in call.equation.invars):
            self.ledger.without_rule(call.name, "has effects")
            return call.everything()
        lo, hi = join_all(o.shadow for o in call.operands)
        if hi >= lo:
            self.ledger.without_rule(call.name)
        return [uniform(shape, VARIES, lo, hi) for shape in call.shapes]


def _is_reference(v: Any) -> bool:
    """Whether it is memory that may be written, and not an array."""
    return "Ref" in type(getattr(v, "aval", None)).__name__


def _is_whole(equation: Any) -> bool:
    """Whether a call runs its body once on all there is, and not on several devices side by side."""
    mesh = equation.params.get("mesh") if equation.primitive.name == "shard_map" else None
    return mesh is None or getattr(mesh, "size", 0) == 1
