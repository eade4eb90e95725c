"""The witness of a leaking model: two inputs, two outputs, and how to run the model on them again."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..spans import shown
from ..verdict import Witness
from .arguments import subject_of
from .dense import dense
from .program import Program
from .setting import Setting
from .variation import Variation

if TYPE_CHECKING:
    from .interface import AnyProgram, AnyVariation

BEYOND_ROUNDING = 1000.0  # a leak moves the output this many times further than a tremor of a few last places does


@dataclass(frozen=True, eq=False)
class ModelWitness(Witness):
    """Two inputs of a model that agree wherever query `query` may look, and its two different outputs.

    `position` is the forbidden position that carries the leak; `positions` holds all that were changed (one unless the
    leak needs several at once). `inputs` are the two varied inputs, `outputs` the query's output before and after
    (features,), `feature` the entry that moved most, `rounding` how far a tremor in the last places moves it.
    `setting` says in which mode, precision and with which jitter of the parameters the runs were made.
    """

    kind: ClassVar[str] = "model"
    replays_with: ClassVar[str] = "model"

    query: int
    position: int
    positions: tuple[int, ...]
    inputs: tuple[np.ndarray, np.ndarray]
    outputs: tuple[np.ndarray, np.ndarray]
    feature: int
    rounding: float
    setting: Setting
    others: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    vary: int | str = 0
    tied: tuple[int | str, ...] = ()  # inputs that were given as the very tensor that is varied
    sequence_axis: int = 1
    output_axis: int = 1
    output: str | None = None  # the path of the output that leaks; None: the first floating one
    dtype: str = "float32"  # of the varied input in a native run
    slot: int | None = None
    library: str = "torch"
    program: AnyProgram | None = field(default=None, repr=False)

    @property
    def change(self) -> float:
        """How far the output moves: the largest difference over the query's features."""
        return float(np.abs(self.outputs[1] - self.outputs[0]).max())

    def describe(self) -> str:
        """A sentence: who changes with whom, from which value to which, and how the runs were made."""
        before, after = (float(o[self.feature]) for o in self.outputs)
        how = self.setting.describe()
        which = f"output{self.output} at" if self.output else "output"
        who = f"input {self.position} changes"
        if len(self.positions) > 1:
            who = f"inputs {shown(self.positions)} change together"
        return (
            f"{which} {self.query} changes {_from_to(before, after)} when {who}"
            f" (rounding moves it by {self.rounding:.1g}{f'; {how}' if how else ''})"
        )

    def changes(self) -> list[tuple[str, str, str]]:
        """The positions of the input that differ, with their first features."""
        both = [np.moveaxis(np.asarray(x), self.sequence_axis, 0) for x in self.inputs]
        return [(f"input {p}", _few(both[0][p]), _few(both[1][p])) for p in self.positions]

    def replay(self, model: Callable[..., Any] | None = None, *inputs: Any) -> bool:
        """Run the model on both inputs again; true iff the query's outputs differ again, beyond rounding.

        A witness read back from JSON needs the `model`; `inputs` are needed only when the others could not be written.
        Raises ValueError without a model or with one whose axes do not fit.
        """
        program: AnyProgram | None = self.program if model is None else self._program(model, inputs)
        if program is None:
            raise ValueError("the witness was read back without its model; pass it: witness.replay(model)")
        runs = [program.numbers(self.tensor(x), self.setting) for x in self.inputs]
        before, after = (r[self.query].astype(np.float64) for r in runs)
        moved = np.abs(after - before)
        return bool(np.nanmax(moved, initial=0.0) > BEYOND_ROUNDING * self.rounding)

    def _program(self, model: Callable[..., Any], inputs: tuple[Any, ...]) -> AnyProgram:
        given = list(inputs) if inputs else [_decoded(o, self.library) for o in self.others]
        if not isinstance(self.vary, str) and not inputs:
            given[self.vary] = self.tensor(self.inputs[0])
        keywords = {k: _decoded(v, self.library) for k, v in self.keywords.items()}
        if isinstance(self.vary, str):
            keywords[self.vary] = self.tensor(self.inputs[0])
        for name in () if inputs else self.tied:
            place: Any = keywords if isinstance(name, str) else given
            place[name] = keywords[self.vary] if isinstance(self.vary, str) else given[self.vary]
        if keywords and not inputs:
            given.append(keywords)
        program = self._of(model, given)
        return program if self.output is None else program.about([self.output])

    def _of(self, model: Callable[..., Any], given: list[Any]) -> AnyProgram:
        """The program of a model on some inputs."""
        where = (self.vary, self.sequence_axis, self.output_axis)
        if self.library == "jax":
            from .jax import program as recorded
            from .jax import subject

            return recorded.JaxProgram.of(subject.subject_of(model, given, *where), self.setting.mode)
        return Program.of(subject_of(model, given, *where))

    @property
    def _variation(self) -> AnyVariation:
        if self.library == "jax":
            from .jax.varying import ArrayVariation

            return ArrayVariation(self.sequence_axis)
        return Variation(self.sequence_axis)

    def tensor(self, x: np.ndarray) -> Any:
        """One of the two inputs as the model takes it, on its device."""
        if self.program is None:
            return self._variation.back(x, None, self.dtype, self.setting)
        return self.program.variation.back(x, self.program.input, self.dtype, self.setting)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: arrays as base64, the second input only where it differs from the first."""
        before, after = self.inputs
        rows = np.moveaxis(after, self.sequence_axis, 0)[list(self.positions)]
        return {
            "kind": self.kind,
            "query": self.query,
            "position": self.position,
            "positions": list(self.positions),
            "input": _encoded(before),
            "replaced": _encoded(rows),
            "outputs": [_encoded(o) for o in self.outputs],
            "feature": self.feature,
            "rounding": self.rounding,
            "setting": asdict(self.setting),
            "others": [_encoded(o) for o in self.others],
            "keywords": {k: _encoded(v) for k, v in self.keywords.items()},
            "vary": self.vary,
            "tied": list(self.tied),
            "sequence_axis": self.sequence_axis,
            "output_axis": self.output_axis,
            "output": self.output,
            "dtype": self.dtype,
        } | ({} if self.library == "torch" else {"library": self.library})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelWitness:
        """The witness that `to_dict` wrote; give it the model to replay it."""
        before = _array(data["input"])
        after = before.copy()
        positions, axis = tuple(data["positions"]), data["sequence_axis"]
        np.moveaxis(after, axis, 0)[list(positions)] = _array(data["replaced"])
        first, second = (_array(o) for o in data["outputs"])
        return cls(
            query=data["query"],
            position=data["position"],
            positions=positions,
            inputs=(before, after),
            outputs=(first, second),
            feature=data["feature"],
            rounding=float(data["rounding"]),
            setting=Setting(**data["setting"]),
            others=tuple(data["others"]),
            keywords=data["keywords"],
            vary=data["vary"],
            tied=tuple(data.get("tied", ())),
            sequence_axis=axis,
            output_axis=data["output_axis"],
            output=data.get("output"),
            dtype=data["dtype"],
            library=data.get("library", "torch"),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelWitness) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


def _from_to(before: float, after: float) -> str:
    """Both numbers with as many digits as it takes to see them apart."""
    for digits in range(6, 18):
        said = f"{before:.{digits}g}", f"{after:.{digits}g}"
        if abs(float(said[1]) - float(said[0])) > 0.5 * abs(after - before):
            break
    return f"from {said[0]} to {said[1]}"


def _encoded(value: Any) -> Any:
    """A tensor or array as dtype, shape and base64; plain data as it is; None and a note for anything else."""
    torch = sys.modules.get("torch")
    if isinstance(value, dict) and "base64" in value:
        return value
    if torch is not None and isinstance(value, torch.Tensor):
        plain = dense(value).cpu()
        plain = plain.float() if plain.dtype is torch.bfloat16 else plain  # NumPy has no such type; float32 holds it
        same = plain.dtype == value.dtype
        return _encoded(plain.numpy()) | ({} if same else {"was": str(value.dtype).removeprefix("torch.")})
    if type(value).__module__.startswith("jax"):  # one of JAX's arrays
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "V":  # as bfloat16
        return _encoded(value.astype(np.float32)) | {"was": str(value.dtype)}
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"dtype": str(value.dtype), "shape": list(value.shape), "base64": data}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return {"unwritten": type(value).__name__}


def _array(data: Mapping[str, Any]) -> np.ndarray:
    flat = np.frombuffer(base64.b64decode(data["base64"]), dtype=np.dtype(data["dtype"]))
    return flat.reshape(data["shape"]).copy()


def _decoded(value: Any, library: str) -> Any:
    if isinstance(value, Mapping) and "base64" in value:
        if library == "jax":
            from jax import numpy as jnp

            return jnp.asarray(_array(value)).astype(value.get("was", value["dtype"]))
        import torch

        return torch.from_numpy(_array(value)).to(getattr(torch, value.get("was", value["dtype"])))
    if isinstance(value, Mapping) and "unwritten" in value:
        raise ValueError(
            f"an input of type {value['unwritten']} was not written with the witness; "
            "pass the inputs: witness.replay(model, *inputs)"
        )
    return value


def _few(values: np.ndarray, most: int = 4) -> str:
    flat = values.reshape(-1)
    shown = ", ".join(f"{v:.6g}" for v in flat[:most].tolist())
    return f"{shown} and {flat.size - most} more" if flat.size > most else shown
