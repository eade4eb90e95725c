"""What was run, and what that shows: a replay where it found a leak, and otherwise a sample, which proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..verdict import Evidence
from .replay import NUMBERS, REPLACEMENTS, TRUNCATION, WAYS, Replay, Trial
from .words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .confirm import Confirmed
    from .runner import Runner
    from .search import Searched


def evidence_of(
    runner: Runner, searched: Searched, confirmed: Confirmed, labels: Collection[str]
) -> tuple[Evidence, ...]:
    """Truncation, perturbation, and repetition on the unchanged input."""
    names = runner.base.names
    guilty = {hit.replay for n, hits in confirmed.leaks.items() if names[n] not in labels for hit in hits}
    truncated = [t for t in searched.trials if t.truncates and not t.failed and t.rows]
    replaced = [t for t in searched.trials if not t.truncates and not t.failed]
    return (
        _replays(TRUNCATION, "", truncated, guilty),
        _replays("perturbation", f" ({_ways(runner, replaced)})", replaced, guilty),
        _repetition(runner, confirmed),
    )


def _replays(title: str, ways: str, ran: Sequence[Trial], guilty: Collection[Replay]) -> Evidence:
    if not ran:
        return Evidence("property", None, f"{title}: the function accepted no such input")
    hits = len({t.replay for t in ran} & set(guilty))
    cuts = len({t.replay.cut for t in ran})
    found = f"{hits} rewrote settled rows" if hits else "no settled row rewritten"
    detail = f"{title}{ways}: {counted(len(ran), 'run')} at {counted(cuts, 'cut')}, {found}"
    return Evidence("replay" if hits else "property", not hits, detail)


def _repetition(runner: Runner, confirmed: Confirmed) -> Evidence:
    noisy = sum(noise > 0 for noise in confirmed.noise)
    agree = f"differ in {counted(noisy, 'column')}" if noisy else "agree"
    return Evidence("property", not noisy, f"repetition: {runner.repeats} runs on the unchanged input {agree}")


def _ways(runner: Runner, trials: Sequence[Trial]) -> str:
    """How later rows were replaced, and in which tables."""
    kinds = {t.replay.kind for t in trials}
    ways = ", ".join(WAYS[kind].word for kind in (*REPLACEMENTS, NUMBERS) if kind in kinds)
    if len(runner.tables.sources) == 1:
        return ways
    alone = [name for name in runner.tables.names if any(t.replay.table == name for t in trials)]
    return f"{ways}; all tables together{''.join(f', {name} alone' for name in alone)}"


def assumptions_of(runner: Runner) -> tuple[str, ...]:
    """What the verdict takes for granted."""
    found = ["the function's result depends on its argument alone", "the cuts that were run, and no others"]
    if not runner.is_fresh:
        found.append("the function keeps nothing between calls that cannot be put back; no fresh process was to be had")
    found.append(f"rows of two runs are paired by {runner.aligner.pairing}")
    most = max(limit.relative for limit in runner.rounding)
    if most:
        found.append(f"floats that differ by no more than {most:.1g} of their size are equal up to rounding")
    return tuple(found)
