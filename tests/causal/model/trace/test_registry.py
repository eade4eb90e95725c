"""What a rule promises stands in its fields: no verdict hangs on where a rule was written, and silence is caution."""

from __future__ import annotations

from needs import need

torch = need("torch")

import types
from dataclasses import replace

import attnproof
import pytest
from attnproof import Status
from attnproof.causal.model.trace import Rule, frontend  # noqa: F401  (registers the rules)
from attnproof.causal.model.trace.domain import FIXED, VARIES, coarsen, uniform
from attnproof.causal.model.trace.registry import BUILT_IN, Facts, facts_of, find, rule

X = torch.arange(1.0, 7.0).reshape(1, 6, 1)


RARE = 12345.6  # no search meets it


@torch.library.custom_op("attnproof_registry::common", mutates_args=())
def common(x: torch.Tensor) -> torch.Tensor:
    """The number itself; an error where it is the rare one."""
    if x.item() == torch.tensor(RARE):
        raise ValueError("x is the rare number")
    return x.clone()


@torch.library.custom_op("attnproof_registry::sign", mutates_args=())
def sign(x: torch.Tensor) -> torch.Tensor:
    """1 or −1, by the sign bit."""
    return 1.0 - 2.0 * x.signbit()


def catches(x: torch.Tensor) -> torch.Tensor:
    """Leaks whether the last number is rare into the first by the failure of an operation that it catches."""
    y = x.clone()
    try:
        common(x[0, -1, 0])
    except ValueError:
        y[0, 0] += 1
    return y


def tells_zeros_apart(x: torch.Tensor) -> torch.Tensor:
    """Leaks whether the last number is rare into the first by the sign of a zero."""
    y = x.clone()
    y[0, 0] += sign(0.0 * (0.5 - (x[0, -1] == RARE).to(x.dtype)))
    return y


def rules_from(module: str, **facts: object) -> list[Rule]:
    """A rule for both operations that was written in a module of this name."""
    home = types.ModuleType(module)
    vars(home)["coarsen"] = coarsen
    exec("def same(call):\n    return coarsen(call['x'].shadow)\n", vars(home))
    names = ("attnproof_registry::common", "attnproof_registry::sign")
    return [Rule(names, vars(home)["same"], **facts)]


@pytest.mark.parametrize("model", [catches, tells_zeros_apart])
def test_a_verdict_does_not_hang_on_the_module_of_a_rule(model):
    rare = X.clone()
    rare[0, -1] = RARE
    assert float(model(X)[0, 0]) != float(model(rare)[0, 0])
    verdicts = [
        attnproof.check_model(model, X, rules=rules_from(name)) for name in ("my_rules", "elementwise", "movement")
    ]
    assert {v.status for v in verdicts} == {Status.UNDECIDED}
    assert len({tuple(v.reasons) for v in verdicts}) == 1


def test_a_rule_is_held_to_the_zeros_that_it_promises():
    rules = [Rule(("attnproof_registry::sign",), lambda call: call["x"].shadow, fails="never", sees_sign=False)]
    verdict = attnproof.check_model(lambda x: x + sign(0.0 * x), X, rules=rules)
    assert verdict.status is Status.UNDECIDED
    assert any("attnproof_registry.sign" in reason for reason in verdict.reasons)


@pytest.mark.parametrize(("model", "word"), [(catches, "fails"), (tells_zeros_apart, "sees_sign")])
def test_a_rule_that_promises_more_proves_more(model, word):
    rules = rules_from("my_rules", fails="never", sees_sign=False)
    believed = attnproof.check_model(model, X, sequence_axis=1, rules=rules)
    assert believed.status is Status.PROVED  # the promise is false, and believed
    rules = [replace(r, **{word: getattr(Facts(), word)}) for r in rules]
    assert attnproof.check_model(model, X, sequence_axis=1, rules=rules).status is Status.UNDECIDED


def test_every_built_in_rule_says_whether_it_sees_the_sign_of_a_zero():
    assert [name for name, known in BUILT_IN.items() if known.sees_sign is None] == []


def test_an_operation_nobody_knows_gets_the_cautious_facts():
    assert find(["mylib.scan.default", "mylib.scan"]) is None
    assert facts_of(["mylib.scan.default", "mylib.scan"]) == Facts()
    assert facts_of(["aten.view.dtype", "aten.view"], view=True).sees_sign
    assert facts_of(["mylib.part"], view=True) == Facts(sees_sign=False)
    own = Rule(("mylib::scan",), len)
    assert find(["mylib.scan.default", "mylib.scan"], [own]) is own


def test_a_name_has_one_rule():
    with pytest.raises(ValueError, match=r"name = 'aten\.mul' already has a rule; give each operation one rule"):
        rule("aten.mul")(len)


@torch.library.custom_op("attnproof_registry::pairs", mutates_args=())
def pairs(x: torch.Tensor) -> torch.Tensor:
    """Sums of neighbours, which may cancel."""
    return x[::2] + x[1::2]


@pytest.mark.parametrize(
    ("promise", "kept"), [({}, "values"), ({"zero_from_zero": True}, "values"), ({"moves": True}, "zeros")]
)
def test_zeros_of_an_operation_are_those_of_its_operands_only_if_it_says_so(promise, kept):
    class Gated(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = torch.nn.Parameter(torch.zeros(4))

        def forward(self, x):
            return x + pairs(self.gate) * x.flip(1)

    def joined(call):
        return uniform((2,), FIXED if call["x"].shadow.is_fixed else VARIES)

    rule = Rule(("attnproof_registry::pairs",), joined, sees_sign=False, **promise)
    verdict = attnproof.check_model(Gated(), X, rules=[rule])
    assert verdict.status is Status.PROVED_IF
    text = {
        "values": "parameters keep their stored values: gate",
        "zeros": "the zeros among the parameters stay zero: gate",
    }
    assert [c.text for c in verdict.conditions] == [text[kept]]


def test_a_rule_of_the_users_own():
    library = torch.library.Library("attnproof_test", "DEF")
    library.define("double(Tensor x) -> Tensor")
    library.impl("double", lambda x: 2 * x, "CompositeExplicitAutograd")
    model = lambda x: torch.ops.attnproof_test.double(x)  # noqa: E731
    verdict = attnproof.check_model(model, torch.randn(1, 8, 4))
    assert verdict.status.name == "UNDECIDED"
    assert any("no rule for attnproof_test.double" in r for r in verdict.reasons)
    copied = lambda x: model(x.clone())  # noqa: E731 - without a rule, it may write what it is given
    last = attnproof.check_model(lambda x: torch.cat([x[:, :-1], copied(x)[:, -1:]], 1), torch.randn(1, 8, 4))
    assert last.status.name == "PROVED"  # the last position may use everything
    assert any("no rule for attnproof_test.double" in r for r in last.reasons)
    doubled = Rule(("attnproof_test::double",), lambda call: call["x"].shadow)
    assert attnproof.check_model(model, torch.randn(1, 8, 4), sequence_axis=1, rules=(doubled,)).status.name == "PROVED"
