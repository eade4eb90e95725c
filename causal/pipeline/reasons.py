"""What whoever reads a verdict should know: where the series was cut, what went wrong, and a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .beforehand import beforehand
from .calendar import recurring
from .cuts import all_cuts
from .functions import FittedBeforehand
from .outputs import SET_OF_COLUMNS
from .words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .confirm import Confirmed
    from .runner import Runner
    from .search import Searched

REMEDY = (
    "use trailing windows, fit statistics on the past only, label a bar when it closes, or declare a label in labels="
)
MOST_CUTS_SHOWN = 8
TOLD = {"hour": "hours", "weekday": "weekdays", "time of day": "times of day"}


def reasons_of(runner: Runner, searched: Searched, confirmed: Confirmed, leaks: bool) -> tuple[str, ...]:
    """The cuts first, the remedy last where something leaks."""
    tried = _tried(runner, searched.cuts)
    return (
        tried if leaks else f"{tried}; that nothing was found there proves nothing for other cuts and other data",
        *_uncut(runner, searched),
        *_spoilt_input(runner),
        *_failures(runner, searched),
        *_noise(runner, confirmed),
        *_kept(runner),
        *outside(runner),
        *runner.tables.notes(),
        *([REMEDY] if leaks else []),
    )


def _tried(runner: Runner, cuts: list[int]) -> str:
    """Where the series was cut."""
    clock = runner.clock
    if len(cuts) <= MOST_CUTS_SHOWN:
        return f"cut after {', '.join(map(clock.describe, cuts))}"
    if len(cuts) == len(all_cuts(clock)):
        return f"cut after every {clock.unit} but the last"
    first, last = map(clock.describe, cuts[:3]), map(clock.describe, cuts[-3:])
    return f"cut after {', '.join([*first, f'… {len(cuts) - 6} more …', *last])}"


def _uncut(runner: Runner, searched: Searched) -> Iterator[str]:
    """The hours, weekdays and times of day after which nothing was cut."""
    missed = []
    if not searched.every(runner.clock):
        ranks = np.array(searched.cuts).clip(0)
        for kind in recurring(runner.tables.sources, runner.tables.clocks):
            several, met = int(kind.codes.max()) + 1, len(np.unique(kind.codes[ranks]))
            if met < several and kind.name in TOLD:
                missed.append(f"{several - met} of {several} {TOLD[kind.name]}")
    if missed:
        yield f"no cut falls in {', '.join(missed)}; a leak there only is not seen, unless cuts= asks for more"


def _spoilt_input(runner: Runner) -> Iterator[str]:
    if runner.mutates is not None:
        yield f"function changes {runner.mutates} in place; it was given copies, so let it copy its input"


def _failures(runner: Runner, searched: Searched) -> Iterator[str]:
    """Prefixes and replacements that the function refuses."""
    refused = [trial for trial in searched.trials if trial.failed and trial.truncates]
    if refused:
        taken = [trial.rows for trial in searched.trials if not trial.failed and trial.truncates and trial.rows]
        shortest = "it accepts none tried"
        if taken:
            shortest = f"the shortest prefix it accepts among those tried has {min(taken)} rows"
        longest = max(refused, key=lambda trial: trial.rows)
        yield f"{longest.failed} on a prefix of {longest.rows} rows; {shortest}"
    wrong = [trial for trial in searched.trials if trial.failed and not trial.truncates]
    if wrong:
        yield f"{wrong[0].failed} when rows after {runner.clock.describe(wrong[0].replay.cut)} are replaced"


def _noise(runner: Runner, confirmed: Confirmed) -> Iterator[str]:
    if runner.remembers:
        yield (
            f"function writes another {listed(runner.remembers)} for a prefix when it is called on that first, in a "
            "fresh process: it remembers earlier calls in a way that cannot be put back, so keep nothing between calls"
        )
    noisy = [
        f"{name} by up to {size:.3g}" if np.isfinite(size) else name
        for name, size in zip(runner.base.names, confirmed.noise, strict=True)
        if size and name != SET_OF_COLUMNS
    ]
    if noisy:
        yield (
            f"function disagrees with itself on equal input ({listed(noisy)}): it reads a clock, draws without a seed "
            "or remembers earlier calls; pass the time in as data, fix the seed, keep nothing between calls, and check "
            "again"
        )


def _kept(runner: Runner) -> Iterator[str]:
    """What the function writes outside its argument."""
    kept = listed(runner.state.kept)
    if kept:
        yield (
            f"function changes {kept} outside itself, which was put back before every call; where it is used nobody "
            "does that, so keep nothing between calls"
        )


def outside(runner: Runner) -> Iterator[str]:
    """What the function has from outside its argument, which no replay touches: nobody should overlook that."""
    read = listed(runner.state.tables(runner.source.n))
    if read:
        yield (
            f"function also reads {read} from outside, which is neither cut nor replaced; to have it checked, pass "
            "it as a further table, data=(first, second)"
        )
    if runner.aligner.backwards:
        yield "function returned rows without their times, newest first as it seems; keep the time column to be sure"
    files = runner.state.files
    if files.read:
        yield f"function reads {listed(_named(files.read))}, which {_is(files.read)} neither cut nor replaced"
    if files.left:
        yield f"function writes {listed(_named(files.left))}, not put back between calls"
    unseen = listed(runner.state.unseen_files)
    if unseen:
        yield f"function calls {unseen}, which tells nobody what file it writes; that is not put back between calls"
    alone = listed(runner.state.left_alone)
    if alone:
        yield f"function uses {alone}, which cannot be copied; what that keeps from call to call is not put back"
    yield from beforehand(runner.state.fitted, runner.state.numbers, runner.tables.sources)
    for source in runner.tables.sources:
        if getattr(source.data, "attrs", None):
            yield f"data.attrs holds {listed(list(map(str, source.data.attrs)))}, which every prefix is given as it is"
    if isinstance(runner.function, FittedBeforehand):
        yield "the object was fitted beforehand; what it learnt from later rows then is not seen here"


def _named(paths: list[Path]) -> list[str]:
    return [f"file {path.name}" for path in paths]


def _is(several: list[Path]) -> str:
    return "is" if len(several) == 1 else "are"
