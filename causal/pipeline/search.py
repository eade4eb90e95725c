"""The replays of a plan, run; and those that what they showed asks for."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .budget import CALLS, FOR_REPETITION, calls_for_carriers
from .cuts import all_cuts
from .plan import Cuts, Plan, plan_for, spread, thorough
from .processes import Processes, Progress
from .reach import farther
from .replay import TRUNCATION, Replay, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from .clock import Clock
    from .runner import Runner


@dataclass(frozen=True)
class Search:
    """How to look for leaks: at which cuts, whether for the very first leaking row, and in how many processes."""

    cuts: Cuts = None
    exact: bool = False
    workers: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class Searched:
    """The trials that were made; `calls` is how many calls may be made in all (None: any number)."""

    trials: tuple[Trial, ...]
    calls: int | None = None

    @property
    def cuts(self) -> list[int]:
        """Where the series was cut, in order."""
        return sorted({trial.replay.cut for trial in self.trials})

    def every(self, clock: Clock) -> bool:
        """Whether the series was cut wherever it can be, so that nothing hides between cuts."""
        return len(self.cuts) == len(all_cuts(clock))

    @property
    def compared(self) -> int:
        """How many settled entries of a column were compared."""
        return sum(trial.compared for trial in self.trials)


def run_search(runner: Runner, search: Search, labels: Collection[str]) -> Searched:
    """The trials of a search for leaks in columns that are no `labels`.

    Raises ValueError for cuts that there are not, and for a function that fails in every trial.
    """
    with Processes(runner, search.workers) as processes:
        return _searched(runner, search, labels, processes)


def _searched(runner: Runner, search: Search, labels: Collection[str], processes: Processes) -> Searched:
    plan = plan_for(runner, search.cuts)
    trials = processes.run_all(plan.replays, search.progress)
    trials = _too_short(trials)
    if search.progress is not None:
        runner.after_call = _counting(search.progress, len(trials), plan.calls or 0)
    trials += _shortest_prefix(runner, trials)
    if plan.calls and not any(trial.rewrites for trial in trials):
        trials += processes.run_all(_further(runner, plan, trials))
    if trials and all(trial.failed for trial in trials):
        raise ValueError(f"function raises {trials[-1].failed} on every replay; it must accept other data of this kind")
    if search.exact:
        trials += _before_the_first(runner, trials, labels)
    trials += farther(runner, trials, _calls_for_reach(runner, plan))
    return Searched(tuple(trials), plan.calls)


def _counting(progress: Progress, done: int, most: int) -> Callable[[], None]:
    """Progress of the calls after the plan's, which are as many as turn out to be needed, at most `most` in all."""
    count = itertools.count(done + 1)

    def tick() -> None:
        made = next(count)
        progress(made, max(made, most))

    return tick


def _too_short(trials: Sequence[Trial]) -> list[Trial]:
    """The trials, of which prefixes without any row returned, shorter than all that have some, count as refused."""
    lengths = [
        trial.rows for trial in trials if trial.truncates and not trial.empty and not trial.failed and trial.rows
    ]
    least = min(lengths, default=0)
    return [
        replace(t, rewrites=(), failed="function returned no rows")
        if t.empty and t.rewrites and t.truncates and t.rows < least
        else t
        for t in trials
    ]


def _shortest_prefix(runner: Runner, trials: Sequence[Trial], tries: int = 4) -> list[Trial]:
    """Closer in on the shortest prefix that the function accepts, when it refused some."""
    refused = {trial.replay.cut: bool(trial.failed) for trial in trials if trial.truncates}
    found: list[Trial] = []
    while any(refused.values()) and len(found) < tries:
        low = max(cut for cut, failed in refused.items() if failed)
        above = [cut for cut, failed in refused.items() if not failed and cut > low]
        if not above or min(above) - low < 2:
            break
        trial = runner.run(Replay((low + min(above)) // 2, TRUNCATION))
        found.append(trial)
        refused[trial.replay.cut] = bool(trial.failed)
    return found


def _calls_for_reach(runner: Runner, plan: Plan) -> int:
    if plan.calls is None:
        return CALLS
    return max(0, plan.calls - runner.calls - calls_for_carriers(runner) - FOR_REPETITION)


def _further(runner: Runner, plan: Plan, trials: Sequence[Trial]) -> list[Replay]:
    """What the calls that were kept back are spent on when nothing was found: further cuts, then other ways there."""
    assert plan.calls is not None
    calls = plan.calls - runner.calls - FOR_REPETITION
    found = spread(runner, calls, runner.seed + 1, {trial.replay.cut for trial in trials})
    return [*found, *_other_ways(runner, calls - len(found), {*found, *(trial.replay for trial in trials)})]


def _other_ways(runner: Runner, calls: int, done: Collection[Replay]) -> list[Replay]:
    """Where every cut is `done` in some way: the other ways, truncation first, as many as there are calls."""
    cuts = all_cuts(runner.clock).tolist()
    if len({replay.cut for replay in done}) < len(cuts):
        return []
    found: list[Replay] = []
    for way in dict.fromkeys((r.kind, r.table) for r in thorough(runner, cuts[:1])):
        left = [r for r in (Replay(cut, *way) for cut in cuts) if r not in done]
        most = max(0, calls - len(found))
        found += left if len(left) <= most else [left[i * len(left) // most] for i in range(most)]
    return found


def _before_the_first(runner: Runner, trials: Sequence[Trial], labels: Collection[str]) -> list[Trial]:
    """Every cut before a column's first leaking row, in order, until it leaks: that row is then its first."""
    first: dict[int, int] = {}
    for trial in trials:
        for number, rewrite in trial.rewrites:
            if runner.base.names[number] not in labels:
                first[number] = min(first.get(number, rewrite.rank), rewrite.rank)
    done = {trial.replay for trial in trials}
    found: list[Trial] = []
    open_columns = set(first)
    for cut in all_cuts(runner.clock).tolist():
        open_columns = {number for number in open_columns if first[number] > cut}
        if not open_columns:
            break
        for replay in thorough(runner, [cut]):
            if replay not in done:
                found.append(runner.run(replay))
                for number, rewrite in found[-1].rewrites:
                    if number in first:
                        first[number] = min(first[number], rewrite.rank)
    return found
