"""`attnproof verify`: run every claim, or those named, and print what was found."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import OPEN, PROVED, REFUTED, Format, FormatOption, ReportOption, accepted, app, fail
from .layout import console
from .usage import page_file, shown, suggestion, whole

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..proofs.claim import Claim, Scale
    from ..proofs.verify import Row

BACKENDS = ("numpy", "torch", "jax", "cupy", "dask")


@app.command()
def verify(
    claims: Annotated[list[str] | None, typer.Argument(metavar="[CLAIM]...", help="Ids such as T3; none: all.")] = None,
    precision: Annotated[
        int, typer.Option(parser=whole(1, 4000), metavar="DIGITS", help="Digits of the enclosures.")
    ] = 30,
    kernel: Annotated[bool, typer.Option("--kernel", help="Run the Rocq proofs as well.")] = False,
    backend: Annotated[
        str | None, typer.Option(metavar="|".join(BACKENDS), help="Run the checks on arrays of this library.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Device for these checks, as the library names it.")] = None,
    n: Annotated[
        int | None, typer.Option("--n", parser=whole(1), metavar="N", help="Positions in these checks.")
    ] = None,
    output: FormatOption = Format.text,
    page: ReportOption = None,
    accept: Annotated[
        str | None, typer.Option(help="undecided: leave with 0 although something is incomplete or was not run.")
    ] = None,
) -> None:
    """Derive, check and print every claim of the theory; see `attnproof explain T3` for one of them."""
    from ..proofs.claim import registry
    from ..proofs.verify import as_json

    named = {claim.id: claim for claim in map(claim_named, claims or ())}  # one that is named twice counts once
    chosen = list(named.values()) or list(registry().values())
    statuses = accepted(accept)
    page_file(page)
    with _in_double_precision(backend):
        scale = None if backend is None and device is None and n is None else scale_on(backend or "numpy", device, n)
        rows = _run_all([c.id for c in chosen], digits=precision, kernel=kernel, scale=scale)
    if page is not None:
        from ..causal.document import write
        from ..proofs.page import page as page_of

        write(page_of(rows), page)
    if output is Format.json:
        print(json.dumps(as_json(rows), indent=2, ensure_ascii=False))
    else:
        _print(rows, kernel)
    raise typer.Exit(exit_code(rows, "UNDECIDED" in statuses, kernel=kernel, scale=scale is not None))


def claim_named(name: str) -> Claim:
    """The claim with this id; one sentence and exit 2 for another."""
    from ..proofs.claim import claim_by_id, registry

    try:
        return claim_by_id(name)
    except ValueError:
        ids = list(registry())
        near = suggestion(name.strip().upper(), ids)
        fail(f"claim {shown(name)} is unknown; {near}{'The' if near else 'the'} claims are {ids[0]} to {ids[-1]}")


def exit_code(rows: list[Row], undecided_accepted: bool, *, kernel: bool, scale: bool) -> int:
    """0 when all is proved or derived and all that was asked for ran, 1 when something failed, else 3 (0 if accepted).

    With `kernel` a claim that is derived is not enough: its lemmas were to be closed.
    """
    if any(row.status == "failed" for row in rows):
        return REFUTED
    asked = {kind for kind, wanted in (("kernel", kernel), ("scale", scale)) if wanted}
    ran = {e.kind for row in rows for e in row.evidence if e.ok}
    idle = any(e.ok is None and e.kind == "kernel" for row in rows if row.claim.theorems for e in row.evidence)
    enough = {"proved"} if kernel else {"proved", "derived"}
    unfinished = any(row.status not in enough for row in rows) or bool(asked - ran) or idle
    return OPEN if unfinished and not undecided_accepted else PROVED


def _run_all(ids: list[str], **options: Any) -> list[Row]:
    """All rows, with a progress bar on a terminal and none in a pipe."""
    from ..proofs.verify import verify as rows_of

    if not sys.stderr.isatty():
        return list(rows_of(ids, **options))
    from rich.console import Console
    from rich.progress import Progress

    rows: list[Row] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        if options["kernel"]:
            _build_kernel(progress)
        task = progress.add_task("claims", total=len(ids))
        for name in ids:
            progress.update(task, description=f"checking {name}")
            rows += rows_of([name], **options)
            progress.advance(task)
    return rows


def _build_kernel(progress: Progress) -> None:
    """The Rocq development built once, with a bar of its own; the rows then read its report from the cache."""
    from ..proofs.kernel import run_gate

    task = progress.add_task("building proofs/rocq", total=None)
    run_gate(progress=lambda done, total, what: progress.update(task, completed=done, total=total, description=what))
    progress.remove_task(task)


def _print(rows: list[Row], kernel: bool) -> None:
    from ..proofs.verify import COLOUR, remarks, table

    out = console()
    out.print(table(rows))
    for line in remarks(rows):
        out.print(line, markup=False, highlight=False)
    without = [row.claim.id for row in rows if row.claim.enclosure is None]
    if without:
        out.print(f"an enclosure does not apply to {', '.join(without)}", markup=False, highlight=False)
    counts = {status: sum(row.status == status for row in rows) for status in COLOUR}
    lemmas = [lemma for row in rows for lemma in row.open_lemmas]
    closed = sum(len(row.lemmas) - len(row.open_lemmas) for row in rows)
    stated = sum(bool(lemma.theorem) for lemma in lemmas)
    if kernel and not any(row.claim.theorems for row in rows):
        names = ", ".join(row.claim.id for row in rows)
        out.print(f"--kernel had nothing to check: no theorem is stated in proofs/rocq for {names}", highlight=False)
    if closed:
        by_kernel = f", {closed} closed by Rocq"
    else:
        by_kernel = f", {stated} of them stated in proofs/rocq (--kernel has Rocq close those)" if stated else ""
    out.print(
        f"{', '.join(f'{count} {status}' for status, count in counts.items() if count)}; "
        f"{len(lemmas)} lemma{'' if len(lemmas) == 1 else 's'} leant on{by_kernel}",
        markup=False,
        highlight=False,
        soft_wrap=True,  # one line for whoever reads it by machine, however narrow the terminal
    )


def scale_on(backend: str, device: str | None, n: int | None) -> Scale:
    """The array library, device and size for the checks on arrays; one sentence and exit 2 when one is missing."""
    from ..proofs.claim import Scale

    if backend not in BACKENDS:
        fail(f"--backend {shown(backend)} is unknown; use {', '.join(BACKENDS)}")
    xp = _namespace(backend)
    return Scale(xp, None if device is None else _device(backend, xp, device), n)


@contextmanager
def _in_double_precision(backend: str | None) -> Iterator[None]:
    """JAX has numbers of 64 bits only where it is told so; what it was told before holds again afterwards."""
    if backend != "jax":
        yield
        return
    from ..libraries import library

    config: Any = library("jax", f"--backend {backend}").config
    before = config.jax_enable_x64
    config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        config.update("jax_enable_x64", before)


def _namespace(backend: str) -> Any:
    """The array-API namespace of a library, imported only now."""
    from importlib import import_module

    from ..libraries import library

    found = library({"jax": "jax.numpy", "dask": "dask.array"}.get(backend, backend), f"--backend {backend}")
    if backend == "jax":
        return found
    return import_module(f"array_api_compat.{'dask.array' if backend == 'dask' else backend}")


def _device(backend: str, xp: Any, device: str) -> Any:
    """The named device, after a small array was made on it."""
    try:
        if backend == "jax":
            import jax

            kind, _, index = device.partition(":")
            found: Any = jax.devices(kind)[int(index or 0)]
        elif backend == "cupy":
            import cupy

            found = cupy.cuda.Device(int(device.rpartition(":")[2].removeprefix("cuda") or 0))
            with found:
                xp.sum(xp.ones(2))
        else:
            found = device
            xp.sum(xp.ones(2, device=device))
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        fail(f"--device {shown(device)} is not usable with {backend} ({first}); leave it out or name another")
    return found
