"""Each array library that the layer is tested on is here, or one visible skip says that it is not."""

from __future__ import annotations

import pytest
from needs import need, need_cuda


@pytest.mark.parametrize("name", ["array_api_strict", "torch", "jax", "dask.array", "distributed"])
def test_the_library_is_here(name):
    assert need(name).__name__ == name


def test_cupy_and_a_cuda_device_are_here():
    need("cupy")
    need_cuda(need("torch"))
