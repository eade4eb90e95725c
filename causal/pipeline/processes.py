"""Replays run one after the other, or in several processes that each have the function and its state."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING

from ...errors import ArgumentError

if TYPE_CHECKING:
    from .replay import Replay, Trial
    from .runner import Runner

Progress = Callable[[int, int], None]


def run_all(
    runner: Runner, replays: Sequence[Replay], workers: int | None = None, progress: Progress | None = None
) -> list[Trial]:
    """Every replay's trial, in order; in `workers` processes when that is more than one.

    `progress(done, of)` is called after each. Raises ValueError where a process cannot have the function.
    """
    several = bool(workers) and workers != 1 and len(replays) >= 2
    trials = []
    for trial in _in_processes(runner, replays, workers) if several else map(runner.run, replays):
        trials.append(trial)
        if progress is not None:
            progress(len(trials), len(replays))
    return trials


def _in_processes(runner: Runner, replays: Sequence[Replay], workers: int | None) -> Iterator[Trial]:
    try:
        packed = pickle.dumps(runner)
    except Exception as error:
        problem = f"cannot be sent to other processes ({error})"
        remedy = "define it in a module, or leave out workers"
        raise ArgumentError("function", problem, remedy, mentions=("workers",)) from None
    try:
        with ProcessPoolExecutor(workers, get_context("spawn"), _receive, (packed,)) as pool:
            for trial in pool.map(_run, replays):
                runner.count_call()
                yield trial
    except BrokenProcessPool:
        problem = "processes could not load the function or ended early"
        remedy = "define it in a module that they can import, or leave out workers"
        raise ArgumentError("workers", problem, remedy, workers, mentions=("workers",)) from None


_RECEIVED: list[Runner] = []  # in a process of the pool: its runner


def _receive(packed: bytes) -> None:
    _RECEIVED[:] = [pickle.loads(packed)]


def _run(replay: Replay) -> Trial:
    return _RECEIVED[0].run(replay)
