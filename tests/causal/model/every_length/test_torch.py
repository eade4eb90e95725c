"""`lengths="all"` for models of PyTorch: what is proved, what leaks at some length, and what a record cannot say."""

from __future__ import annotations

from by_path import benchmark
from needs import need

need("torch")
need("jax")
need("z3")
need("cvc5")

import functools
from dataclasses import replace
from types import SimpleNamespace

import attnproof as ap
import length_steps_torch as steps
import pytest
import torch
from attnproof.causal.model.setting import ModelError
from length_models_torch import MODELS, D, given, masked
from torch import nn
from torch.nn import functional as F

fuzz = benchmark("fuzz_lengths")


def checked(model, x=None, **keywords):
    x = given("full") if x is None else x
    return ap.check_model(model, x, sequence_axis=1, lengths="all", tries=60, **keywords)


@pytest.mark.parametrize("name", MODELS)
def test_proved_for_every_length(name):
    verdict = checked(MODELS[name][0](False), given(name))
    assert verdict.status.name in ("PROVED", "PROVED_IF"), verdict.reasons
    assert verdict.about.endswith(MODELS[name][1]), verdict.about
    assert any("torch.export" in a and "model's own outputs at n = " in a for a in verdict.assumptions)
    assert any(e.kind == "solver" and e.ok for e in verdict.evidence)


@pytest.mark.parametrize("name", MODELS)
def test_a_leaking_twin_is_refuted_at_one_length(name):
    verdict = checked(MODELS[name][0](True), given(name))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


def test_a_leak_that_the_length_given_does_not_show():
    verdict = checked(lambda x: torch.where(torch.arange(x.shape[1])[:, None] < 16, x.cumsum(1), x.roll(-1, 1)))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert verdict.witness.query >= 16


@pytest.mark.parametrize(("rule", "boundary", "status"), [
    (lambda i, j: j < i, "strict", "PROVED"),
    (lambda i, j: j <= i, "strict", "REFUTED"),
    (lambda i, j: j + 3 <= i, "lag:3", "PROVED"),
    (lambda i, j: (j <= i) & (j // 4 == i // 4), "documents-of:4", "PROVED"),
    (lambda i, j: (j <= i) & (j // 5 == i // 5), "documents-of:4", "REFUTED"),
    (lambda i, j: j // 4 <= i // 4, "blocks:4", "PROVED"),
])  # fmt: skip
def test_other_boundaries(rule, boundary, status):
    def model(x):
        t = torch.arange(x.shape[1])
        return rule(t[:, None], t[None, :]).float() @ x

    verdict = checked(model, boundary=boundary)
    assert verdict.status.name == status, verdict.reasons


def test_a_row_that_sees_nothing_reads_everything():
    """A finite mask over blocks of which none is complete for the first positions: a softmax of equals."""
    assert checked(masked(lambda i, j: j // 4 < i // 4, -1e30)).status.name == "REFUTED"


@pytest.mark.parametrize("how", ["less", "negated", "maximum", "log", "twice", "asked", "bytes", "product"])
def test_masks_as_people_write_them(how):
    """Each hides what it should, and no more: one that hides less reads ahead in the bound as well."""
    for ahead in (0, 1):

        def scored(x, ahead=ahead):
            mask = torch.ones(x.shape[0], x.shape[0]).tril(ahead) == 1
            return steps.spelled(how, x @ x.T, mask).softmax(-1) @ x

        proof = fuzz.torch_proof(scored, fuzz.RANGES[0])
        assert proof.latest(9).tolist() == [t + ahead for t in range(9)]
        assert proof.closed == (ahead == 0)


def test_a_mask_that_is_too_weak_hides_nothing():
    """A number above −100 lowers nothing, and neither does one that is taken back."""
    for weak in (lambda s, f: s - 50 * (1 - f), lambda s, f: s - 1e9 * (1 - f) + 1e9 * (1 - f)):
        proof = fuzz.torch_proof(
            lambda x, weak=weak: weak(x @ x.T, torch.ones(x.shape[0], x.shape[0]).tril()).softmax(-1) @ x,
            fuzz.RANGES[0],
        )
        assert proof.latest(9).min() == 8


@pytest.mark.parametrize("model", [
    lambda x: F.max_pool1d(F.pad(x.T[None], (3, 0)), 2, 1, dilation=3)[0].T,
    lambda x: F.max_pool1d(F.pad(x.T[None], (1, 0)), 2, 1, 0, 1, True, True)[0][0].T,
    lambda x: F.max_pool1d_with_indices(F.pad(x.T[None], (1, 0)), 2, 1)[1][0].T / 7,
    lambda x: torch.take_along_dim(x[:, None], torch.arange(x.shape[0])[:, None, None] // 2, 0)[:, 0],
    lambda x: torch.take_along_dim(x.reshape(-1), torch.arange(x.shape[0]) // 2)[:, None],
])  # fmt: skip
def test_functions_that_are_recorded_in_other_words(model):
    proof = fuzz.torch_proof(model, fuzz.RANGES[0])
    assert proof is not None
    assert proof.closed


def test_symbols_are_keys_of_caches_for_one_recording_only():
    @functools.lru_cache
    def mask(n):
        return torch.ones(n, n).tril()

    for _ in range(2):
        assert checked(lambda x: mask(x.shape[1]) @ x).status.name == "PROVED"
    assert (mask(12) == torch.ones(12, 12).tril()).all()
    with pytest.raises(TypeError):
        hash(torch.fx.experimental.symbolic_shapes.ShapeEnv().create_unbacked_symint())


def test_zeros_of_weights_that_a_mask_hides_may_have_either_sign():
    """Only the sign of a zero tells what stands under hidden taps; to divide by it is not followed."""
    hidden = torch.tensor([1.0, 0.0]).expand(4, 4, 2) * 0
    proof = fuzz.torch_proof(lambda x: 1 / F.conv1d(F.pad(x.T[None], (0, 1)), hidden)[0].T, fuzz.RANGES[0])
    assert not proof.closed


# -- what Python asks of the length -----------------------------------------------------------------------------------


def looped(x):
    h, rows = 0, []
    for t in range(x.shape[1]):
        h = h + x[:, t]
        rows.append(h)
    return torch.stack(rows, 1)


def grown(x):
    b, n, _ = x.shape
    return x.view(b, 4, n // 4, D).cumsum(2).reshape(b, n, D)


@pytest.mark.parametrize(("model", "why"), [
    (looped, "Python reads the length as a number"),
    (lambda x: x.cumsum(1) if {16: True}.get(x.shape[1]) is None else x.flip(1), "Python looks the length up"),
    (lambda x: x.cumsum(1) * {12: 2.0}[x.shape[1]], "Python looks the length up"),
    (lambda x: x.cumsum(1) if (x.shape[1] // 3) % 7 != 6 else x.flip(1), "what was recorded holds only where"),
    (lambda x: x.cumsum(1) if torch.arange(x.shape[1]).sum() > 1 else x, "depends on the numbers in a tensor"),
    (grown, "for every length it is open"),
])  # fmt: skip
def test_what_a_record_cannot_say_of_all_lengths(model, why):
    verdict = checked(model)
    assert verdict.status.name in ("UNDECIDED", "PROVED_IF"), verdict.about
    assert why in verdict.reasons[0]


def test_guards_are_the_range():
    """Branches of Python are decided at the length given, and the proof says for which lengths that is right."""
    verdict = checked(lambda x: x.cumsum(1) * 2 if x.shape[1] > 20 else x.cumsum(1))
    assert verdict.about.endswith("every n ≥ 2 and n ≤ 20")
    assert verdict.status.name == "PROVED_IF"
    assert verdict.conditions[0].text.endswith("those that were proved, every n ≥ 2 and n ≤ 20")
    verdict = checked(lambda x: x.cumsum(1) * 2 if x.shape[1] < 4 else x.cumsum(1))
    assert (verdict.status.name, verdict.about.endswith("every n ≥ 4")) == ("PROVED", True)


@pytest.mark.parametrize("model", [
    lambda x: x.flip(1) if x.shape[1] > 20 else x.cumsum(1),
    lambda x: x.flip(1) if x.shape[1] < 4 else x.cumsum(1),
    lambda x: x.flip(1) if x.shape[1] % 4 == 3 else x.cumsum(1),
    lambda x: torch.cat([x[:, :14].cumsum(1), x[:, 14:].flip(1)], 1),
])  # fmt: skip
def test_lengths_that_a_record_leaves_out_are_looked_at(model):
    """A program that does something else there is no proof for all lengths."""
    verdict = checked(model)
    assert verdict.status.name == "REFUTED", verdict.headline()
    assert verdict.witness.replay()


def test_a_table_that_ends_is_part_of_the_claim_of_every_remainder():
    from attnproof.causal.model.every_length.check import Everywhere, said_range
    from attnproof.causal.model.every_length.lengths import Lengths

    proofs = [SimpleNamespace(lengths=Lengths(2, r, 2, 63)) for r in (0, 1)]
    assert said_range(Everywhere(tuple(proofs))) == "every n ≥ 4 and n ≤ 63"


def test_other_inputs_that_grow_are_made():
    def model(x, scale):
        return x.cumsum(1) * scale[:, :, None]

    with pytest.raises(ModelError, match=r"pass make_input\(n\)"):
        ap.check_model(model, given("full"), torch.ones(1, 12), lengths="all")
    verdict = ap.check_model(model, lengths="all", make_input=lambda n: (torch.ones(1, n, D), torch.ones(1, n)))
    assert verdict.about.endswith("every n ≥ 2")
    made = {"make_input": lambda n: (torch.ones(1, n, D), torch.ones(1, n // 4 * 4))}
    with pytest.raises(ModelError, match="grows with n at some lengths alone"):
        ap.check_model(lambda x, y: x.cumsum(1) * y.mean(), lengths="all", **made)


def test_modes_are_recorded_apart():
    class Dropped(nn.Module):
        def __init__(self):
            super().__init__()
            self.some = nn.Dropout(0.5)

        def forward(self, x):
            return self.some(x).cumsum(1) if self.training else x.cumsum(1)

    verdict = checked(Dropped(), modes=("eval", "train"))
    assert verdict.status.name == "PROVED", verdict.reasons
    assert len(verdict.details["every_length"]["ranges"]) == 2


# -- faults that are planted, each of which shows ---------------------------------------------------------------------


def test_a_record_that_is_not_the_model_is_seen():
    """A symbol is no int of Python's."""
    verdict = checked(lambda x: x.cumsum(1) + isinstance(x.shape[1], int))
    assert verdict.status.name == "UNDECIDED"
    assert "gives other outputs than the model at n = 12" in verdict.reasons[0]


def test_a_fault_in_a_lowering_leaves_it_open(monkeypatch):
    from attnproof.causal.model.every_length.aten.walk import LOWERINGS  # with every table filled

    monkeypatch.setitem(LOWERINGS, "tanh.default", lambda op: 1 // 0)
    verdict = checked(masked(lambda i, j: j <= i))
    assert verdict.status.name == "UNDECIDED"
    assert "ZeroDivisionError" in verdict.reasons[0]


def test_a_lowering_that_says_too_little_is_seen(monkeypatch):
    """The bound at the length given lies below that of the run there."""
    from attnproof.causal.model.every_length.aten.walk import LOWERINGS  # with every table filled

    monkeypatch.setitem(LOWERINGS, "tanh.default", lambda op: op.noise(0))
    verdict = checked(lambda x: torch.tanh(x.cumsum(1)))
    assert verdict.status.name == "UNDECIDED"
    assert "bug in a rule" in verdict.reasons[0]


def test_a_kept_table_with_one_wrong_number_is_no_mask():
    model = MODELS["kept mask"][0](False)
    model.seen[0, 0, 40, 50] = 1.0  # behind what the length given shows
    verdict = checked(model, given("kept mask"))
    assert verdict.status.name in ("UNDECIDED", "REFUTED"), verdict.about


def test_a_guard_that_is_not_looked_at_is_seen(monkeypatch):
    """A branch of Python that is right at the length given, claimed for all: the model there says otherwise."""
    from attnproof.causal.model.every_length.aten import front

    kept = front.recorded
    monkeypatch.setattr(front, "recorded", lambda *given: replace(kept(*given), guards=(), least=2))
    verdict = checked(lambda x: x.cumsum(1) if x.shape[1] > 3 else 2 * x.cumsum(1))
    assert verdict.about.endswith("every n ≥ 4")  # as the outputs at two and three positions deny the others


def test_random_programs_read_nothing_later_than_their_bounds():
    followed = [fuzz.torch_case(seed) for seed in (14, 16, 211)]
    assert [c.name for c in followed if c.wrong] == []
    assert all(c.proof is not None for c in followed)


def test_a_position_that_a_large_constant_shows_again_is_found():
    def shown(x):
        t = torch.arange(x.shape[1])
        scores = x @ x.mT + (t > t[:, None]).float() * -1e9
        return (scores + 1e9 * (t == 17)).softmax(-1) @ x

    verdict = ap.check_model(shown, torch.randn(1, 12, 4), lengths="all")
    assert verdict.status.name == "REFUTED", verdict


def test_the_larger_of_what_is_hidden_is_hidden():
    """−∞ that is moved up to a mask's number is as low as the mask; a score that is, is a score."""
    from attnproof.causal.model.every_length import elementwise
    from attnproof.causal.model.every_length.integers import FALSE, TRUE
    from attnproof.causal.model.every_length.shadow import LengthShadow, constant

    mask = constant((3,), low=TRUE, number=-1e30)
    hidden = elementwise.larger((3,), constant((3,), neginf=TRUE), mask)
    score = elementwise.larger((3,), LengthShadow((3,)), mask)
    assert (hidden.low, hidden.unseen) == (TRUE, FALSE)
    assert (score.low, score.unseen) == (FALSE, FALSE)
