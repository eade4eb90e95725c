"""A witness in a folder: both inputs, what differs between them, the record, and a test that fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...libraries import library
from .frames import library_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TEST = '''"""Made by attnproof: fails while {where} looks ahead as the witness beside it shows."""

import json
import sys
from pathlib import Path

import numpy as np
import {library}
from attnproof.causal.pipeline import PipelineWitness

HERE = Path(__file__).parent
sys.path[:0] = {path!r}
from {module} import {name} as function  # noqa: E402


def read(name):
    return {read}


def test_no_lookahead():
    """{said}"""
    witness = PipelineWitness.from_dict(json.loads((HERE / "witness.json").read_text()))
    assert not witness.replay(function, {data}), witness.describe()
'''
READERS = {
    "pandas": 'pandas.read_parquet(HERE / f"{name}.parquet")',
    "polars": 'polars.read_parquet(HERE / f"{name}.parquet")',
    "numpy": 'np.load(HERE / f"{name}.npy")',
}


def save_witness(witness: Any, folder: str | Path, function: str | None = None) -> list[Path]:
    """Write a witness to a folder, and return the files: tables as Parquet (arrays as .npy), a difference and a test.

    `function` is where the test finds the function, as "MODULE:NAME" or "PATH:NAME"; None: where it was defined.
    Raises ValueError for a witness that was read back from JSON, which has no data.
    """
    runner = witness.runner
    if runner is None:
        raise ValueError("witness was read back from its record, without data; save the one that a check returned")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tables = runner.tables
    names = ["witness", *(f"witness-{name}" for name in tables.names[1:])]
    files = []
    for name, before, after in zip(names, *map(tables.listed, witness.inputs), strict=True):
        files += [_write(before, folder / name), _write(after, folder / name.replace("witness", "changed", 1))]
    difference = folder / "difference.csv"
    lines = [
        f'{table},{row},"{column}","{before}","{after}"' if column else f"{table},{row},,{before},{after}"
        for table, row, column, before, after in differences(witness)
    ]
    difference.write_text("\n".join(["table,row,column,before,after", *lines]) + "\n", encoding="utf-8")
    record = folder / "witness.json"
    record.write_text(json.dumps(witness.to_dict(), indent=2), encoding="utf-8")
    test = folder / "test_no_lookahead.py"
    test.write_text(_test(witness, names, function), encoding="utf-8")
    return [*files, difference, record, test]


def _write(table: Any, stem: Path) -> Path:
    kind = library_of(table)
    path = stem.with_name(stem.name + (".npy" if kind == "numpy" else ".parquet"))
    if kind == "numpy":
        np.save(path, table, allow_pickle=False)
        return path
    frame = table if hasattr(table, "columns") else table.to_frame()
    if kind == "polars":
        frame.write_parquet(path)
    else:
        library("pyarrow", "saving a witness")
        frame.set_axis([str(name) for name in frame.columns], axis=1).to_parquet(path)
    return path


def differences(witness: Any) -> Iterator[tuple[str, int, str, str, str]]:
    """Table, row, column and both values of every entry that was changed; no column for a row that was taken away."""
    assert witness.runner is not None
    tables = witness.runner.tables
    for name, source, before, after in zip(
        tables.names, tables.sources, *map(tables.listed, witness.inputs), strict=True
    ):
        if len(before) != len(after):
            clock = tables.clocks[tables.names.index(name)]
            yield from ((name, row, "", "row", "no row") for row in np.flatnonzero(~clock.kept(witness.cut)).tolist())
            continue
        columns = [
            list(zip(*(_entries(table, column, number) for table in (before, after)), strict=True))
            for number, column in enumerate(source.names)
        ]
        for row, pairs in enumerate(zip(*columns, strict=True)):  # row by row: the nearest to the cut come first
            for column, (a, b) in zip(source.names, pairs, strict=True):
                if a != b and not (a != a and b != b):
                    yield name, row, str(column), str(a), str(b)


def _entries(table: Any, name: str, number: int) -> list[Any]:
    if library_of(table) == "numpy":
        return list((table if table.ndim == 1 else table[:, number]).tolist())
    return list(table[name] if hasattr(table, "columns") else table)


def _test(witness: Any, names: list[str], function: str | None) -> str:
    runner = witness.runner
    assert runner is not None
    place, _, name = (function or "").rpartition(":")
    if not place:
        place = str(getattr(runner.function, "__module__", "") or "my_module")
        name = str(getattr(runner.function, "__qualname__", "") or "my_function").rpartition(".")[2]
    file = Path(place)
    path = [str(file.resolve().parent)] if place.endswith(".py") else [str(Path.cwd())]
    whole = [hasattr(source.data, "columns") or source.library == "numpy" for source in runner.tables.sources]
    series = ".iloc[:, 0]" if runner.source.library == "pandas" else ".to_series()"
    read = [f"read({saved!r}){'' if one else series}" for saved, one in zip(names, whole, strict=True)]
    given = [read[i] for _, i in runner.tables.places]
    data = {
        "one": given[0],
        "positions": f"({', '.join(given)},)",
        "keywords": f"{{{', '.join(f'{p!r}: {g}' for (p, _), g in zip(runner.tables.places, given, strict=True))}}}",
    }[runner.tables.how]
    return TEST.format(
        where=f"{place}:{name}",
        library="numpy" if runner.source.library == "numpy" else runner.source.library,
        path=path,
        module=file.stem if place.endswith(".py") else place,
        name=name,
        read=READERS[runner.source.library],
        said=witness.describe().replace("\\", "/").replace('"', "'"),
        data=data,
    )
