"""PyTorch's losses (see `transfer.losses`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registry import names, rule
from ..transfer import losses
from ..transfer.reductions import whole

if TYPE_CHECKING:
    from ..calls import TorchCall
    from ..domain import Shadow


def is_each(call: TorchCall) -> bool:
    """Whether the numbers stay apart: `reduction` is 0, which is "none"."""
    return int(call["reduction"]) == 0


@rule(
    *names("mse_loss smooth_l1_loss huber_loss soft_margin_loss binary_cross_entropy_with_logits"),
    fails="never", sees_sign=False,
)  # fmt: skip
@rule("aten.binary_cross_entropy", fails="any", sees_sign=False)
def of_elements(call: TorchCall) -> Shadow:
    """A number for each element."""
    return losses.of_elements([o.shadow for o in call.operands()], tuple(call.value.shape), is_each(call))


@rule("aten.nll_loss_forward", "aten.nll_loss2d_forward", fails="whole numbers", sees_sign=False)
def of_rows(call: TorchCall) -> tuple[Shadow, Shadow]:
    """Minus the score of the target, and the weights in all."""
    result, total = call.value
    target, weight = call["target"].shadow, call["weight"]
    weights = [] if weight is None else [weight.shadow]
    loss = losses.of_rows(call["self"].shadow, target, weights, tuple(result.shape), is_each(call))
    return loss, whole(tuple(total.shape), (target, *weights))
