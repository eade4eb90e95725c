"""The ledger: every entry once, under the place where it was made first, in words that people can check."""

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import FIXED, uniform
from attnproof.causal.model.trace.ledger import Ledger
from attnproof.causal.model.trace.memory import Memory


class Here:
    """Stands for `location.Places`: the program is always at one place."""

    def __init__(self, module="block", line="model.py:7"):
        self.module, self.line = lambda: module, lambda: line


def ledger(**place):
    return Ledger(Here(**place), last=5)


def test_a_read_of_constants_is_none_and_of_parameters_another_than_of_the_input():
    book = ledger()
    book.read("constant", [uniform((2,), FIXED)])
    assert not book.reads
    book.read("weight", [uniform((2,))])
    book.read("number", [uniform((2,), FIXED), uniform((), 0, 1, 3)])
    book.read("number", [uniform((), 0, 0, 5)])
    found = [(r.operation.name, r.source, r.earliest, r.latest) for r in book.reads.values()]
    assert found == [("weight", "parameters", None, None), ("number", "input", 1, 3)]


def test_what_is_not_seen_may_read_everything():
    book = ledger()
    book.unseen("another thread")
    (read,) = book.reads.values()
    assert (read.source, read.earliest, read.latest) == ("input", 0, 5)
    assert str(read.operation) == "another thread in block (model.py:7)"


@pytest.mark.parametrize(
    ("name", "dtype", "alone", "text"),
    [
        ("aten._softmax", "float32", False, "every masked score by more than 104 (float32)"),
        ("aten._softmax", "float64", False, "every masked score by more than 746 (float64)"),
        ("aten._softmax", "bfloat16", False, "every masked score by more than 104 (bfloat16)"),
        ("aten.exp", "bfloat16", True, "every masked value is below −94 (bfloat16)"),
        ("aten.exp", "float16", True, "every masked value is below −18 (float16)"),
        ("aten.exp", "float64", True, "every masked value is below −746 (float64)"),
        ("aten.relu", "float32", True, "every masked value is at most 0"),
        ("aten.sigmoid", "float32", True, "every masked value is so low that the result is exactly 0 (float32)"),
    ],
)
def test_a_finite_mask_says_how_far_below_is_far_enough(name, dtype, alone, text):
    book = ledger()
    for _ in range(2):
        book.finite_mask(name, dtype, -1e9, alone)
    (condition,) = book.conditions.values()
    assert condition.text.startswith(f"in {name} at model.py:7 (block), ")
    assert condition.text.endswith(f"{text}; the mask adds or sets -1e+09")


def test_parameters_behind_zeros_and_behind_values_are_kept_apart():
    book = ledger()
    memory = Memory(4, sources=frozenset("w"), valued=frozenset("v"))
    book.zeros_of(None)
    book.zeros_of(memory)
    assert (book.parameter_zeros, book.parameter_values) == ({"w"}, {"v"})
    book.values_of(memory)
    assert book.parameter_values == {"w", "v"}


def test_an_entry_stands_once_at_its_place():
    book = ledger(module="")
    for _ in range(2):
        book.broken("aten.mul")
        book.without_rule("mylib.scan", "reads all")
        book.starved("aten._softmax", np.ones(3, bool))
        book.nonzero_denominator("aten.div")
        book.assume("draws are the same")
    assert [str(o) for o in book.breaches.values()] == ["aten.mul (model.py:7)"]
    assert [str(o) for o in book.unknown.values()] == ["mylib.scan (model.py:7): reads all"]
    assert [c.text for c in book.conditions.values()] == ["the denominator at model.py:7 is never 0"]
    assert len(book.rows) == len(book.assumptions) == 1
