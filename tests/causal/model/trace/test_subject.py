"""What is run: one input that is varied, and others that are the same tensor, lie in structures, or stay as given."""

from __future__ import annotations

import collections
import dataclasses
from typing import NamedTuple

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import ModelError
from model_checks import status, x
from torch import nn
from torch.utils._pytree import register_pytree_node

N = 6
HIDDEN = torch.ones(N, N, dtype=torch.bool).triu(1)


def attend(q, k, v):
    return (q @ k.mT).softmax(-1) @ v


def difference(q, k):
    return q + (k - q).flip(1)  # cancels when both are the same


def by_keyword(q, *, k):
    return q + k.flip(1)


@pytest.mark.parametrize("layer", ["attention layer", "function"])
def test_one_tensor_given_three_times_is_varied_as_one(layer):
    torch.manual_seed(0)
    model = nn.MultiheadAttention(4, 2, batch_first=True).eval() if layer == "attention layer" else attend
    x = torch.randn(2, N, 4)
    verdict = ap.check_model(model, x, x, x)
    assert verdict.status.name == "REFUTED"
    assert not verdict.witness.setting.alone
    assert verdict.witness.replay()
    back = ap.Verdict.from_json(verdict.to_json()).witness
    assert back == verdict.witness
    assert back.tied == (1, 2)
    assert back.replay(model)


def test_keywords_are_tied_as_well():
    x = torch.randn(2, N, 4)
    verdict = ap.check_model(by_keyword, x, {"k": x})
    assert (verdict.status.name, verdict.witness.tied) == ("REFUTED", ("k",))
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(by_keyword)


def test_a_leak_that_cancels_in_tied_inputs_is_found_in_one_alone():
    x = torch.randn(2, N, 4)
    verdict = ap.check_model(difference, x, x)
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert "the other inputs that are the same tensor kept" in verdict.witness.describe()
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(difference)


def test_tied_inputs_under_a_mask_are_proved():
    x = torch.randn(2, N, 4)
    attention = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    assert ap.check_model(attention, x, x, x, {"attn_mask": HIDDEN}).status.name == "PROVED"
    assert ap.check_model(attention, x, x, x.clone(), {"attn_mask": HIDDEN}).status.name == "PROVED"


def test_the_chosen_one_of_several_inputs():
    def cross(query, memory):
        return query.cumsum(1) + memory.mean(1, keepdim=True)

    memory = torch.randn(1, 5, 4)
    verdict = ap.check_model(cross, x(), memory)
    assert verdict.status.name == "PROVED", verdict
    assert status(lambda m, q: cross(q, m), memory, x(), vary=1) == "PROVED"
    assert status(cross, x(), torch.randn(1, 8, 4), vary=1) == "REFUTED"
    assert status(cross, {"query": x(), "memory": memory}, vary="query") == "PROVED"


def test_complex_numbers_are_other_inputs_as_well():
    verdict = ap.check_model(
        lambda x, c: x + c.real * x.flip(1), torch.randn(1, N, 2), torch.zeros(2, dtype=torch.cfloat)
    )
    assert verdict.status.name == "PROVED_IF", verdict


# -- other inputs inside structures ---------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: object
    second: object


@dataclasses.dataclass
class Plain:
    first: object
    second: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    first: object
    second: object


class Registered:
    def __init__(self, *held):
        self.held = held


register_pytree_node(Registered, lambda r: (list(r.held), None), lambda children, _: Registered(*children))


def model_output(first, second):
    outputs = need("transformers.modeling_outputs")
    return outputs.BaseModelOutput(last_hidden_state=first, hidden_states=(second,))


def get(held):
    """The two tensors of any of the structures, the second of them in a tuple where the structure wants that."""
    if isinstance(held, (Plain, Frozen)):
        return held.first, held.second
    pair = held.held if isinstance(held, Registered) else tuple(held.values()) if hasattr(held, "values") else held
    return pair[0], pair[1][0] if isinstance(pair[1], tuple) else pair[1]


HELD = {
    "tuple": lambda a, b: (a, b),
    "namedtuple": Pair,
    "OrderedDict": lambda a, b: collections.OrderedDict(a=a, b=b),
    "defaultdict": lambda a, b: collections.defaultdict(None, a=a, b=b),
    "UserDict": lambda a, b: collections.UserDict(a=a, b=b),
    "ModelOutput": model_output,
    "registered": Registered,
    "dataclass": Plain,
    "frozen dataclass": Frozen,
}


@pytest.mark.parametrize("keyword", [False, True])
@pytest.mark.parametrize("kind", HELD)
def test_floats_inside_a_structure_are_other_inputs_as_in_a_tuple(kind, keyword):
    def gated(x, held):
        a, gate = get(held)
        return x + a + gate * x.flip(1)

    held = HELD[kind](torch.ones(1, N, 2), torch.zeros(1, N, 2))
    given = ({"held": held},) if keyword else (held, {})  # a last mapping holds keywords
    verdict = ap.check_model(gated, torch.randn(1, N, 2), *given)
    assert verdict.status.name == "PROVED_IF", verdict
    assert [c.text for c in verdict.conditions] == [
        "the other inputs keep the values given (with arbitrary values it is open)"
    ]


@pytest.mark.parametrize("kind", HELD)
def test_a_leak_through_a_structure_is_found(kind):
    def gated(x, held):
        return x + get(held)[1] * x.flip(1)

    verdict = ap.check_model(
        gated, torch.randn(1, N, 2), HELD[kind](torch.ones(1, N, 2), torch.ones(1, N, 2)), {}, sequence_axis=1
    )
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


@pytest.mark.parametrize("kind", HELD)
def test_what_is_written_inside_a_structure_does_not_reach_the_caller(kind):
    def counting(x, held):
        a, b = get(held)
        b += 1
        return x + a

    a, b = torch.ones(1, N, 2), torch.zeros(1, N, 2)
    verdict = ap.check_model(counting, torch.randn(1, N, 2), HELD[kind](a, b), {}, sequence_axis=1)
    assert verdict.status.name == "PROVED"
    assert not b.any()
    assert any("writes into its input 2" in r for r in verdict.reasons)


def test_the_hash_counts_tensors_inside_structures():
    x = torch.randn(1, N, 2)

    def hashed(value):
        return ap.check_model(
            lambda x, p: x + p.first, x, Pair(torch.full((1, N, 2), value), 0), sequence_axis=1
        ).input_hash

    assert hashed(1.0) == hashed(1.0) != hashed(2.0)


def test_structures_that_hold_themselves_are_refused_in_a_sentence():
    loop = []
    loop.append(loop)
    with pytest.raises(ModelError, match="a list lies more than 64 levels deep or in itself; pass"):
        ap.check_model(lambda x, _: x, torch.randn(1, N, 2), loop)
    with pytest.raises(ModelError, match="levels deep or in itself"):
        ap.check_model(lambda x: [x, loop], torch.randn(1, N, 2))
