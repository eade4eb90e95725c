"""`attnproof error`: what compression does to the heads in a file, against the best that rank r allows."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import Format, FormatOption, app, fail
from .layout import console, show_table, slim
from .usage import magnitudes, shown, whole, whole_list

if TYPE_CHECKING:
    from ..numeric.compression import Compression

SHAPES = {"Q": "(m, d)", "K": "(n, d)", "V": "(n, d_v)", "E": "(r, n)", "F": "(r, n)"}
SCORES, OUTPUTS = ("Q", "K", "E"), ("F", "F", "V", "V")  # what is multiplied: slot scores, squares of slot values


@app.command()
def error(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help=".npz or .safetensors with arrays Q, K, V, E, F of one head."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Folder of a BERT-style model, or 'minilm' for the packaged one, instead of a file."),
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Text for the model (default: documentation installed here).")
    ] = None,
    n: Annotated[int, typer.Option(parser=whole(2), metavar="N", help="Tokens to read.")] = 128,
    r: Annotated[str, typer.Option(help="Slots: numbers with commas.")] = "16,32,64",
    layer: Annotated[int, typer.Option(parser=whole(0), metavar="L", help="Layer of the model.")] = 0,
    output: FormatOption = Format.text,
) -> None:
    """The error of compression: achieved, the least that rank r allows, what is invisible, and the Jensen deficit."""
    if (file is None) == (model is None):
        given = "both were" if file is not None else "neither was"
        fail(f"FILE or --model must be given and {given}; give a FILE with Q, K, V, E, F, or --model FOLDER")
    rows = file_rows(file) if file is not None else model_rows(str(model), text, n, sizes_of(r), layer)
    if output is Format.json:
        print(json.dumps({"schema_version": 1, "rows": rows}, indent=2, default=str))
    else:
        show(rows)


def sizes_of(text: str) -> list[int]:
    """Slots from "16,32"."""
    found = whole_list(text)
    if found is None:
        fail(f"--r {shown(text)} is no list of slots; write 16,32,64")
    if min(found) < 1:
        fail(f"--r {shown(text)} holds a number below 1; write 16,32,64")
    return found


def file_rows(file: Path) -> list[dict[str, Any]]:
    """The report for the head in a file."""
    import numpy as np

    from ..numeric.compression import compression_report
    from .files import open_file, real

    stored = open_file(file)
    missing = [name for name in "QKVEF" if name not in stored.keys]
    if missing:
        held = ", ".join(filter(None, stored.keys)) or "one array without a name"
        fail(f"{file} holds {held} and lacks {', '.join(missing)}; save Q, K, V, E and F of one head under those keys")
    head = {name: real(stored.load(name), name) for name in "QKVEF"}
    one_head(head)
    magnitudes(head, SCORES, OUTPUTS)
    with np.errstate(divide="ignore", invalid="ignore"):  # a share of nothing is 0/0 and told as such
        found = compression_report(*head.values())
    row = plain(found)
    if not head["V"].any():
        row["invisible"] = None
    return [{"head": str(file), "projection": "given", **row}]


def plain(found: Compression) -> dict[str, Any]:
    """The report as JSON can hold it: None where 0 would be divided by 0."""
    row = found.to_dict()
    row["mass"] = [None if m is None or math.isnan(m) else m for m in row["mass"]]
    if math.isnan(row["output_relative"]):  # Y = 0
        row["output_relative"] = None
    return row


def one_head(head: Mapping[str, Any]) -> None:
    """One sentence and exit 2 unless each array is a matrix: the file's axes are those of one head."""
    for name, array in head.items():
        if array.ndim != 2:
            fail(f"{name} has shape {array.shape}; the command takes one head, save {name} of shape {SHAPES[name]}")


def model_rows(model: str, text: Path | None, n: int, slots: list[int], layer: int) -> list[dict[str, Any]]:
    """Reports of every head of one layer, for mean pooling, picking and a random projection."""
    from ..numeric import designs
    from ..numeric.compression import compression_report
    from ..numeric.encoder import Encoder, installed_text, minilm

    encoder = minilm() if model == "minilm" else Encoder.load(model)
    if layer >= encoder.layers:
        fail(f"--layer {layer} is not there; this model has layers 0 to {encoder.layers - 1}")
    if n > encoder.limit:
        fail(f"--n {n} is more than the model takes; choose at most {encoder.limit}")
    if max(slots) > n:
        fail(f"--r {max(slots)} exceeds the n = {n} positions; choose r ≤ n")
    try:
        words = installed_text() if text is None else text.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is no UTF-8"
        fail(f"--text {shown(text)} cannot be read ({why}); name a UTF-8 text file")
    tokens = encoder.tokens(words)
    if len(tokens) < n:
        fail(f"--text has {len(tokens)} tokens, --n {n} were asked for; give a longer text or a smaller n")
    hidden = encoder.embed(tokens[:n])
    for index in range(layer + 1):
        heads, hidden = encoder.layer(index, hidden)
    kinds = {"mean pooling": designs.pooling, "strided": designs.strided, "random": designs.gaussian}
    rows = []
    for h, (Q, K, V) in enumerate(zip(heads.Q, heads.K, heads.V, strict=True)):
        if sys.stderr.isatty():
            print(f"\rhead {h + 1} of {len(heads.Q)}", end="", file=sys.stderr)
        for size in slots:
            for kind, build in kinds.items():
                E = build(n, size)
                found = compression_report(Q, K, V, E, E)
                rows.append({"head": f"layer {layer}, head {h}", "projection": kind, **plain(found)})
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """One line per head and projection."""
    table = slim(
        "head",
        "projection",
        "r",
        "‖A −\nBF‖",
        "best of\nrank r",
        "ratio",
        "‖Y − Ȳ‖\n/ ‖Y‖",
        "invisible",
        "with\nlog m",
        left=("head", "projection"),
    )
    for row in rows:
        table.add_row(
            Path(row["head"]).name,
            row["projection"],
            str(row["r"]),
            f"{row['mixing']:.4g}",
            f"{row['best']:.3g}",
            "exact" if row["ratio"] is None else f"{row['ratio']:.3g}",
            "–" if row["output_relative"] is None else f"{row['output_relative']:.3g}",
            "–" if row["invisible"] is None else f"{row['invisible']:.1%}",
            "–" if row["corrected"] is None else f"{row['corrected'] / row['output']:.2f} ×" if row["output"] else "0",
        )
    out = console(140)
    show_table(table, 140)
    for row in rows:
        if row["enclosure"] is not None:
            lies = "is 0" if row["enclosure"] == "0" else f"lies in {row['enclosure']}"
            out.print(f"{row['head']}: ‖Y − Ȳ‖_F {lies}", markup=False)
    out.print(
        "invisible: share of ‖V‖² that F sends to 0, lost whatever the weights (T7); with log m: the error after "
        "adding log m to slot scores (T2), relative to the error without.",
        markup=False,
    )
