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


@rule("aten.multilabel_margin_loss_forward", fails="any", sees_sign=False)
def of_sets(call: TorchCall) -> tuple[Shadow, Shadow]:
    """Margins between the target classes of a row and the others."""
    loss, marks = (tuple(v.shape) for v in call.value)
    return losses.of_sets(call["self"].shadow, call["target"].shadow, (loss, marks), is_each(call))


@rule("aten._ctc_loss", fails="any", sees_sign=False, shaped_by="target_lengths")
def of_alignments(call: TorchCall) -> tuple[Shadow, Shadow]:
    """The likelihood of all alignments; lengths may be tensors."""
    loss, rest = (tuple(v.shape) for v in call.value)
    given = [call[name] for name in ("input_lengths", "target_lengths")]
    lengths = [g.shadow for g in given if hasattr(g, "shadow")]
    return losses.of_alignments(call["log_probs"].shadow, call["targets"].shadow, lengths, (loss, rest))


@rule("torch_nn._linear_cross_entropy_batch_chunked", fails="any", sees_sign=False)
def of_all_rows(call: TorchCall) -> tuple[Shadow, ...]:
    """The loss of a linear layer's scores, summed or averaged, and its derivatives."""
    shadows = [o.shadow for o in call.operands()]
    return tuple(whole(tuple(v.shape), shadows) for v in call.value)


@rule("torch_nn._linear_cross_entropy_batch_chunked_no_reduction", fails="any", sees_sign=False)
def of_each_row(call: TorchCall) -> Shadow:
    """The loss of each row of a linear layer's scores."""
    rows, target = call["input"], call["target"]
    rest = [o.shadow for o in call.operands() if o is not rows and o is not target]
    return losses.of_rows(rows.shadow, target.shadow, rest, tuple(call.value.shape), each=True)
