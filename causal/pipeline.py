"""Look-ahead in a feature pipeline: does a row already written change when the rows after it come, or change? (T17)

Two replays per cut, because each misses what the other finds. *Truncation* runs the function on the rows up to the cut
and finds leaks of the length as well; *perturbation* replaces the later rows and keeps the length, and finds what only
other values trigger. A function that is a black box is never proved: without a finding the verdict is UNDECIDED and
says what was run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from .alignment import SET_OF_COLUMNS, Clock
from .boundary import Boundary
from .carriers import MOST_CARRIERS, SECONDS, Hit, Hits, carriers, covering, earliest, farthest
from .cuts import all_cuts, special_cuts, spread_cuts
from .replays import NUMBERS, REPLACEMENTS, TRUNCATION, Replay, Runner, Summary, listed
from .state import State
from .tables import read_tables
from .verdict import Column, Evidence, Status, Verdict, Witness, _runs, accept_or_raise, versions_of

CALLS = 60
REMEDY = (
    "use trailing windows, fit statistics on the past only, label a bar when it closes, or declare a label in labels="
)


class PipelineWitness(Witness):
    """A settled output that changes with later input: the cut, how the later rows were changed, and both values.

    `column` is the output column, `label` the row in words, `table` which of several tables was changed ("": all).
    `replay()` calls the function again, twice on either input; a witness read back from JSON needs
    `replay(function, data)`.
    """

    kind: ClassVar[str] = "pipeline"

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

    def replay(self, function: Any = None, data: Any = None) -> bool:
        """Call the function twice on both inputs; true iff it agrees with itself and a settled row differs each time.

        Raises ValueError when the witness was read back and `function` and `data` are not passed.
        """
        runner = self.runner
        if function is not None or data is not None or runner is None:
            if function is None or data is None:
                raise ValueError("function and data are not part of the record; pass replay(function, data)")
            boundary = self.record["boundary"] and Boundary.from_dict(self.record["boundary"])
            tables = read_tables(function, data, self.record["time"], self.record["group"], boundary)
            runner = Runner(function, tables, self.seed, State(function))
        replay = Replay(self.cut, self.how, self.table)
        with runner.state:
            return runner.base.names.index(self.column) in runner.confirmed([replay])[replay]

    def describe(self) -> str:
        """A sentence with the pair, the values and what was done to the later rows."""
        before, after = self.outputs
        what = {
            TRUNCATION: "are taken away",
            "draw": "are replaced by other values of the data",
            "words": "are replaced by words that the data lack",
            "gaps": "have their gaps elsewhere",
            NUMBERS: "have higher numbers",
        }
        done = what.get(self.how, f"are replaced by {self.how}er values")
        of = f" of table {self.table}" if self.table else ""
        arrow = f"({self.query} ← {self.table + ' ' if self.table else ''}{self.position})"
        values = f"{_shown(before)} becomes {_shown(after)}"
        rows = f"the rows{of} after {self.record['after']}"
        column = f"the {SET_OF_COLUMNS}" if self.column == SET_OF_COLUMNS else f"column {self.column}"
        return f"{column}, {self.label} {arrow}: {values} when {rows} {done}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the function and its data."""
        return {"kind": self.kind, **self.record}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PipelineWitness:
        """The witness that `to_dict` wrote; its `replay` needs the function and the data."""
        record = {key: value for key, value in data.items() if key != "kind"}
        return cls({**record, "values": tuple(record["values"])})


def check_pipeline(
    function: Any,
    data: Any,
    *,
    time: Any = None,
    group: Any = None,
    labels: Sequence[str] = (),
    boundary: Boundary | str | None = None,
    cuts: int | str | Iterable[int] | None = None,
    exact: bool = False,
    workers: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Whether `function(data)` writes rows that later input rewrites; one verdict per output column.

    `function`: a callable, or an object with `fit_transform` (fitted anew on every prefix) or `transform`. `data`: rows
    by columns; a pandas or Polars frame or series, or a NumPy array; or several of these, as a tuple for
    `function(*tables)` or a mapping for `function(**tables)`, the first being the one whose rows the function returns.
    Several tables are cut at one time, and later rows are replaced in all of them and in each alone. `time`: a column,
    index level or one value per row by which rows are ordered and aligned (None: a pandas datetime index, otherwise the
    order of rows): the time at which a row became known, such as its day of publication. Equal times are one instant.
    For several tables: a column that they share, or a mapping of tables to such, with None for a table that was known
    from the start. `group`: a column or one value per row; rows must be in order of time within each group, and without
    `time` each group counts its own rows. `labels`: output columns that may look ahead. `boundary`: None or prefix (a
    row may use itself), strict, lagged (in instants), or from_times. `cuts`: how many, "all", or which ranks of time;
    None: all where that is quick, otherwise so that the function is called at most 60 times. `exact`: also try every
    earlier cut, so that the first leaking row named is the first there is. `workers`: processes. `seed`: of the values
    that replace others. `progress(done, of)` is called after every replay.

    REFUTED with a `PipelineWitness` when a column that is no label looks ahead and does so again when the function is
    run twice more on both inputs, otherwise UNDECIDED: a column that differs between runs on equal input (a clock,
    random numbers, memory of earlier calls) is never refuted, and trials that find nothing prove nothing. Raises
    TypeError or ValueError, one sentence each, for data that cannot be cut and results that cannot be aligned.

    >>> import numpy as np
    >>> def centred(x):
    ...     return np.convolve(x, np.ones(3) / 3, mode="same")
    >>> verdict = check_pipeline(centred, np.arange(10.0))
    >>> verdict.status.name, verdict.columns[0].reach
    ('REFUTED', 1)
    >>> check_pipeline(np.cumsum, np.arange(10.0)).status.name
    'UNDECIDED'
    """
    tables = read_tables(function, data, time, group, boundary)
    clock = tables.clocks[0]
    every = all_cuts(clock)
    if not len(every):
        raise ValueError("data has one instant only; a look-ahead check needs at least 2")
    with State(function) as state:
        runner = Runner(function, tables, seed, state)
        named = [name for name in runner.base.names if name != SET_OF_COLUMNS]
        unknown = [str(label) for label in labels if str(label) not in named]
        if unknown:
            raise ValueError(f"labels names {unknown[0]!r}, which is no output column; they are {', '.join(named)}")
        plan, spare = _plan(runner, cuts)
        summaries = list(runner.run_all(plan, workers, progress))
        summaries += _shortest_prefix(runner, summaries)
        if spare and not any(s.findings for s in summaries):
            more = spread_cuts(clock, len({r.cut for r in plan}) + spare // 2, seed + 1).tolist()
            done = {s.replay.cut for s in summaries}
            extra = [c for c in more if c not in done][: (CALLS - runner.calls) // 2]
            summaries += runner.run_all(_alternating(runner, extra), workers, None)
        _check_prefixes(summaries)
        if exact:
            summaries += _refine(runner, summaries, set(map(str, labels)))
        return _verdict(runner, summaries, set(map(str, labels)), time, group)


def assert_no_lookahead(
    function: Any,
    data: Any,
    *,
    accept: Sequence[str] = ("PROVED", "UNDECIDED"),
    suppress: str | None = None,
    **options: Any,
) -> Verdict:
    """`check_pipeline` as an assertion: the verdict, or PrefixLeakError that shows it.

    `options` are those of `check_pipeline`; `suppress` accepts the verdict all the same for a stated reason.

    >>> import numpy as np
    >>> assert_no_lookahead(np.cumsum, np.arange(8.0)).status.name
    'UNDECIDED'
    """
    return accept_or_raise(check_pipeline(function, data, **options), accept, suppress)


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# -- which cuts ---------------------------------------------------------------------------------------------------


def _plan(runner: Runner, cuts: int | str | Iterable[int] | None) -> tuple[list[Replay], int]:
    """The replays to run, and how many calls are left to spend when none of them finds anything."""
    clock, every = runner.clock, all_cuts(runner.clock)
    if cuts is not None:
        return _thorough(runner, _wanted(clock, every, cuts, runner.seed)), 0
    full = (1 + len(runner.tables.perturbations())) * len(every)
    if full <= CALLS - 2 or (full * runner.seconds <= SECONDS and len(every) <= 2000):
        return _thorough(runner, every), 0
    reserve = _calls_for_carriers(runner) + 8  # 4 to repeat what was found, 4 for the shortest prefix
    calls = CALLS - runner.calls - reserve
    special = special_cuts(runner.tables.sources, runner.tables.clocks)[: int(0.4 * calls) // 3]
    spread = [
        c for c in spread_cuts(clock, (calls - 3 * len(special)) // 2, runner.seed) if c not in set(special.tolist())
    ]
    plan = [Replay(int(c), kind) for c in special for kind in (TRUNCATION, "high", "low")]
    return plan + _alternating(runner, spread), reserve


def _calls_for_carriers(runner: Runner) -> int:
    inputs = len(runner.tables.columns())
    return (min(inputs, MOST_CARRIERS) if inputs > 1 else 0) + (2 if runner.source.groups is not None else 0)


def _wanted(clock: Clock, every: np.ndarray, cuts: int | str | Iterable[int], seed: int) -> np.ndarray:
    if isinstance(cuts, str):
        if cuts != "all":
            raise ValueError(f"cuts = {cuts!r} is unknown; pass 'all', a number of cuts, or the cuts")
        return every
    if isinstance(cuts, (int, np.integer)):
        if isinstance(cuts, bool) or cuts < 1:
            raise ValueError(f"cuts = {cuts} is too few; pass at least 1")
        return spread_cuts(clock, int(cuts), seed)
    wanted = np.array(sorted({int(c) for c in cuts}))
    outside = wanted[(wanted < every[0]) | (wanted > every[-1])]
    if outside.size:
        raise ValueError(f"cuts names {outside[0]}; pass ranks of time from {every[0]} to {every[-1]}")
    if not wanted.size:
        raise ValueError("cuts is empty; pass at least one")
    return wanted


def _thorough(runner: Runner, cuts: Iterable[int]) -> list[Replay]:
    ways = [(TRUNCATION, ""), *runner.tables.perturbations()]
    return [Replay(int(c), *way) for c in cuts for way in ways]


def _alternating(runner: Runner, cuts: Iterable[int]) -> list[Replay]:
    """Truncation and one replacement per cut, the ways of replacing in turn."""
    ways = runner.tables.perturbations()
    found = []
    for i, c in enumerate(cuts):
        found += [Replay(int(c), TRUNCATION), Replay(int(c), *ways[i % len(ways)])]
    return found


def _shortest_prefix(runner: Runner, summaries: Sequence[Summary], tries: int = 4) -> list[Summary]:
    """Closer in on the shortest prefix that the function accepts, when it refused some."""
    cuts = {s.replay.cut: s.failed for s in summaries if s.replay.kind == TRUNCATION}
    refused = [c for c, failed in cuts.items() if failed]
    found: list[Summary] = []
    while refused and len(found) < tries:
        low = max(refused)
        above = [c for c, failed in cuts.items() if not failed and c > low]
        if not above or min(above) - low < 2:
            break
        found.append(runner.run(Replay((low + min(above)) // 2, TRUNCATION)))
        cuts[found[-1].replay.cut] = found[-1].failed
        refused = [c for c, failed in cuts.items() if failed]
    return found


def _check_prefixes(summaries: Sequence[Summary]) -> None:
    if summaries and all(s.failed for s in summaries):
        raise ValueError(
            f"function raises {summaries[-1].failed} on every replay; it must accept other data of this kind"
        )


def _refine(runner: Runner, summaries: Sequence[Summary], labels: set[str]) -> list[Summary]:
    """Every cut before a column's first leaking row, in order, until it leaks: that row is then its first."""
    first: dict[int, int] = {}
    done = {s.replay for s in summaries}
    for s in summaries:
        for number, finding in s.findings:
            if runner.base.names[number] not in labels:
                first[number] = min(first.get(number, finding.rank), finding.rank)
    found = []
    open_columns = set(first)
    for cut in all_cuts(runner.clock):
        open_columns = {number for number in open_columns if first[number] > cut}
        if not open_columns:
            break
        for replay in _thorough(runner, [cut]):
            if replay not in done:
                found.append(runner.run(replay))
                for number, finding in found[-1].findings:
                    if number in first:
                        first[number] = min(first[number], finding.rank)
    return found


# -- what it means ------------------------------------------------------------------------------------------------


def _verdict(runner: Runner, summaries: list[Summary], labels: set[str], time: Any, group: Any) -> Verdict:
    found = _confirm(runner, _hits(summaries))
    through = carriers(runner, {n: hits for n, hits in found.items() if not runner.noise[n]})
    columns, witness, ranks = [], None, {}
    for number, name in enumerate(runner.base.names):
        hits = found.get(number, [])
        if name == SET_OF_COLUMNS and not hits:
            continue
        column = _column(runner, number, hits, summaries, through.get(number), name in labels)
        columns.append(column)
        if hits:
            kept = [f.ranks for _, f in hits if f.ranks is not None]
            ranks[name] = _runs(np.unique(np.concatenate(kept))) if kept else None
        if column.status is Status.REFUTED and witness is None:
            witness = PipelineWitness(_record(runner, name, earliest(hits), time, group), runner)
    leaking = [c for c in columns if c.status is Status.REFUTED]
    cuts = sorted({s.replay.cut for s in summaries})
    share = (
        "every cut"
        if len(cuts) == len(all_cuts(runner.clock))
        else f"{len(cuts)} of {len(all_cuts(runner.clock))} cuts"
    )
    about = f"{len(columns)} column{'s' * (len(columns) != 1)} over {runner.tables.describe()}"
    status = Status.REFUTED if leaking else Status.UNDECIDED
    said = f"{len(leaking)} look{'s' * (len(leaking) == 1)} ahead" if leaking else "no leak on these cuts"
    return Verdict(
        "pipeline",
        f"{about}, {share}, {runner.calls} calls: {said}",
        status,
        claims=("T17",),
        evidence=_evidence(runner, summaries, found, labels),
        assumptions=_assumptions(runner),
        witness=witness,
        reasons=_reasons(runner, summaries, bool(leaking)),
        boundary=runner.clock.boundary,
        columns=tuple(columns),
        details={
            "cuts": cuts,
            "calls": runner.calls,
            "aligned_by": runner.aligner.mode,
            "leaking_ranks": {name: found and [list(run) for run in found] for name, found in ranks.items()},
            "noise": {n: size for n, size in zip(runner.base.names, runner.noise, strict=True) if size},
            "seed": runner.seed,
        },
        versions=versions_of("numpy", *([] if runner.source.library == "numpy" else [runner.source.library])),
        input_hash=runner.tables.fingerprint(),
    )


def _hits(summaries: Iterable[Summary]) -> dict[int, Hits]:
    """The findings by column."""
    found: dict[int, Hits] = {}
    for s in summaries:
        for number, finding in s.findings:
            found.setdefault(number, []).append((s.replay, finding))
    return found


def _confirm(runner: Runner, found: Mapping[int, Hits]) -> dict[int, Hits]:
    """The findings of columns whose earliest and farthest one come again whenever both inputs are run again.

    A column whose finding does not come again is noted as unsteady. Where the calls left are few, few replays that show
    a leak in every column are repeated, and findings at earlier rows that were not are left out.
    """
    steady = {n: hits for n, hits in found.items() if not runner.noise[n]}
    wanted = {replay for hits in steady.values() for replay, _ in (earliest(hits), farthest(hits))}
    room = CALLS - runner.calls - _calls_for_carriers(runner)
    unbounded = runner.calls > CALLS and 4 * (1 + len(wanted)) * runner.seconds <= SECONDS
    if not unbounded and 2 * (1 + len(wanted)) > room:
        wanted = set(covering(steady))
    rounds = 4 if unbounded or 4 * (1 + len(wanted)) <= room else 2
    seen = runner.confirmed(sorted(wanted, key=lambda r: (r.cut, r.kind, r.table)), rounds)
    kept = {n: hits for n, hits in found.items() if runner.noise[n]}
    for n, hits in steady.items():
        again = [hit for hit in hits if n in seen.get(hit[0], ())]
        if not again:
            runner.noise[n] = runner.noise[n] or float("inf")
        first = earliest(again or hits)[1].rank
        kept[n] = [hit for hit in hits if hit[1].rank >= first]
    return kept


def _column(
    runner: Runner, number: int, hits: Hits, summaries: Sequence[Summary], carrier: str | None, label: bool
) -> Column:
    name = runner.base.names[number]
    compared = sum(s.compared for s in summaries)
    score = sum(f.count for _, f in hits) / compared if compared else None
    noise = runner.noise[number]
    if noise:
        size = f" by up to {noise:.3g}" if np.isfinite(noise) else ""
        note = f"non-deterministic: runs on equal input differ{size}, so that no leak can be told"
        return Column(name, Status.UNDECIDED, ("declared a label; " if label else "") + note, score=score)
    if not hits:
        return Column(name, Status.UNDECIDED, "declared a label" if label else "no leak on these cuts", score=score)
    finding = earliest(hits)[1]
    steps = max(r.cut + 1 - f.rank for r, f in hits)
    ranks = runner.clock.ranks
    reach: int | str = "whole series" if ranks > 5 and steps >= 0.85 * (ranks - 1) else steps
    through = "length" if all(r.kind == TRUNCATION for r, _ in hits) else "value"
    how = "looks ahead over the whole series" if reach == "whole series" else f"looks ahead {_steps(runner, steps)}"
    if steps == 0:
        how = "uses its own row, which the boundary forbids"
    by = "the length of the series" if through == "length" else carrier and f"column {carrier}"
    before, after = map(_shown, finding.values)
    detail = f"{how}; first at {finding.label}: {before} becomes {after}"
    detail += f"; carried by {by}" if by else ""
    detail += f"; {score:.2%} of settled values rewritten" if score is not None else ""
    if label:
        return Column(name, Status.UNDECIDED, f"declared a label, which may look ahead: {detail}", score=score)
    values = finding.values
    return Column(name, Status.REFUTED, detail, finding.row, reach, values, carrier, through, score)


def _steps(runner: Runner, steps: int) -> str:
    unit = "row" if runner.clock.instants is None else "instant"
    return f"{steps} {unit}{'s' * (steps != 1)}"


def _record(runner: Runner, name: str, hit: Hit, time: Any, group: Any) -> dict[str, Any]:
    replay, finding = hit
    tables = runner.tables
    changed = [c for n, c in zip(tables.names, tables.clocks, strict=True) if replay.table in ("", n)]
    later = next(rows for rows in (np.flatnonzero(~clock.kept(replay.cut)) for clock in changed) if len(rows))
    return {
        "column": name,
        "row": finding.row,
        "later": int(later[0]),
        "label": finding.label,
        "after": runner.clock.describe(replay.cut),
        "cut": replay.cut,
        "how": replay.kind,
        "table": replay.table,
        "seed": runner.seed,
        "values": finding.values,
        "time": _names_only(time),
        "group": _names_only(group),
        "boundary": runner.clock.boundary.to_dict(),
    }


def _names_only(key: Any) -> Any:
    """A time or group by name, for the record; None for one value per row."""
    if isinstance(key, Mapping):
        return {name: _names_only(one) for name, one in key.items()}
    return key if isinstance(key, str) else None


# -- remarks ------------------------------------------------------------------------------------------------------


def _evidence(
    runner: Runner, summaries: Sequence[Summary], found: Mapping[int, Hits], labels: set[str]
) -> tuple[Evidence, ...]:
    """What was run: a replay where it found a leak, and otherwise a sample, which proves nothing."""
    counted = {n for n in found if not runner.noise[n] and runner.base.names[n] not in labels}
    guilty = {r for n in counted for r, _ in found[n]}
    pieces = []
    for title, kinds in ((TRUNCATION, (TRUNCATION,)), ("perturbation", (*REPLACEMENTS, NUMBERS))):
        ran = [
            s for s in summaries if s.replay.kind in kinds and not s.failed and s.rows + (s.replay.kind != TRUNCATION)
        ]
        hit = {s.replay for s in ran} & guilty
        if not ran:
            pieces.append(Evidence("property", None, f"{title}: the function accepted no such input"))
            continue
        cuts = len({s.replay.cut for s in ran})
        ways = "" if title == TRUNCATION else f" ({_ways(runner, [s.replay for s in ran])})"
        detail = f"{title}{ways}: {_count(len(ran), 'run')} at {_count(cuts, 'cut')}"
        detail += f", {len(hit)} rewrote settled rows" if hit else ", no settled row rewritten"
        pieces.append(Evidence("replay" if hit else "property", not hit, detail))
    noisy = sum(noise > 0 for noise in runner.noise)
    agree = f"differ in {_count(noisy, 'column')}" if noisy else "agree"
    pieces.append(Evidence("property", not noisy, f"repetition: {runner.repeats} runs on the unchanged input {agree}"))
    return tuple(pieces)


def _ways(runner: Runner, replays: Sequence[Replay]) -> str:
    """How later rows were replaced, and in which tables."""
    kinds = {r.kind for r in replays}
    words = {
        "high": "higher",
        "low": "lower",
        "draw": "drawn",
        "words": "new words",
        "gaps": "other gaps",
        NUMBERS: "numbers",
    }
    ways = ", ".join(word for kind, word in words.items() if kind in kinds)
    if len(runner.tables.sources) == 1:
        return ways
    alone = [name for name in runner.tables.names if any(r.table == name for r in replays)]
    return f"{ways}; all tables together{''.join(f', {name} alone' for name in alone)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _assumptions(runner: Runner) -> tuple[str, ...]:
    found = ["the function's result depends on its argument alone", "the cuts that were run, and no others"]
    most = max(limit.relative for limit in runner.limits)
    if most:
        found.append(f"floats that differ by no more than {most:.1g} of their size are equal up to rounding")
    return tuple(found)


def _reasons(runner: Runner, summaries: Sequence[Summary], leaks: bool) -> tuple[str, ...]:
    clock = runner.clock
    cuts = sorted({s.replay.cut for s in summaries})
    shown = [clock.describe(c) for c in (cuts if len(cuts) <= 8 else [*cuts[:3], *cuts[-3:]])]
    if len(cuts) > 8:
        shown.insert(3, f"… {len(cuts) - 6} more …")
    everywhere = len(cuts) == len(all_cuts(clock)) and len(cuts) > 8
    unit = "row" if clock.instants is None else "instant"
    tried = f"cut after every {unit} but the last" if everywhere else f"cut after {', '.join(shown)}"
    reasons = [
        tried if leaks else f"{tried}; that nothing was found there proves nothing for other cuts and other data"
    ]
    if runner.mutates is not None:
        reasons.append(f"function changes {runner.mutates} in place; it was given copies, so let it copy its input")
    refused = [s for s in summaries if s.failed and s.replay.kind == TRUNCATION]
    if refused:
        taken = [s.rows for s in summaries if not s.failed and s.replay.kind == TRUNCATION and s.rows]
        shortest = (
            f"the shortest prefix it accepts among those tried has {min(taken)} rows"
            if taken
            else "it accepts none tried"
        )
        longest = max(refused, key=lambda s: s.rows)
        reasons.append(f"{longest.failed} on a prefix of {longest.rows} rows; {shortest}")
    wrong = [s for s in summaries if s.failed and s.replay.kind != TRUNCATION]
    if wrong:
        reasons.append(f"{wrong[0].failed} when rows after {clock.describe(wrong[0].replay.cut)} are replaced")
    noisy = [
        f"{n} by up to {size:.3g}" if np.isfinite(size) else n
        for n, size in zip(runner.base.names, runner.noise, strict=True)
        if size and n != SET_OF_COLUMNS
    ]
    if noisy:
        reasons.append(
            f"function disagrees with itself on equal input ({listed(noisy)}): it reads a clock, draws without a seed "
            "or remembers earlier calls; pass the time in as data, fix the seed, keep nothing between calls, and check "
            "again"
        )
    kept, outside = listed(runner.state.kept), listed(runner.state.tables(runner.source.n))
    if kept:
        reasons.append(
            f"function changes {kept} outside itself, which was put back before every call; where it is used nobody "
            "does that, so keep nothing between calls"
        )
    if outside:
        reasons.append(
            f"function also reads {outside} from outside, which is neither cut nor replaced; to have it checked, pass "
            "it as a further table, data=(first, second)"
        )
    reasons += runner.tables.notes()
    if type(runner.function).__name__ == "_Transform":
        reasons.append("the object was fitted beforehand; what it learnt from later rows then is not seen here")
    if leaks:
        reasons.append(REMEDY)
    return tuple(reasons)


__all__ = ["PipelineWitness", "assert_no_lookahead", "check_pipeline"]
