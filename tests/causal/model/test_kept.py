"""What an object keeps is taken down once, compared by identity from then on, and put back in place."""

from __future__ import annotations

import gc
from collections import OrderedDict, deque
from contextvars import ContextVar
from types import SimpleNamespace

import numpy as np
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import check_model
from attnproof.causal.model.kept import KeptDictionaries
from attnproof.causal.model.restore import Held
from torch import nn

X = torch.linspace(-1, 1, 32).sin().reshape(1, 8, 4)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


class Derived:
    a, b = 1, 2


class Renewing(nn.Module):
    """Puts another dictionary in the place of its attributes."""

    mean = None

    def renew(self, **new):
        self.__dict__ = {**self.__dict__, **new}

    def forward(self, x):
        if self.mean is None:
            self.renew(mean=x.mean(1, keepdim=True))
        return x.cumsum(1) + self.mean


def cell(content):
    return (lambda: content).__closure__[0]


VARIABLE = ContextVar("VARIABLE")
VARIABLE.set(1)

# an object, what changes it, and what shows its content
CHANGES = {
    "dict": ({"a": 1}, lambda o: o.update(b=2), dict),
    "order of a dict": ({"a": 1, "b": 2}, lambda o: o.update(a=o.pop("a")), lambda o: list(o.items())),
    "OrderedDict": (OrderedDict(a=1, b=2), lambda o: o.move_to_end("a"), lambda o: list(o.items())),
    "list": ([1, 2], lambda o: o.reverse(), list),
    "deque": (deque([1, 2], maxlen=2), lambda o: o.append(3), list),
    "set": ({1, 2}, lambda o: o.add(3), set),
    "bytearray": (bytearray(b"ab"), lambda o: o.__setitem__(0, 99), bytes),
    "array": (np.zeros(3), lambda o: o.__setitem__(0, 1.0), lambda o: o.tolist()),
    "cell": (cell(1), lambda o: setattr(o, "cell_contents", 2), lambda o: o.cell_contents),
    "context variable": (VARIABLE, lambda o: o.set(2), lambda o: o.get()),
    "attributes": (SimpleNamespace(a=1), lambda o: setattr(o, "b", 2), lambda o: dict(vars(o))),
    "attributes as a whole": (Renewing(), lambda o: o.renew(b=2), lambda o: list(vars(o))),
    "class of an object": (Derived(), lambda o: setattr(o, "__class__", type("Other", (Derived,), {})), type),
    "slots": (Slotted(), lambda o: (setattr(o, "b", 2), delattr(o, "a")), lambda o: [n for n in "ab" if hasattr(o, n)]),
    "class": (Derived, lambda o: (setattr(o, "c", 3), delattr(o, "a")), lambda o: [n for n in "abc" if hasattr(o, n)]),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_is_put_back_run_after_run(what):
    value, change, content = CHANGES[what]
    before, held = content(value), Held([value])
    for _ in range(2):
        with held.restored():
            pass
        assert not held.changed
    for _ in range(2):
        with held.restored():
            change(value)
            assert content(value) != before
        assert content(value) == before
        assert held.changed


@pytest.mark.parametrize("what", CHANGES)
def test_what_its_owner_changes_between_two_runs_stays(what):
    value, change, content = CHANGES[what]
    held = Held([value])
    with Held([value]).restored():  # for the tests after this one
        with held.restored():
            pass
        change(value)
        changed = content(value)
        with held.restored():
            pass
        assert content(value) == changed
        assert not held.changed


def test_a_run_within_a_run_keeps_its_own():
    value = {"a": 1}
    held = Held([value])
    with held.restored():
        pass
    with held.restored():
        value["b"] = 2
        with held.restored():
            value["c"] = 3
        assert value == {"a": 1, "b": 2}
    assert value == {"a": 1}


def test_what_stays_the_same_is_not_taken_down_again(monkeypatch):
    value = {"a": 1}
    taken, take = [], KeptDictionaries._take
    monkeypatch.setattr(
        KeptDictionaries, "_take", lambda kept: (taken.append(kept), take(kept)) if kept.value else take(kept)
    )
    held = Held([value])
    for _ in range(3):
        with held.restored():
            pass
    assert len(taken) == 1
    with held.restored():
        value["a"] = 2
    value["a"] = 3
    with held.restored():
        value["a"] = 4
    assert len(taken) == 2
    assert value == {"a": 3}


def test_attributes_that_are_replaced_as_a_whole_are_put_back():
    verdict = check_model(Renewing(), X)
    assert verdict.status.name == "REFUTED", verdict
    assert verdict.witness.replay()


UNSET = ContextVar("UNSET")


def test_a_context_variable_that_had_no_value_is_no_proof():
    def model(x):
        y = x.cumsum(1) + (x.mean(1, keepdim=True) if UNSET.get(None) else 0)
        UNSET.set(True)
        return y

    verdict = check_model(model, X)
    assert verdict.status.name != "PROVED", verdict
    UNSET.set(None)


def test_a_run_that_asks_for_values_leaves_nothing_to_collect():
    """To collect everything takes longer than a small check."""
    full = []

    def note(phase, info):
        if phase == "start" and info["generation"] == 2 and not gc.get_freeze_count():
            full.append(info)

    class Asking(nn.Module):
        def forward(self, x):
            y = x * 2
            return y.cumsum(1) if y.sum() < 1e9 else y

    check_model(Asking(), X)
    gc.collect()
    gc.disable()
    gc.callbacks.append(note)
    try:
        check_model(Asking(), X)
    finally:
        gc.callbacks.remove(note)
        gc.enable()
    assert not full
