"""`attnproof design list|show|export`: designs that are safe for every n, and published ones that are not."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import PROVED, REFUTED, Format, FormatOption, accepted, app, fail, judge
from .layout import hanging
from .usage import in_options, picture, shown, whole, whole_list

if TYPE_CHECKING:
    from ..causal.design.design import Design
    from ..causal.verdict import Verdict

OPTIONS = {"p": "--block", "w": "--window", "stride": "--stride", "k": "--slots", "lengths": "--lengths"}
MOST_DRAWN = 1000  # positions that a picture can still show
CELL, WIDE_CELL = 12, 29  # bytes at the peak, measured, for each pair of a slot and a position: plain means; the others

designs = typer.Typer(help="Compression designs that are safe for every n, and published ones that are not.")
app.add_typer(designs, name="design", no_args_is_help=True)


def _size(text: str, metavar: str, least: int = 1) -> Any:
    """An option that takes a whole number."""
    return typer.Option(parser=whole(least), metavar=metavar, help=text)


@designs.command("list")
def list_designs(output: FormatOption = Format.text) -> None:
    """Every design with its verdict for all n, its staleness, the window that it needs and its cost."""
    from ..causal.design.catalogue import BUILD, build

    found = [(design, design.check()) for design in (build(name, 20) for name in BUILD)]
    if output is Format.json:
        rows = [_row(design, verdict) for design, verdict in found]
        print(json.dumps({"schema_version": 1, "designs": rows}, indent=2, ensure_ascii=False))
    else:
        for design, verdict in found:
            lines = [design.name, f"  {design.about}", f"  {verdict.headline()}"]
            if verdict.witness is not None:
                lines.append(f"  {verdict.witness.describe()}")
            if design.safe:
                lines += [f"  stale by {design.stale_text}; window {design.window_text}", f"  {design.cost_text}"]
            print(hanging("\n".join([*lines, f"  source: {design.source}"])))
    raise typer.Exit(PROVED if all(bool(verdict) == design.safe for design, verdict in found) else REFUTED)


@designs.command("show")
def show_design(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from `attnproof design list`.")],
    n: Annotated[int, _size("Number of positions.", "N")] = 16,
    block: Annotated[int | None, _size("Block length, p in the formulas.", "P")] = None,
    window: Annotated[int | None, _size("Local window, w in the formulas.", "W", 0)] = None,
    stride: Annotated[int | None, _size("Distance of slots or checkpoints.", "Q")] = None,
    slots: Annotated[int | None, _size("Number of dense slots.", "K")] = None,
    lengths: Annotated[str | None, typer.Option("--lengths", help="Documents' lengths, such as 5,7,4.")] = None,
    d: Annotated[int, _size("Width of a head, for the cost.", "D")] = 64,
    save: Annotated[
        Path | None,
        typer.Option("--save", help="Write a picture of who reads what and who sees what, FILE.png or .svg or .pdf."),
    ] = None,
    accept: Annotated[
        str | None, typer.Option("--accept", help="Leave with 0 for these too: conditional, undecided or both.")
    ] = None,
    output: FormatOption = Format.text,
) -> None:
    """One design: its proof for every n and its numbers at size N and, with --save, a picture of it."""
    accepted(accept)
    picture(save)
    if save is not None and n > MOST_DRAWN:
        fail(f"--n {n} is too large for a picture; pass at most {MOST_DRAWN}, or leave out --save")
    sizes = None if lengths is None else whole_list(lengths)
    if lengths is not None and sizes is None:
        fail(f"--lengths {shown(lengths)} is not a list of lengths; write whole numbers with commas, such as 5,7,4")
    if sizes is not None and (sum(sizes) != n or min(sizes) < 1):
        fail(
            f"--lengths {shown(lengths)} are no documents over --n {n} positions; pass positive lengths that sum to {n}"
        )
    given = {"p": block, "w": window, "stride": stride, "k": slots, "lengths": sizes}
    design = _built(name, n, given)
    _fits(design, n, lambda m: _built(name, m, {**given, "lengths": None}))
    numbers = _numbers(design, n, d)
    if save is not None:
        _picture(design, n, save)
    verdict = design.check()
    if output is Format.text:
        print(f"{design.name}: {design.about}")
        for label, value in numbers.items():
            print(hanging(f"  {label}: {value:,}" if isinstance(value, int) else f"  {label}: {value}"))
        if save is not None:
            print(f"  picture: {save}")
        print()
    judge(verdict, output, accept)


@designs.command("export")
def export_designs(folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the .smt2 files go.")]) -> None:
    """Write what the solvers decided as SMT-LIB, one file per question, so that any solver can re-check it."""
    texts = smtlib_texts()
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    print(f"{len(texts)} files in {folder}")


def smtlib_texts() -> dict[str, str]:
    """File names and SMT-LIB texts of every question about every ready design, as the solvers decided it."""
    from ..causal.design.catalogue import BUILD, build

    texts = {}
    for name in BUILD:
        design = build(name, 20)
        status = f"(set-info :status {'unsat' if design.safe else 'sat'})"
        for aspect, text in design.check().details["smtlib"].items():
            texts[f"{name}.{aspect}.smt2"] = text.replace("(set-logic", f"{status}\n(set-logic", 1)
    return texts


def _built(name: str, n: int, given: dict[str, Any]) -> Design:
    """The design, or an error that names options, not the parameters of the Python functions behind them."""
    from ..causal.design.catalogue import BUILD, build

    wanted = inspect.signature(BUILD[name]).parameters if name in BUILD else OPTIONS
    for key, option in OPTIONS.items():
        if given[key] is not None and key not in wanted:
            takes = ", ".join(OPTIONS[k] for k in wanted if k in OPTIONS) or "none of these options"
            fail(f"{option} does not apply to design {name}; it takes {takes}")
    with in_options(OPTIONS):
        return build(name, n, **given)


def _fits(design: Design, n: int, at: Callable[[int], Design]) -> None:
    """Refuse, before any work, a size whose matrices the free memory cannot hold, with the largest that it can."""
    from .cost import free_memory

    free = free_memory()
    slots, need = _memory(design, n)
    if free is None or need <= free:
        return
    fits, over = 1, n  # the need grows with n
    while over - fits > 1:
        middle = (fits + over) // 2
        fits, over = (middle, over) if _memory(at(middle), middle)[1] <= free else (fits, middle)
    fail(
        f"--n {n} needs about {need / 2**30:.1f} GiB for the matrices of {slots:,} slots, {free / 2**30:.1f} GiB are "
        f"free; the largest n that fits is {fits}"
    )


def _memory(design: Design, n: int) -> tuple[int, int]:
    """The slots at size n, and about how many bytes `_numbers` takes for them."""
    from ..causal.design.family import averages

    slots, family = 0, design.family
    for level in design.levels(n):
        using = family.concrete(n, {k: v for k, v in {**design.values, **level}.items() if k in family.parameters})
        slots += int(family.call("slots", n, using=using))
    plain = design.weights is averages and family.boundary is None
    pairs = 0 if family.boundary is None else n * n  # who may see whom, where that is no triangle
    return slots, (CELL if plain else WIDE_CELL) * slots * n + CELL * pairs


def _row(design: Design, verdict: Verdict) -> dict[str, Any]:
    return {
        "name": design.name,
        "about": design.about,
        "status": verdict.status.name,
        "claim": verdict.about,
        "witness": None if verdict.witness is None else verdict.witness.describe(),
        "staleness": design.stale_text,
        "window": design.window_text,
        "cost": design.cost_text,
        "source": design.source,
    }


def _numbers(design: Design, n: int, d: int) -> dict[str, int | str]:
    member = design.matrices(n)
    r = len(member.support)
    cost = design.cost(n, d)
    numbers: dict[str, int | str] = {"n": n, "slots": r}
    if design.safe:
        numbers["most slots that one query sees"] = int(member.visible.sum(axis=1).max(initial=0))
        numbers["queries that see nothing"] = int((~member.visible.any(axis=1)).sum())
        fed = f"; none that starves nobody is below {(n - 1) // r}, T21" if r else ""
        least = f"no design with {r} slots is below {n // (r + 1)}, T14{fed}"
        numbers["staleness"] = f"{design.staleness(n)} positions ({least})"
        numbers["local window that would show everything"] = f"{design.window(n)} positions"
    numbers[f"multiply-adds at d = {d}"] = cost["total"]
    numbers["multiply-adds of masked full attention"] = cost["full attention, masked"]
    return numbers


def _picture(design: Design, n: int, save: Path) -> None:
    from ..causal.design.picture import draw

    draw(design, n).savefig(save, dpi=110)
