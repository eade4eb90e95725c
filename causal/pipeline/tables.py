"""The tables that a function takes, one or several, on one axis of time: cut together, replaced together and alone."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..boundary import Boundary
from .clock import Clock, clock_of
from .frames import Array, library_of
from .inputs import read_source
from .replacement import kinds_of, replaced
from .replay import NUMBERS, REPLACEMENTS, Place, Replay
from .source import Source

ALWAYS = np.iinfo(np.int64).min // 2  # the rank of what was known from the start


@dataclass(frozen=True, eq=False)
class Tables:
    """The input: different tables with their clocks, and `places`, which of them stands where in the call.

    The first table is the one whose rows the function's rows are. `how` is "one", "positions" or "keywords". An object
    that is passed twice is one table.
    """

    names: list[str]
    sources: list[Source]
    clocks: list[Clock]
    places: list[tuple[str, int]]
    how: str

    def _arranged(self, tables: list[Any]) -> Any:
        if self.how == "one":
            return tables[0]
        if self.how == "positions":
            return tuple(tables[i] for _, i in self.places)
        return {name: tables[i] for name, i in self.places}

    def call(self, function: Any, given: Any) -> Any:
        """The function on what `copies`, `taken` or `replaced` gave."""
        if self.how == "one":
            return function(given)
        return function(*given) if self.how == "positions" else function(**given)

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

    def replaced(
        self, replay: Replay, seed: int, only: Collection[Place] | None = None, where: Array | None = None
    ) -> Any:
        """The rows after the cut replaced: in all tables or in one, in all columns or `only` in some.

        `where` restricts it to some rows of the first table. A table that cannot be replaced in the way asked for
        (words where it has no text, gaps where it has none) gets other values of its own.
        """
        found = []
        for i, (source, clock) in enumerate(zip(self.sources, self.clocks, strict=True)):
            future = ~clock.kept(replay.cut)
            if where is not None and i == 0:
                future &= where
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
                if _moves(c) and kind in kinds_of(s)
            ]
            if owners:
                ways.append((kind, ""))
            if len(self.sources) > 1:
                ways += [(kind, name) for name in owners]
        return ways

    def columns(self) -> list[Place]:
        """Every column that is replaced."""
        return [(i, name) for i, s in enumerate(self.sources) if _moves(self.clocks[i]) for name in s.names]

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
            if not _moves(clock):
                found.append(f"{of}known from the start, as time says; it is neither cut nor replaced")
        return found

    def fingerprint(self) -> str:
        """A hash of all values."""
        return "-".join(source.fingerprint() for source in self.sources)


def _moves(clock: Clock) -> bool:
    return bool(clock.own.max() > ALWAYS)


def read_tables(function: Any, data: Any, time: Any, group: Any, boundary: Boundary | str | None) -> Tables:
    """The tables in `data`: a tuple or list of them, a mapping of names to them, or one.

    `time` and `group` may be mappings by table; a name of a column is meant for every table that has it. Raises
    TypeError or ValueError, one sentence each.
    """
    several = isinstance(data, Mapping) or (
        isinstance(data, (tuple, list)) and len(data) > 0 and all(library_of(d) for d in data)
    )
    if not several:
        source = read_source(data, time, group)
        return Tables([""], [source], [clock_of(source, boundary)], [("", 0)], "one")
    how = "keywords" if isinstance(data, Mapping) else "positions"
    given = dict(data) if isinstance(data, Mapping) else dict(zip(_parameters(function, len(data)), data, strict=True))
    if not given:
        raise ValueError("data is empty; pass at least one table")
    for role, keys in (("time", time), ("group", group)):
        unknown = [name for name in keys if name not in given] if isinstance(keys, Mapping) else []
        if unknown:
            raise ValueError(f"{role} names table {unknown[0]!r}, which is not in data; they are {', '.join(given)}")
    names: list[str] = []
    tables: list[Any] = []
    places: list[tuple[str, int]] = []
    for name, table in given.items():
        same = next((i for i, other in enumerate(tables) if other is table), None)
        if same is None:
            names.append(str(name))
            tables.append(table)
        places.append((name, len(tables) - 1 if same is None else same))
    sources = []
    for i, (name, table) in enumerate(zip(names, tables, strict=True)):
        try:
            sources.append(read_source(table, _key(time, name, table, i), _key(group, name, table, i)))
        except (TypeError, ValueError) as error:
            raise type(error)(f"table {name}: {error}") from None
    static = [isinstance(time, Mapping) and name in time and time[name] is None for name in names]
    return Tables(names, sources, _clocks(names, sources, static, boundary), places, how)


def _parameters(function: Any, count: int) -> list[str]:
    """The names of a function's first parameters, or "table 1", "table 2", … where it does not tell them."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    return names if len(names) == count else [f"table {i + 1}" for i in range(count)]


def _key(key: Any, name: str, table: Any, number: int) -> Any:
    """The time or group of one table: by table, or a column that it has (the first table must have it)."""
    if isinstance(key, Mapping):
        return key.get(name)
    if isinstance(key, str) and number:
        index = getattr(getattr(table, "index", None), "names", ())
        return key if key in list(getattr(table, "columns", ())) or key in list(index) else None
    return key if isinstance(key, str) or not number else None


def _clocks(
    names: list[str], sources: list[Source], static: list[bool], boundary: Boundary | str | None
) -> list[Clock]:
    """One clock for all: the distinct times of all tables together, or the rows where no table has times."""
    first = sources[0]
    if static[0]:
        raise ValueError(f"time says that table {names[0]} was known from the start; put a table with times first")
    clock = clock_of(first, boundary)
    if clock.lag is None and len(sources) > 1:
        raise ValueError(
            "boundary gives times for one table, but data has several; pass the times at which rows arrive as time="
        )
    zoned = {s.zoned: name for name, s in zip(names, sources, strict=True) if s.times is not None}
    if len(zoned) == 2:
        raise ValueError(
            f"the times of table {zoned[True]} have a time zone and those of table {zoned[False]} have none; "
            "give both the same"
        )
    timed = [s.times for s, known in zip(sources, static, strict=True) if s.times is not None and not known]
    for name, source, known in zip(names, sources, static, strict=True):
        if source.times is not None and first.times is None and not known:
            raise ValueError(f"table {name} has times and table {names[0]} has none; pass time= for {names[0]}")
        if source.times is None and source.n != first.n and not known:
            raise ValueError(
                f"table {name} has {source.n} rows and no times, so it cannot be cut like {names[0]}; pass "
                f"time={{{name!r}: …}}, None if it was known from the start"
            )
    instants = None
    if timed:
        try:
            instants = np.unique(np.concatenate(timed))
        except TypeError as error:
            raise TypeError(f"the tables' times cannot be compared ({error}); pass times of one kind") from None
    ranks = len(instants) if instants is not None else clock.ranks
    found = []
    for source, known in zip(sources, static, strict=True):
        own = clock.own
        if known:
            own = np.full(source.n, ALWAYS)
        elif instants is not None:
            times = first.times if source.times is None else source.times
            assert times is not None
            own = np.searchsorted(instants, times)
        lag = clock.lag or 0
        found.append(clock if len(sources) == 1 else Clock(own, own - lag, own, ranks, lag, instants, clock.boundary))
    return found
