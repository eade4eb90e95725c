"""Every output with a place for every query is checked; the others are named, and one can choose."""

from __future__ import annotations

import warnings

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from dataclasses import dataclass
from typing import NamedTuple

from model_checks import status
from torch import nn


def x(n=8, d=4, batch=2):
    return torch.randn(batch, n, d, generator=torch.Generator().manual_seed(n))


LEAKS = {
    "whole numbers": (lambda x: (x.cumsum(1), x.flip(1).argmax(-1)), "[1]"),
    "truth values": (lambda x: [x.cumsum(1), x.flip(1) > 0], "[1]"),
    "the second floating one": (lambda x: {"aux": x.cumsum(1), "logits": x.flip(1)}, "['logits']"),
    "a small one beside a huge one": (lambda x: (1e12 * x.cumsum(1), 1e-6 * x.flip(1)), "[1]"),
    "complex numbers": (lambda x: (x.cumsum(1), torch.complex(x, x.flip(1)).conj()), "[1]"),
    "deep down": (lambda x: {"a": (x.cumsum(1), {"b": x.mean(1, keepdim=True).expand_as(x)})}, "['a'][1]['b']"),
    "whole numbers alone": (lambda x: x.flip(1).argmax(-1), ""),
    "truth values alone": (lambda x: x.flip(1) > 0, ""),
}


@pytest.mark.parametrize("name", LEAKS)
def test_an_output_that_leaks_is_found_wherever_it_is_returned(name):
    model, path = LEAKS[name]
    verdict = ap.check_model(model, x())
    assert verdict.status.name == "REFUTED", verdict
    assert verdict.details["output"] == verdict.witness.output == path
    assert verdict.witness.replay()
    again = ap.Verdict.from_json(verdict.to_json()).witness
    assert again == verdict.witness
    assert again.replay(model)
    assert verdict.witness.describe().startswith(f"output{path} at " if path else "output ")
    assert "cumsum" not in verdict.details["blame"]["entry"]["operation"]


def test_whole_numbers_that_keep_to_the_past_are_proved():
    verdict = ap.check_model(lambda x: (x.cumsum(1), x.cumsum(1).argmax(-1), x.cumsum(1) > 0), x())
    assert verdict.status.name == "PROVED", verdict
    assert verdict.details["outputs"] == ["[0]", "[1]", "[2]"]
    assert not verdict.details["unchecked"]


def test_whole_numbers_that_a_last_place_tips_refute_nothing():
    """A tie in a row that may not see the change breaks by rounding: x·1 − x is 0 but for rounding."""
    sums = lambda x: (x.cumsum(1), (x.sum(1, keepdim=True) * 0 + x.cumsum(1) / 3 * 3 - x.cumsum(1)).argmax(-1))  # noqa: E731
    assert ap.check_model(sums, x()).status.name != "REFUTED"


def test_outputs_without_a_place_for_every_query_are_named_and_an_assertion_warns_of_them():
    def model(x):
        return {"logits": x.cumsum(1), "loss": x.square().mean(), "pooled": x.mean(1)}

    verdict = ap.check_model(model, x())
    assert verdict.status.name == "PROVED"
    assert "checked is output['logits']; not checked: output['loss'], output['pooled']" in verdict.reasons
    with pytest.warns(UserWarning, match=r"not checked: output\['loss'\], output\['pooled'\]; outputs= says which"):
        ap.assert_causal(model, x())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ap.assert_causal(model, x(), outputs="logits")
    with pytest.raises(ap.NotProvedError, match=r"not checked: output\[3\]"):
        ap.assert_causal(lambda x: (x.flip(1), x, x, x.mean()), x())


CHOICES = {0: ["[0]"], 1: ["[1]"], "[1]": ["[1]"], (0, 1): ["[0]", "[1]"]}


@pytest.mark.parametrize("chosen", CHOICES)
def test_outputs_are_chosen_by_index_or_key(chosen):
    verdict = ap.check_model(lambda x: (x.cumsum(1), x.flip(1)), x(), outputs=chosen)
    assert verdict.details["outputs"] == CHOICES[chosen]
    assert verdict.status.name == ("PROVED" if chosen == 0 else "REFUTED")


BAD = {
    "an index too large": (2, r"outputs = 2 names no tensor among what the model returned; choose from output\['a'\]"),
    "no such key": ("c", r"outputs = 'c' names no tensor among what the model returned"),
    "nothing": ([], r"outputs = \[\] is no index or key; choose some outputs by index or key, or leave it out"),
    "no index": (1.5, r"outputs = 1.5 is no index or key"),
    "a truth value": ([True], r"outputs = True is no index or key"),
    "one that fits and one that does not": (("a", "b"), r"output_axis = 1 is no axis of output\['b'\]"),
    "no such axis": ("b", r"output_axis = 1 is no axis of output\['b'\], whose shape is \(\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_output_that_cannot_be_checked_is_said(name):
    chosen, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence):
        ap.check_model(lambda x: {"a": x.cumsum(1), "b": x.mean()}, x(), outputs=chosen)


def test_a_state_with_as_many_places_by_chance_is_no_output_of_queries():
    """The hidden state is (layers, batch, width): its axis 1 is as long as the sequence, and stays so for a shorter."""
    verdict = ap.check_model(nn.GRU(4, 4, batch_first=True), x(n=8, batch=8))
    assert verdict.status.name == "PROVED", verdict
    assert verdict.details["unchecked"] == ["[1]"]
    named = ap.check_model(nn.GRU(4, 4, batch_first=True), x(n=8, batch=8), outputs=1)
    assert named.status.name == "REFUTED"


def test_an_output_of_a_fixed_length_is_not_passed_over():
    def padded(x):
        return {"aux": x.cumsum(1), "logits": nn.functional.pad(x.flip(1), (0, 0, 0, 8 - x.shape[1]))}

    with pytest.raises(ap.causal.model.ModelError, match=r"has 8 places along axis 1 for 7 positions, too.*outputs="):
        ap.check_model(padded, x())
    assert ap.check_model(padded, x(), outputs="logits").status.name == "REFUTED"
    assert ap.check_model(padded, x(), outputs="aux").status.name == "PROVED"


def test_weights_of_as_many_heads_as_positions_are_no_output_of_queries():
    def weights(x):  # (batch, heads, queries, keys)
        return x.cumsum(1), (x @ x.mT).softmax(-1)[:, None].expand(-1, 8, -1, -1)

    verdict = ap.check_model(weights, x())
    assert verdict.status.name == "PROVED"
    assert verdict.details["unchecked"] == ["[1]"]


def test_a_model_that_runs_on_one_length_only_has_all_such_outputs_checked():
    verdict = ap.check_model(lambda x: (x.cumsum(1).reshape(2, 8, 4), x.new_zeros(1, 8) + x.mean()), x())
    assert verdict.status.name == "REFUTED"
    assert verdict.details["output"] == "[1]"


def test_a_relation_is_not_widened_by_laying_outputs_side_by_side():
    """Output 0 reads the first position, output 1 the last of the past; nobody reads what lies between."""
    matrix = torch.eye(8, dtype=torch.bool)
    matrix[:, 0] = True
    first = lambda x: (x[:, :1].expand_as(x), x * 2)  # noqa: E731
    assert ap.check_model(first, x(), boundary=ap.Boundary.relation(matrix.numpy())).status.name == "PROVED"


@dataclass
class Result:
    loss: None
    logits: torch.Tensor


class Pair(NamedTuple):
    logits: torch.Tensor
    weights: torch.Tensor


@pytest.mark.parametrize("wrap", [lambda y: {"logits": y}, lambda y: (y,), lambda y: Result(None, y), lambda y: [y, 3]])
def test_structured_outputs(wrap):
    assert status(lambda x: wrap(x.cumsum(1)), x()) == "PROVED"
    assert status(lambda x: wrap(x.flip(1)), x()) == "REFUTED"


def test_the_outputs_that_are_not_checked_are_named():
    verdict = ap.check_model(lambda x: Pair(x.cumsum(1), x.mean(1)), x())
    assert verdict.status.name == "PROVED"
    assert any("not checked: output.weights" in r for r in verdict.reasons), verdict


class Answer:
    def __init__(self, logits):
        self.logits = logits


HIDDEN = {
    "an object": lambda x: Answer(x.flip(1)),
    "a set": lambda x: {x.flip(1)},
    "a generator": lambda x: (t for t in [x.flip(1)]),
    "a function": lambda x: lambda: x,
    "objects in a dictionary": lambda x: {"head": [Answer(x.flip(1))]},
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_hides_in_an_object_is_named_and_warned_of(name):
    def model(x):
        return x.cumsum(1), HIDDEN[name](x)

    verdict = ap.check_model(model, x())
    assert len(verdict.details["unchecked"]) == 1
    assert any("not checked: output[1]" in reason for reason in verdict.reasons)
    with pytest.warns(UserWarning, match=r"not checked: output\[1\]"):
        ap.assert_causal(model, x())


def test_numbers_and_names_hide_nothing():
    verdict = ap.check_model(lambda x: (x.cumsum(1), None, 3, "a", torch.float32, x.shape, {"b": 2.0}), x())
    assert verdict.details["unchecked"] == []


def test_an_output_that_one_mode_alone_returns_is_named():
    class Model(nn.Module):
        def forward(self, x):
            return (x.cumsum(1), x.mean(1)[:, :2]) if self.training else (x.cumsum(1),)

    with pytest.warns(UserWarning, match=r"not checked: output\[1\]"):
        verdict = ap.assert_causal(Model(), x(), modes=("eval", "train"))
    assert verdict.details["unchecked"] == ["[1]"]


def test_an_output_that_grows_wider_with_its_values_is_refused_in_a_sentence():
    wide = lambda x: x.cumsum(1).repeat(1, 1, 1 + int(x[0, -1, 0] > 0))  # noqa: E731
    with pytest.raises(ValueError, match="has 16 numbers at a position on one input and 8 on another"):
        ap.check_model(wide, -x().abs())


class Pairs(list):
    pass


class Named(dict):
    pass


@pytest.mark.parametrize("kind", [lambda y: y, lambda y: Pairs([y]), lambda y: Named(a=y)])
def test_a_tensor_hung_on_what_is_returned_is_named_as_unchecked(kind):
    def model(x):
        result = kind(x.cumsum(1))
        result.aux = {"more": x.flip(1)}
        return result

    verdict = ap.check_model(model, torch.randn(1, 6, 3))
    assert verdict.details["unchecked"] == [".aux"]
    with pytest.warns(UserWarning, match=r"output\.aux"):
        ap.assert_causal(model, torch.randn(1, 6, 3))


def test_an_attribute_that_is_one_of_the_outputs_is_no_other():
    def model(x):
        result = Pairs([x.cumsum(1)])
        result.last = result[0]
        return result

    assert ap.check_model(model, torch.randn(1, 6, 3)).details["unchecked"] == []


@pytest.mark.parametrize("pooled", [lambda x: x.mean(1), lambda x: [y.cumsum(0) for y in x.unbind(1)]])
def test_a_vector_of_as_many_features_as_positions_is_not_taken_for_queries(pooled):
    square = x(n=4, d=4)
    with pytest.raises(ValueError, match="has 4 places along axis 1 for 3 positions, too"):
        ap.check_model(pooled, square)
    assert ap.check_model(lambda x: x.mean(1), square, outputs=0).status.name == "REFUTED"
    assert ap.check_model(lambda x: x.cumsum(1)[..., 0], square).status.name == "PROVED"
