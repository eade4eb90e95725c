"""The abstract run over a tensor program: which input positions each output element can depend on.

One run of the model, with a shadow beside every tensor: an interval of ranks that each element can depend on, and what
is known of its value (`domain`). The program runs eagerly under a `TorchDispatchMode` (`frontend`), so views, in-place
writes, custom autograd functions and data-dependent routes are seen as they happen; one file of rules per family of
operations says how each operation passes the shadows on. `docs/guarantee.md` says what follows from a run and what not.

How a verdict is put together from runs (each run is sound for what it was asked to assume):

>>> import torch, attnproof.causal.model.trace as trace
>>> layer = torch.nn.Conv1d(3, 3, 4, padding=3)
>>> run = trace.run(lambda x: layer(x.mT)[..., :-3].mT, (torch.randn(1, 6, 3),), sequence_axis=1)
>>> run.complete, run.outputs[0].along(1)[1].tolist()
(True, [0, 1, 2, 3, 4, 5])

* `run(...)` with the strictest policy (`parameters="any"`, `finite_masks=False`, `others="any"`). Every output
  position's [earliest, latest] inside its allowed set, `complete` true, no `conditions`: proved.
* otherwise with `finite_masks=True`: proved under `conditions`; with `parameters="stored"`: proved under the zeros in
  `parameter_zeros`; with `others="given"`: proved for the values of the other inputs that were given.
* what stays open: `blame(...)` names the operation where the future enters, `run.unknown` the operations without a
  rule, `run.reads` the values that were read into Python and may have steered the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

from .domain import Shadow
from .policy import Policy
from .records import Chain, MaskCondition, Operation, Output, Read, Trace
from .registry import Call, Operand, Rule, rule
from .subject import Subject

__all__ = [
    "Call",
    "Chain",
    "MaskCondition",
    "Operand",
    "Operation",
    "Output",
    "Policy",
    "Read",
    "Rule",
    "Shadow",
    "Subject",
    "Trace",
    "blame",
    "rule",
    "run",
]


def run(
    model: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    keywords: Mapping[str, Any] | None = None,
    input_index: int | str = 0,
    sequence_axis: int = 1,
    ranks: Any = None,
    parameters: Literal["any", "stored"] = "any",
    others: Literal["given", "any"] = "given",
    finite_masks: bool = True,
    rules: Sequence[Rule] = (),
    values: bool = True,
    real: bool = False,
) -> Trace:
    """Run `model(*inputs, **keywords)` once, with dependency intervals beside every tensor. Nothing is trained or kept.

    `input_index` names the chosen input (an index into `inputs`, or a keyword), whose `sequence_axis` is split into
    positions; position j carries rank `ranks[j]` (j itself by default; whole numbers ≥ 0). `parameters="any"` treats
    the model's parameters as arbitrary numbers, "stored" as the constants they are; `others="any"` treats the other
    floating inputs as arbitrary, "given" keeps them as constants. `finite_masks=False` gives large negative numbers
    no special meaning. `rules` come before the built-in ones. Inputs are copied first. Gradients are off while it
    runs. Without `values` none are computed, unless the program asks for one, and outputs are tensors without data.
    `real` takes arithmetic for that of real numbers: what cancels is gone, under a condition.

    Raises ImportError when PyTorch is missing, TypeError or ValueError when the chosen input is no tensor or has no
    such axis, and whatever the model itself raises.
    """
    from .frontend import traced

    subject = Subject(model, tuple(inputs), dict(keywords or {}), input_index, sequence_axis)
    return traced(
        subject, Policy(parameters, others, finite_masks, tuple(rules), values, real), _put_back(subject), ranks
    )


def blame(
    model: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    output: int,
    output_axis: int,
    position: int,
    forbidden: Any,
    closed: Any = None,
    keywords: Mapping[str, Any] | None = None,
    input_index: int | str = 0,
    sequence_axis: int = 1,
    parameters: Literal["any", "stored"] = "any",
    others: Literal["given", "any"] = "given",
    finite_masks: bool = True,
    rules: Sequence[Rule] = (),
) -> Chain:
    """How input positions `forbidden` (boolean, one per position) reach `position` of output number `output`.

    Runs the model once more, with only the forbidden positions marked, and walks back from the output. Elements that
    belong to a `closed` position (by default a forbidden one) may depend on them. The other keywords are those of
    `run`. The chain is a guide for people; no verdict rests on it.
    """
    from .frontend import blame as blame_torch

    subject = Subject(model, tuple(inputs), dict(keywords or {}), input_index, sequence_axis, output_axis)
    assumed = Policy(parameters, others, finite_masks, tuple(rules))
    return blame_torch(
        subject, assumed, _put_back(subject), output=output, position=position, forbidden=forbidden, closed=closed
    )


def _put_back(subject: Subject) -> Callable[[bool], AbstractContextManager[object]]:
    """A run without values leaves nothing in the model; one with them leaves what the model does."""
    from ..reachable import reachable
    from ..restore import Held

    def prepared(values: bool) -> AbstractContextManager[object]:
        if values:
            return nullcontext()
        return Held(reachable(subject.model, subject.inputs, subject.keywords)).restored(values=False)

    return prepared
