"""PyTorch's operations that make fresh tensors (see `transfer.creation`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..domain import PLAIN, ZERO, Shadow, uniform
from ..registry import names, rule
from ..transfer import creation
from ..transfer.elementwise import known

if TYPE_CHECKING:
    from ..calls import TorchCall


def shape_of(call: TorchCall) -> tuple[int, ...]:
    """The output's shape; the target's where an operation returns nothing."""
    return tuple((call.value if call.value is not None else call["self"].value).shape)


@rule(
    *names(
        """
        arange linspace logspace eye tril_indices triu_indices hann_window hamming_window bartlett_window
        blackman_window kaiser_window scalar_tensor fft_fftfreq fft_rfftfreq range
        """
    ),
    sees_sign=False,
)
def constant(call: TorchCall) -> Shadow:
    """Numbers between ends, which may be tensors."""
    return creation.constant(tuple(call.value.shape), [o.shadow for o in call.operands()])


@rule("aten.zero_", sees_sign=False, overlaps=True)
@rule("aten.zeros", "aten.new_zeros", "aten._new_zeros_with_same_feature_meta", sees_sign=False, layout="rows")
@rule("aten.zeros_like", sees_sign=False, layout="kept")
def zeros(call: TorchCall) -> Shadow:
    """Exact zeros, whatever the tensor that lends its shape holds."""
    return uniform(shape_of(call), ZERO)


@rule("aten.ones", "aten.new_ones", sees_sign=False, layout="rows")
@rule("aten.ones_like", sees_sign=False, layout="kept")
def ones(call: TorchCall) -> Shadow:
    """Ones."""
    return uniform(shape_of(call), PLAIN)


@rule("aten.full", "aten.new_full", sees_sign=False, layout="rows")
@rule("aten.full_like", sees_sign=False, layout="kept")
def full(call: TorchCall) -> Shadow:
    """One number throughout."""
    return creation.filled(shape_of(call), known(call, call["fill_value"]))


@rule("aten.fill_", sees_sign=False, carries=True, overlaps=True)
@rule("aten.fill", sees_sign=False)
def fill(call: TorchCall) -> Shadow:
    """One number throughout, a Python number or an element."""
    return creation.filled(call["self"].shape, known(call, call["value"]))


@rule("aten.empty", "aten.new_empty", sees_sign=False, layout="rows")
@rule(
    *names("empty_like empty_strided new_empty_strided empty_permuted resize_ resize_as_"),
    sees_sign=False,
    layout="kept",
)
def uninitialised(call: TorchCall) -> Shadow:
    """Memory that nobody has written."""
    return creation.unwritten(call, shape_of(call))


@rule(
    *names(
        """
        rand rand_like randn randn_like randint randint_like randperm normal_ uniform_ random_ exponential_
        geometric_ cauchy_ log_normal_
        """
    ),
    sees_sign=False,
)
def noise(call: TorchCall) -> Shadow:
    """Random draws that read no data."""
    return creation.drawn(call, shape_of(call))


@rule("aten.bernoulli", "aten.bernoulli_", "aten.normal", sees_sign=False)
def noise_from(call: TorchCall) -> Shadow:
    """A draw whose distribution is read from tensors, element by element."""
    parameters = [o.shadow for o in call.operands() if call.name != "aten.bernoulli_" or o is not call["self"]]
    return creation.drawn(call, shape_of(call), parameters)


@rule("aten.poisson", "aten.binomial", "aten._standard_gamma", sees_sign=False)
def steered_noise_from(call: TorchCall) -> Shadow:
    """Draws that take as many random numbers as the values of their parameters ask for."""
    return creation.drawn(call, shape_of(call), [o.shadow for o in call.operands()], steered=True)


@rule("aten.rrelu_with_noise", "aten.rrelu_with_noise_", sees_sign=False)
def random_slope(call: TorchCall) -> tuple[Shadow, Shadow]:
    """The output and the noise that it writes: each element reads its own, whose sign decides whether it draws."""
    x = call["self"]
    result = creation.drawn(call, x.shape, [x.shadow], steered=True)
    return result, result


@rule("aten._sample_dirichlet", sees_sign=False)
def simplex(call: TorchCall) -> Shadow:
    """Each row of the last axis is drawn as one."""
    return creation.drawn_by_rows(call, tuple(call.value.shape), call["self"].shadow, steered=True)


@rule("aten.multinomial", sees_sign=False)
def multinomial(call: TorchCall) -> Shadow:
    """Each draw of a row reads the whole row of weights."""
    return creation.drawn_by_rows(call, tuple(call.value.shape), call["self"].shadow)


@rule("aten.native_dropout", sees_sign=False)
def native_dropout(call: TorchCall) -> tuple[Shadow, Shadow]:
    """The input times a random mask, and the mask."""
    return creation.dropout(call, call["input"].shadow)
