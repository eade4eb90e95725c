"""`attnproof check FILE`: does a stored projection look ahead?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import OPEN, REFUTED, Format, FormatOption, ReportOption, accepted, app, fail, judge
from .usage import in_options, number, page_file, shown

if TYPE_CHECKING:
    from ..causal.projection.entries import Entries
    from ..causal.verdict import Evidence, Verdict


OPTIONS = {name: f"--{name}" for name in ("layout", "visible", "boundary", "tolerance")}


@app.command()
def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="F (and E): .npy, .npz, .safetensors, .pt, .csv, .parquet.", show_default=False
        ),
    ],
    key: Annotated[str | None, typer.Option("--key", help="The key of F, where FILE holds several arrays.")] = None,
    keys_from: Annotated[str | None, typer.Option("--keys-from", help="The key of E; left out, E = F.")] = None,
    layout: Annotated[
        str | None,
        typer.Option("--layout", help="How F lies: slots-first or positions-first; needed unless wider than tall."),
    ] = None,
    visible: Annotated[
        str | None, typer.Option("--visible", help="A (queries, r) mask: booleans or an additive bias; or: largest.")
    ] = None,
    boundary: Annotated[
        str | None,
        typer.Option(
            "--boundary", help="prefix, strict, lag:K, documents:a,b,…, documents-of:B, blocks:B or bidirectional."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", parser=number, metavar="X", help="Accept leaks up to this, conditionally.")
    ] = 0.0,
    kernel: Annotated[
        bool, typer.Option("--kernel", help="Have the Rocq kernel decide it too (small matrices).")
    ] = False,
    output: FormatOption = Format.text,
    page: ReportOption = None,
    accept: Annotated[
        str | None, typer.Option("--accept", help="Leave with 0 for these too: conditional, undecided or both.")
    ] = None,
) -> None:
    """Prove or refute that a projection gives no query what its boundary forbids, and show the leak if there is one."""
    from ..causal.projection.check import check_projection
    from ..causal.projection.entries import read_pair
    from .files import open_file
    from .model import quiet_progress

    accepted(accept)
    page_file(page)
    stored = open_file(file)
    values = stored.array(key, "--key")
    keys = None if keys_from is None else stored.array(keys_from, "--keys-from")
    mask = _mask(visible)
    with in_options(OPTIONS):
        matrices = read_pair(values, keys, layout)
        r, n = matrices[0].shape
        with quiet_progress(f"checking {r} slots over {n} positions"):
            verdict = check_projection(*matrices, visible=mask, boundary=boundary, tolerance=tolerance)
    if kernel:
        verdict = verdict.with_evidence(_kernel(matrices, mask, verdict, tolerance))
        if verdict.evidence[-1].ok is None and bool(verdict):
            print(verdict.to_json(indent=2) if output is Format.json else verdict)
            fail(f"--kernel could not run: {verdict.evidence[-1].detail}", OPEN)
    judge(verdict, output, accept, page)


def _mask(visible: str | None) -> Any:
    """None, "largest", or the mask in the file that `--visible` names."""
    from .files import SUFFIXES, open_file

    if visible in (None, "largest"):
        return visible
    if not Path(visible).suffix and not os.path.exists(visible):
        fail(f"--visible {shown(visible)} is unknown; use largest, or the path of a mask ({', '.join(SUFFIXES)})")
    return open_file(visible, "--visible").array(None, "--visible")


def _kernel(matrices: list[Entries], mask: Any, verdict: Verdict, tolerance: float) -> Evidence:
    """What the Rocq kernel says about the same head; a contradiction is a fault of attnproof and ends the run."""
    import numpy as np

    from ..causal.boundary import Boundary
    from ..causal.projection.support import supports
    from ..causal.projection.visible import read_visible, visible_to

    try:
        from ..proofs.differential import kernel_evidence
    except ImportError as error:
        fail(f"--kernel needs attnproof.proofs.differential, which is missing here ({error}); leave it out", OPEN)
    where = Boundary.resolve(verdict.boundary, matrices[0].shape[1])
    seen = visible_to(read_visible(mask, matrices[0].shape[0]), supports(matrices, where)[0])
    shown = seen.sees(np.arange(seen.queries)) if seen.bias is None else seen.bias
    evidence = kernel_evidence(matrices[-1].block(), matrices[0].block(), shown, where)
    proved = "safe by T11" if "T11" in verdict.claims else "safe by T10"
    said = {"PROVED": proved, "PROVED_IF": "safe by T11", "REFUTED": "leaks"}.get(verdict.status.name, "")
    # Up to a tolerance the checker accepts what the kernel, which knows no tolerance, calls a leak.
    if evidence.ok is not None and not tolerance and not evidence.detail.startswith(said):
        fail(f"--kernel contradicts the checker ({evidence.detail}; {verdict.headline()}); please report it", REFUTED)
    return evidence
