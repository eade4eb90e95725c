"""Convolutions and pooling, written out in NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import FIXED, full, ranked
from attnproof.causal.model.trace.transfer.convolution import Windows, convolved, pooled, pooled_evenly
from shadow_probe import Run, check_exact, constant, normal, varying

X = normal(2, 7)  # (channels, positions)
S = ranked((2, 7), 1, np.arange(7))
W = normal(2, 2, 3, seed=1)


def convolution(x, w, stride=1, padding=0, dilation=1, groups=1):
    """(channels, positions) with (out, channels per group, taps)."""
    x = np.pad(x, ((0, 0), (padding, padding)))
    out, per, taps = w.shape
    length = (x.shape[1] - dilation * (taps - 1) - 1) // stride + 1
    y = np.zeros((out, length))
    for o in range(out):
        first = o // (out // groups) * per
        for t in range(length):
            for k in range(taps):
                y[o, t] += w[o, :, k] @ x[first : first + per, t * stride + k * dilation]
    return y


def transposed(x, w, stride, padding):
    """(channels, positions) with (channels, out, taps)."""
    y = np.zeros((w.shape[1], (x.shape[1] - 1) * stride + w.shape[2]))
    for s in range(x.shape[1]):
        for k in range(w.shape[2]):
            y[:, s * stride + k] += w[:, :, k].T @ x[:, s]
    return y[:, padding : y.shape[1] - padding]


@pytest.mark.parametrize("settings", [(1, 0, 1), (1, 2, 1), (2, 1, 1), (1, 2, 2), (3, 0, 2)])
@pytest.mark.parametrize("batched", [False, True])
def test_an_output_reads_its_window(settings, batched):
    stride, padding, dilation = settings
    s = ranked((1, 2, 7), 2, np.arange(7)) if batched else S

    def f(x):
        y = convolution(x, W, *settings)
        return y[None] if batched else y

    windows = Windows((3,), (stride,), (padding,), (dilation,))
    result = convolved(Run(), s, constant(W), constant(np.ones(2)).shadow, windows, 1, f(X).shape)
    check_exact(f, result, varying(X, 1))


def test_the_transposed_window():
    f = lambda x: transposed(x, W, 2, 1)  # noqa: E731
    windows = Windows((3,), (2,), (1,), (1,), transposed=True)
    result = convolved(Run(), S, constant(W), None, windows, 1, f(X).shape)
    check_exact(f, result, varying(X, 1))


def test_groups_stay_apart():
    s = ranked((1, 2, 7), 1, np.arange(2))  # what varies are the channels
    w = W[:, :1]
    windows = Windows((3,), (1,), (0,), (1,))
    result = convolved(Run(), s, constant(w), None, windows, 2, (1, 2, 5))
    check_exact(lambda x: convolution(x, w, groups=2)[None], result, varying(X))
    joined = convolved(Run(), s, constant(W), None, windows, 1, (1, 2, 5))
    assert (full(joined)[1] == 1).all()


def test_a_tap_of_zeros_is_not_read_and_the_run_is_told():
    w = W * np.array([1.0, 0.0, 0.0])
    run, kernel = Run(), constant(w)
    result = convolved(run, S, kernel, None, Windows((3,), (1,), (1,), (1,)), 1, (2, 7))
    check_exact(lambda x: convolution(x, w, padding=1), result, varying(X, 1))
    assert (run.told, run.about["zeros"]) == (["zeros"], (kernel,))


def test_two_axes_of_which_one_varies():
    s = ranked((1, 1, 7, 4), 2, np.arange(7))
    windows = Windows((3, 2), (1, 2), (2, 0), (1, 1))
    result = convolved(Run(), s, constant(normal(1, 1, 3, 2)), None, windows, 1, (1, 1, 9, 2))
    assert (full(result)[1][0, 0, :, 0] == np.minimum(np.arange(9), 6)).all()
    assert (full(result)[0][0, 0, :, 1] == np.maximum(np.arange(9) - 2, 0)).all()


def test_constants_stay_constants():
    result = convolved(Run(), constant(X).shadow, constant(W), None, Windows((3,), (1,), (0,), (1,)), 1, (2, 5))
    assert result.is_fixed


def test_pools_read_their_windows():
    def largest(x):
        return np.stack([x[:, 2 * t : 2 * t + 3].sum(1) for t in range(3)], 1)

    check_exact(largest, pooled(S, Windows((3,), (2,), (0,), (1,)), (3,)), varying(X, 1))


def test_even_pools_read_overlapping_windows():
    def means(x):
        return np.stack([x[:, i * 7 // 3 : math.ceil((i + 1) * 7 / 3)].mean(1) for i in range(3)], 1)

    result = pooled_evenly(S, (3,))
    check_exact(means, result, varying(X, 1))
    assert (full(result)[2] < FIXED).all()
