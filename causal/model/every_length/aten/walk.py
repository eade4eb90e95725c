"""Walks over a graph that `torch.export` recorded, with a shadow for every length beside every array."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ...trace.ledger import NOISE
from ..equation import Equation, Unfollowed
from ..integers import NotLinear, index
from ..run import LengthRun
from ..shadow import LengthShadow
from . import elementwise, indexing, movement, recurrent, reductions  # noqa: F401
from .lowering import LOWERINGS, Call, Tensor
from .scan import Step
from .tables import read

if TYPE_CHECKING:
    from .recording import Given, Record
    from .sizes import AtenSizes

HERE, TORCH = str(Path(__file__).parents[3]), str(Path(torch.__file__).parent)
METADATA = ("aten._assert_tensor_metadata.default", "aten.sym_size.int", "aten.sym_numel.default")


class AtenPlaces:
    """The node at hand: the module that runs it, and the line of the user's file."""

    def __init__(self) -> None:
        self._node: Any = None

    @contextmanager
    def at(self, node: Any) -> Iterator[None]:
        """While it is followed."""
        before, self._node = self._node, node
        try:
            yield
        finally:
            self._node = before

    def module(self) -> str:
        """The path of the innermost module."""
        stack = list((self._node.meta.get("nn_module_stack") or {}).values()) if self._node is not None else []
        path = str(stack[-1][0]) if stack else ""
        return re.sub(r"^(model|reached\.\d+)\.?|slice\([^)]*\)\.?", "", path)

    def line(self) -> str:
        """The innermost frame that is neither PyTorch's nor ours, as "file.py:12"."""
        text = self._node.meta.get("stack_trace") or "" if self._node is not None else ""
        found = "?"
        for line in text.splitlines():
            if line.strip().startswith('File "'):
                name, number = line.split('"')[1], line.split("line ")[1].split(",")[0]
                if not name.startswith((HERE, TORCH, "<")) and Path(name).is_absolute():
                    found = f"{name}:{number}"
        return found


@dataclass
class AtenRun(LengthRun):
    """One run over a recorded graph; `axis` is that of the positions."""

    dims: AtenSizes
    places: AtenPlaces = field(default_factory=AtenPlaces)
    axis: int = 1

    def drawn(self) -> None:
        """Random numbers were drawn."""
        self.ledger.assume(NOISE)

    def outputs(self, record: Record) -> list[LengthShadow]:
        """The model's outputs."""
        found = self._graph(record.graph, lambda node: self._placed(record.given[node.name], node))
        return [self._array(found[k]).shadow for k in record.results]

    def _graph(self, graph: Any, placed: Callable[[Any], Any]) -> Any:
        """What a graph returns; `placed` gives what it is given."""
        held: dict[Any, Any] = {}
        for node in graph.nodes:
            with self.places.at(node):
                if node.op == "output":
                    return torch.fx.node.map_arg(node.args[0], lambda n: held[n])
                held[node] = placed(node) if node.op == "placeholder" else self._node(node, held)
        raise NotLinear("the program returns nothing")

    def _array(self, value: Any) -> Tensor:
        if not isinstance(value, Tensor):
            raise NotLinear("an output is no tensor")
        return value

    def _placed(self, given: Given, node: Any) -> Any:
        """The input itself; a parameter or another input, which may hold any numbers; what else the model keeps."""
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return value
        shape = self.dims.shape(value.shape)
        if given.role == "input":
            return Tensor(LengthShadow(shape, self.rank(index(self.axis))), value.dtype)
        if given.role == "constant" and all(isinstance(d, int) for d in shape):
            return Tensor(read(self, given.value, shape), value.dtype)
        return Tensor(LengthShadow(shape), value.dtype)

    def _node(self, node: Any, held: dict[Any, Any]) -> Any:
        value = node.meta.get("val")
        if node.op == "get_attr":
            return getattr(node.graph.owning_module, node.target)
        if node.op != "call_function":
            raise NotLinear(f"the program uses {node.target}, which is not followed")
        if isinstance(value, (torch.SymInt, int)) and not isinstance(value, bool):
            return self.dims.size(value)
        if isinstance(value, (torch.SymFloat, float)):
            return Tensor(LengthShadow(()), torch.float64)  # any number
        if node.target is operator.getitem:
            whole, k = node.args
            return held[whole][k]
        if value is None or isinstance(value, (torch.SymBool, bool)):
            return self._checked(node)
        arguments = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: held[n])
        return self._called(node, *arguments)

    def _checked(self, node: Any) -> None:
        """What only checks sizes; the guards say the same."""
        if str(node.target) not in METADATA and node.users:
            raise NotLinear(f"{node.target} depends on data")

    def _called(self, node: Any, args: Any, kwargs: Any) -> Any:
        value = node.meta["val"]
        results = list(value) if isinstance(value, (list, tuple)) else [value]
        name = str(node.target).removeprefix("aten.")
        schema = getattr(node.target, "_schema", None)
        if name == "scan":
            return self._scanned(results, *args)
        if schema is None:
            raise NotLinear(f"{node.target} is not followed")
        named = {a.name: a.default_value for a in schema.arguments}
        named.update(zip((a.name for a in schema.arguments), args, strict=False))
        named.update(kwargs)
        call = Call(self, name, named, [v for v in results if isinstance(v, torch.Tensor)])
        try:
            lowering = LOWERINGS.get(name)
            if lowering is None or schema.is_mutable:
                raise Unfollowed("has no rule for every length")
            found = lowering(call)
        except (Unfollowed, NotLinear) as reason:
            found = call.everything()
            if any(x.shadow.depends for x in found):
                self.ledger.without_rule(f"aten.{name.partition('.')[0]}", str(reason))
        if isinstance(value, (list, tuple)):
            return list(found)
        return found[0] if isinstance(found, list) else found

    def _scanned(self, results: Sequence[Any], module: Any, first: Any, rows: Any, held: Any) -> list[Tensor]:
        """A loop over the first axis of some arrays."""
        given = [x for x in (*held, *first, *rows) if isinstance(x, Tensor)]
        if len(given) < len(held) + len(first) + len(rows):
            raise NotLinear("a scan over what is no tensor is not followed")
        e = Equation(
            self, "aten.scan", {"jaxpr": Step(module.graph, len(first), len(rows))}, [x.shadow for x in given],
            [self.dims.shape(v.shape) for v in results], [v.dtype for v in results], [x.dtype for x in given],
            said="scan",
        )  # fmt: skip
        return [Tensor(s, d) for s, d in zip(self.follow(e), e.dtypes, strict=True)]

    def closed(self, closed: Step, arguments: Sequence[LengthShadow]) -> list[LengthShadow]:
        """One step of a loop."""
        given = iter(closed.ordered(arguments))
        found = self._graph(closed.graph, lambda node: Tensor(next(given), node.meta["val"].dtype))
        return [self._array(x).shadow for x in found]
