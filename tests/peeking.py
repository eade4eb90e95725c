"""Functions that look ahead, in a module that other processes can import."""

import numpy as np


def double_and_peek(x):
    return np.append(2 * x[1:], 0.0)


MEAN = []


def scaled_once(x):
    """Fits at the first call and keeps what it found."""
    if not MEAN:
        MEAN.append(x.mean())
    return x - MEAN[0]
