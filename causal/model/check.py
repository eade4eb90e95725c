"""Is a whole model, of PyTorch or JAX, causal? One abstract pass proves it, or a concrete leak refutes it.

`check_model` runs the model once with a dependency interval beside every tensor (`trace`). When every output stays
inside what the boundary allows, that is a proof for all finite inputs; otherwise the model itself is replayed with
forbidden positions replaced until a witness is found or the search gives up. What a proof covers is in
`docs/guarantee.md`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..verdict import NotProvedError, Status, Verdict, accept_or_raise, versions_of
from .across_lengths import by_length
from .arguments import BoundaryLike, chosen_modes
from .asked import Asked
from .decide import decide
from .failure import failure_message
from .finding import Finding, worst
from .jax.kinds import is_jax, may_be_jax
from .limits import Limits
from .questions import questions
from .remarks import reads_no_other
from .setting import ModelError

if TYPE_CHECKING:
    from .outputs import Chosen
    from .question import Question
    from .trace.registry import Rule

__all__ = ["assert_causal", "check_model"]


def check_model(
    model: Callable[..., Any],
    *inputs: Any,
    sequence_axis: int | None = None,
    output_axis: int | None = None,
    outputs: Chosen = None,
    boundary: BoundaryLike = None,
    modes: Sequence[str] = ("eval",),
    lengths: Sequence[int] | Literal["all"] | None = None,
    make_input: Callable[[int], Any] | None = None,
    parameters: Literal["any", "stored"] | None = None,
    vary: int | str = 0,
    vocabulary: int | None = None,
    rules: Sequence[Rule] = (),
    tries: int | None = None,
    budget: float | None = None,
    progress: Callable[[int, str], None] | None = None,
    replay: Literal["auto", "never"] = "auto",
    unused: bool = False,
) -> Verdict:
    """Prove or refute that no output of a model depends on a position that the boundary forbids.

    `model` is an `nn.Module`, a module of flax or equinox, or any callable over tensors or arrays of JAX; `inputs` are
    its positional inputs, a last mapping is passed as keywords. The input `vary` (index or keyword) is the sequence:
    its `sequence_axis` holds n positions (1, unless said otherwise; it must be named where a layer has
    `batch_first=False` or no position reads another), and the outputs' `output_axis` (default: the same) holds the
    queries. Every tensor that the model returns with as many places there is checked, unless `outputs` chooses some by
    index or key; the others are named. `boundary` is None (prefix), a `Boundary`, a text such as "strict" or "lag:2",
    or a function of n.

    `modes` are "eval" and "train" (dropout with a fixed seed). `lengths=(32, 96)` checks several lengths, with
    `make_input(n)` or the given sequence cut or repeated, and tells where outputs on one prefix depend on n.
    `lengths="all"` proves one recorded program for every length in a range that the verdict names (theorem T26).
    Parameters count as any numbers by default; `parameters="stored"` takes them as they are. `vocabulary` bounds
    whole-number inputs (tokens); where they reach an embedding, as they are or by slices, shifts and offsets, it is
    inferred. `rules` are `trace.Rule`s for operations of your own. A search for a leak tries a few sets of positions in
    every way it knows, mostly 30 to 60 forwards; with `tries` it goes on to the end of each, up to so many forwards
    (1000 is mostly enough), and it ends after `budget` seconds where you name some; the verdict says so.
    `progress(forwards, setting)` is called before each of them.

    The abstract run computes no values but constants, as far as the program asks for none: a fraction of a forward. It
    is made again with values where the program does, or where a run of the model shows a number that is not finite; the
    verdict says which it was. A proof is compared with the model itself (`replay="auto"`), or rests on the abstract run
    alone (`replay="never"`). A model on the meta device is proved in that way, too. With `unused`, each position of a
    proved model is replaced alone, and a warning names what outputs may use and were not seen to.

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
    chosen = chosen_modes(modes)
    if parameters not in (None, "any", "stored"):
        raise ModelError("parameters", "is unknown", "use 'any' (the default) or 'stored'", parameters)
    if replay not in ("auto", "never"):
        raise ModelError("replay", "is unknown", "use 'auto' (the default) or 'never'", replay)
    asked = Asked(
        model, inputs, sequence_axis, output_axis, outputs, boundary, chosen,
        None if isinstance(lengths, str) else lengths, make_input,
        parameters or "any", vary, vocabulary, tuple(rules), Limits.of(tries, budget, progress),
        replay == "auto", unused,
    )  # fmt: skip
    if isinstance(lengths, str):
        return _everywhere(asked, lengths)
    return _answered(asked)[1]


def _answered(asked: Asked) -> tuple[list[Finding], Verdict]:
    """What was found for each mode and length, and the verdict."""
    findings = [decide(question) for question in _questions(asked)]
    alone = works_alone(findings)
    if alone and asked.sequence_axis is None:
        raise ModelError(
            "sequence_axis",
            f"was not named, and along axis 1 of input {asked.vary} no output depends on a position but its own",
            "name the axis of the positions (sequence_axis=1 if the model does work position by position)",
            mentions=("sequence_axis",),
        )
    return findings, _verdict(findings, alone)


def _everywhere(asked: Asked, lengths: str) -> Verdict:
    """The verdict for every length."""
    if lengths != "all":
        raise ModelError("lengths", "is a text that is not 'all'", "name lengths, such as lengths=(32, 96)", lengths)
    from .every_length.check import everywhere

    return everywhere(asked, _answered)


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
    other keywords are those of `check_model`. Outputs that were not checked are warned of, unless `outputs` chose some.

    >>> import torch
    >>> assert_causal(torch.nn.GRU(4, 4, batch_first=True), torch.randn(1, 6, 4), outputs=0).status.name
    'PROVED'
    """
    verdict = check_model(model, *inputs, **keywords)
    try:
        accepted = accept_or_raise(verdict, accept, suppress)
    except NotProvedError as error:
        raise type(error)(verdict, failure_message(verdict)) from None
    if verdict.details["unchecked"] and keywords.get("outputs") is None:
        names = ", ".join(f"output{path}" for path in verdict.details["unchecked"])
        warnings.warn(f"{verdict.about}: not checked: {names}; outputs= says which to check", stacklevel=2)
    return accepted


def _questions(asked: Asked) -> Iterator[Question]:
    """What is asked of a model of PyTorch's or JAX's, told apart by what it is, or else by its inputs."""
    sample = asked.inputs
    if may_be_jax(asked.model):
        asked, sample = asked.with_sample()
    if is_jax(asked.model, sample):
        from .jax.questions import questions as of_arrays

        return of_arrays(asked)
    return questions(asked)


def works_alone(findings: Sequence[Finding]) -> bool:
    """Whether every run that could tell proves that no position reads another."""
    told = [reads_no_other(f) for f in findings]
    return worst([f.status for f in findings]) in (Status.PROVED, Status.PROVED_IF) and any(told) and False not in told


# -- the verdict --------------------------------------------------------------------------------------------------


def _verdict(findings: Sequence[Finding], alone: bool) -> Verdict:
    status = worst([f.status for f in findings])
    shown = next(f for f in findings if f.status is status)
    several = len(findings) > 1
    runs = [f"{f.question.mode}, n = {f.question.program.n}" for f in findings]

    def tagged(run: str, text: str) -> str:
        return f"{text} [{run}]" if several else text

    reasons = [tagged(r, t) for f, r in zip(findings, runs, strict=True) if f.status is status for t in f.said.reasons]
    reasons += [tagged(r, t) for f, r in zip(findings, runs, strict=True) for t in f.said.notes]
    reasons += by_length(findings) if several else ()
    program, boundary = shown.question.program, shown.question.boundary
    name = program.name
    of_runs = ", ".join(run.replace(",", "") for run in runs)
    about = f"{name} ({of_runs})" if several else f"{name} over {program.n} positions"
    return Verdict(
        subject="model",
        about=f"{about}; no position reads another" if alone else about,
        status=status,
        evidence=tuple(e for f in findings for e in f.said.evidence),
        assumptions=tuple(dict.fromkeys(a for f in findings for a in f.said.assumptions)),
        conditions=tuple(c for f in findings for c in f.said.conditions) if status is Status.PROVED_IF else (),
        witness=shown.witness,
        reasons=tuple(dict.fromkeys(reasons)),
        starved=shown.starved,
        queries=boundary.queries,
        boundary=boundary,
        details=_details(name, shown, findings),
        versions=versions_of(*program.libraries),
        input_hash=program.digest(),
    )


def _details(name: str, shown: Finding, findings: Sequence[Finding]) -> Mapping[str, Any]:
    attempt = shown.attempt
    return {
        "model": name,
        "mode": shown.question.mode,
        "shape": list(shown.question.program.input.shape),
        "outputs": list(shown.question.outputs.paths),
        "unchecked": list(dict.fromkeys(path for f in findings for path in f.question.outputs.unchecked)),
        "output": shown.output,
        "earliest": None if attempt is None else attempt.reach.earliest.tolist(),
        "latest": None if attempt is None else attempt.reach.latest.tolist(),
        "blame": None if shown.blame is None else shown.blame.to_dict(),
        "probe": None if shown.probe is None else dict(shown.probe),
        "unknown": [str(op) for op in shown.unknown],
        "reads": [] if attempt is None else [str(r.operation) for r in attempt.trace.reads],
        "operations": {} if attempt is None else dict(attempt.trace.operations),
        "runs": [
            {
                "mode": f.question.mode,
                "n": f.question.program.n,
                "status": f.status.name,
                "forwards": f.said.forwards,
                "abstract_seconds": None if f.attempt is None else f.attempt.trace.seconds,
                "seconds": f.seconds,
            }
            for f in findings
        ],
        **({} if shown.unused is None else {"unused": shown.unused}),
    }
