"""Is a whole PyTorch model causal? One abstract pass proves it, or a concrete leak refutes it.

`check_model` runs the model once with a dependency interval beside every tensor (`trace`). When every output stays
inside what the boundary allows, that is a proof for all finite inputs; otherwise the model itself is replayed with
forbidden positions replaced until a witness is found or the search gives up. What a proof covers is in
`docs/guarantee.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..verdict import NotProvedError, Status, Verdict, accept_or_raise, versions_of
from .arguments import (
    BoundaryLike,
    axis_of_positions,
    chosen_modes,
    inputs_of_lengths,
    resolved_boundary,
    resolved_vocabulary,
)
from .blame import failure_message
from .decide import Case
from .finding import Finding, operations_named, worst
from .modules import modules_of, named_parameters
from .program import Program
from .setting import ModelError, need_torch

__all__ = ["assert_causal", "check_model"]


def check_model(
    model: Callable[..., Any],
    *inputs: Any,
    sequence_axis: int | None = None,
    output_axis: int | None = None,
    boundary: BoundaryLike = None,
    modes: Sequence[str] = ("eval",),
    lengths: Sequence[int] | None = None,
    make_input: Callable[[int], Any] | None = None,
    parameters: str | None = None,
    vary: int | str = 0,
    vocabulary: int | None = None,
    rules: Sequence[Any] = (),
) -> Verdict:
    """Prove or refute that no output of a PyTorch model depends on a position that the boundary forbids.

    `model` is an `nn.Module` or any callable over tensors; `inputs` are its positional inputs, a last mapping is passed
    as keywords. The input `vary` (index or keyword) is the sequence: its `sequence_axis` holds n positions (1, unless
    said otherwise; a module of PyTorch's with `batch_first=False` must be told), and the first floating output's
    `output_axis` (default: the same) holds the queries. `boundary` is None (prefix), a `Boundary`, a text such as
    "strict" or "lag:2", or a function of n.

    `modes` are "eval" and "train" (dropout with a fixed seed). `lengths=(32, 96)` checks several lengths, with
    `make_input(n)` or the given sequence cut or repeated. Parameters count as any numbers by default;
    `parameters="stored"` takes them as they are. `vocabulary` bounds whole-number inputs (tokens); where the tokens go
    straight into an embedding it is inferred. `rules` are `trace.Rule`s for operations of your own.

    Returns a `Verdict` (subject "model"): `PROVED`, `PROVED_IF` with conditions (finite masks, zeros among the
    parameters, values of the other inputs), `REFUTED` with a `ModelWitness` and the operation where the future enters,
    or `UNDECIDED` with reasons. `details` holds the earliest and latest position of every output, the blamed chain,
    and one entry per mode and length. Raises ModelError (a ValueError) or TypeError with one sentence.

    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> chomp = torch.nn.Conv1d(4, 4, 3, padding=2)
    >>> check_model(lambda x: chomp(x.mT)[..., :-2].mT, torch.randn(1, 8, 4)).status.name
    'PROVED'
    >>> leak = check_model(lambda x: chomp(x.mT)[..., 1:-1].mT, torch.randn(1, 8, 4))
    >>> leak.status.name, leak.witness.position - leak.witness.query, leak.witness.replay()
    ('REFUTED', 1, True)
    """
    need_torch()
    chosen = chosen_modes(modes)
    if parameters not in (None, "any", "stored"):
        raise ModelError(f"parameters = {parameters!r} is unknown; use 'any' (the default) or 'stored'")
    axis = axis_of_positions(model, sequence_axis)
    findings = []
    for n, given in inputs_of_lengths(inputs, lengths, make_input, vary, axis):
        for mode in chosen:
            program = Program(model, given, vary=vary, sequence_axis=axis, output_axis=output_axis)
            if n is not None and program.n != n:
                raise ModelError(f"make_input({n}) gave {program.n} positions along axis {axis}; make it give {n}")
            if n is None and program.n == 1 and boundary in (None, "prefix"):
                raise ModelError(
                    f"input {program.vary} of shape {tuple(program.input.shape)} has 1 position along axis {axis}, so "
                    "that nothing comes later; name the axis of the positions with sequence_axis"
                )
            seen = program.observe(mode)
            about = resolved_boundary(boundary, program.n, seen.output.shape[0], program.output_axis)
            bound = resolved_vocabulary(program, vocabulary, seen.vocabulary)
            findings.append(Case(program, about, seen, mode, bound, parameters or "any", rules).decide())
    return _verdict(model, findings)


def assert_causal(
    model: Callable[..., Any],
    *inputs: Any,
    accept: Sequence[str] = ("PROVED",),
    suppress: str | None = None,
    **keywords: Any,
) -> Verdict:
    """For test suites: the verdict of `check_model` when its status is accepted, otherwise an AssertionError.

    Raises PrefixLeakError when refuted (the message names the layer, the pair, both values and what to look at),
    NotProvedError for another status that is not in `accept`. `suppress` gives a reason to accept it all the same;
    other keywords are those of `check_model`.

    >>> import torch
    >>> assert_causal(torch.nn.GRU(4, 4, batch_first=True), torch.randn(1, 6, 4)).status.name
    'PROVED'
    """
    verdict = check_model(model, *inputs, **keywords)
    try:
        return accept_or_raise(verdict, accept, suppress)
    except NotProvedError as error:
        raise type(error)(verdict, failure_message(verdict)) from None


# -- the verdict --------------------------------------------------------------------------------------------------


def _verdict(model: Any, findings: Sequence[Finding]) -> Verdict:
    status = worst([f.status for f in findings])
    shown = next(f for f in findings if f.status is status)
    several = len(findings) > 1

    def tagged(f: Finding, text: str) -> str:
        return f"{text} [{f.mode}, n = {f.program.n}]" if several else text

    reasons = [tagged(f, r) for f in findings if f.status is status for r in f.reasons]
    reasons += [tagged(f, r) for f in findings for r in f.notes]
    name = _name(model)
    runs = ", ".join(f"{f.mode} n = {f.program.n}" for f in findings)
    return Verdict(
        subject="model",
        about=f"{name} over {shown.program.n} positions" if not several else f"{name} ({runs})",
        status=status,
        evidence=tuple(e for f in findings for e in f.evidence),
        assumptions=tuple(dict.fromkeys(a for f in findings for a in f.assumptions)),
        conditions=tuple(c for f in findings for c in f.conditions) if status is Status.PROVED_IF else (),
        witness=shown.witness,
        reasons=tuple(dict.fromkeys(reasons)),
        starved=shown.starved,
        queries=shown.boundary.queries,
        boundary=shown.boundary,
        details=_details(name, shown, findings),
        versions=versions_of("torch", "numpy"),
        input_hash=_hash(shown.program),
    )


def _details(name: str, shown: Finding, findings: Sequence[Finding]) -> Mapping[str, Any]:
    reach = None if shown.attempt is None else shown.attempt.reach
    return {
        "model": name,
        "mode": shown.mode,
        "shape": list(shown.program.input.shape),
        "earliest": None if reach is None else reach.earliest.tolist(),
        "latest": None if reach is None else reach.latest.tolist(),
        "blame": None if shown.blame is None else shown.blame.to_dict(),
        "probe": shown.probe,
        "unknown": [str(op) for op in operations_named(shown)],
        "reads": [] if shown.attempt is None else [str(r.operation) for r in shown.attempt.trace.reads],
        "operations": {} if shown.attempt is None else dict(shown.attempt.trace.operations),
        "runs": [
            {
                "mode": f.mode,
                "n": f.program.n,
                "status": f.status.name,
                "forwards": f.forwards,
                "abstract_seconds": None if f.attempt is None else f.attempt.trace.seconds,
                "seconds": f.seconds,
            }
            for f in findings
        ],
    }


def _name(model: Any) -> str:
    named = getattr(model, "__name__", None)
    if named in (None, "<lambda>") or not isinstance(named, str):
        modules = modules_of(model)
        return type(modules[0]).__name__ if modules else "the function" if named else type(model).__name__
    return named


def _hash(program: Program) -> str:
    """A hash of the inputs and of the parameters' values."""
    import torch

    from .trace.pytree import leaves

    digest = hashlib.blake2b(digest_size=16)
    tensors = [t for _, t in leaves((program.positional, program.keywords)) if isinstance(t, torch.Tensor)]
    tensors += list(named_parameters(program.modules).values())
    for t in tensors:
        digest.update(f"{t.dtype}{tuple(t.shape)}".encode())
        if t.numel() and t.device.type != "meta":
            digest.update(t.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
