"""Fresh tensors: constants, and memory that nobody has written yet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..domain import FIXED, PLAIN, VARIES, ZERO, Shadow, join_all, uniform
from ..registry import names, rule
from ..transfer.elementwise import known


@rule(
    *names(
        """
        arange linspace logspace eye tril_indices triu_indices hann_window hamming_window bartlett_window
        blackman_window kaiser_window scalar_tensor fft_fftfreq fft_rfftfreq range
        """
    ),
    sees_sign=False,
)
def constant(call: Any) -> Any:
    """Numbers that depend on no tensor, or on all elements of the tensors that give the ends."""
    lo, hi = join_all(o.shadow for o in call.operands())
    fixed = all(o.shadow.is_fixed for o in call.operands())
    return uniform(tuple(call.value.shape), FIXED if fixed else VARIES, lo, hi)


@rule("aten.zero_", sees_sign=False, overlaps=True)
@rule("aten.zeros", "aten.zeros_like", "aten.new_zeros", "aten._efficientzerotensor", sees_sign=False)
def zeros(call: Any) -> Shadow:
    """Exact zeros, whatever the tensor that lends its shape holds."""
    return uniform(_shape(call), ZERO)


@rule("aten.ones", "aten.ones_like", "aten.new_ones", sees_sign=False)
def ones(call: Any) -> Shadow:
    """Ones."""
    return uniform(_shape(call), PLAIN)


@rule("aten.full", "aten.full_like", "aten.new_full", sees_sign=False)
def full(call: Any) -> Shadow:
    """One number throughout."""
    s = known(call, call["fill_value"])
    return uniform(_shape(call), int(s.kind.reshape(-1)[0]))


@rule("aten.fill_", sees_sign=False, carries=True, overlaps=True)
@rule("aten.fill", sees_sign=False)
def fill(call: Any) -> Shadow:
    """One number throughout, a Python number or an element."""
    s = known(call, call["value"])
    return uniform(call["self"].shape, *(int(a.reshape(-1)[0]) for a in (s.kind, s.lo, s.hi)))


@rule(
    *names(
        """
        empty empty_like new_empty empty_strided new_empty_strided empty_permuted resize_ resize_as_
        """
    ),
    sees_sign=False,
)
def uninitialised(call: Any) -> Shadow:
    """Memory that nobody has written: a kernel out of our sight may fill it, so it may depend on everything."""
    shape = _shape(call)
    return uniform(shape, VARIES, 0, call.tracer.last) if math.prod(shape) else uniform(shape, FIXED)


def _shape(call: Any) -> tuple[int, ...]:
    return tuple((call.value if call.value is not None else call["self"].value).shape)


@rule(
    *names(
        """
        rand rand_like randn randn_like randint randint_like randperm normal_ uniform_ random_ exponential_
        geometric_ cauchy_ log_normal_
        """
    ),
    sees_sign=False,
)
def noise(call: Any) -> Shadow:
    """Random draws that read no data: they depend on nothing, and their value is not known."""
    call.noise()
    return uniform(_shape(call), VARIES)


@rule(
    "aten.bernoulli", "aten.bernoulli_", "aten.poisson", "aten.normal", "aten.binomial", "aten._standard_gamma",
    sees_sign=False,
)  # fmt: skip
def noise_from(call: Any) -> Shadow:
    """A draw whose distribution is read from tensors, element by element."""
    call.noise(steered=call.name in ("aten.poisson", "aten.binomial", "aten._standard_gamma"))
    shape = _shape(call)
    parameters = [o for o in call.operands() if call.name != "aten.bernoulli_" or o is not call["self"]]
    if not parameters:
        return uniform(shape, VARIES)
    from ..domain import join_intervals

    lo, hi = join_intervals([o.shadow for o in parameters], len(shape))
    return Shadow(shape, lo, hi, np.zeros((1,) * len(shape), np.uint8))


@rule("aten.rrelu_with_noise", "aten.rrelu_with_noise_", sees_sign=False)
def random_slope(call: Any) -> tuple[Shadow, Shadow]:
    """The output and the noise that it writes: each element reads its own, whose sign decides whether it draws."""
    call.noise(steered=True)
    x = call["self"].shadow
    result = Shadow(x.shape, x.lo, x.hi, np.zeros((1,) * len(x.shape), np.uint8))
    return result, result


@rule("aten._sample_dirichlet", sees_sign=False)
def simplex(call: Any) -> Shadow:
    """Each row of the last axis is drawn as one."""
    call.noise(steered=True)
    s = call["self"].shadow
    lo, hi = s.lo.min(-1, keepdims=True), s.hi.max(-1, keepdims=True)
    return Shadow(tuple(call.value.shape), lo, hi, np.zeros((1,) * len(s.shape), np.uint8))


@rule("aten.multinomial", sees_sign=False)
def multinomial(call: Any) -> Shadow:
    """Each draw of a row reads the whole row of weights."""
    call.noise()
    s = call["self"].shadow
    return Shadow(
        tuple(call.value.shape),
        s.lo.min(-1, keepdims=True),
        s.hi.max(-1, keepdims=True),
        np.zeros((1,) * len(s.shape), np.uint8),
    )


@rule("aten.native_dropout", sees_sign=False)
def native_dropout(call: Any) -> tuple[Shadow, Shadow]:
    """The input times a random mask: the interval of the input; zeros stay zeros. The mask depends on nothing."""
    call.noise()
    x = call["input"].shadow
    kind = np.where(x.kind == ZERO, np.uint8(ZERO), np.where(x.kind >= FIXED, np.uint8(VARIES), np.uint8(VARIES)))
    return Shadow(x.shape, x.lo, x.hi, kind), uniform(x.shape, VARIES)
