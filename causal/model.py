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

from .blame import failure_message
from .boundary import Boundary
from .model_run import Case, Finding, operations_named, worst
from .model_witness import ModelWitness
from .modules import modules_of, named_parameters
from .program import MODES, ModelError, Program, need_torch
from .verdict import NotProvedError, Status, Verdict, accept_or_raise, versions_of

__all__ = ["ModelError", "ModelWitness", "assert_causal", "check_model"]

BoundaryLike = Boundary | str | Callable[[int], Boundary] | None


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
    chosen = _modes(modes)
    if parameters not in (None, "any", "stored"):
        raise ModelError(f"parameters = {parameters!r} is unknown; use 'any' (the default) or 'stored'")
    axis = _sequence_axis(model, sequence_axis)
    findings = []
    for n, given in _inputs(inputs, lengths, make_input, vary, axis):
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
            about = _boundary(boundary, program.n, seen.output.shape[0], program.output_axis)
            bound = _vocabulary(program, vocabulary, seen.vocabulary)
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


# -- the arguments ------------------------------------------------------------------------------------------------


def _modes(modes: Sequence[str]) -> list[str]:
    chosen = [modes] if isinstance(modes, str) else list(modes)
    for mode in chosen:
        if mode not in MODES:
            raise ModelError(f"modes names {mode!r}, which is no mode; use 'eval', 'train' or both")
    if not chosen:
        raise ModelError("modes is empty; use 'eval', 'train' or both")
    return chosen


def _sequence_axis(model: Any, given: int | None) -> int:
    if given is None and _positions_first(model):
        raise ModelError(
            f"{type(model).__name__} takes positions along axis 0 (batch_first=False); pass sequence_axis=0, or 1 if "
            "you do mean the batch"
        )
    return 1 if given is None else given


def _positions_first(module: Any) -> bool | None:
    """Whether a module of PyTorch's takes (positions, batch, …); None where it does not say, or is somebody's own."""
    if not type(module).__module__.startswith("torch.nn."):
        return None
    batch_first = getattr(module, "batch_first", None)
    if batch_first is not None:
        return not batch_first
    said = (_positions_first(child) for child in module.children())
    return next((answer for answer in said if answer is not None), None)


def _inputs(
    inputs: tuple[Any, ...],
    lengths: Sequence[int] | None,
    make_input: Callable[[int], Any] | None,
    vary: int | str,
    axis: int,
) -> list[tuple[int | None, tuple[Any, ...]]]:
    """The inputs to run, one tuple per length (None: as given)."""
    import torch

    if lengths is None:
        if not inputs:
            raise ModelError("no input was given; pass the model's inputs, or lengths together with make_input")
        return [(None, inputs)]
    sizes = list(lengths)
    for n in sizes:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ModelError(f"lengths names {n!r}; pass whole numbers of at least 1")
    if not sizes:
        raise ModelError("lengths is empty; name at least one length or leave it out")
    if make_input is not None:
        made = ((n, make_input(n)) for n in sizes)
        return [(n, m if isinstance(m, tuple) else (m,)) for n, m in made]
    if len(inputs) == 1 and callable(inputs[0]):
        raise ModelError("input 0 is a function; pass it as make_input=, with lengths")
    if not inputs or isinstance(vary, str) or not isinstance(inputs[vary], torch.Tensor):
        raise ModelError("lengths needs make_input(n) here: only a positional tensor can be cut and repeated")
    x = inputs[vary]
    resized: list[tuple[int | None, tuple[Any, ...]]] = []
    for n in sizes:
        index = torch.arange(n, device=x.device) % x.shape[axis]
        resized.append((n, (*inputs[:vary], x.index_select(axis, index), *inputs[vary + 1 :])))
    return resized


def _boundary(given: BoundaryLike, n: int, queries: int, axis: int) -> Boundary:
    if isinstance(given, str):
        given = Boundary.parse(given, n)
    elif callable(given) and not isinstance(given, Boundary):
        given = given(n)
    if given is None:
        if queries != n:
            raise ModelError(
                f"the output has {queries} positions along axis {axis} and the input {n}; say where they stand with "
                f"boundary=Boundary.prefix({n}, queries={queries}) or Boundary.relation(matrix), or pass output_axis"
                if queries <= n
                else f"the output has {queries} positions along axis {axis} and the input {n}; say what each may use "
                f"with boundary=Boundary.relation(matrix) of shape ({queries}, {n}), or pass output_axis"
            )
        return Boundary.prefix(n)
    if not isinstance(given, Boundary):
        raise TypeError(f"boundary must be a Boundary, not {type(given).__name__}; build one with Boundary.prefix({n})")
    if given.n != n:
        raise ModelError(
            f"boundary speaks of n = {given.n} positions, the sequence axis has {n}; pass Boundary.prefix({n}) or "
            "another sequence_axis"
        )
    if given.queries != queries:
        raise ModelError(
            f"boundary has {given.queries} queries, the output {queries} positions along axis {axis}; make them agree "
            "or pass output_axis"
        )
    return given


def _vocabulary(program: Program, given: int | None, inferred: int | None) -> int | None:
    import torch

    if not program.is_discrete():
        return None
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int) or given < 2:
            raise ModelError(f"vocabulary = {given!r} leaves nothing to vary; pass the number of tokens, at least 2")
        top = int(program.input.max())
        if top >= given:
            raise ModelError(f"vocabulary = {given} but the input holds token {top}; pass at least {top + 1}")
        return given
    if program.input.dtype is torch.bool:
        return 2
    if inferred is None:
        raise ModelError(
            f"input {program.vary} holds whole numbers and no embedding tells their bound; pass vocabulary=, the "
            "number of tokens"
        )
    return inferred


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

    digest = hashlib.blake2b(digest_size=16)
    tensors = [t for t in (*program.positional, *program.keywords.values()) if isinstance(t, torch.Tensor)]
    tensors += list(named_parameters(program.modules).values())
    for t in tensors:
        digest.update(f"{t.dtype}{tuple(t.shape)}".encode())
        if t.numel() and t.device.type != "meta":
            digest.update(t.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
