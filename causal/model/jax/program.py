"""A model of JAX's as a recorded program: pure, with everything that it keeps among its arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import experimental

from ..raised import raised
from ..setting import AS_GIVEN, ModelError, Setting
from ..trace.jaxpr.evaluation import Evaluation, wide_type, wider
from ..trace.jaxpr.frontend import Given, Recording, blame, bodies, recorded, traced
from .models import After, Pure, dotted, pure
from .modes import in_mode
from .varying import ArrayVariation, is_array, is_inexact

if TYPE_CHECKING:
    from ..trace.policy import Policy
    from ..trace.records import Chain, Trace
    from ..trace.subject import Subject


@dataclass(frozen=True)
class JaxProgram:
    """What JAX recorded of a model in one mode; `numbers` gives the output with the sequence axis first.

    `paths` say which outputs are meant, `shapes` what the model returns, `written` which of what it keeps a call
    changes, `rebuilt` whether it changes more than arrays.
    """

    subject: Subject
    pure: Pure
    recording: Recording
    runs: Runs
    shapes: Any
    written: tuple[str, ...] = ()
    rebuilt: bool = False
    paths: tuple[str, ...] = ()

    @classmethod
    def of(cls, subject: Subject, mode: str) -> JaxProgram:
        """The program that JAX records of a model on these inputs; ModelError where it cannot be recorded."""
        model = pure(subject.model, mode)
        flat, structure = jax.tree_util.tree_flatten_with_path(_inputs(subject))
        where = [i for i, (_, v) in enumerate(flat) if is_array(v)]
        given = [_given(flat[i][0], flat[i][1], subject) for i in where]
        seen: list[After] = []

        def function(*arrays: Any) -> Any:
            kept, values = arrays[: len(model.leaves)], [v for _, v in flat]
            for i, array in zip(where, arrays[len(model.leaves) :], strict=True):
                values[i] = array
            positional, keywords = jax.tree.unflatten(structure, values)
            before = dict(zip((leaf.name for leaf in model.leaves), kept, strict=True))
            after = model.call(kept, positional, keywords)
            changed = {n: v for n, v in after.kept.items() if v is not before.get(n)}
            seen.append(replace(after, result=None, kept=changed))
            return after.result

        held = {id(array): name for name, array in model.held.items()}
        with _told(), in_mode(model.modules, mode), jax.default_matmul_precision("highest"):
            recording, shapes = recorded(function, [*model.leaves, *given], subject.sequence_axis, held)
        written = tuple(seen[-1].kept)
        return cls(subject, model, recording, Runs(recording), shapes, written, seen[-1].rebuilt)

    @property
    def libraries(self) -> tuple[str, ...]:
        """The distributions whose versions a verdict records."""
        return self.pure.libraries

    @property
    def name(self) -> str:
        """What to call the model."""
        return self.pure.name

    @property
    def n(self) -> int:
        """The number of positions."""
        return self.subject.n

    @property
    def input(self) -> Any:
        """The varied input as given."""
        return self.subject.input

    @property
    def variation(self) -> ArrayVariation:
        """How the varied input is changed."""
        return ArrayVariation(self.subject.sequence_axis)

    @property
    def has_values(self) -> bool:
        """Whether the model and its inputs hold numbers, and not only shapes."""
        return not any(isinstance(g.value, jax.ShapeDtypeStruct) for g in self.recording.given)

    @property
    def has_parameters(self) -> bool:
        """Whether the model was made of any."""
        return bool(self.recording.held) or any(g.role == "parameter" for g in self.recording.given)

    @property
    def others_matter(self) -> bool:
        """Whether some other input holds floating or complex numbers, which a proof might rest on."""
        return any(g.role == "other" and is_inexact(g.value) for g in self.recording.given)

    @property
    def changed(self) -> bool:
        """Whether a call was seen to change what the model keeps."""
        return bool(self.written) or self.rebuilt

    def shared(self) -> list[str]:
        """What shares memory with the varied input: nothing, as arrays of JAX are never written."""
        return []

    def about(self, paths: Sequence[str]) -> JaxProgram:
        """The program whose outputs are those at the paths."""
        return replace(self, paths=tuple(paths))

    def digest(self) -> str:
        """A hash of the inputs and of the parameters' values."""
        found = hashlib.blake2b(digest_size=16)
        values = [g.value for g in self.recording.given if g.role != "constant"]
        for value in [*values, *self.pure.held.values()]:
            found.update(f"{value.dtype}{tuple(value.shape)}".encode())
            if not isinstance(value, jax.ShapeDtypeStruct):
                found.update(np.ascontiguousarray(_plain(value)).reshape(-1).view(np.uint8).data)
        return found.hexdigest()

    @property
    def returned(self) -> dict[str, Any]:
        """The shapes of what the model returns, by their paths."""
        return dict(zip(self.recording.paths, jax.tree.leaves(self.shapes), strict=True))

    # -- running ------------------------------------------------------------------------------------------------------

    def numbers(self, x: Any, setting: Setting = AS_GIVEN) -> np.ndarray:
        """The output (queries, features) for the varied input `x`; complex numbers as two reals."""
        wide = setting.precision == "float64"
        noise = _Noise(setting)
        arguments = []
        for given in self.recording.given:
            if given.role == "input":
                arguments.append(given.value if setting.alone and given.name != str(self.subject.vary) else x)
            else:
                arguments.append(noise.on(given.value) if given.role == "parameter" else given.value)
        instead = [noise.on(value) for value in self.pure.held.values()]
        with _told():
            found = self.runs(arguments, instead, wide)
        at = dict(zip(self.recording.paths, found, strict=True))
        parts = [_rows(at[path], self.subject.output_axis) for path in self.paths]
        return parts[0] if len(parts) == 1 else np.concatenate([p.astype(np.float64) for p in parts], 1)

    def traced(
        self, policy: Policy, setting: Setting, ranks: np.ndarray, *, why: str = "", later: bool = False
    ) -> Trace:
        """An abstract run; `later`: after a call that nothing puts back, so that what it wrote holds any numbers."""
        return traced(self._later if later else self.recording, policy, ranks)

    def chain(self, policy: Policy, setting: Setting, like: Trace, **asked: Any) -> Chain:
        """How forbidden positions reach an output."""
        return blame(self.recording, policy, **asked)

    @property
    def _later(self) -> Recording:
        given = (replace(g, role="any") if g.name in self.written else g for g in self.recording.given)
        return replace(self.recording, given=tuple(given))

    def one_shorter(self, mode: str, batch: bool = False) -> dict[str, Any] | None:
        """What the model returns without the last position, or the last of the batch; None where it is not recorded."""
        axis = self.subject.sequence_axis
        axis = (0 if axis else 1) if batch else axis
        x = self.input
        if axis >= len(x.shape):
            return None
        shape = tuple(size - (k == axis) for k, size in enumerate(x.shape))
        shorter = jax.ShapeDtypeStruct(shape, x.dtype)
        other = jax.tree.map(lambda v: shorter if v is x else v, _inputs(self.subject))
        try:
            return JaxProgram.of(replace(self.subject, inputs=tuple(other[0]), keywords=other[1]), mode).returned
        except Exception:  # whatever the model raises says no more than that
            return None

    @cached_property
    def epsilon(self) -> float:
        """The coarsest unit in the last place of the numbers in use."""
        types = {d for d in _dtypes(self.recording.program.jaxpr) if jnp.issubdtype(d, jnp.inexact)}
        return max((float(jnp.finfo(d).eps) for d in types), default=0.0)  # type: ignore[no-untyped-call]


class Runs:
    """Runs of a recorded program on numbers, compiled once for each precision."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._compiled: dict[bool, Any] = {}

    def __call__(self, arguments: Sequence[Any], instead: Sequence[Any], wide: bool) -> list[np.ndarray]:
        """The results; `instead` holds numbers for the parameters that the program closes over."""
        if not wide:
            return [np.asarray(v) for v in self._function(False)(list(arguments), list(instead))]
        with _double_precision():
            arguments, instead = ([wider(v) for v in values] for values in (arguments, instead))
            return [np.asarray(v) for v in self._function(True)(arguments, instead)]

    def _function(self, wide: bool) -> Any:
        if wide not in self._compiled:
            program, held = self._recording.program, tuple(self._recording.held)

            def function(arguments: Sequence[Any], instead: Sequence[Any]) -> list[Any]:
                return Evaluation(wide, dict(zip(held, instead, strict=True))).closed(program, arguments)

            self._compiled[wide] = jax.jit(function)
        return self._compiled[wide]


class _Noise:
    """What a setting adds to parameters."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._jitter = np.random.default_rng([1234, setting.seed])
        self._tremor = np.random.default_rng([4321, setting.tremor_seed])

    def on(self, value: Any) -> Any:
        """The parameter with its noise."""
        setting = self._setting
        if not (setting.jitter or setting.tremor) or not is_inexact(value):
            return value
        wide = wide_type(value.dtype) if setting.precision == "float64" else value.dtype
        number = np.asarray(value).astype(wide_type(value.dtype))
        if setting.jitter:
            number = number + setting.jitter * self._jitter.standard_normal(number.shape)
        if setting.tremor:
            number = number * (1 + setting.tremor * self._tremor.standard_normal(number.shape))
        return number.astype(wide)


def _inputs(subject: Subject) -> Any:
    """Positional inputs and keywords."""
    return list(subject.inputs), dict(subject.keywords)


def _rows(y: np.ndarray, axis: int) -> np.ndarray:
    """One output as (queries, features), complex numbers as two reals, whole numbers and truth values as float64."""
    y = np.moveaxis(y, axis, 0)
    if y.dtype.kind == "c":
        y = np.stack([y.real, y.imag], -1)
    elif y.dtype.kind != "f" or y.dtype.itemsize < 2:
        y = y.astype(np.float64)
    return y.reshape(y.shape[0], -1)


def _double_precision() -> Any:
    """The context in which JAX has numbers of 64 bits, wherever the release keeps it."""
    holder: Any = jax if hasattr(jax, "enable_x64") else experimental
    return holder.enable_x64(True)


def _given(path: Any, value: Any, subject: Subject) -> Given:
    """An input, called by its place or its keyword."""
    return Given(dotted(path[1:]), "input" if value is subject.input else "other", value)


def _plain(value: Any) -> np.ndarray:
    """The numbers, those of random keys included."""
    if jnp.issubdtype(value.dtype, jax.dtypes.extended):
        value = jax.random.key_data(value)
    return np.asarray(value)


def _dtypes(jaxpr: Any) -> Iterator[Any]:
    """The number formats of everything in a program."""
    yield from (v.aval.dtype for v in (*jaxpr.invars, *jaxpr.constvars) if hasattr(v.aval, "dtype"))
    for equation in jaxpr.eqns:
        yield from (v.aval.dtype for v in equation.outvars if hasattr(v.aval, "dtype"))
        for inner in bodies(equation.params):
            yield from _dtypes(getattr(inner, "jaxpr", inner))


@contextmanager
def _told() -> Iterator[None]:
    """Whatever the model raises, as one sentence with the original as its cause."""
    try:
        yield
    except (ModelError, KeyboardInterrupt, MemoryError):
        raise
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise ModelError(
            "the model",
            f"reads a value that depends on its input into Python ({type(error).__name__}), which JAX cannot record",
            "use jnp.where, jax.lax.cond or jax.lax.while_loop there",
        ) from error
    except Exception as error:
        raise raised(error) from error
