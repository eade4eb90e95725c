"""Numbers that Python and NumPy draw while a model runs, or that a clock gives: no operation shows them."""

from __future__ import annotations

import os
import random
import sys
import sysconfig
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import torch

from ..age import alive, born
from ..generators import state_of

if TYPE_CHECKING:
    from .ledger import Ledger

DRAWN = "random numbers of Python or NumPy"
UNSEEDED = "a generator of random numbers without a seed"
SYSTEM = "random bytes of the system"
SEED = "the seed of PyTorch's random numbers"
CLOCK = "the clock"
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
SOURCES = (
    (random, "_urandom", UNSEEDED),
    (np.random.bit_generator, "randbits", UNSEEDED),
    (os, "urandom", SYSTEM),
    (os, "getrandom", SYSTEM),
    (uuid, "uuid1", SYSTEM),
    *((owner, name, SEED) for owner in (torch, torch.random) for name in ("initial_seed", "seed")),
    *((time, name + unit, CLOCK) for name in CLOCKS for unit in ("", "_ns")),
    *((time, name, CLOCK) for name in ("localtime", "gmtime", "ctime", "asctime", "strftime")),
)
TORCH = os.path.dirname(torch.__file__)


@contextmanager
def followed(ledger: Ledger, holders: Iterable[ModuleType] = ()) -> Iterator[None]:
    """What is drawn while it is open, by any generator, from the system or a clock, goes to the ledger.

    A generator that was alive before shows it by its state, a new one by where its seed came from and by being held
    for the next call. `holders`: files of the program, which may have imported a source by its name. To be entered
    where `escapes.watched` is open.
    """
    before = {id(g): (g, state_of(g)) for g in alive()}
    settled: set[int] = set()  # those that the program gave a seed before it drew
    apart: dict[int, Any] = {}  # those that PyTorch made for itself
    mine = threading.get_ident()
    patches: dict[int, tuple[Any, Any]] = {}  # by the original: the original, what stands in for it

    def look(generator: Any) -> None:
        known, then = before.get(id(generator), (None, b""))
        if known is not None and id(generator) not in settled and state_of(generator) != then:
            ledger.drawn(DRAWN)

    def told(original: Callable[..., Any], what: str) -> Callable[..., Any]:
        def through(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == mine and not _is_without_say(what):
                ledger.drawn(what)
            return original(*args, **kwargs)

        return through

    def setting(original: Callable[..., Any], *owners: Any) -> Callable[..., Any]:
        """A function that gives a generator (of `owners`, or its first argument) a seed or a state."""

        def through(*args: Any, **kwargs: Any) -> Any:
            given = [*(args if owners else args[1:]), *kwargs.values()]
            for generator in owners or args[:1]:
                look(generator)
                if given and given[0] is not None:
                    settled.add(id(generator))
                elif _is_without_say(UNSEEDED):
                    apart[id(generator)] = generator
                elif not owners or generator is owners[0]:
                    ledger.drawn(UNSEEDED)
            return original(*args, **kwargs)

        return through

    legacy = np.random.mtrand._rand
    with ExitStack() as stack:
        for owner, name, what in SOURCES:
            if hasattr(owner, name):  # not in every release, nor on every system
                original = getattr(owner, name)
                patches[id(original)] = original, told(original, what)
        for name in ("seed", "setstate"):
            stack.enter_context(patch.object(random.Random, name, setting(getattr(random.Random, name))))
            original = getattr(random, name)
            patches[id(original)] = original, setting(original, original.__self__)
        for name in ("seed", "set_state"):
            original = getattr(np.random, name)
            patches[id(original)] = original, setting(original, legacy, legacy._bit_generator)
        owners = {id(owner): owner for owner in (random, np.random, np.random.bit_generator, os, uuid, time)}
        owners |= {id(owner): owner for owner in (torch, torch.random, *holders)}
        for owner in owners.values():
            for name, value in list(vars(owner).items()):
                if id(value) in patches:
                    stack.enter_context(patch.object(owner, name, patches[id(value)][1]))
        yield
    for generator, _ in before.values():
        look(generator)
    if any(id(g) not in before and id(g) not in apart for g in born()):
        ledger.drawn(DRAWN)


def _is_without_say(what: str) -> bool:
    """Whether a number goes no further than Python's or PyTorch's own affairs: a time for a log, or what modules draw
    when PyTorch imports them at its first use.
    """
    frame: Any = sys._getframe(2)
    if what == CLOCK and frame.f_code.co_filename.startswith((sysconfig.get_path("stdlib"), TORCH)):
        return True
    importing = False
    while frame is not None:
        file = frame.f_code.co_filename
        if importing and not file.startswith("<frozen importlib"):
            if file.startswith(TORCH):
                return True
            importing = False
        importing = importing or file.startswith("<frozen importlib")
        frame = frame.f_back
    return False
