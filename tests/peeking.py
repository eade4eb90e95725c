"""A function that looks ahead, in a module that other processes can import."""

import numpy as np


def double_and_peek(x):
    return np.append(2 * x[1:], 0.0)
