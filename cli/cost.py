"""`attnproof cost`: what compression saves in arithmetic, what a two-number machine predicts, what the clock says."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import Format, FormatOption, app, fail
from .layout import console, room, show_table, slim
from .usage import picture, shown, whole, whole_list

if TYPE_CHECKING:
    from rich.table import Table


def sizes(text: str, name: str) -> list[int]:
    """Whole numbers from "512,1024" or a doubling sweep "512:8192"."""
    found = whole_list(text.replace(":", ",", 1))
    if found is not None and ":" in text:
        first, last = found if len(found) == 2 else (0, 0)
        if 0 < last < first:
            fail(f"--{name} {shown(text)} ends before it begins; write the smaller size first, as in {last}:{first}")
        found = [first << k for k in range(max(0, last // first).bit_length())] if first > 0 else []
    if found is None:
        fail(f"--{name} {shown(text)} is no list of sizes; write 512,1024 or the doubling sweep 512:8192")
    if not found or min(found) < 1:
        fail(f"--{name} {shown(text)} holds no size of at least 1; write 512,1024 or the doubling sweep 512:8192")
    return found


@app.command()
def cost(
    n: Annotated[str, typer.Option(help="Positions: 512,1024 or a doubling sweep 512:8192.")],
    r: Annotated[str, typer.Option(help="Slots: a number, 'sqrt', or a share of n such as n/4.")],
    d: Annotated[int, typer.Option(parser=whole(1), metavar="D", help="Key width of a head.")],
    dv: Annotated[
        int | None, typer.Option(parser=whole(1), metavar="D", help="Value width of a head (default: d).")
    ] = None,
    heads: Annotated[int, typer.Option(parser=whole(1), metavar="H", help="Heads.")] = 1,
    d_model: Annotated[
        int | None,
        typer.Option(parser=whole(1), metavar="D", help="Model width: adds feature projections and a 4× feed-forward."),
    ] = None,
    measure: Annotated[bool, typer.Option("--measure", help="Time it here, beside what the model predicts.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the plot to this .png, .svg or .pdf file.")] = None,
    output: FormatOption = Format.text,
) -> None:
    """What compression saves: arithmetic and coefficients by T9, and with --measure the time it takes here."""
    picture(save)
    rows = [row(size, slots(r, size), d, dv or d, heads, d_model) for size in sizes(n, "n")]
    if measure:
        time_rows(rows, d, dv or d, heads)
    if save is not None:
        draw(rows, save, measure)
    if output is Format.json:
        print(json.dumps({"schema_version": 1, "rows": rows}, indent=2))
    else:
        show(rows, measure)


def slots(text: str, n: int) -> int:
    """The number of slots that `--r` gives for n positions."""
    try:
        r = math.isqrt(n) if text == "sqrt" else n // int(text[2:]) if text.startswith("n/") else int(text)
    except (ValueError, ZeroDivisionError):
        fail(f"--r {shown(text)} is no number of slots; write a number, sqrt, or a share such as n/4")
    if r < 1 or r > n:
        fail(f"--r {shown(text)} gives r = {r} slots at n = {n}; choose 1 ≤ r ≤ n")
    return r


def row(n: int, r: int, d: int, dv: int, heads: int, model: int | None) -> dict[str, Any]:
    """Exact counts for one size."""
    from ..symbolic import cost as formulas
    from ..symbolic.modules import feed_forward

    full = heads * formulas.macs(formulas.full_head(n, d, dv))
    small = heads * formulas.macs(formulas.compressed_head(n, r, d, dv))
    found = {
        "n": n,
        "r": r,
        "full_macs": int(full),
        "compressed_macs": int(small),
        "arithmetic_ratio": float(formulas.arithmetic_ratio(n, r, d, dv)),
        "coefficients_ratio": float(formulas.compressed_coefficients(n, r) / formulas.full_coefficients(n)),
        "extra_parameters": int(formulas.extra_parameters(n, r)),
    }
    if model is not None:
        projections = model * heads * (2 * d + dv) + heads * dv * model
        linear = projections + formulas.macs(feed_forward(1, 1, model, 4 * model))
        found["layer_speedup"] = float(formulas.speedup(n, r, linear, heads * (d + dv)))
    return found


def time_rows(rows: list[dict[str, Any]], d: int, dv: int, heads: int) -> None:
    """Add measured and predicted seconds to each row; refuses before starting when the memory would not do."""
    from ..numeric import roofline

    xp = timing_library()
    most = max(r["n"] for r in rows)
    need, free = 3 * 4 * heads * most * most, free_memory()
    if free is not None and need > free:
        fail(f"--n {most} needs about {need / 2**30:.1f} GiB for full attention, {free / 2**30:.1f} GiB are free")
    machine = roofline.measure_machine(xp)
    for done, found in enumerate(rows):
        if sys.stderr.isatty():
            print(f"\rtiming n = {found['n']} ({done + 1} of {len(rows)})", end="", file=sys.stderr)
        for kind, call in roofline.attention_calls(xp, found["n"], found["r"], d, dv, heads).items():
            times = roofline.measured_times(call)
            found[f"{kind}_seconds"], found[f"{kind}_median_seconds"] = times[0], times[len(times) // 2]
            found[f"{kind}_predicted"] = roofline.predict(machine, kind, found["n"], found["r"], d, dv, heads)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def timing_library() -> Any:
    """PyTorch where it is installed (its fused attention is what a user would pick instead), else NumPy."""
    try:
        import torch

        return torch
    except ImportError:
        import numpy

        return numpy


def free_memory() -> int | None:
    """Bytes that can be had now, where the system says (Linux)."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def show(rows: list[dict[str, Any]], measured: bool) -> None:
    """Two tables: what is counted, and what was timed."""
    out = console(130)
    out.print(
        "Counted (T9): multiply–adds of attention (one is two FLOP), their ratio 2r/n, coefficients r/n, parameters"
        + ("; layer: speed-up of a whole layer" if "layer_speedup" in rows[0] else ""),
        highlight=False,
    )
    counts = _counts(rows, exact=True)
    if room(counts)[1] > out.width:
        out.print("Long counts are rounded to four digits here; --format json has them all.")
        counts = _counts(rows, exact=False)
    show_table(counts, 130)
    out.print("Arithmetic breaks even at r = n/2; a smaller array is not a measured speed-up.")
    if measured:
        out.print("\nMilliseconds here: measured (predicted: multiply–adds and bytes per second)")
        show_table(times_table(rows), 130)
        out.print(_spread(rows))


def _counts(rows: list[dict[str, Any]], exact: bool) -> Table:
    with_layer = "layer_speedup" in rows[0]
    titles = ["n", "r", "full", "compressed", "2r/n", "r/n", "params 2rn"]
    counts = slim(*titles, *(["layer"] if with_layer else []))
    for found in rows:
        cells = [f"{found['n']:,}", f"{found['r']:,}"]
        many = [found[k] for k in ("full_macs", "compressed_macs")]
        cells += [f"{x:,}" if exact or x < 10**7 else f"{x:.4g}" for x in many]
        cells += [f"{found[k]:.4g}" for k in ("arithmetic_ratio", "coefficients_ratio")]
        cells.append(f"{found['extra_parameters']:,}")
        counts.add_row(*cells, *([f"{found['layer_speedup']:.3g}"] if with_layer else []))
    return counts


def times_table(rows: list[dict[str, Any]]) -> Table:
    """Milliseconds by kind, and ratios where there are any."""
    kinds = [k for k in ("full", "fused", "compressed") if f"{k}_seconds" in rows[0]]
    times = slim("n", "r", *kinds, *(f"{k} /\ncompressed" for k in kinds if k != "compressed"))
    for found in rows:
        cells = [f"{found['n']:,}", f"{found['r']:,}"]
        cells += [f"{1e3 * found[f'{k}_seconds']:.3g} ({1e3 * found[f'{k}_predicted']:.3g})" for k in kinds]
        cells += [_ratio(found, k) for k in kinds if k != "compressed"]
        times.add_row(*cells)
    return times


def _ratio(found: dict[str, Any], kind: str) -> str:
    """How often compressed fits in; "noise" where the two are no further apart than the calls of each."""
    ends = [(found[f"{k}_seconds"], found[f"{k}_median_seconds"]) for k in (kind, "compressed")]
    (_, low), (high, _) = sorted(ends)
    return f"{ends[0][0] / ends[1][0]:.3g}" if low < high else "noise"


def _spread(rows: list[dict[str, Any]]) -> str:
    """How far apart the calls were, and what follows for the ratios."""
    kinds = [key.removesuffix("_median_seconds") for key in rows[0] if key.endswith("_median_seconds")]
    most = max(found[f"{k}_median_seconds"] / found[f"{k}_seconds"] - 1 for found in rows for k in kinds)
    return (
        f"The shortest of five calls each; the middle one took up to {most:.0%} more. "
        "Where the calls of two kinds overlap there is no ratio (noise)."
    )


def draw(rows: list[dict[str, Any]], path: Path, measured: bool) -> None:
    """Seconds (or multiply–adds) against n, both axes logarithmic."""
    from ..libraries import library

    library("matplotlib", "a picture")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 4), layout="constrained")
    axes = figure.subplots()
    n = [found["n"] for found in rows]
    for kind, colour in (("full", "#1f2328"), ("fused", "#5a9a68"), ("compressed", "#c8553d")):
        key = f"{kind}_seconds" if measured else f"{kind}_macs"
        if key in rows[0]:
            axes.plot(n, [found[key] for found in rows], "o-", color=colour, label=kind)
        if measured and f"{kind}_predicted" in rows[0]:
            axes.plot(n, [found[f"{kind}_predicted"] for found in rows], ":", color=colour)
    axes.set(xscale="log", yscale="log", xlabel="positions n", ylabel="seconds a call" if measured else "multiply–adds")
    if len(n) <= 8:  # the sizes that were asked for, instead of powers of ten
        axes.set_xticks(n, [f"{size:,}" for size in n])
        axes.set_xticks([], minor=True)
    axes.set_title("attention: measured, and predicted (dotted)" if measured else "attention: multiply–adds")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
