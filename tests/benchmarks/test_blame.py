"""A part of `python -m benchmarks.blame`: every kind of fault in one layer of an architecture."""

from __future__ import annotations

import pytest
from by_path import benchmark
from needs import need

need("torch")
need("transformers")

blame = benchmark("blame")


@pytest.mark.parametrize(
    ("name", "layer", "kind"), [*(("llama", 1, kind) for kind in blame.FAULTS), ("gpt2", 2, "shift")]
)
def test_a_planted_fault_is_refuted_and_blamed_on_its_layer_operation_and_line(name, layer, kind):
    model, of_layers, layers = blame.architecture(name)
    fault = blame.FAULTS[kind]
    blame.planted(layers[layer], fault)
    found = blame.answer(model, of_layers, layer, fault)
    assert found.refuted
    assert found.layer, found
    assert found.line, found


def test_an_answer_is_wrong_where_the_line_is_another():
    model, of_layers, layers = blame.architecture("gpt2")
    blame.planted(layers[1], blame.FAULTS["mean"])
    found = blame.answer(model, of_layers, 2, blame.FAULTS["block mean"])
    assert (found.refuted, found.layer, found.line) == (True, False, False)
