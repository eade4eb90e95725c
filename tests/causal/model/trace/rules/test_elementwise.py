# ruff: noqa: E501, B008 - tables of calls
"""Elementwise rules: joins, exact zeros, −∞, constant and data-dependent selections."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from attnproof.causal import trace
from tensor_probe import check, normal

X = normal(6, 4)
C = normal(6, 4, seed=1)
MASK = C > 0
UNARY = """
    abs acos acosh angle asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac isinf
    isnan isneginf isposinf lgamma log log10 log1p log2 logical_not logit nan_to_num neg rad2deg reciprocal round rsqrt sgn
    sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc relu i0
    """
BESSEL = ["airy_ai", "bessel_j0", "bessel_j1", "modified_bessel_i0", "modified_bessel_i1", "spherical_bessel_j0"]
BESSEL_ABOVE = [
    "bessel_y0",
    "bessel_y1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
]
POLYNOMIALS = [
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
]  # fmt: skip
SPECIAL = "entr erfcx i0e i1 i1e log_ndtr ndtr ndtri"
FUNCTIONAL = """
    celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 selu silu softplus softshrink
    softsign tanhshrink
    """
CONSTANT = {"isnan", "isneginf", "isposinf", "isinf"}  # of finite numbers, always false: read all the same
STEPS = {"sign", "signbit", "ceil", "floor", "round", "trunc", "logical_not", "sgn", "angle", "deg2rad"}
CASES = {
    **{name: (lambda x, f=getattr(torch, name): f(x)) for name in UNARY.split()},
    **{f"special.{name}": (lambda x, f=getattr(torch.special, name): f(x)) for name in SPECIAL.split()},
    **{f"F.{name}": (lambda x, f=getattr(F, name): f(x)) for name in FUNCTIONAL.split()},
    "polygamma": lambda x: torch.polygamma(1, x),
    "polygamma in place": lambda x: x.clone().polygamma_(1),
    "shifts": lambda x: [(x * 9).long() << 1, (x * 9).long() >> 1],
    "added and cut off": lambda x: torch._add_relu(x, C.abs() + 9),
    "mvlgamma": lambda x: torch.mvlgamma(x.abs() + 3, 2),
    "prelu": lambda x: F.prelu(x, C[0, :1]),
    "threshold": lambda x: F.threshold(x, 0.1, 0.5),
    "add": lambda x: x + C,
    "add shifted": lambda x: x + x.roll(1, 0),
    "sub": lambda x: x - x.flip(0),
    "rsub": lambda x: torch.rsub(x, C, alpha=2),
    "mul": lambda x: x * x.flip(0),
    "mul by zeros": lambda x: x * MASK,
    "mul by a factor 0": lambda x: 0 * x + C,
    "div": lambda x: x / (C.abs() + 1),
    "zeros divided": lambda x: (x * MASK) / (x.flip(0).abs().exp() + 1),
    "floor_divide": lambda x: torch.floor_divide(x * 9, C.abs() + 1),
    "remainder": lambda x: torch.remainder(x, C.abs() + 1),
    "fmod": lambda x: torch.fmod(x, C.abs() + 1),
    "pow": lambda x: x**2,
    "pow of a number": lambda x: 2.0**x,
    "pow of two": lambda x: x.abs() ** x.flip(0),
    "clamp": lambda x: x.clamp(-3, 3),
    "clamp by data": lambda x: torch.clamp(x, max=x.flip(0)),
    "clamp_min": lambda x: torch.clamp_min(x, -0.5),
    "clamp_max": lambda x: torch.clamp_max(x, 0.5),
    "maximum": lambda x: torch.maximum(x, x.flip(0)),
    "minimum": lambda x: torch.minimum(x, x.flip(0)),
    "fmax": lambda x: torch.fmax(x, C),
    "fmin": lambda x: torch.fmin(x, C),
    "where constant": lambda x: torch.where(MASK, x, x.flip(0)),
    "where data": lambda x: torch.where(x.flip(0) > 0, x, -x),
    "masked_fill": lambda x: x.masked_fill(MASK, 0.0),
    "masked_fill data": lambda x: x.masked_fill(x.flip(0) > 0, 0.0),
    "lerp": lambda x: torch.lerp(x, C, 0.3),
    "atan2": lambda x: torch.atan2(x, C),
    "hypot": lambda x: torch.hypot(x, C),
    "copysign": lambda x: x.copysign(x.flip(0)),
    "nextafter": lambda x: torch.nextafter(x * 1e-3, C) * 1e3,
    "logaddexp": lambda x: torch.logaddexp(x, x.flip(0)),
    "logaddexp2": lambda x: torch.logaddexp2(x, C),
    "xlogy": lambda x: torch.xlogy(C, x.abs() + 1),
    "xlog1py": lambda x: torch.special.xlog1py(C, x.abs()),
    "zeta": lambda x: torch.special.zeta(x.abs() + 2, C.abs() + 1),
    "igamma": lambda x: torch.igamma(C.abs() + 1, x.abs()),
    "heaviside": lambda x: torch.heaviside(x, C),
    "comparisons": lambda x: [(f(x, x.flip(0))) for f in (torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge)],
    "and": lambda x: torch.logical_and(x > 0, MASK),
    "bitwise and": lambda x: (x > 0) & (x.flip(0) > 0),
    "or": lambda x: torch.logical_or(x > 0, MASK),
    "bitwise or": lambda x: (x > 0) | MASK,
    "xor": lambda x: torch.logical_xor(x > 0, MASK),
    "bitwise": lambda x: [
        ~(x > 0),
        (x > 0) ^ MASK,
        torch.bitwise_left_shift((x * 9).long(), 1),
        torch.bitwise_right_shift((x * 99).long(), 1),
    ],
    "integers": lambda x: [torch.gcd((x * 9).long(), torch.tensor(12)), torch.lcm((x * 9).long(), torch.tensor(2))],
    "addcmul": lambda x: torch.addcmul(C, x, MASK.double()),
    "addcdiv": lambda x: torch.addcdiv(C, x, C.abs() + 1),
    "complex": lambda x: torch.complex(x, C),
    "polar": lambda x: torch.polar(x.abs(), C),
    "conj": lambda x: torch.complex(x, C).conj().resolve_conj() * 1j,
    "frexp": lambda x: torch.frexp(x),
    "ldexp": lambda x: torch.ldexp(x, torch.tensor([2])),
    "glu": lambda x: F.glu(x, 1),
    "glu over positions": lambda x: F.glu(x, 0),
    "backwards": lambda x: [torch.ops.aten.gelu_backward(x, C), torch.ops.aten.silu_backward(x, C), *derivatives(x)],
    "in place": lambda x: F.hardswish(x.clone(), inplace=True),
    "fake quantised": lambda x: [
        torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127),
        torch.fake_quantize_per_tensor_affine(
            x.float(), torch.tensor([0.1]), torch.tensor([0], dtype=torch.int32), -9, 9
        ),
        torch.fake_quantize_per_channel_affine(x.float(), torch.full((4,), 0.1), torch.zeros(4), 1, -128, 127),
        torch.ops.aten._fake_quantize_learnable_per_tensor_affine(
            x.float(), torch.tensor([0.1]), torch.zeros(1), -9, 9
        ),
        torch.ops.aten._fake_quantize_learnable_per_channel_affine(
            x.float(), torch.full((4,), 0.1), torch.zeros(4), 1, -9, 9
        ),
    ],
    "bessel": lambda x: [getattr(torch.special, name)(x) for name in BESSEL],
    "bessel above 0": lambda x: [getattr(torch.special, name)(x.abs() + 0.1) for name in BESSEL_ABOVE],
    "polynomials": lambda x: [getattr(torch.special, name)(x.tanh(), 3) for name in POLYNOMIALS],
    "igammac": lambda x: torch.special.gammaincc(x.abs() + 0.1, x.abs() + 0.2),
    "native_dropout_backward": lambda x: torch.ops.aten.native_dropout_backward(x, C > 0, 2.0),
    "glu_jvp": lambda x: torch.ops.aten.glu_jvp(F.glu(x, 1), x, x, 1),
    "erfinv of small": lambda x: torch.erfinv(x.tanh()),
}
# Read, but not always moved by a change: the claim holds the dependency, brute force may miss it.
LOOSE = {*CONSTANT, *STEPS, "acos", "acosh", "asin", "atanh", "erfinv", "log", "log10", "log1p", "log2", "logit", "rsqrt",
         "sqrt", "special.ndtri", "special.entr", "mvlgamma", "nan_to_num", "comparisons", "bitwise", "integers",
         "relu", "F.relu6", "F.hardtanh", "F.hardsigmoid", "F.softshrink", "F.hardshrink", "F.hardswish", "nextafter",
         "and", "or", "bitwise and", "clamp by data", "clamp_max", "clamp_min", "maximum", "minimum", "where constant", "heaviside",
         "bessel", "bessel above 0", "polynomials", "igammac", "native_dropout_backward",
         "fmax", "fmin", "floor_divide", "frexp", "in place", "threshold", "copysign", "igamma", "pow of two", "bitwise or",
         "xor", "erfc", "erf", "F.gelu", "backwards", "fake quantised", "zeros divided", "erfinv of small", "where data", "special.i1e", "special.erfcx",
         "pow of a number", "i0", "masked_fill data", "zeta", "sinc", "lgamma", "polygamma", "digamma", "logaddexp2", "logaddexp", "sigmoid",
         "special.log_ndtr", "special.ndtr", "F.logsigmoid", "F.selu", "F.celu", "F.elu", "F.mish", "F.silu", "F.softplus"}  # fmt: skip


def derivatives(x):
    """What forward-mode differentiation calls."""
    a = torch.ops.aten
    return [
        a.tanh_backward(x, C), a.sigmoid_backward(C, x), a.threshold_backward(x, C, 0), a.leaky_relu_backward(x, C, 0.1, False),
        a.elu_backward(x, 1, 1, 1, False, C), a.hardtanh_backward(x, C, -1, 1), a.mish_backward(x, C), a.hardswish_backward(x, C),
        a.hardsigmoid_backward(x, C), a.softplus_backward(x, C, 1, 20),
    ]  # fmt: skip


def test_scales_for_each_place_of_an_axis_join_no_positions():
    scales, zeros = torch.full((4,), 0.1), torch.zeros(4)
    fake = lambda x: torch.fake_quantize_per_channel_affine(x, scales, zeros, 2, -9, 9).cumsum(1)  # noqa: E731
    assert ap.check_model(fake, X[None].float()).status.name == "PROVED"
    late = lambda x: torch.fake_quantize_per_tensor_affine(x, x[0, -1, :1].abs() + 0.1, zeros[:1].int(), -9, 9)  # noqa: E731
    assert ap.check_model(late, X[None].float()).status.name == "REFUTED"


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


def test_gates_in_logarithms_are_proved():
    """A forget gate is summed as log σ(x), which is an operation with two results."""
    assert ap.check_model(lambda x: F.logsigmoid(x).cumsum(1).exp(), X[None]).status.name == "PROVED"


def test_a_selector_that_reads_the_last_position_is_caught():
    run = check(lambda x: torch.where(x[-1:, :1] > 0, x, -x), X, exact=False)
    assert run.outputs[0].along(0)[1].tolist() == [5] * 6


def test_integer_bits_are_not_taken_for_a_product_of_positive_numbers():
    def f(x):
        bits = (x.exp() * 4).long() & (x.flip(0).exp() * 4).long()
        return torch.zeros(6, 4, dtype=torch.float64) / bits

    check(f, X, exact=False, finite_masks=False)
    (condition,) = trace.run(f, (X,), sequence_axis=0).conditions
    assert condition.kind == "nonzero-denominator"


def test_zero_divided_by_what_may_be_zero_is_a_condition():
    f = lambda x: torch.zeros(6, 4, dtype=torch.float64) / x.flip(0).relu()  # noqa: E731
    strict = check(f, X, exact=False, finite_masks=False)
    assert not strict.conditions
    assert strict.outputs[0].shadow.depends
    (condition,) = check(lambda x: f(x.abs() + 1), X, exact=False).conditions
    assert condition.kind == "nonzero-denominator"


def test_minus_infinity_absorbs_a_sum_and_vanishes_in_exp():
    hidden = torch.zeros(6, 4, dtype=torch.float64).masked_fill(MASK, float("-inf"))
    check(lambda x: (x + hidden).exp(), X)
    check(lambda x: (hidden - x).exp() * x.flip(0), X)


def test_hardtanh_of_zero_need_not_be_zero():
    check(lambda x: F.hardtanh(x * MASK, 0.5, 1.0) * x.flip(0), X, exact=False)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (torch.relu, "every masked value is at most 0"),
        (torch.exp, "every masked value is below −104 (float32)"),
        (torch.sigmoid, "every masked value is so low that the result is exactly 0 (float32)"),
    ],
)
def test_a_finite_mask_outside_a_softmax_states_its_own_condition(function, sentence):
    mask = torch.triu(torch.full((4, 4), -1e4), 1)

    def model(x):
        return function(x[..., 0][:, None, :].expand(1, 4, 4) + mask) @ x

    verdict = ap.check_model(model, torch.randn(1, 4, 1))
    assert verdict.status.name == "PROVED_IF"
    assert any(sentence in c.text for c in verdict.conditions)


def test_minus_infinity_over_a_number_above_0_is_minus_infinity():
    x = torch.randn(1, 6, 4, dtype=torch.float64)
    mask = torch.full((6, 6), -torch.inf, dtype=torch.float64).triu(1)
    heat = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))

    def attention(change):
        return lambda x: change(x @ x.mT + mask, x).softmax(-1) @ x

    proved = [
        lambda s, x: s / F.softplus(heat),
        lambda s, x: s / x[..., :1].sigmoid(),
    ]
    for change in proved:
        assert ap.check_model(attention(change), x).status.name == "PROVED"
    for change in (
        lambda s, x: s * heat,
        lambda s, x: x.mT[:, :1].exp() * s,
        lambda s, x: s / x[..., :1],
        lambda s, x: x[..., :1].exp() / s,
    ):
        run = trace.run(attention(change), (x,))
        assert run.outputs[0].along(1)[1].tolist() == [5] * 6


def test_the_larger_of_two_lowered_scores_is_lowered():
    """As where scores are kept above the lowest number of their format."""
    lowest = torch.tensor(torch.finfo(torch.float64).min, dtype=torch.float64)
    mask = torch.zeros(6, 6, dtype=torch.float64).masked_fill(torch.ones(6, 6, dtype=torch.bool).triu(1), lowest)
    run = check(lambda x: torch.maximum(x @ x.mT + mask, lowest).softmax(-1) @ x, X, exact=False)
    assert [c.kind for c in run.conditions] == ["finite-mask"]
    assert run.outputs[0].along(0)[1].tolist() == list(range(6))
    above = check(lambda x: torch.maximum(x @ x.mT + mask, torch.zeros_like(mask)).softmax(-1) @ x, X, exact=False)
    assert above.outputs[0].along(0)[1].tolist() == [5] * 6


def masked(x):
    t = torch.arange(x.shape[1])
    return x @ x.mT + (t > t[:, None]).to(x) * -1e9


def first(x):
    return torch.arange(x.shape[1]) < 3


@pytest.mark.parametrize(
    "raised",
    [
        lambda x: masked(x) + 1e9 * first(x),
        lambda x: masked(x) + torch.where(first(x), 1e9, 0.0),
        lambda x: torch.add(1e9 * first(x), masked(x)),
        lambda x: torch.add(masked(x), 1e8 * first(x), alpha=10),
        lambda x: masked(x) - (-1e9 * first(x)),
        lambda x: masked(x).sub(1e8 * first(x), alpha=-10),
        lambda x: torch.rsub(-1e9 * first(x), masked(x)),
        lambda x: masked(x) - masked(x.detach()) + x @ x.mT,
    ],
)  # fmt: skip
def test_what_a_large_constant_raises_again_is_masked_no_more(raised):
    verdict = ap.check_model(lambda x: raised(x).softmax(-1) @ x, torch.randn(1, 12, 4), replay="never")
    assert verdict.status.name == "UNDECIDED", verdict


@pytest.mark.parametrize(
    "moved",
    [
        lambda x: masked(x) - 0.5 * first(x),
        lambda x: masked(x) + 8.0 * first(x),
        lambda x: masked(x) - 1e9 * ~first(x),
        lambda x: masked(x) + torch.where(first(x), 0.0, -1e9),
        lambda x: masked(x) + 1e3 * x[:, :, :1].tanh(),
        lambda x: masked(x) - masked(x).amax(-1, keepdim=True),
    ],
)
def test_what_moves_a_lowered_score_little_or_down_leaves_it_masked(moved):
    verdict = ap.check_model(lambda x: moved(x).softmax(-1) @ x, torch.randn(1, 12, 4), replay="never")
    assert verdict.status.name == "PROVED_IF", verdict


def in_a_buffer(s):
    kept = torch.zeros(2, *s.shape)
    kept[0] = s
    kept.mul_(1e-4)
    kept[1] = s
    return kept[0] * 1e-5


SCALED = [
    lambda s: s / 1e8,
    lambda s: s * 1e-8,
    lambda s: s.div_(1e8),
    lambda s: -(-s / 1e8),
    lambda s: 1e-8 * s,
    lambda s: s / 1e4 / 1e5,
    lambda s: (1e-4 * s * 1e-5).contiguous(),
    lambda s: s.mul_(1e-4).div_(1e5),
    lambda s: (s / 1e2 / 1e2).clone().flatten(0, 1)[None] / 1e2 / 1e3,
    lambda s: (s / 1e4).log_softmax(-1) / 1e5,
    lambda s: torch.maximum(s / 1e4, torch.tensor(-1e8)) / 1e5,
    lambda s: (s / 1e4 + masked(s[..., :4])) / 1e5,
    in_a_buffer,
]


@pytest.mark.parametrize("scaled", SCALED)
@pytest.mark.parametrize(("replay", "status"), [("never", "UNDECIDED"), ("auto", "REFUTED")])
def test_a_mask_that_is_scaled_away_hides_nothing(scaled, replay, status):
    verdict = ap.check_model(lambda x: scaled(masked(x)).softmax(-1) @ x, torch.randn(1, 12, 4), replay=replay)
    assert verdict.status.name == status, verdict


@pytest.mark.parametrize("scaled", [lambda s: s / 2, lambda s: s.mul_(0.5), lambda s: s * 1e-4])
def test_of_a_mask_that_is_scaled_the_condition_is_on_the_scores_as_they_are(scaled):
    verdict = ap.check_model(lambda x: scaled(masked(x)).softmax(-1) @ x, torch.randn(1, 12, 4), replay="never")
    (condition,) = verdict.conditions
    assert "in every row some visible score exceeds" in condition.text
    assert "lies within" not in condition.text


LARGE = [
    lambda s, hidden: s - 1e9 * hidden,
    lambda s, hidden: torch.where(hidden, s - 1e9, s),
    lambda s, hidden: torch.where(hidden, s - 1000000000, s),
    lambda s, hidden: torch.where(hidden, s + -1000000000, s),
    lambda s, hidden: torch.sub(s, hidden.float(), alpha=1e9),
]


@pytest.mark.parametrize("lowered", LARGE)
@pytest.mark.parametrize(("factor", "status"), [(1e-8, "UNDECIDED"), (0.1, "PROVED_IF")])
def test_a_mask_that_takes_away_a_large_number_is_scaled_as_one_that_adds(lowered, factor, status):
    def attention(x):
        hidden = torch.ones(12, 12, dtype=torch.bool).triu(1)
        return (lowered(x @ x.mT, hidden) * factor).softmax(-1) @ x

    verdict = ap.check_model(attention, torch.randn(1, 12, 4), replay="never")
    assert verdict.status.name == status, verdict
    assert all("the mask adds or sets -1e+09" in c.text for c in verdict.conditions)


def test_every_layer_scales_a_mask_of_its_own():
    def deep(x):
        for _ in range(12):
            x = x + (masked(x).div_(4.0) / 2.0).softmax(-1) @ x
        return x

    verdict = ap.check_model(deep, torch.randn(1, 12, 4), replay="never")
    assert verdict.status.name == "PROVED_IF", verdict
    assert all("(not tried on a run)" in c.text for c in verdict.conditions)


@pytest.mark.parametrize(
    ("factors", "status"), [((1e-8,), "UNDECIDED"), ((1e-4, 1e-4), "UNDECIDED"), ((1e-3,), "PROVED_IF")]
)
def test_a_mask_is_scaled_on_the_meta_device_as_elsewhere(factors, status):
    """Where no run with values can say what is left of it."""
    project = torch.nn.Linear(4, 4, device="meta")

    def attention(x):
        scores = masked(project(x))
        for factor in factors:
            scores = scores * factor
        return scores.softmax(-1) @ x

    model = torch.nn.Module()
    model.project, model.forward = project, attention
    verdict = ap.check_model(model, torch.randn(1, 12, 4))
    assert verdict.status.name == status, verdict
