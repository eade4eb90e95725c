"""Counting the operations of real PyTorch code, to hold them against the formulas of `symbolic.modules`.

PyTorch's own counter (`torch.utils.flop_counter.FlopCounterMode`) counts matrix products and convolutions, two FLOP per
multiply–add; it leaves out softmax, biases, normalisation and activations. By default it counts **0** for the fused
attention that PyTorch picks on a CPU, since it has no formula for that kernel, and misses the fused encoder path; so
the count here runs attention through its plain products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..libraries import library

if TYPE_CHECKING:
    from ..aliases import ArrayLike


def counted(call: Callable[[], Any], *, plain: bool = True) -> int:
    """Multiply–adds that PyTorch counts while `call()` runs.

    `plain` (default) computes scaled-dot-product attention through its two products and turns the fused encoder path
    off; False counts what PyTorch does by itself. Raises ImportError without PyTorch.

    >>> torch = library("torch", "counting operations")
    >>> counted(lambda: torch.ones(2, 3) @ torch.ones(3, 4))
    24
    """
    library("torch", "counting operations")
    from torch.backends import mha
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    if not plain:
        with counter:
            call()
        return counter.get_total_flops() // 2
    before = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH), counter:
            call()
    finally:
        mha.set_fastpath_enabled(before)
    return counter.get_total_flops() // 2


def kept(call: Callable[[], Any]) -> int:
    """Distinct numbers that autograd keeps for the backward pass of `call()`, each storage once.

    >>> torch = library("torch", "counting operations")
    >>> x = torch.ones(2, 3, requires_grad=True)
    >>> kept(lambda: x.exp())
    6
    """
    torch = library("torch", "counting operations")
    sizes: dict[int, int] = {}
    alive = []

    def note(tensor: ArrayLike) -> Any:
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // tensor.element_size()
        alive.append(tensor)  # so that no address is used twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        call()
    return sum(sizes.values())
