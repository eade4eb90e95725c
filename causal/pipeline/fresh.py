"""A function called in a process that has called it on nothing else: what it remembers of the whole is not there.

Where forking is safe the process is forked before the first call here, so that functions of notebooks can be run in it
as well. Beside Polars and others whose threads a fork loses, Python's fork server makes it, which is sent the function
and its input. Both processes would write the same files, so it waits at a gate until these are put back here.
"""

from __future__ import annotations

import importlib.machinery
import os
import pickle
import sys
import threading
import types
import warnings
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from .functions import call_with
from .state import State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

UNSAFE = ("polars", "tensorflow", "jax")  # their threads are gone in a forked process, which then waits for them
PRELOADED = (__name__, "numpy", "pandas", "polars", "sklearn")  # by the fork server, where they are loaded here
PATIENCE = 10.0  # seconds for a process that waits for ever; what it says decides, never how long it took


class Fresh:
    """The result of a function on an input, as in `call_with`, from a process of its own once `result` asks for it."""

    def __init__(self, function: Any, calling: str, given: Any) -> None:
        self._process: Any = None
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            return
        forks = sys.platform == "linux" and not any(name in sys.modules for name in UNSAFE)
        context: Any = get_context("fork" if forks else "forkserver")
        job: Any = (function, calling, given)
        try:
            job = job if forks else _packed(job)
            self._here, there = context.Pipe()
            with warnings.catch_warnings(), _no_main() if not forks else warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python warns of threads when it forks
                if not forks:
                    context.set_forkserver_preload([name for name in PRELOADED if name in sys.modules])
                process = context.Process(target=_answer, args=(there, job), daemon=True)
                process.start()
            there.close()
            self._process = process
        except Exception:  # no memory, a function that cannot be sent, a process that may have no children
            return

    def __enter__(self) -> Fresh:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def result(self, patience: float = 0.0) -> list[Any]:
        """A list of the result alone; empty where there is none, or none within `patience` + PATIENCE seconds."""
        if self._process is None:
            return []
        try:
            self._here.send_bytes(b"begin")
            return [pickle.loads(self._here.recv_bytes())] if self._here.poll(patience + PATIENCE) else []
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


def _answer(there: Connection, job: Any) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # what the function prints is printed here already
        os.dup2(nowhere, stream)
    if "threadpoolctl" in sys.modules:  # scikit-learn's: threads of OpenMP are gone as well, and one waits for none
        sys.modules["threadpoolctl"].threadpool_limits(1)
    if "torch" in sys.modules:  # as PyTorch's own loaders do in forked processes
        sys.modules["torch"].set_num_threads(1)
    function, calling, given = pickle.loads(job) if isinstance(job, bytes) else job
    there.recv_bytes()
    with State(function) as state, state.files.watched():
        answer = pickle.dumps(call_with(function, calling, given))
    there.send_bytes(answer)


def _packed(job: Any) -> bytes:
    """A job as bytes; the user's functions by value where another process could not import them."""
    cloud = _cloudpickle()
    if cloud is None:
        return pickle.dumps(job)
    module = sys.modules.get(getattr(job[0], "__module__", None) or "__main__")
    by_value = module is not None and module.__name__ != "__main__" and not _can_be_imported(module)
    if by_value:
        cloud.register_pickle_by_value(module)
    try:
        packed: bytes = cloud.dumps(job)
        return packed
    finally:
        if by_value:
            cloud.unregister_pickle_by_value(module)


def _cloudpickle() -> Any:
    for name in ("cloudpickle", "joblib.externals.cloudpickle"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def _can_be_imported(module: types.ModuleType) -> bool:
    return importlib.machinery.PathFinder.find_spec(module.__name__.partition(".")[0]) is not None


@contextmanager
def _no_main() -> Iterator[None]:
    """Without the main module, which a started process would run again, the check and all."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
