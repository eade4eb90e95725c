"""A function called in a process that has called it on nothing else: what it remembers of the whole is not there.

The process is forked before the first call here, so that functions of notebooks can be run in it as well.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import warnings
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

UNSAFE = (
    "torch",
    "polars",
    "tensorflow",
    "jax",
)  # their threads are gone in a forked process, which then waits for them
PATIENCE = 10.0  # seconds for a forked process that waits for ever; what it says decides, never how long it took


class Fresh:
    """The result of `call()` in a forked process, made while this one goes on; none where forking is not safe."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._process: Any = None
        if sys.platform != "linux" or any(name in sys.modules for name in UNSAFE):
            return
        if threading.current_thread() is not threading.main_thread():
            return
        context = get_context("fork")
        self._here, there = context.Pipe(duplex=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of threads when it forks
            try:
                self._process = context.Process(target=_answer, args=(there, call))
                self._process.start()
            except (OSError, AssertionError):  # no memory; a process of a pool has no children
                self._process = None
        there.close()

    def __enter__(self) -> Fresh:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def result(self) -> list[Any]:
        """A list of the result alone; empty where there is none."""
        if self._process is None:
            return []
        try:
            return [pickle.loads(self._here.recv_bytes())] if self._here.poll(PATIENCE) else []
        except Exception:  # it raised, ended early, or returned what cannot be sent
            return []
        finally:
            self.end()

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._here.close()
            self._process = None


def _answer(there: Connection, call: Callable[[], Any]) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # what the function prints is printed here already
        os.dup2(nowhere, stream)
    threads = sys.modules.get("threadpoolctl")
    if threads is not None:  # scikit-learn's: those of OpenMP are gone as well, and one alone waits for none
        threads.threadpool_limits(1)
    there.send_bytes(pickle.dumps(call()))
