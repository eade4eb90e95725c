"""State that a model keeps between calls: no run of a check finds what an earlier one left, and nor does the caller."""

from __future__ import annotations

import contextvars
import functools
import importlib
import io
import itertools
import threading
import weakref
from collections import OrderedDict, defaultdict, deque
from types import SimpleNamespace

import numpy as np
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import check_model
from attnproof.causal.model.reachable import reachable
from attnproof.causal.model.restore import Held, restored
from torch import nn

X = torch.linspace(-1, 1, 32).sin().reshape(1, 8, 4)


def mean(x):
    return x.mean(1, keepdim=True)


class InDictionary(nn.Module):
    """Fills what it holds by length, at its first call."""

    def __init__(self, cache=None):
        super().__init__()
        self.cache = {} if cache is None else cache

    def forward(self, x):
        if x.shape[1] not in self.cache:
            self.cache[x.shape[1]] = mean(x)
        return x.cumsum(1) + self.cache[x.shape[1]]


class InList(nn.Module):
    def __init__(self, held):
        super().__init__()
        self.held = held

    def forward(self, x):
        if not self.held:
            self.held.append(mean(x))
        return x.cumsum(1) + self.held[0]


class InObject(nn.Module):
    def __init__(self, held):
        super().__init__()
        self.held = held

    def forward(self, x):
        if getattr(self.held, "mean", None) is None:
            self.held.mean = mean(x)
        return x.cumsum(1) + self.held.mean


class Slotted:
    __slots__ = ("mean",)


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep = (SimpleNamespace(tables=[{"a": OrderedDict()}]),)

    def forward(self, x):
        table = self.deep[0].tables[0]["a"]
        table.setdefault("mean", mean(x))
        return x.cumsum(1) + table["mean"]


class InArray(nn.Module):
    """A tensor that is written, with a flag in an array of NumPy's."""

    def __init__(self):
        super().__init__()
        self.kept, self.filled = torch.zeros(1, 1, 4), np.zeros(1)

    def forward(self, x):
        if not self.filled[0]:
            self.kept.copy_(mean(x))
            self.filled[0] = 1
        return x.cumsum(1) + self.kept


class InParameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept, self.filled = nn.Parameter(torch.zeros(1, 1, 4)), False

    def forward(self, x):
        if not self.filled:
            self.kept.data = mean(x)
            self.filled = True
        return x.cumsum(1) + self.kept


class InClass(nn.Module):
    kept = None

    def forward(self, x):
        if InClass.kept is None:
            InClass.kept = mean(x)
        return x.cumsum(1) + InClass.kept


TABLE = {}
NUMBER = None
LOCAL = threading.local()
VARIABLE = contextvars.ContextVar("VARIABLE", default=None)
VARIABLE.set(None)


def in_a_global_dictionary(x):
    return x.cumsum(1) + TABLE.setdefault(x.shape[1], mean(x))


def in_a_global(x):
    global NUMBER
    if NUMBER is None:
        NUMBER = mean(x)
    return x.cumsum(1) + NUMBER


def in_a_thread(x):
    if not hasattr(LOCAL, "mean"):
        LOCAL.mean = mean(x)
    return x.cumsum(1) + LOCAL.mean


def in_a_context(x):
    if VARIABLE.get() is None:
        VARIABLE.set(mean(x))
    return x.cumsum(1) + VARIABLE.get()


def in_a_cell():
    kept = None

    def model(x):
        nonlocal kept
        kept = mean(x) if kept is None else kept
        return x.cumsum(1) + kept

    return model


def in_a_default(x, kept=[]):  # noqa: B006
    if not kept:
        kept.append(mean(x))
    return x.cumsum(1) + kept[0]


class Method:
    def __init__(self):
        self.cache = {}

    def predict(self, x):
        return x.cumsum(1) + self.cache.setdefault(x.shape[1], mean(x))


class Cached:
    def __call__(self, x):
        self.x = x
        return x.cumsum(1) + self.of(x.shape[1])

    @functools.lru_cache  # noqa: B019
    def of(self, n):
        return mean(self.x)


class Weak(nn.Module):
    """Through an object that nothing but a table of weak references leads to."""

    def __init__(self):
        super().__init__()
        self.table = weakref.WeakValueDictionary()
        self.table["a"] = KEPT_ALIVE

    def forward(self, x):
        if not hasattr(self.table["a"], "mean"):
            self.table["a"].mean = mean(x)
        return x.cumsum(1) + self.table["a"].mean


class Anything:
    pass


KEPT_ALIVE = Anything()

FILLED = {
    "dictionary": InDictionary,
    "defaultdict": lambda: InDictionary(defaultdict(list)),
    "OrderedDict": lambda: InDictionary(OrderedDict()),
    "list": lambda: InList([]),
    "deque": lambda: InList(deque(maxlen=3)),
    "plain object": lambda: InObject(Anything()),
    "slots": lambda: InObject(Slotted()),
    "function": lambda: InObject(lambda: None),
    "deep": Deep,
    "tensor and array": InArray,
    "parameter": InParameter,
    "class": InClass,
    "global dictionary": lambda: in_a_global_dictionary,
    "global": lambda: in_a_global,
    "thread": lambda: in_a_thread,
    "context variable": lambda: in_a_context,
    "cell": in_a_cell,
    "default": lambda: in_a_default,
    "method": lambda: Method().predict,
    "lru_cache": Cached,
    "weak": Weak,
}


@pytest.mark.parametrize("how", FILLED)
def test_a_cache_that_a_first_call_fills_is_a_leak_each_time(how):
    model = FILLED[how]()
    assert check_model(model, X, replay="never").status.name == "UNDECIDED"
    for modes in (("eval",), ("eval", "train")):  # the second check finds nothing of the first
        verdict = check_model(model, X, modes=modes)
        assert verdict.status.name == "REFUTED", verdict
        assert verdict.witness.replay()


@pytest.mark.parametrize("how", FILLED)
def test_a_second_length_finds_no_state_of_the_first(how):
    found = check_model(FILLED[how](), X, lengths=(5, 8))
    assert [run["status"] for run in found.details["runs"]] == ["REFUTED", "REFUTED"]


def unreachable(x):
    return x.cumsum(1) + eval("HIDDEN").setdefault(x.shape[1], mean(x))


HIDDEN = {}


@pytest.mark.parametrize("replay", ["auto", "never"])
def test_what_cannot_be_put_back_is_named_and_nothing_is_proved(replay):
    HIDDEN.clear()
    verdict = check_model(unreachable, X, replay=replay)
    assert verdict.status.name == "UNDECIDED"
    assert any("it keeps a tensor of shape (1, 1, 4), made from its input" in r for r in verdict.reasons), verdict


@pytest.mark.parametrize("replay", ["auto", "never"])
def test_an_input_that_is_kept_as_it_is_counts_as_well(replay):
    HIDDEN.clear()
    verdict = check_model(lambda x: eval("HIDDEN").setdefault("x", x).flip(1) + x, X, replay=replay)
    assert verdict.status.name == "UNDECIDED"
    assert any("it keeps a tensor of shape (1, 8, 4)" in r for r in verdict.reasons), verdict


class Generating:
    """A generator's frame is no place that a check could put anything back to."""

    def __init__(self):
        self.steps = self.step()
        next(self.steps)

    def step(self):
        kept = None
        while True:
            x = yield kept
            kept = mean(x) if kept is None else kept

    def __call__(self, x):
        return x.cumsum(1) + self.steps.send(x)


@pytest.mark.parametrize("replay", ["auto", "never"])
def test_data_in_the_frame_of_a_generator_is_told(replay):
    verdict = check_model(Generating(), X, replay=replay)
    assert verdict.status.name == "UNDECIDED", verdict
    assert any("where the check cannot put it back" in r for r in verdict.reasons)


# -- harmless state -------------------------------------------------------------------------------------------------


def masks_by_length(cache):
    def model(x):
        n = x.shape[1]
        if n not in cache:
            cache[n] = torch.ones(n, n).tril()
        return cache[n] @ x

    return model


@functools.lru_cache
def mask(n):
    return torch.ones(n, n).tril()


class Steps(nn.Module):
    """Counts its calls and keeps what it has seen, and uses neither."""

    def __init__(self):
        super().__init__()
        self.calls, self.seen = 0, []

    def forward(self, x):
        self.calls += 1
        self.seen.append(x)
        return x.cumsum(1)


def test_caches_of_constants_are_proved_wherever_they_are():
    assert check_model(masks_by_length({}), X).status.name == "PROVED"
    assert check_model(masks_by_length(TABLE), X).status.name == "PROVED"
    assert check_model(lambda x: eval("HIDDEN").setdefault("mask", mask(8)) @ x, X).status.name == "PROVED"
    assert check_model(lambda x: mask(x.shape[1]) @ x, X).status.name == "PROVED"


def test_counters_and_records_are_the_callers_after_a_check():
    model = Steps()
    seen = model.seen
    assert check_model(model, X, modes=("eval", "train")).status.name == "PROVED"
    assert model.calls == 0
    assert model.seen is seen
    assert seen == []


def test_a_lazy_module_is_initialised_and_checked():
    model = nn.Sequential(nn.LazyLinear(3), Steps())
    assert check_model(model, X).status.name == "PROVED"
    assert model[0].weight.shape == (3, 4)
    assert model[1].calls == 0
    assert model(X).shape == (1, 8, 3)


def test_a_replay_in_float64_leaves_no_double_behind():
    model = InDictionary({8: torch.zeros(1, 1, 4)})
    attend = nn.functional.scaled_dot_product_attention

    def both(x):
        return attend(model(x), x, x)

    assert check_model(both, X).status.name == "REFUTED"
    assert check_model(both, X).witness.replay()
    assert model.cache[8].dtype is torch.float32


def test_a_generator_of_its_own_draws_the_same_in_every_run():
    generator, numbers = torch.Generator().manual_seed(3), np.random.default_rng(3)
    before = generator.get_state()

    def model(x):
        return x.cumsum(1) * torch.rand(1, generator=generator) * float(numbers.random())

    verdict = check_model(model, X)
    assert verdict.status.name == "PROVED_IF", verdict  # the number that NumPy drew might have steered it
    assert ["NumPy" in c.text for c in verdict.conditions] == [True]
    assert not any("are rounding" in e.detail for e in verdict.evidence)
    assert torch.equal(generator.get_state(), before)


# -- the mechanism --------------------------------------------------------------------------------------------------


def test_shared_memory_stays_shared_and_objects_stay_themselves():
    base = torch.zeros(4)
    held = {"base": base, "view": base[1:], "list": [base]}
    inner = held["list"]
    with restored(reachable(held)):
        base.add_(1)
        held["list"] = None
        inner.clear()
        held["new"] = 1
        del held["view"]
    assert list(held) == ["base", "view", "list"]
    assert held["list"] is inner
    assert inner[0] is base
    assert held["view"]._base is base
    assert not base.any()


def test_tensors_of_another_type_or_shape_come_back():
    t, nan = torch.zeros(4), torch.full((2,), torch.nan)
    view, wide = t[1:], torch.zeros(1).expand(3)
    with restored([t, nan, wide]):
        t.data = torch.ones(2, dtype=torch.float64)
        wide.data = torch.ones(3)
    assert (t.dtype, t.tolist()) == (torch.float32, [0] * 4)
    assert view.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
    assert nan.isnan().all()
    assert (wide.tolist(), wide.stride()) == ([0] * 3, (0,))


def test_parameters_that_the_first_run_leaves_alone_are_not_copied_again():
    still, written = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
    held = Held([still, written])
    for _ in range(2):
        with held.restored():
            written.data.add_(1)
        assert not written.any()
    assert [id(t) for t in held._large] == [id(written)]


def test_a_number_that_a_call_changes_is_named():
    verdict = check_model(Steps(), X)
    assert any("a call changes the model's own calls" in reason for reason in verdict.reasons)


def test_a_flag_of_an_installed_package_is_no_proof_for_the_stored_parameters(tmp_path, monkeypatch):
    """What no run can put back shows where the first attempt, made again, finds another thing."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "warmed_by_its_first_call.py").write_text(
        "WARM = False\n"
        "def model(x):\n"
        "    global WARM\n"
        "    was, WARM = WARM, True\n"
        "    return x.cumsum(1) if was else x.cumsum(1) + x.mean(1, keepdim=True)\n"
    )
    monkeypatch.syspath_prepend(folder)
    model = importlib.import_module("warmed_by_its_first_call").model
    verdict = check_model(model, torch.randn(2, 6, 4))
    assert verdict.status.name == "UNDECIDED"
    assert "forbidden pairs" in verdict.reasons[0]


ALTERNATING = {
    "an iterator": lambda: itertools.cycle([True, False]).__next__,
    "one that shows in a number": lambda: map([1.0, 0.0].__getitem__, itertools.cycle([0, 1])).__next__,
    "one that shows in a constant": lambda: itertools.cycle([torch.ones(1), torch.zeros(1)]).__next__,
    "a stream": lambda: _odd(io.BytesIO()),
}


def _odd(stream):
    return lambda: stream.write(b".") and len(stream.getvalue()) % 2


@pytest.mark.parametrize("replay", ["auto", "never"])
@pytest.mark.parametrize("how", ALTERNATING)
def test_every_other_run_is_no_proof(how, replay):
    """Made again, the first attempt finds the same; the one between them ran another program."""
    leaks = ALTERNATING[how]()
    verdict = check_model(lambda x: x.cumsum(1) + mean(x) * leaks(), X, replay=replay)
    assert verdict.status.name == "UNDECIDED", verdict


def of_a_truth_value(x):
    assert not x.isnan().any()


def of_a_library(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x.add(1)


@pytest.mark.parametrize("needs_values", [of_a_truth_value, of_a_library])
def test_what_an_abandoned_run_leaves_is_no_proof(needs_values):
    seen = io.BytesIO()

    def model(x):
        y = x.cumsum(1) if seen.getvalue() else x.cumsum(1) + mean(x)
        seen.write(b"x")
        needs_values(x)
        return y

    verdict = check_model(model, X)
    assert verdict.status.name == "UNDECIDED", verdict
    assert "the next one finds" in verdict.reasons[0]


# -- what a call leaves to the next ---------------------------------------------------------------------------------


def counted_in(increase):
    """Causal at its first call, and no longer."""
    return lambda x: x.cumsum(1) + (mean(x) if increase() > 1 else 0)


class Counter:
    calls = 0

    def __call__(self):
        self.calls += 1
        return self.calls


def in_a_closure():
    calls = 0

    def increase():
        nonlocal calls
        calls += 1
        return calls

    return increase


def in_a_list(calls=[0]):  # noqa: B006
    calls[0] += 1
    return calls[0]


def in_a_cache(cached):
    return in_a_list(cached())


class Masked(nn.Module):
    """Leaves no number behind."""

    def __init__(self):
        super().__init__()
        self.once = []

    def forward(self, x):
        y = x.cumsum(1) + (mean(x) if self.once else 0)
        self.once.append(None)
        return y


STEERED = {
    "object": lambda: counted_in(Counter()),
    "closure": lambda: counted_in(in_a_closure()),
    "default": lambda: counted_in(in_a_list),
    "lru_cache": lambda: counted_in(functools.partial(in_a_cache, functools.lru_cache(lambda: [0]))),
    "no number": Masked,
}


@pytest.mark.parametrize("how", STEERED)
def test_what_a_call_leaves_to_steer_the_next_is_a_condition(how):
    verdict = check_model(STEERED[how](), X)
    assert verdict.status.name == "PROVED_IF", verdict
    assert any("every call starts from the state as given" in c.text for c in verdict.conditions)


def test_a_number_outside_of_modules_that_a_call_changes_is_named():
    calls = [0]

    def model(x):
        calls[0] += 1
        return x.cumsum(1)

    verdict = check_model(model, X)
    assert verdict.status.name == "PROVED"
    assert any("a call changes the model's own calls[0]" in reason for reason in verdict.reasons), verdict
    assert calls == [0]


def test_an_iterator_that_nothing_puts_back_is_looked_at_after_a_call():
    steps = itertools.count(1)
    verdict = check_model(lambda x: x.cumsum(1) + (mean(x) if next(steps) > 1 else 0), X)
    assert verdict.status.name == "REFUTED", verdict
    assert any("the first call does not leak, later ones do" in reason for reason in verdict.reasons), verdict
    later = itertools.count(-20)  # beyond what the runs of a proof use up
    assert check_model(lambda x: x.cumsum(1) * next(later), X).status.name == "PROVED"
