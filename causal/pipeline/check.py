"""Look-ahead in a feature pipeline: does a row already written change when the rows after it come, or change? (T17)

Two replays per cut, because each misses what the other finds. *Truncation* runs the function on the rows up to the cut
and finds leaks of the length as well; *perturbation* replaces the later rows and keeps the length, and finds what only
other values trigger. A function that is a black box is never proved: without a finding the verdict is UNDECIDED and
says what was run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..boundary import Boundary
from ..verdict import Verdict, accept_or_raise
from .carriers import CALLS, SECONDS, calls_for_carriers
from .clock import Clock
from .cuts import all_cuts, special_cuts, spread_cuts
from .decide import pipeline_verdict
from .outputs import SET_OF_COLUMNS
from .replay import TRUNCATION, Replay
from .runner import Runner, Summary
from .state import State
from .tables import read_tables
from .witness import PipelineWitness


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
        return pipeline_verdict(runner, summaries, set(map(str, labels)), time, group, bounded=spare > 0)


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


def _plan(runner: Runner, cuts: int | str | Iterable[int] | None) -> tuple[list[Replay], int]:
    """The replays to run, and how many calls are left to spend when none of them finds anything."""
    clock, every = runner.clock, all_cuts(runner.clock)
    if cuts is not None:
        return _thorough(runner, _wanted(clock, every, cuts, runner.seed)), 0
    full = (1 + len(runner.tables.perturbations())) * len(every)
    if full <= CALLS - 2 or (full * runner.seconds <= SECONDS and len(every) <= 2000):
        return _thorough(runner, every), 0
    reserve = calls_for_carriers(runner) + 8  # 4 to repeat what was found, 4 for the shortest prefix
    calls = CALLS - runner.calls - reserve
    special = special_cuts(runner.tables.sources, runner.tables.clocks)[: int(0.4 * calls) // 3]
    spread = [
        c for c in spread_cuts(clock, (calls - 3 * len(special)) // 2, runner.seed) if c not in set(special.tolist())
    ]
    plan = [Replay(int(c), kind) for c in special for kind in (TRUNCATION, "high", "low")]
    return plan + _alternating(runner, spread), reserve


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


__all__ = ["PipelineWitness", "assert_no_lookahead", "check_pipeline"]
