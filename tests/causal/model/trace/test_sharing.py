"""What a rule found is kept for equal calls: it is the same, and what the rule reports is told for each place."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.trace import deferred, domain, frontend
from attnproof.causal.model.trace.domain import BIG, FIXED, MASKED, ZERO, Shadow, ranked, uniform
from attnproof.causal.model.trace.ledger import ValueNeeded
from attnproof.causal.model.trace.policy import Policy
from attnproof.causal.model.trace.sharing import Names, Sharing, Unlike
from attnproof.causal.model.trace.subject import Subject
from tensor_programs import program

N = 5


class Operand:
    """A tensor without values, its shadow, and what a look at its constants tells."""

    def __init__(self, shadow, looked=None, dtype=torch.float32):
        self.value = torch.empty(shadow.shape, dtype=dtype, device="meta")
        self.shape, self.shadow, self.looked = shadow.shape, shadow, looked
        self.looks = 0

    def known(self):
        if (self.shadow.kind == FIXED).any():
            self.looks += 1
            self.shadow = self.looked
        return self.shadow


class Call:
    """A call of an operation whose rule is `function`."""

    name, last, finite_masks = "mylib.scan", N, True

    def __init__(self, function, *operands, plain=(), value=None):
        self.given, self.told = operands, []
        self.info = SimpleNamespace(names=("mylib.scan.default", "mylib.scan"), rule=SimpleNamespace(function=function))
        self.args, self.kwargs = (*(o.value for o in operands), *plain), {}
        self.value = torch.empty(N, device="meta") if value is None else value

    def __getitem__(self, name):
        return {"x": self.given[0], "y": self.given[-1], "dim": self.args[-1]}[name]

    def operands(self):
        return list(self.given)

    def has(self, name):
        return True

    def replay(self, *arrays):
        raise AssertionError

    def zeros_used(self, *operands):
        self.told.append(("zeros", *operands))

    def masked_zero(self, where, **told):
        self.told.append("masked")
        return where

    def finite_mask(self, result, constant=None):
        self.told.append((result.dtype, constant))


class Counted:
    """A rule, and how often it was asked."""

    def __init__(self, function):
        self.function, self.times = function, 0

    def __call__(self, call):
        self.times += 1
        return self.function(call)


def data():
    return Operand(ranked((N,), 0, np.arange(N)))


def mask(looked):
    return Operand(uniform((N,), FIXED), uniform((N,), looked))


def test_equal_calls_ask_the_rule_once_and_report_for_each():
    def rule(call):
        if (call["y"].known().kind == ZERO).any():
            call.zeros_used(call["y"])
        return Shadow((N,), call["x"].shadow.lo, call["x"].shadow.hi, call.masked_zero(call["x"].shadow.kind))

    rule, sharing = Counted(rule), Sharing()
    found = []
    for _ in range(3):
        call = Call(rule, data(), mask(ZERO))
        found += sharing.results(call)
        assert call.told == [("zeros", call.given[1]), "masked"]
        assert call.given[1].looks == 1
    assert rule.times == 1
    assert domain.equal(found[0], found[2])


def test_a_rule_that_would_go_on_in_another_way_is_asked():
    """One call's mask is looked at and holds zeros, the next one's large numbers: the shadows before are equal."""

    def rule(call):
        if (call["y"].known().kind == BIG).any():
            call.finite_mask(call["y"].value, -1e9)
            return uniform((N,), MASKED, 0, N)
        call.zeros_used(call["y"])
        return uniform((N,), ZERO)

    rule, sharing = Counted(rule), Sharing()
    for looked, kind, told in ((ZERO, ZERO, 1), (BIG, MASKED, 1), (ZERO, ZERO, 1), (BIG, MASKED, 1)):
        call = Call(rule, data(), mask(looked))
        (found,) = sharing.results(call)
        assert (found.kind == kind).all()
        assert len(call.told) == told
        assert call.told[0] == (("zeros", call.given[1]) if looked == ZERO else (torch.float32, -1e9))
    assert rule.times == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (1, 1.0), (0.0, -0.0), ("a", "b"), (None, 0), ([1, 2], (1, 2)), (torch.int8, torch.uint8)],
)  # fmt: skip
def test_other_arguments_are_another_call(one, other):
    rule, sharing = Counted(lambda call: call["x"].shadow), Sharing()
    for plain in (one, other, one, other):
        sharing.results(Call(rule, data(), plain=(plain,)))
    assert rule.times == 2


def test_the_same_tensor_twice_is_another_call_than_two_alike():
    rule, sharing = Counted(lambda call: uniform((N,), ZERO if call["x"] is call["y"] else 0)), Sharing()
    for _ in range(2):
        same = data()
        assert sharing.results(Call(rule, same, same))[0].kind.item() == ZERO
        assert sharing.results(Call(rule, data(), data()))[0].kind.item() == 0
    assert rule.times == 2


def test_other_shadows_types_and_results_are_another_call():
    rule, sharing = Counted(lambda call: call["x"].shadow), Sharing()
    calls = [
        Call(rule, data()), Call(rule, Operand(data().shadow, dtype=torch.float16)), Call(rule, mask(ZERO)),
        Call(rule, data(), value=torch.empty(N, dtype=torch.bool, device="meta")),
        Call(rule, Operand(ranked((N,), 0, np.arange(N)[::-1]))),
    ]  # fmt: skip
    for call in calls * 2:
        assert sharing.results(call) == [call.given[0].shadow] or rule.times == len(calls)
    assert rule.times == len(calls)


def test_what_could_be_looked_at_is_not_shared():
    rule, sharing = Counted(lambda call: call["x"].shadow), Sharing()
    for call in (Call(rule, data(), value=torch.zeros(N)), Call(rule, data(), plain=(object(),))):
        for _ in range(2):
            sharing.results(call)
    assert rule.times == 4


@pytest.mark.parametrize("what", ["value.sum", "shadows", "raw"])
def test_a_rule_sees_no_value_but_what_it_asks_for(what):
    def rule(call):
        return call["x"].value.sum() if what == "value.sum" else getattr(call, what)

    with pytest.raises(AttributeError):
        Sharing().results(Call(rule, data()))


def test_names_tell_large_arrays_apart(monkeypatch):
    monkeypatch.setattr(deferred, "LARGE", 2)
    names = Names()
    a, b = data().shadow.hi[:, None], np.arange(N, dtype=np.int32)[None]
    joined = [deferred.late(np.maximum, a, b) for _ in range(2)]
    assert names.of(joined[0]) == names.of(joined[1])
    assert names.of(joined[0]) != names.of(deferred.late(np.minimum, a, b))
    held = [deferred.held(np.arange(4)) for _ in range(2)]
    assert held[0] is held[1]
    assert names.of(held[0]) != names.of(deferred.held(np.arange(1, 5)))
    with pytest.raises(Unlike):
        names.of(object())


def test_equal_large_arrays_are_kept_once_and_too_many_are_forgotten(monkeypatch):
    monkeypatch.setattr(deferred, "LARGE", 2)
    kinds = iter([[0, 1, 1, 1, 1], [0, 1, 1, 1, 1], [0, 2, 2, 2, 2]])
    rule = Counted(lambda call: Shadow((N,), call["x"].shadow.lo, call["x"].shadow.hi, np.array(next(kinds), np.uint8)))
    sharing = Sharing()
    found = [sharing.results(Call(rule, data(), plain=(i,)))[0] for i in range(3)]
    assert found[0].kind is found[1].kind
    assert [np.asarray(s.kind).tolist() for s in found] == [[0, 1, 1, 1, 1], [0, 1, 1, 1, 1], [0, 2, 2, 2, 2]]
    monkeypatch.setattr("attnproof.causal.model.trace.sharing.KEPT", 2 * N)
    kinds = iter([[3] * N])
    sharing.results(Call(rule, data(), plain=("more",)))
    assert not sharing.known
    assert not sharing.large


@pytest.mark.parametrize("seed", range(0, 600, 15))
def test_a_program_run_twice_in_one_has_what_it_has_alone(seed, monkeypatch):
    """The second half of the run finds the first half's results; nothing that is recorded is lost by that."""
    x = torch.from_numpy(np.random.default_rng(seed).standard_normal((6, 4)))
    once = program(seed, hidden=-1e9 if seed % 2 else float("-inf"))
    subject = Subject(lambda x: once(x) + once(x), (x,), {}, 0, 0)

    def traced():
        try:
            return frontend.run(subject, Policy(parameters="stored" if seed % 3 else "any"), values=False)
        except ValueNeeded as needed:
            return str(needed)

    shared = traced()
    monkeypatch.setattr(Sharing, "_key", not_to_be_compared)
    alone = traced()
    if isinstance(shared, str):
        assert shared == alone
        return
    for a, b in zip(shared.outputs, alone.outputs, strict=True):
        assert domain.equal(a.shadow, b.shadow)
    one, other = (replace(t, outputs=(), reads=(), operations={}, seconds=0.0) for t in (shared, alone))
    assert one == other
    assert [r for r in shared.reads if r.source == "input"] == [r for r in alone.reads if r.source == "input"]


def not_to_be_compared(*_):
    raise Unlike


def test_layers_after_the_second_ask_no_rule(monkeypatch):
    """Of equal layers, the third and later find all that they need; each is told of for its own place."""
    asked = []
    keep = Sharing._keep
    monkeypatch.setattr(Sharing, "_keep", lambda self, key, *rest: (asked.append(key[0][1]), keep(self, key, *rest)))
    hidden = torch.where(torch.ones(N, N).tril() > 0, 0.0, -1e9)

    def layer(x):
        scores = x @ x.mT
        return x + (scores * 0.5 + hidden).softmax(-1) @ x

    def run(layers):
        def model(x):
            for _ in range(layers):
                x = layer(x)
            return x

        asked.clear()
        trace = frontend.run(Subject(model, (torch.randn(1, N, 4),), {}, 0, 1), Policy(), values=False)
        assert trace.outputs[0].along(1)[1].tolist() == list(range(N))
        assert len(trace.conditions) == 1
        return len(asked)

    assert run(12) == run(3)
