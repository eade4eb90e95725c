"""The witness of a leaking model: written to JSON, read back, replayed in the precision that it was found in."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from model_checks import x


def test_json_round_trip_and_replay_with_the_program_given():
    def shift(x):
        return x.roll(-1, 1)

    verdict = ap.check_model(shift, x())
    back = ap.Verdict.from_json(verdict.to_json())
    assert back.status is verdict.status
    assert back.witness == verdict.witness
    assert back.witness.replay(shift)
    assert not back.witness.replay(lambda x: x.cumsum(1))
    with pytest.raises(ValueError, match=r"read back without its model; pass it: witness\.replay\(model\)"):
        back.witness.replay()


def test_json_round_trip_with_other_inputs_and_keywords():
    memory = torch.randn(1, 3, 4)

    def model(x, memory, scale=None):
        return (x + memory.sum(1, keepdim=True)).flip(1) * scale

    verdict = ap.check_model(model, x(), memory, {"scale": torch.tensor(2.0)})
    assert verdict.status.name == "REFUTED"
    back = ap.Verdict.from_json(verdict.to_json())
    assert back.witness.replay(model)
    assert back.witness.replay(model, x(), memory, {"scale": torch.tensor(3.0)})


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.complex64])
def test_every_type_of_number_survives_json(dtype):
    def model(x, other):
        return (x * other).flip(1)

    verdict = ap.check_model(model, torch.randn(1, 6, 2).to(dtype), torch.ones(2, dtype=dtype))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(model)


def test_a_model_that_cannot_be_widened_is_replayed_in_its_own_precision():
    def bits(x):
        return x.view(torch.int32).flip(1).view(torch.float32).abs().clamp(max=3)

    verdict = ap.check_model(bits, x())
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.setting.precision == "native"
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(bits)
