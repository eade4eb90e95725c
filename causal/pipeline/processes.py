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


class Processes:
    """Runs replays of one function; in `workers` processes, started once, when that is more than one."""

    def __init__(self, runner: Runner, workers: int | None = None) -> None:
        self.runner, self.workers = runner, workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run_all(self, replays: Sequence[Replay], progress: Progress | None = None) -> list[Trial]:
        """Every replay's trial, in order.

        `progress(done, of)` is called after each. Raises ValueError where a process cannot have the function.
        """
        several = bool(self.workers) and self.workers != 1 and len(replays) >= 2
        trials = []
        for trial in self._in_processes(replays) if several else map(self.runner.run, replays):
            trials.append(trial)
            if progress is not None:
                progress(len(trials), len(replays))
        return trials

    def _in_processes(self, replays: Sequence[Replay]) -> Iterator[Trial]:
        if self._pool is None:
            packed = _packed(self.runner)
            self._pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _receive, (packed,))
        try:
            for trial in self._pool.map(_run, replays):
                self.runner.count_call()
                yield trial
        except BrokenProcessPool:
            problem = "processes could not load the function or ended early"
            remedy = "define it in a module that they can import, or leave out workers"
            raise ArgumentError("workers", problem, remedy, self.workers, mentions=("workers",)) from None


def _packed(runner: Runner) -> bytes:
    try:
        return pickle.dumps(runner)
    except Exception as error:
        problem = f"cannot be sent to other processes ({error})"
        remedy = "define it in a module, or leave out workers"
        raise ArgumentError("function", problem, remedy, mentions=("workers",)) from None


_RECEIVED: list[Runner] = []  # in a process of the pool: its runner


def _receive(packed: bytes) -> None:
    _RECEIVED[:] = [pickle.loads(packed)]


def _run(replay: Replay) -> Trial:
    return _RECEIVED[0].run(replay)
