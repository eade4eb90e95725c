"""Bad input gets one clear sentence, and nothing of the caller's is changed."""

from __future__ import annotations

import dataclasses

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")

from model_checks import status, x
from torch import nn


def broken(_):
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")


def cuda(x):
    raise AssertionError("Torch not compiled with CUDA enabled")


def growing(x):
    return x[:, : 8 if float(x[0, -1, 0]) == float(GIVEN[0, -1, 0]) else 7]


GIVEN = torch.randn(1, 8, 4, generator=torch.Generator().manual_seed(3))


class Holding(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


def first_of(layer):
    return lambda x: layer(x)[0]


BAD = {
    "no such axis": (
        lambda: ap.check_model(nn.Linear(4, 4), x(), sequence_axis=3),
        "sequence_axis = 3 is no axis of input 0",
    ),
    "empty axis": (lambda: ap.check_model(nn.Linear(4, 4), x(0)), "has no position along sequence_axis = 1"),
    "one position": (
        lambda: ap.check_model(nn.Linear(4, 4), x(1)),
        "input 0 of shape .1, 1, 4. has 1 position along axis 1, so that nothing comes later; name the axis of the "
        "positions with sequence_axis",
    ),
    "positions first": (
        lambda: ap.check_model(nn.TransformerEncoderLayer(4, 2, 8), torch.randn(8, 2, 4)),
        "TransformerEncoderLayer takes positions along axis 0 .batch_first=False.; pass sequence_axis=0, or 1 if you "
        "do mean the batch",
    ),
    "positions first within": (
        lambda: ap.check_model(nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4)), torch.randn(8, 2, 4)),
        "Sequential takes positions along axis 0 .batch_first=False.",
    ),
    "positions first in a module of one's own": (
        lambda: ap.check_model(Holding(nn.TransformerEncoderLayer(16, 2, 32)), torch.randn(10, 3, 16)),
        "Holding holds MultiheadAttention .inner.self_attn., which takes positions along axis 0 .batch_first=False.; "
        "pass sequence_axis=0, or 1 if the input has its positions there",
    ),
    "positions first behind a function": (
        lambda: ap.assert_causal(first_of(nn.LSTM(4, 4, bidirectional=True)), torch.randn(10, 3, 4)),
        "LSTM takes positions along axis 0 .batch_first=False.",
    ),
    "no position reads another": (
        lambda: ap.assert_causal(lambda x: x.flip(0).cumsum(0), torch.randn(10, 3, 4)),
        "sequence_axis was not named, and along axis 1 of input 0 no output depends on a position but its own; name "
        "the axis of the positions .sequence_axis=1 if the model does work position by position.",
    ),
    "nothing is read, in every length": (
        lambda: ap.check_model(lambda x: torch.zeros_like(x), x(), lengths=(1, 4)),
        "no output depends on a position but its own",
    ),
    "make_input given as an input": (
        lambda: ap.check_model(nn.Linear(4, 4), lambda n: x(n), lengths=(3, 5)),
        "input 0 is a function; pass it as make_input=, with lengths",
    ),
    "boundary of another length": (
        lambda: ap.check_model(nn.Linear(4, 4), x(), boundary=ap.Boundary.prefix(9)),
        "boundary speaks of n = 9 positions, the sequence axis has 8",
    ),
    "boundary with other queries": (
        lambda: ap.check_model(nn.Linear(4, 4), x(), boundary=ap.Boundary.prefix(8, queries=3)),
        "boundary has 3 queries, the output 8 positions along axis 1",
    ),
    "boundary of another type": (
        lambda: ap.check_model(nn.Linear(4, 4), x(), boundary=7),
        "boundary must be a Boundary, not int",
    ),
    "fewer outputs than positions": (
        lambda: ap.check_model(lambda x: x[:, 3:], x()),
        r"the output has 5 positions along axis 1 and the input 8; say where they stand",
    ),
    "more outputs than positions": (
        lambda: ap.check_model(lambda x: torch.cat([x, x], 1), x()),
        r"say what each may use with boundary=Boundary\.relation\(matrix\) of shape \(16, 8\)",
    ),
    "tokens without a bound": (
        lambda: ap.check_model(lambda t: t.float()[..., None], torch.randint(0, 5, (1, 8))),
        "holds whole numbers and no embedding tells their bound; pass vocabulary=",
    ),
    "tokens beyond the bound": (
        lambda: ap.check_model(nn.Embedding(9, 4), torch.full((1, 8), 7), vocabulary=5),
        "vocabulary = 5 but the input holds token 7; pass at least 8",
    ),
    "vocabulary of one": (
        lambda: ap.check_model(nn.Embedding(9, 4), torch.zeros(1, 8, dtype=torch.long), vocabulary=1),
        "vocabulary = 1 leaves nothing to vary",
    ),
    "output changes shape": (
        lambda: ap.check_model(growing, GIVEN),
        "must keep its shape when only values change",
    ),
    "no tensor": (lambda: ap.check_model(lambda x: "done", x()), "returned str and no tensor; wrap it"),
    "output without the axis": (
        lambda: ap.check_model(lambda x: x.sum(), x()),
        r"output_axis = 1 is no axis of output, whose shape is \(\)",
    ),
    "raises inside": (
        lambda: ap.check_model(broken, x()),
        "raised RuntimeError on these inputs .mat1 and mat2 shapes cannot be multiplied.; call it once yourself",
    ),
    "needs cuda": (lambda: ap.check_model(cuda, x()), "needs a CUDA kernel that does not run here"),
    "unknown mode": (
        lambda: ap.check_model(nn.Linear(4, 4), x(), modes="test"),
        "modes names 'test', which is no mode",
    ),
    "no mode": (lambda: ap.check_model(nn.Linear(4, 4), x(), modes=()), "modes is empty"),
    "unknown parameters": (
        lambda: ap.check_model(nn.Linear(4, 4), x(), parameters="some"),
        "parameters = 'some' is unknown; use 'any'",
    ),
    "vary out of range": (lambda: ap.check_model(nn.Linear(4, 4), x(), vary=2), "vary = 2 names none of the 1 inputs"),
    "vary without keywords": (lambda: ap.check_model(nn.Linear(4, 4), x(), vary="q"), "vary = 'q' is no keyword"),
    "varied input is no tensor": (
        lambda: ap.check_model(nn.Linear(4, 4), [1.0, 2.0]),
        "input 0 is list; the varied input must be a tensor",
    ),
    "varied input is an array": (
        lambda: ap.check_model(nn.Linear(4, 4), np.ones((1, 6, 4))),
        r"input 0 is ndarray; the varied input must be a tensor; pass torch.from_numpy\(…\), or jnp.asarray\(…\) to",
    ),
    "inputs in a tuple": (
        lambda: ap.check_model(nn.Linear(4, 4), (x(), x())),
        r"input 0 is tuple; the varied input must be a tensor; pass what it holds one by one, as in check_model\(model",
    ),
    "no input": (lambda: ap.check_model(nn.Linear(4, 4)), "no input was given; pass the model's inputs"),
    "lengths of nothing": (lambda: ap.check_model(nn.Linear(4, 4), x(), lengths=()), "lengths is empty"),
    "no length but 1": (lambda: ap.check_model(nn.Linear(4, 4), x(), lengths=(1, 1)), "lengths names 1 alone"),
    "length zero": (lambda: ap.check_model(nn.Linear(4, 4), x(), lengths=(0,)), "lengths names 0; pass whole numbers"),
    "lengths without a sequence": (
        lambda: ap.check_model(nn.Linear(4, 4), lengths=(4,)),
        r"lengths needs make_input\(n\) here",
    ),
    "make_input of another length": (
        lambda: ap.check_model(nn.Linear(4, 4), lengths=(5,), make_input=lambda n: x()),
        r"make_input\(5\) gave 8 positions along axis 1; make it give 5",
    ),
    "not callable": (lambda: ap.check_model("model", x()), "model must be callable, not str"),
    "unknown boundary text": (
        lambda: ap.check_model(nn.Linear(4, 4), x(), boundary="past"),
        "boundary 'past' is unknown",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence(name):
    call, sentence = BAD[name]
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_models_own_error_is_the_cause_and_shown_once():
    with pytest.raises(ap.causal.model.check.ModelError) as caught:
        ap.check_model(broken, x())
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert str(caught.value).count("mat1") == 1


def test_a_model_that_writes_into_its_input_gets_a_copy_and_is_named():
    def rude(x):
        x.mul_(2)
        return x.cumsum(1)

    given = x()
    before = given.clone()
    verdict = ap.check_model(rude, given)
    assert verdict.status.name == "PROVED"
    assert torch.equal(given, before)
    assert any("writes into its input 0; every run got a copy" in r for r in verdict.reasons)


class Counting(nn.Module):
    """Keeps a buffer, a plain tensor and a number from call to call."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.cache, self.calls = torch.zeros(3), 0

    def forward(self, x):
        self.seen += x.mean((0, 1))
        self.cache = torch.ones(3)
        self.calls += 1
        return x.cumsum(1) * self.calls


def test_state_that_a_call_changes_is_named_and_put_back():
    model = Counting()
    verdict = ap.check_model(model, x())
    assert any("changes the model's own" in r and "cache" in r and "seen" in r for r in verdict.reasons), verdict
    assert torch.equal(model.seen, torch.zeros(4))
    assert torch.equal(model.cache, torch.zeros(3))
    assert model.calls == 0


class Caching(nn.Module):
    """Keeps what it has seen in a dictionary, a list and a dataclass, and shows the future of an earlier call."""

    def __init__(self):
        super().__init__()
        self.cache, self.calls, self.held = {"sum": torch.zeros(4), "deep": [(torch.zeros(4),)]}, [0], Held()

    def forward(self, x):
        earlier = self.held.last
        self.cache["sum"] += x.sum((0, 1))
        self.cache["deep"][0][0].add_(1)
        self.cache["new"] = x
        self.calls.append(1)
        self.held.last = x
        return x.cumsum(1) * len(self.calls) + self.cache["deep"][0][0] + (0 if earlier is None else earlier.flip(1))


@dataclasses.dataclass
class Held:
    last: torch.Tensor | None = None


def test_state_inside_structures_is_named_and_put_back():
    model = Caching()
    cache, calls, held = model.cache, model.calls, model.held
    verdict = ap.check_model(model, x())
    assert verdict.status.name == "PROVED", verdict
    assert any("changes the model's own cache['deep'][0][0], cache['sum']" in r for r in verdict.reasons), verdict
    assert all(e.ok for e in verdict.evidence)
    assert not any("are rounding" in e.detail for e in verdict.evidence)  # every run started from the same state
    assert (model.cache is cache, model.calls is calls, model.held is held) == (True, True, True)
    assert list(cache) == ["sum", "deep"]
    assert not cache["sum"].any()
    assert not cache["deep"][0][0].any()
    assert calls == [0]
    assert held.last is None


def test_parameters_modes_and_defaults_are_untouched():
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1)).half().train()
    before = {k: (v, v.data_ptr(), v.clone()) for k, v in model.state_dict(keep_vars=True).items()}
    verdict = ap.check_model(lambda x: model(x.half()).flip(1), x(), modes=("eval", "train"))
    assert verdict.status.name == "REFUTED"
    for name, p in model.state_dict(keep_vars=True).items():
        kept, where, value = before[name]
        assert p is kept
        assert p.data_ptr() == where
        assert torch.equal(p, value)
        assert p.dtype is torch.float16
    assert all(m.training for m in model.modules())
    assert torch.get_default_dtype() is torch.float32
    assert torch.is_grad_enabled()


# -- the axis of positions ----------------------------------------------------------------------------------------


def test_a_named_axis_gives_the_verdict_and_says_that_no_position_reads_another():
    verdict = ap.check_model(nn.Linear(4, 4), x(), sequence_axis=1)
    assert verdict.headline() == "PROVED: Linear over 8 positions; no position reads another"
    both = ap.check_model(nn.Linear(4, 4), x(), sequence_axis=1, modes=("eval", "train"))
    assert both.headline().endswith("; no position reads another")
    over_batch = ap.check_model(Holding(nn.TransformerEncoderLayer(4, 2, 8)), torch.randn(8, 3, 4), sequence_axis=1)
    assert "no position reads another" in over_batch.headline()
    along = ap.check_model(Holding(nn.TransformerEncoderLayer(4, 2, 8)), torch.randn(8, 3, 4), sequence_axis=0)
    assert along.status.name == "REFUTED"


def test_one_length_that_is_shorter_than_a_dilation_is_no_reason_to_refuse():
    """Over 3 positions, a lag of 4 shows nothing of the past; over 8 it does."""
    lag = nn.Conv1d(4, 4, 2, dilation=4, padding=4)
    verdict = ap.check_model(lambda x: lag(x.mT)[..., :-4].mT, x(), lengths=(3, 8))
    assert verdict.status.name == "PROVED"
    assert "reads another" not in verdict.headline()


def test_a_boundary_that_allows_no_other_position_is_kept_by_reading_none():
    verdict = ap.check_model(nn.Linear(4, 4), x(), boundary=ap.Boundary.documents([1] * 8))
    assert verdict.status.name == "PROVED"


# -- lengths and axes -----------------------------------------------------------------------------------------------


def switching(x):
    """Causal below 12 positions, and a leak above, as some sparse attention is."""
    return x.cumsum(1) if x.shape[1] < 12 else x.cumsum(1) + x.mean(1, keepdim=True)


def test_lengths_find_an_algorithm_that_switches():
    assert status(switching, x()) == "PROVED"
    verdict = ap.check_model(switching, x(), lengths=(8, 16))
    assert verdict.status.name == "REFUTED"
    assert [(r["n"], r["status"]) for r in verdict.details["runs"]] == [(8, "PROVED"), (16, "REFUTED")]
    assert verdict.boundary.n == 16


def test_lengths_with_make_input():
    made = []

    def make_input(n):
        made.append(n)
        return torch.randn(1, n, 4)

    verdict = ap.check_model(lambda x: x.cumsum(1), lengths=(4, 6), make_input=make_input, boundary="strict")
    assert made == [4, 6]
    assert verdict.status.name == "REFUTED"  # a cumulative sum holds its own position
    assert status(lambda x: x.cumsum(1), lengths=(4, 6), make_input=make_input, boundary=ap.Boundary.prefix) == "PROVED"


def test_axes():
    assert status(lambda x: x.cumsum(0), torch.randn(8, 3), sequence_axis=0) == "PROVED"
    assert status(lambda x: x.cumsum(-1).mT, torch.randn(1, 3, 8), sequence_axis=2, output_axis=1) == "PROVED"
    assert status(lambda x: x.cumsum(-1), torch.randn(1, 3, 8), sequence_axis=-1, output_axis=-1) == "PROVED"
    assert status(lambda x: x.flip(-1), torch.randn(1, 3, 8), sequence_axis=-1) == "REFUTED"
