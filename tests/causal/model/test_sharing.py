"""What lies in the memory of the varied input keeps its values in every run: a proof says so."""

from __future__ import annotations

import numpy as np
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import assert_causal, check_model
from attnproof.causal.model.sharing import shared
from attnproof.causal.model.trace.subject import Subject
from torch import nn

BASE = torch.linspace(-1, 1, 36).sin().reshape(1, 9, 4)
ARRAY = np.linspace(-1, 1, 32).astype(np.float32).reshape(1, 8, 4)


class Buffered(nn.Module):
    def __init__(self, held):
        super().__init__()
        self.register_buffer("held", held)

    def forward(self, x):
        return x.cumsum(1) + self.held.flip(1)


def teacher_forcing(x, target):
    return x.cumsum(1) - target


def test_another_input_in_the_same_memory_is_a_condition():
    verdict = check_model(teacher_forcing, BASE[:, :-1], BASE[:, 1:])
    assert verdict.status.name == "PROVED_IF"
    assert [c.text for c in verdict.conditions] == [
        "input 1, which shares memory with input 0, keeps its values (pass a clone to mean that)"
    ]
    assert assert_causal(teacher_forcing, BASE[:, :-1], BASE[:, 1:].clone())
    assert assert_causal(teacher_forcing, BASE[:, :4], BASE[:, 4:8])  # one storage, and no byte in common


def test_the_very_same_tensor_is_replaced_with_it():
    x = BASE.clone()
    assert check_model(lambda x, y: x.cumsum(1) + y, x, x).status.name == "PROVED"
    assert check_model(lambda x, y: x.cumsum(1) + y.flip(1), x, x).status.name == "REFUTED"


@pytest.mark.parametrize("given", [{"y": BASE}, {"y": {"z": [BASE[:, 1:]]}}])
def test_nested_inputs_are_looked_into(given):
    subject = Subject(lambda x, y: x, (BASE[:, 1:-1],), given)
    assert [what[:7] for what in shared(subject)] == ["input y"]


def test_what_the_model_holds_in_the_same_memory_is_a_condition():
    x, held = torch.from_numpy(ARRAY), BASE[:]
    named = [
        (Buffered(BASE[:]), BASE, "Buffered.held"),
        (lambda x: x.cumsum(1) + held.flip(1), BASE, "the model's own tensor of shape (1, 9, 4)"),
        (lambda x: x.cumsum(1) + torch.tensor(ARRAY), x, "the model's own array of shape (1, 8, 4)"),
    ]
    for model, given, name in named:
        verdict = check_model(model, given)
        assert verdict.status.name == "PROVED_IF", verdict
        assert any(c.text.startswith(f"{name}, which shares memory with input 0") for c in verdict.conditions), verdict


def test_what_exporting_remembers_of_its_example_is_not_the_models():
    class Sum(nn.Module):
        def forward(self, x):
            return x.cumsum(1)

    exported = torch.export.export(Sum(), (BASE,)).module()
    verdict = check_model(exported, BASE, parameters="stored")
    assert verdict.status.name == "PROVED", verdict


def test_a_global_with_the_name_of_an_attribute_is_not_the_models():
    class Text:
        BASE = 2.0

    assert check_model(lambda x: x.cumsum(1) * Text.BASE, BASE).status.name == "PROVED"
