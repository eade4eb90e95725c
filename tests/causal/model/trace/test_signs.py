"""What an exact zero hides: leaks through its sign, and through numbers that are not finite, are not proved."""

from __future__ import annotations

import math

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
from leaks import never_proved, only_first

N = 8


def complex_with_zero(x):
    return torch.complex(torch.full((2,), -1.0), 0.0 * x[0, 1])


LEAKS = {
    "sign in Python": lambda x: only_first(x, math.copysign(1.0, (0.0 * x[0, 1, 0]).item())),
    "sign in a text": lambda x: only_first(x, float(len(str(0.0 * x[0, 1, 0])))),
    "sign in NumPy": lambda x: only_first(x, float(np.signbit((0.0 * x[0, 1]).numpy())[0])),
    "sign of a product": lambda x: only_first(x, math.copysign(1.0, (torch.zeros(1, 1) @ x[0, 1:2, :1]).item())),
    "sign of a choice": lambda x: only_first(x, torch.where(x[0, 1] > 0, 0.0, -torch.zeros(2)).signbit().float()),
    "divided by a zero": lambda x: only_first(x, (1 / (0.0 * x[0, 1])).clamp(-1, 1)),
    "a zero to the power −1": lambda x: only_first(x, ((0.0 * x[0, 1]) ** -1).sign()),
    "sign in the bits": lambda x: only_first(x, torch.hash_tensor(0.0 * x[0, 1]).float()),
    "a zero meets infinity": lambda x: only_first(x, (torch.zeros(2) * (x[0, 1] * 1e30 * 1e30)).isnan().float()),
    "zeros meet infinity": lambda x: only_first(x, (torch.zeros(2, 2) @ (x[0, 1] * 1e30 * 1e30)).isnan().float()),
    "−∞ meets +∞": lambda x: only_first(x, (torch.full((2,), -math.inf) + x[0, 1].abs() * 1e30 * 1e30).isnan() * 1.0),
    "atan2 of a zero": lambda x: only_first(x, torch.atan2(0.0 * x[0, 1], torch.full((2,), -1.0))),
    "copysign of a zero": lambda x: only_first(x, torch.copysign(torch.ones(2), 0.0 * x[0, 1])),
    "signbit of a zero": lambda x: only_first(x, (0.0 * x[0, 1]).signbit().float()),
    "bits of a zero": lambda x: only_first(x, (0.0 * x[0, 1]).view(torch.int32).sign().float()),
    "a zero divided": lambda x: only_first(x, (torch.zeros(2) / x[0, 1]).signbit().float()),
    "complex angle": lambda x: only_first(x, complex_with_zero(x).angle()),
    "complex log": lambda x: only_first(x, complex_with_zero(x).log().imag),
    "complex sqrt": lambda x: only_first(x, complex_with_zero(x).sqrt().imag),
    "complex power": lambda x: only_first(x, (complex_with_zero(x) ** 0.5).imag),
}


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_a_sign_or_an_infinity_is_never_proved(name):
    never_proved(LEAKS[name], finite="infinity" not in name and "∞" not in name)


@torch.library.custom_op("attnproof_doors::minus", mutates_args=())
def minus(x: torch.Tensor) -> torch.Tensor:
    return torch.signbit(x).to(x.dtype)


def test_an_operation_without_a_rule_may_see_the_sign_of_a_zero():
    verdict = ap.check_model(lambda x: only_first(x, minus(0.0 * x[0, 1])), torch.randn(1, N, 2))
    assert verdict.status.name == "REFUTED"
    assert (
        ap.check_model(lambda x: x + minus(torch.zeros(2)), torch.randn(1, N, 2), sequence_axis=1).status.name
        == "PROVED"
    )


def test_a_run_that_breaks_the_assumptions_says_so():
    verdict = ap.check_model(LEAKS["a zero meets infinity"], torch.randn(1, N, 2))
    assert any("meets a number that is not finite at aten.mul" in r for r in verdict.reasons)


def killed_number(x):
    return x + 0.0 * x.sum()


def test_a_number_that_a_zero_kills_is_proved():
    assert ap.check_model(killed_number, torch.randn(1, N, 2), sequence_axis=1).status.name == "PROVED"
