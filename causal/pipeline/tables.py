"""The tables that a function takes, one or several, on one axis of time: cut together, replaced together and alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .replacement import kinds_of, replaced
from .replay import NUMBERS, REPLACEMENTS, Place, Replay

if TYPE_CHECKING:
    from collections.abc import Collection

    from .clock import Clock
    from .source import Source


Where = Sequence[Any] | None  # per table which of its rows (n,)


@dataclass(frozen=True, eq=False)
class Tables:
    """The input: different tables with their clocks, and `places`, which of them stands where in the call.

    The first table is the one whose rows the function's rows are. `how` is "one", "positions" or "keywords". An object
    that is passed twice is one table. `time` and `group` are what names the times and groups, as the call gave them;
    None where it gave values.
    """

    names: list[str]
    sources: list[Source]
    clocks: list[Clock]
    places: list[tuple[str, int]]
    how: str
    time: Any = None
    group: Any = None

    def _arranged(self, made: list[Any]) -> Any:
        tables = [source.given(table) for source, table in zip(self.sources, made, strict=True)]
        if self.how == "one":
            return tables[0]
        if self.how == "positions":
            return tuple(tables[i] for _, i in self.places)
        return {name: tables[i] for name, i in self.places}

    def copies(self) -> Any:
        """Copies that a function may spoil."""
        return self._arranged([source.copy() for source in self.sources])

    def listed(self, given: Any) -> list[Any]:
        """What was given, table by table in the order of `sources`."""
        if self.how == "one":
            return [given]
        by_place = given if self.how == "positions" else list(given.values())
        return [by_place[[i for _, i in self.places].index(k)] for k in range(len(self.sources))]

    def taken(self, cut: int) -> Any:
        """Every table's rows up to the cut."""
        return self._arranged([s.take(c.kept(cut)) for s, c in zip(self.sources, self.clocks, strict=True)])

    def replaced(self, replay: Replay, seed: int, only: Collection[Place] | None = None, where: Where = None) -> Any:
        """The rows after the cut replaced: in all tables or in one, in all columns or `only` in some.

        `where` restricts it to some rows of each table. A table that cannot be replaced in the way asked for
        (words where it has no text, gaps where it has none) gets other values of its own.
        """
        found = []
        for i, (source, clock) in enumerate(zip(self.sources, self.clocks, strict=True)):
            future = ~clock.kept(replay.cut)
            if where is not None:
                future &= where[i]
            if replay.table not in ("", self.names[i]):
                future[:] = False
            kind = replay.kind if replay.kind in (*kinds_of(source), NUMBERS) else "draw"
            columns = None if only is None else {name for table, name in only if table == i}
            entropy = [seed, replay.cut + 1, (*REPLACEMENTS, NUMBERS).index(replay.kind), *([i] if i else [])]
            number = int(np.random.SeedSequence(entropy).generate_state(1)[0])
            found.append(replaced(source, future, kind, number, columns) if future.any() else source.copy())
        return self._arranged(found)

    def perturbations(self) -> list[tuple[str, str]]:
        """Every way of replacing, and of which table: of all together and, where there are several, of each alone."""
        ways = []
        for kind in REPLACEMENTS:
            owners = [
                n
                for n, s, c in zip(self.names, self.sources, self.clocks, strict=True)
                if c.moves and kind in kinds_of(s)
            ]
            if owners:
                ways.append((kind, ""))
            if len(self.sources) > 1:
                ways += [(kind, name) for name in owners]
        return ways

    def columns(self) -> list[Place]:
        """Every column that is replaced."""
        return [(i, name) for i, s in enumerate(self.sources) if self.clocks[i].moves for name in s.names]

    def shown(self, place: Place) -> str:
        """A column for a person, with its table where there are several."""
        table, name = place
        return str(name) if self.how == "one" else f"{self.names[table]}.{name}"

    def scale(self) -> float:
        """The size of the smallest numbers: the least of the columns' largest ones; 0 where there are no numbers."""
        return min((size for source in self.sources for size in source.sizes()), default=0.0)

    def describe(self) -> str:
        """How many rows, of what."""
        if self.how == "one":
            return f"{self.sources[0].n} rows"
        sizes = [f"{s.n} of {name}" for name, s in zip(self.names, self.sources, strict=True)]
        return ", ".join(sizes).replace(" of", " rows of", 1)

    def notes(self) -> list[str]:
        """Remarks on what the replays do not touch."""
        found = []
        for name, source, clock in zip(self.names, self.sources, self.clocks, strict=True):
            of = "" if self.how == "one" else f"table {name}: "
            found += [of + note for note in source.notes]
            if not clock.moves:
                found.append(f"{of}known from the start, as time says; it is neither cut nor replaced")
        return found

    def fingerprint(self) -> str:
        """A hash of all values."""
        return "-".join(source.fingerprint() for source in self.sources)
