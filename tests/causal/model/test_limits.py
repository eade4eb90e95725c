"""What ends a search for a leak is a count, or the seconds a caller names; and what the runs beside a proof look at."""

from __future__ import annotations

import itertools
import re
import time

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.trace import Rule
from torch import nn


def reversed_sum(x):
    return x.flip(1).cumsum(1).flip(1)


def opaque(x):
    """Causal, and too wide for the abstract run: a leak is looked for in vain."""
    mean = x.mean(1, keepdim=True)
    return x + (mean - mean)


# -- limits ---------------------------------------------------------------------------------------------------------


def test_a_machine_however_slow_finds_the_leak(monkeypatch):
    hours = itertools.count(step=3600.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(hours))
    monkeypatch.setattr(time, "perf_counter", lambda: next(hours))
    assert ap.check_model(reversed_sum, torch.randn(1, 8, 4)).status.name == "REFUTED"


def test_a_search_that_tries_end_says_so():
    verdict = ap.check_model(opaque, torch.randn(1, 8, 4), tries=3)
    assert verdict.status.name == "UNDECIDED"
    assert any("stopped by tries = 3" in reason for reason in verdict.reasons), verdict.reasons
    assert not any("stopped" in reason for reason in ap.check_model(opaque, torch.randn(1, 8, 4)).reasons)


def test_a_search_in_vain_is_short_unless_tries_ask_for_more():
    told = []
    x = torch.randn(1, 16, 4)
    short = ap.check_model(opaque, x, progress=lambda forwards, setting: told.append((forwards, setting)))
    most = short.details["runs"][0]["forwards"]
    assert most <= 36, most
    assert [k for k, _ in told] == list(range(1, most))
    assert {setting for _, setting in told} == {"float64", "as given"}
    assert any("at 15 of 15 cuts (float64, as given); tries=1000 looks further" in r for r in short.reasons)
    long = ap.check_model(opaque, x, tries=1000)
    assert long.details["runs"][0]["forwards"] >= 75
    assert not any("looks further" in reason for reason in long.reasons), long.reasons


def test_a_leak_that_shows_at_one_cut_of_many_is_found_by_more_tries():
    def model(x):
        y = x.cumsum(1)
        return torch.cat([y[:, :20], y[:, 21:22], y[:, 21:]], 1)  # position 20 has a look at the next one

    x = torch.randn(1, 64, 2)
    assert ap.check_model(model, x).status.name == "REFUTED"  # the abstract run names the one pair
    assert ap.check_model(lambda x: opaque(model(x)), x).status.name == "UNDECIDED"
    assert ap.check_model(lambda x: opaque(model(x)), x, tries=1000).status.name == "REFUTED"


def test_what_rounding_does_to_the_unchanged_input_is_measured_once():
    torch.manual_seed(0)
    verdict = ap.check_model(lambda x: x + x.flip(1).view(torch.int32) % 3, torch.randn(1, 8, 4))
    assert verdict.status.name == "UNDECIDED"  # whatever moves the bits, rounding moves them, too
    assert verdict.details["runs"][0]["forwards"] <= 200  # 288 where it is measured at every cut


def test_a_search_that_the_budget_ends_says_so():
    verdict = ap.check_model(opaque, torch.randn(1, 8, 4), budget=1e-6)
    assert verdict.status.name == "UNDECIDED"
    assert any("stopped by budget = 1e-06 seconds" in reason for reason in verdict.reasons), verdict.reasons


def test_no_budget_is_too_short_for_a_proof():
    assert ap.check_model(lambda x: x.cumsum(1), torch.randn(1, 8, 4), budget=1e-6, tries=1).status.name == "PROVED"


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"tries": 0}, "tries = 0 is no number of forwards; pass a whole number of at least 1"),
        ({"tries": 2.5}, "tries = 2.5 is no number of forwards; pass a whole number of at least 1"),
        ({"budget": 0}, "budget = 0 is no number of seconds; pass one above 0, or None for no limit"),
        ({"budget": "1 s"}, "budget = '1 s' is no number of seconds; pass one above 0, or None for no limit"),
    ],
)
def test_other_limits_are_one_sentence(limits, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        ap.check_model(reversed_sum, torch.randn(1, 8, 4), **limits)


# -- the runs beside a proof, held against rules that are wrong -------------------------------------------------------


@torch.library.custom_op("attnproof_limits::neighbour", mutates_args=())
def neighbour(x: torch.Tensor) -> torch.Tensor:
    """The second position is added to the first."""
    y = x.clone()
    y[:, 0] += x[:, 1]
    return y


@torch.library.custom_op("attnproof_limits::gated", mutates_args=())
def gated(x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    """Everything is added everywhere, times a gate."""
    return x + gate * x.flip(1)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return gated(x, self.gate)


WRONG = [Rule(("attnproof_limits::neighbour", "attnproof_limits::gated"), lambda call: call["x"].shadow)]


def test_a_rule_that_is_wrong_at_the_first_cut_is_contradicted():
    verdict = ap.check_model(neighbour, torch.randn(1, 8, 4), rules=WRONG)
    assert verdict.status.name == "REFUTED", verdict
    assert (verdict.witness.query, verdict.witness.position) == (0, 1)
    assert any("the abstract run claims otherwise" in reason for reason in verdict.reasons)


def test_a_rule_that_is_wrong_for_other_parameters_is_contradicted():
    verdict = ap.check_model(Gated(), torch.randn(1, 8, 4), rules=WRONG)
    assert verdict.status.name == "REFUTED", verdict
    assert verdict.witness.setting.jitter
    assert (
        ap.check_model(Gated(), torch.randn(1, 8, 4), rules=WRONG, parameters="stored", sequence_axis=1).status.name
        == "PROVED"
    )


def test_one_run_beside_a_proof_without_values_and_more_beside_one_with():
    layer = nn.Linear(4, 4)
    verdict = ap.check_model(lambda x: layer(x).cumsum(1), torch.randn(1, 8, 4))
    assert any("a run of the model itself agrees with it" in e.detail for e in verdict.evidence), verdict.evidence
    assert verdict.details["runs"][0]["forwards"] == 2
    with_values = with_autocast(lambda x: layer(x).cumsum(1).float())
    verdict = ap.check_model(with_values, torch.randn(1, 8, 4))
    assert any("6 runs of the model itself" in e.detail for e in verdict.evidence), verdict.evidence
    verdict = ap.check_model(with_autocast(lambda x: x.cumsum(1)), torch.randn(1, 8, 4))
    assert any("4 runs of the model itself" in e.detail for e in verdict.evidence), verdict.evidence


def with_autocast(model):
    """The model, in a context that needs values."""

    def wrapped(x):
        with torch.autocast("cpu"):
            return model(x)

    return wrapped


def test_a_proof_without_values_is_denied_by_the_run_beside_it():
    def model(x):  # told what no program should ask: that it is run without data
        return x.cumsum(1) if "Meta" in str(torch._C._dispatch_keys(x)) else x.flip(1)

    verdict = ap.check_model(model, torch.randn(1, 8, 4))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert any("claims otherwise" in r for r in verdict.reasons), verdict.reasons


@pytest.mark.parametrize("factor", [torch.inf, torch.nan, 1e30])
def test_a_number_that_is_not_finite_asks_for_the_run_with_values(factor):
    def model(x):  # an exact 0 kills what lies ahead, as long as that is finite
        ahead = (x.abs() + 1) * factor * 1e30
        return x.cumsum(1) + torch.zeros(8, 8) @ ahead

    verdict = ap.check_model(model, torch.randn(1, 8, 4))
    assert verdict.status.name == "UNDECIDED", verdict
    assert any("meets a number that is not finite" in r for r in verdict.reasons), verdict.reasons
    assert ap.check_model(model, torch.randn(1, 8, 4), replay="never").status.name == "PROVED"


def test_a_mask_of_minus_infinity_asks_for_no_values():
    mask = torch.full((8, 8), -torch.inf).triu(1)
    verdict = ap.check_model(lambda x: (x @ x.mT + mask).softmax(-1) @ x, torch.randn(1, 8, 4))
    assert verdict.status.name == "PROVED"
    assert any("without values" in e.detail for e in verdict.evidence), verdict.evidence


def test_no_run_beside_a_proof_where_none_is_wanted_and_none_computes_values():
    verdict = ap.check_model(nn.GRU(4, 4, batch_first=True), torch.randn(1, 8, 4), replay="never", outputs=0)
    assert verdict.status.name == "PROVED"
    assert verdict.details["runs"][0]["forwards"] == 0
    assert any("it ran the program without values" in e.detail for e in verdict.evidence), verdict.evidence
    assert any("the model itself was not run" in e.detail for e in verdict.evidence), verdict.evidence


def test_autocast_leaves_tensors_without_data_as_they_are_and_so_is_run_with_values():
    def model(x):
        with torch.autocast("cpu"):
            return x.cumsum(1)

    verdict = ap.check_model(model, torch.randn(1, 8, 4), replay="never")
    assert verdict.status.name == "PROVED"
    assert any("with values, because of torch.autocast" in e.detail for e in verdict.evidence), verdict.evidence
    assert any("the model itself was not compared with other runs" in e.detail for e in verdict.evidence)


def test_what_a_call_leaves_is_a_condition_where_no_later_call_is_run():
    kept = [torch.zeros(1, 8, 4)]

    def model(x):
        y = x.cumsum(1) + kept[0]
        kept[0] = x.detach()
        return y

    verdict = ap.check_model(model, torch.randn(1, 8, 4), replay="never")
    assert verdict.status.name == "PROVED_IF"
    assert any("every call starts from the state as given" in c.text for c in verdict.conditions)
