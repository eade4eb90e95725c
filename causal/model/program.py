"""A PyTorch model as a pure function of one sequence: seeded, restored after every call, in a mode and a precision.

A check runs the same program many times and compares the runs, so whatever makes two runs differ beside the varied
input is taken away here: random numbers, training flags, buffers that a call rewrites, and tensors that it writes into.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from . import draws
from .age import alive
from .changes import Snapshot
from .counters import numbers
from .dense import is_alone
from .identity import Digest, name_of
from .modes import Strangers, fixed_modes, in_mode
from .modules import modules_among, seeded
from .outputs import first_of, side_by_side, tensors
from .precision import in_float64, parameters_as, uncompiled, wider
from .raised import phrase, told
from .reachable import reachable
from .restore import Held
from .seen import Seen
from .setting import AS_GIVEN, ModelError, Setting
from .sharing import shared
from .survivors import lies_in, outliving
from .variation import Variation

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from .trace.policy import Policy
    from .trace.records import Chain, Trace
    from .trace.registry import Rule
    from .trace.subject import Subject

MOST_ACQUAINTANCES = 8  # runs in which modules may turn up that nothing showed before


@dataclass(frozen=True)
class Program:
    """A subject with the modules that it reaches; `run` gives the output with the sequence axis first.

    `paths` say which of the model's outputs are meant; without them it is the first floating one with the output axis.
    """

    libraries: ClassVar = ("torch", "numpy")

    subject: Subject
    modules: tuple[nn.Module, ...]
    held: Held = field(compare=False, repr=False)
    paths: tuple[str, ...] = ()

    @classmethod
    def of(cls, subject: Subject) -> Program:
        """The program with the modules that its model reaches, and those that a run was seen to use."""
        roots = (subject.model, *subject.strangers, subject.inputs, subject.keywords)
        reached = reachable(*roots)
        if _initialise(subject, reached):
            reached = reachable(*roots)
        return cls(subject, tuple(modules_among(reached)), Held([*reached, *alive()]))

    def acquainted(self, mode: str, rules: Sequence[Rule] = (), replay: bool = True) -> tuple[Program, Seen]:
        """The program with every module that a run of it uses, and what its first runs showed, all in the mode.

        Without `replay` it is not run with values, as far as one without them says enough.
        """
        program, failed = self, ""
        for _ in range(MOST_ACQUAINTANCES):
            first, met = program.first(mode, rules)
            failed = failed or (first if isinstance(first, str) else "")  # what it left behind stays
            without = first if not isinstance(first, str) and not first.with_values else None
            seen = None
            if not met:
                imagined = (without is not None and not replay) or not program.has_values
                lazily = without is not None and not without.opened
                seen = program.imagined(first) if imagined else program.observe(mode, lazily=lazily)
            if seen is not None and not seen.strangers:
                return program, replace(seen, first=failed or first)
            strangers = (*program.subject.strangers, *(met if seen is None else seen.strangers))
            program = Program.of(replace(self.subject, strangers=strangers))
        raise ModelError(
            "the model",
            f"runs a {type(strangers[-1]).__name__} that it was not seen to reach, and another one in every run",
            "pass the module that holds it",
        )

    def first(self, mode: str, rules: Sequence[Rule]) -> tuple[Trace | str, list[nn.Module]]:
        """The abstract run that is the first of all, or why there is none; and modules that nothing showed before.

        What it computes from the input counts as that, wherever it is kept: no run has filled a cache before. What
        outlives it would be taken for a constant by any other run.
        """
        from .trace.frontend import traced
        from .trace.ledger import NoValues
        from .trace.policy import Policy

        strangers = Strangers(self.modules, mode)

        @contextmanager
        def prepared(values: bool) -> Iterator[None]:
            strangers.values = values
            with self.prepared(Setting(mode=mode), values), strangers:
                yield

        try:
            policy = Policy(rules=tuple(rules), values=False)
            trace = traced(self.subject, policy, prepared, has_values=self.has_values, is_first=True)
        except (KeyboardInterrupt, MemoryError):
            raise
        except NoValues as stopped:
            return str(stopped), strangers.met
        except Exception as error:
            return phrase(error), strangers.met
        outputs = tuple(replace(o, value=None) for o in trace.outputs)
        trace = replace(trace, outputs=outputs)
        left = trace.kept or outliving(trace.data, self.held.storages)
        if left:
            return f"it keeps {left}, made from its input, where the check cannot put it back", strangers.met
        return replace(trace, data=()), strangers.met

    def about(self, paths: Sequence[str]) -> Program:
        """The program whose outputs are those at the paths."""
        return replace(self, paths=tuple(paths))

    @property
    def n(self) -> int:
        """The number of positions."""
        return self.subject.n

    @property
    def input(self) -> Tensor:
        """The varied input as given."""
        given: Tensor = self.subject.input
        return given

    @property
    def variation(self) -> Variation:
        """How the varied input is changed."""
        return Variation(self.subject.sequence_axis)

    # -- running --------------------------------------------------------------------------------------------------

    def call(self, x: Tensor, alone: bool = False) -> Any:
        """The model's raw output on `x` in place of the varied input, every tensor a copy of the caller's."""
        positional, keywords = self._arguments(x, alone)
        return self.subject.model(*positional, **keywords)

    def _arguments(self, x: Tensor, alone: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """Copies of the inputs, one per tensor; `x` wherever the varied one was given, or at its own place `alone`."""
        import torch

        from .trace.pytree import mapped

        copies: dict[int, Tensor] = {} if alone else {id(self.input): x.clone()}
        originals: list[Tensor] = []  # kept alive, since the copies are found by their addresses

        def copied(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) not in copies:
                originals.append(value)
                copies[id(value)] = value.clone()
            return copies[id(value)]

        positional, keywords = mapped(copied, (list(self.subject.inputs), dict(self.subject.keywords)))
        if alone:
            place: Any = keywords if isinstance(self.subject.vary, str) else positional
            place[self.subject.vary] = x.clone()
        return positional, keywords

    def run(self, x: Tensor, setting: Setting = AS_GIVEN) -> Tensor:
        """The output (queries, features) for the varied input `x`, detached; complex numbers as two reals.

        It lies in memory that no other run writes, nor what puts back a model's own.
        """
        with self.prepared(setting), told():
            if setting.precision == "float64":
                x = wider(x)
            found = self._rows(self.call(x, setting.alone))
            return found if is_alone(found) else found.clone()

    def numbers(self, x: Tensor, setting: Setting = AS_GIVEN) -> np.ndarray:
        """The same on the host."""
        return self.variation.host(self.run(x, setting))

    def _rows(self, result: Any) -> Tensor:
        found, axis = tensors(result), self.subject.output_axis
        return side_by_side(found, axis, self.paths or (first_of(found, axis),))

    def one_shorter(self, mode: str, values: bool, batch: bool = False) -> dict[str, Tensor] | None:
        """What the model returns without the last position, or the last of the batch; None where it does not run."""
        axis = self.subject.sequence_axis % self.input.dim()
        axis = (0 if axis else 1) if batch else axis
        try:
            with self.prepared(Setting(mode=mode), values):
                shorter = self.input.narrow(axis, 0, self.input.shape[axis] - 1)
                return tensors(self.call(shorter) if values else self._imagined_on(shorter))
        except Exception:  # whatever the model raises says no more than that
            return None

    def _imagined_on(self, x: Tensor) -> Any:
        """What the model returns on `x`, without values."""
        from .trace.frontend import run
        from .trace.policy import Policy
        from .trace.pytree import mapped

        other = mapped(lambda v: x if v is self.input else v, (list(self.subject.inputs), dict(self.subject.keywords)))
        subject = replace(self.subject, inputs=tuple(other[0]), keywords=other[1])
        return run(subject, Policy(), values=False).result

    @contextmanager
    def prepared(self, setting: Setting, values: bool = True, lazily: bool = False) -> Iterator[None]:
        """The setting in force: mode, parameters, precision and seeds; everything is as before afterwards.

        `values`: the run computes them; `lazily`: it tells `held` of what it is about to write.
        """
        import torch

        from .trace.caches import uncached
        from .trace.composed import biases_made_under_modes

        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(False))  # where writes are not counted
            stack.enter_context(torch.no_grad())
            stack.enter_context(uncached())
            stack.enter_context(biases_made_under_modes())
            stack.enter_context(seeded(setting.seed))
            stack.enter_context(in_mode(self.modules, setting.mode))
            stack.enter_context(self.held.restored(values, lazily))
            stack.enter_context(parameters_as(self.modules, setting, self.held.tensors))
            if setting.apart:
                stack.enter_context(uncompiled())
                stack.enter_context(draws.apart())
            if setting.precision == "float64":
                stack.enter_context(in_float64())
            yield

    def traced(
        self, policy: Policy, setting: Setting, ranks: np.ndarray, *, why: str = "", later: bool = False
    ) -> Trace:
        """An abstract run, with values where there is a reason `why`; `later`: after a call that nothing puts back."""
        from .trace.frontend import traced

        @contextmanager
        def prepared(values: bool) -> Iterator[None]:
            with self.prepared(setting, values or later):  # a call writes what it writes
                if later:
                    self.call(self.input)
                yield

        return traced(self.subject, policy, prepared, ranks, why=why, has_values=self.has_values)

    def chain(self, policy: Policy, setting: Setting, like: Trace, **asked: Any) -> Chain:
        """How forbidden positions reach an output (see `trace.frontend.blame`)."""
        from .trace.frontend import blame

        return blame(self.subject, policy, partial(self.prepared, setting), like=like, **asked)

    def observe(self, mode: str = "eval", apart: bool = False, lazily: bool = False) -> Seen:
        """One native run, with what it showed; ModelError when the model raises or returns no usable tensor.

        `lazily`: it writes by operations alone, as a run without values has shown, which gave it no other way.
        """
        import torch

        from .trace.pytree import leaves
        from .watch import Watcher

        watch = Watcher(self.input, before_write=self.held.keep if lazily else None)
        setting = Setting(mode=mode, apart=apart)
        with self.prepared(setting, lazily=lazily), told():
            positional, keywords = self._arguments(self.input)
            place: Any = keywords if isinstance(self.subject.vary, str) else positional
            watch.follow(place[self.subject.vary])
            given = leaves((positional, keywords))
            versions = [(i, t, t._version) for i, (_, t) in enumerate(given) if isinstance(t, torch.Tensor)]
            before, reached = Snapshot(self.modules), reachable(self.subject.model)
            counted = numbers(reached, self.modules)
            with uncompiled(), Strangers(self.modules, mode) as strangers, watch:
                result = self.subject.model(*positional, **keywords)
            fixed = tuple(fixed_modes(self.modules))
            now = numbers(reached, self.modules)
            state = [*before.changes(), *(k for k, v in counted.items() if now.get(k, v) not in (v,))]
            written = tuple(i for i, t, v in versions if t._version != v)
            lent = lies_in(result, self.held.storages)
        if watch.steered and not apart:
            return self.observe(mode, True, lazily)
        return Seen(
            result=result,
            epsilon=watch.epsilon,
            random=watch.random,
            apart=apart,
            writes_input=written,
            writes_state=tuple(state),
            tables=frozenset(watch.tables),
            strangers=tuple(strangers.met),
            fixed_modes=fixed,
            unbounded=watch.unbounded,
            lent=lent,
        )

    @cached_property
    def has_values(self) -> bool:
        """Whether the model and its inputs hold numbers, so that it can be run: nothing of theirs lies on meta."""
        import torch

        from .trace.pytree import leaves

        with told():
            given = [v for _, v in leaves((self.subject.inputs, self.subject.keywords))]
        own = (t for top in self.modules for t in (*top.parameters(), *top.buffers()))
        return not any(t.is_meta for t in (*given, *own) if isinstance(t, torch.Tensor))

    @property
    def has_parameters(self) -> bool:
        """Whether a module holds any."""
        return any(True for m in self.modules for _ in m.parameters())

    @cached_property
    def others_matter(self) -> bool:
        """Whether some other input holds floating or complex numbers, which a proof might rest on."""
        import torch

        from .trace.pytree import leaves

        tensors = [t for _, t in leaves(self.subject.others) if isinstance(t, torch.Tensor)]
        return any(t.is_floating_point() or t.is_complex() for t in tensors)

    @property
    def changed(self) -> bool:
        """Whether a call was seen to change what the model keeps."""
        return self.held.changed

    @property
    def rebuilt(self) -> bool:
        """Whether the program itself is another after a call: no, a later run goes through Python again."""
        return False

    @property
    def name(self) -> str:
        """What to call the model."""
        return name_of(self.subject.model)

    def digest(self) -> Digest:
        """What gives a hash of the inputs and of the parameters' values."""
        return Digest((self.subject.inputs, self.subject.keywords), self.modules)

    def shared(self) -> list[str]:
        """What shares memory with the varied input, in words."""
        return shared(self.subject)

    def imagined(self, first: Trace | str) -> Seen:
        """What the first abstract run showed of a model that is not run; ModelError where that needed values."""
        if isinstance(first, str) or first.with_values:
            why = first if isinstance(first, str) else first.with_values
            raise ModelError(
                "the model",
                f"has no values to run on, and the run without values stopped ({why})",
                "give it values, or take what asks for them out of its way",
            )
        if first.result is None:
            raise ModelError(
                "the model",
                "returns tensors of a kind, or in a place, that only a run shows",
                "let it be run (replay='auto')",
            )
        nothing: Any = {"writes_input": (), "writes_state": (), "tables": frozenset()}
        return Seen(first.result, 0.0, random=False, apart=False, first=first, ran=False, **nothing)


def _initialise(subject: Subject, reached: Sequence[Any]) -> bool:
    """Run a model once whose lazy modules learn their shapes from a first call; whether there were such modules."""
    import torch

    def is_lazy(module: nn.Module) -> bool:
        tensors = [*module._parameters.values(), *module._buffers.values()]
        return any(isinstance(t, (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer)) for t in tensors)

    lazy = [m for m in reached if issubclass(type(m), torch.nn.Module) and is_lazy(m)]
    if not lazy:
        return False
    theirs = {id(part) for module in lazy for part in reachable(module)}
    others = Held([value for value in reached if id(value) not in theirs])
    program = Program(subject, tuple(modules_among(reached)), others)
    with program.prepared(AS_GIVEN), told():
        program.call(subject.input)
    return True
