"""The counterexample of a pipeline: two inputs that agree up to a cut, and a settled output that differs."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..boundary import Boundary
from ..verdict import Witness
from .inputs import read_tables
from .outputs import SET_OF_COLUMNS
from .replay import WAYS, Replay
from .runner import Runner
from .state import State
from .words import shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .hits import Hit

MOST_CHANGES = 100  # told of the entries that a replay replaced


class PipelineWitness(Witness):
    """A settled output that changes with later input: the cut, how the later rows were changed, and both values.

    `column` is the output column, `label` the row in words, `table` which of several tables was changed ("": all).
    `replay()` calls the function again, twice on either input; a witness read back from JSON needs
    `replay(function, data)`.
    """

    kind: ClassVar[str] = "pipeline"
    replays_with: ClassVar[str] = "function, data"

    def __init__(self, record: Mapping[str, Any], runner: Runner | None = None) -> None:
        self.record, self.runner = dict(record), runner
        self.query, self.position, self.slot = record["row"], record["later"], None
        self.column: str = record["column"]
        self.label: str = record["label"]
        self.cut, self.how, self.seed = record["cut"], record["how"], record["seed"]
        self.table: str = record.get("table", "")
        self.outputs = tuple(record["values"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PipelineWitness) and self.record == other.record

    __hash__ = None  # type: ignore[assignment]

    @property
    def inputs(self) -> tuple[Any, Any]:  # type: ignore[override]
        """The data, and the data cut or changed after the cut; (None, None) when read back from JSON."""
        if self.runner is None:
            return None, None
        return self.runner.tables.copies(), self.runner.modified(Replay(self.cut, self.how, self.table))

    def changes(self) -> list[tuple[str, str, str]]:
        """The first entries that were replaced, or rows that were taken away; empty when read back from JSON."""
        if self.runner is None:
            return []
        from .saved import differences

        several = len(self.runner.tables.names) > 1
        return [
            (f"{f'table {table}, ' if several else ''}row {row}{f', column {column}' if column else ''}", before, after)
            for table, row, column, before, after in islice(differences(self), MOST_CHANGES)
        ]

    def replay(self, function: Any = None, data: Any = None) -> bool:
        """Call the function twice on both inputs; true iff it agrees with itself and a settled row differs each time.

        Raises ValueError when the witness was read back and `function` and `data` are not passed.
        """
        runner = self.runner
        if function is not None or data is not None or runner is None:
            if function is None or data is None:
                raise ValueError("function and data are not part of the record; pass replay(function, data)")
            boundary = self.record["boundary"] and Boundary.from_dict(self.record["boundary"])
            keys = (self.record["time"], self.record["group"], boundary, self.record.get("startup", 0))
            tables = read_tables(function, data, *keys)
            runner = Runner(function, tables, self.seed, State(function))
        replay = Replay(self.cut, self.how, self.table)
        with runner.state:
            return runner.base.names.index(self.column) in runner.confirmed([replay])[replay]

    def save(self, folder: str | Path, function: str | None = None) -> list[Path]:
        """Write both inputs, what differs between them and a test that fails to a folder; the files, as Path.

        `function` is where the test finds the function, "MODULE:NAME" or "PATH:NAME" (None: where it was defined).
        Raises ValueError for a witness that was read back.
        """
        from .saved import save_witness

        return save_witness(self, folder, function)

    def describe(self) -> str:
        """A sentence with the pair, the values and what was done to the later rows."""
        before, after = self.outputs
        of = f" of table {self.table}" if self.table else ""
        arrow = f"({self.query} ← {self.table + ' ' if self.table else ''}{self.position})"
        values = f"{shown(before)} becomes {shown(after)}"
        rows = f"the rows{of} after {self.record['after']}"
        column = f"the {SET_OF_COLUMNS}" if self.column == SET_OF_COLUMNS else f"column {self.column}"
        return f"{column}, {self.label} {arrow}: {values} when {rows} {WAYS[self.how].done}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the function and its data."""
        return {"kind": self.kind, **self.record}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PipelineWitness:
        """The witness that `to_dict` wrote; its `replay` needs the function and the data."""
        record = {key: value for key, value in data.items() if key != "kind"}
        return cls({**record, "values": tuple(record["values"])})


def witness_of(runner: Runner, column: str, hit: Hit) -> PipelineWitness:
    """The witness that a replay is, which rewrote settled entries of a column."""
    replay, rewrite = hit
    tables = runner.tables
    changed = [c for n, c in zip(tables.names, tables.clocks, strict=True) if replay.table in ("", n)]
    later = next(rows for rows in (np.flatnonzero(~clock.kept(replay.cut)) for clock in changed) if len(rows))
    record = {
        "column": column,
        "row": rewrite.row,
        "later": int(later[0]),
        "label": rewrite.label,
        "after": runner.clock.describe(replay.cut),
        "cut": replay.cut,
        "how": replay.kind,
        "table": replay.table,
        "seed": runner.seed,
        "values": rewrite.values,
        "time": tables.time,
        "group": tables.group,
        "boundary": runner.clock.boundary.to_dict(),
        "startup": runner.clock.startup,
    }
    return PipelineWitness(record, runner)
