"""From the replays of a pipeline to its verdict: leaks confirmed by repetition, by column, and what was tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..spans import spans_of
from ..verdict import Column, Evidence, Status, Verdict, versions_of
from .carriers import CALLS, SECONDS, Hit, Hits, calls_for_carriers, carriers, covering, earliest, farthest
from .cuts import all_cuts
from .functions import FittedBeforehand
from .outputs import SET_OF_COLUMNS
from .replay import NUMBERS, REPLACEMENTS, TRUNCATION, Replay
from .runner import Runner, Summary, listed
from .witness import PipelineWitness, shown

ROUNDS = (2, 8)  # how often a leak must come again: at least, and where calls are to be had
REMEDY = (
    "use trailing windows, fit statistics on the past only, label a bar when it closes, or declare a label in labels="
)


def pipeline_verdict(
    runner: Runner, summaries: list[Summary], labels: set[str], time: Any, group: Any, bounded: bool
) -> Verdict:
    """The verdict on what the replays found; `bounded` says that no more than CALLS calls may be made in all."""
    found = _confirm(runner, _hits(summaries), bounded)
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
            ranks[name] = spans_of(np.unique(np.concatenate(kept))) if kept else None
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


def _confirm(runner: Runner, found: Mapping[int, Hits], bounded: bool) -> dict[int, Hits]:
    """The findings of columns whose earliest and farthest one come again whenever both inputs are run again.

    A column whose finding does not come again is noted as unsteady. Where the calls left are few, few replays that show
    a leak in every column are repeated, and findings at earlier rows that were not are left out.
    """
    steady = {n: hits for n, hits in found.items() if not runner.noise[n]}
    wanted = {replay for hits in steady.values() for replay, _ in (earliest(hits), farthest(hits))}
    room = CALLS - runner.calls - calls_for_carriers(runner) if bounded else int(SECONDS / runner.seconds)
    if ROUNDS[0] * (1 + len(wanted)) > room:
        wanted = set(covering(steady))
    rounds = int(np.clip(room // (1 + len(wanted)), *ROUNDS))
    seen = runner.confirmed(sorted(wanted, key=lambda r: (r.cut, r.kind, r.table)), rounds)
    kept = {n: hits for n, hits in found.items() if runner.noise[n]}
    for n, hits in steady.items():
        again = [(replay, seen[replay][n]) for replay, _ in hits if n in seen.get(replay, ())]
        if not again:
            runner.noise[n] = runner.noise[n] or float("inf")
        first = earliest(again or hits)[1].rank
        kept[n] = again + [hit for hit in hits if hit[0] not in seen and hit[1].rank >= first]
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
    before, after = map(shown, finding.values)
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
    if isinstance(runner.function, FittedBeforehand):
        reasons.append("the object was fitted beforehand; what it learnt from later rows then is not seen here")
    if leaks:
        reasons.append(REMEDY)
    return tuple(reasons)
