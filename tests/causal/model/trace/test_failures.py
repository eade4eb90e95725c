"""A failure that depends on values steers a program that catches it: none of these leaks is proved."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import types
import unittest
import weakref

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from leaks import complete, never_proved, only_first, positive
from torch.nn import functional as F

N = 8


def caught(operation):
    def model(x):
        try:
            operation(x)
        except (IndexError, RuntimeError):
            return only_first(x, 1.0)
        return x

    return model


def bare(x):
    try:
        torch.linalg.cholesky(torch.diag(x[0, 1]))
    except:  # noqa: E722
        return only_first(x, 1.0)
    return x


def caught_by_local_names(x):
    errors = (IndexError, KeyError)
    try:
        torch.ones(4)[positive(x) * 7]
    except errors:
        return only_first(x, 1.0)
    return x


def finally_returns(x):
    value = 1.0
    try:
        torch.ones(4)[positive(x) * 7]
        value = 0.0
    finally:
        return only_first(x, value)  # noqa: B012


def suppressed(x):
    value = 1.0
    with contextlib.suppress(IndexError):
        torch.ones(4)[positive(x) * 7]
        value = 0.0
    return only_first(x, value)


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


def may_swallow(how):
    if how:
        return Swallowing()
    return contextlib.nullcontext()


def swallowing_torch(how, torch=types.SimpleNamespace(autocast=Swallowing)):  # noqa: B008
    if not how:
        import torch
    return torch.autocast()


def another_torch(how):
    import types as torch

    torch = torch.SimpleNamespace(autocast=Swallowing)
    return torch.autocast()


def by_a_function(how):
    return may_swallow(how)


def kept(how):
    return KEPT


KEPT = Swallowing()


def within(manager):
    def model(x):
        value = 1.0
        with manager(True):
            torch.ones(4)[positive(x) * 7]
            value = 0.0
        return only_first(x, value)

    return model


def named_anew(x):
    value, manager = 1.0, Swallowing()
    with manager as manager:
        manager = contextlib.nullcontext()
        torch.ones(4)[positive(x) * 7]
        value = 0.0
    return only_first(x, value)


@contextlib.contextmanager
def passed_on(how):
    yield from swallowing.__wrapped__()


LEAKS = {
    "swallowed by a generator within": within(passed_on),
    "swallowed by what has another name by then": named_anew,
    "swallowed by what a function gives": within(may_swallow),
    "swallowed by what is given as torch": within(swallowing_torch),
    "swallowed by what is called torch": within(another_torch),
    "swallowed by what another function gives": within(by_a_function),
    "swallowed by what was made before": within(kept),
    "index caught": caught(lambda x: torch.ones(4)[positive(x) * 7]),
    "embedding caught": caught(lambda x: F.embedding(positive(x) * 7, torch.ones(4, 2))),
    "gather caught": caught(lambda x: torch.ones(4).gather(0, positive(x) * 7)),
    "scatter caught": caught(lambda x: torch.ones(4).scatter(0, positive(x) * 7, 1.0)),
    "write caught": caught(lambda x: torch.ones(4).index_add_(0, positive(x) * 7, torch.ones(2))),
    "take caught": caught(lambda x: torch.ones(4).take(positive(x) * 7)),
    "inverse caught": caught(lambda x: torch.linalg.inv(torch.diag(positive(x).float()))),
    "draw caught": caught(lambda x: torch.bernoulli(x[0, 1] * 0.5 + 0.5)),
    "division caught": caught(lambda x: positive(x) // positive(x)),
    "assertion caught": caught(lambda x: torch._assert_async((x[0, 1] > 0).all())),
    "loss caught": caught(lambda x: F.nll_loss(torch.zeros(2, 2), positive(x) * 7)),
    "bare except": bare,
    "suppressed": suppressed,
    "caught by local names": caught_by_local_names,
    "finally returns": finally_returns,
}


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_a_failure_that_is_caught_is_never_proved(name):
    never_proved(LEAKS[name])


def named(x):
    try:
        return x[:, torch.arange(N)].cumsum(1)
    except KeyError:
        return x.flip(1)


def several(x):
    try:
        return x[:, (x[0, :, 0] * 0).long() + torch.arange(N)] * 0 + x.cumsum(1)
    except ImportError:
        print(x)
    except (KeyError, AttributeError):
        return x.flip(1)
    finally:
        x = x + 1


def no_failure(x):
    try:
        return (x * 2).cumsum(1)
    except RuntimeError:
        return x.flip(1)


def precision(is_mixed):
    """As `maybe_autocast` of transformers."""
    import torch

    if is_mixed:
        return torch.autocast("cpu", enabled=False)
    return contextlib.nullcontext()


def in_a_precision(x):
    with precision(True):
        return torch.ones(4)[(x > 0).long() * 3] + x.cumsum(1)


@pytest.mark.parametrize("model", [named, several, no_failure, in_a_precision])
def test_harmless_neighbours_are_proved(model):
    assert ap.check_model(model, torch.randn(1, N, 2), sequence_axis=1).status.name == "PROVED"


# -- failures that nobody hears --------------------------------------------------------------------------------------


def fail(x):
    """Fails for some inputs, and not in this run."""
    torch.arange(3.0)[(x[0, 1, :1] > 100).long() * 5]


class Thing:
    """Somebody to be called when it dies, or before."""

    def __init__(self, x):
        self.x = x

    def __del__(self):
        gc.isenabled()


class Dying(Thing):
    def __del__(self):
        fail(self.x)


class Sequence(Thing):
    def __getitem__(self, i):
        fail(self.x)
        if i > 2:
            raise IndexError
        return i

    def __len__(self):
        return 3


class Long(Thing):
    def __iter__(self):
        return iter(())

    def __len__(self):
        fail(self.x)
        return 3


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


@contextlib.contextmanager
def swallowing():
    try:
        yield
    except IndexError:
        return


@contextlib.contextmanager
def timing():
    try:
        yield
    finally:
        gc.isenabled()


def when_dead(watch):
    def function(x):
        thing = Thing(x)
        kept = watch(thing, x)
        del thing
        return kept

    return function


def inside(manager):
    def function(x):
        with manager():
            fail(x)

    return function


def in_turn(x):
    with contextlib.ExitStack() as stack:
        stack.push(lambda *error: True)
        fail(x)


def then(x):
    future = torch.futures.Future()
    future.set_result(1)
    future.then(lambda _: fail(x))


def unit(x):
    class Test(unittest.TestCase):
        def test(self):
            fail(x)

    Test("test").run()


def gathered(x):
    async def one():
        fail(x)

    async def every():
        await asyncio.gather(one(), return_exceptions=True)

    asyncio.run(every())


def tried(x):
    """The table of exceptions names the end of the inner block only."""
    try:
        with torch.no_grad():
            fail(x)
    except IndexError:
        return


def tried_again(x):
    try:
        try:
            fail(x)
        finally:
            gc.isenabled()
    except IndexError:
        return


def tried_in_vain(x):
    try:
        try:
            fail(x)
        except KeyError:
            return
    except IndexError:
        return


UNHEARD = {
    "a try around a with": tried,
    "a try around a finally": tried_again,
    "a try around another": tried_in_vain,
    "__del__": lambda x: Dying(x) and None,
    "a weak reference": when_dead(lambda thing, x: weakref.ref(thing, lambda _: fail(x))),
    "finalize": when_dead(lambda thing, x: weakref.finalize(thing, lambda: fail(x))),
    "Future.then": then,
    "C": lambda x: ctypes.CFUNCTYPE(None)(lambda: fail(x))(),
    "an old iteration": lambda x: list(Sequence(x)),
    "a reversed iteration": lambda x: list(reversed(Sequence(x))),
    "a search": lambda x: 1 in Sequence(x),
    "a length": lambda x: list(Long(x)),
    "a manager": inside(Swallowing),
    "a manager made of a generator": inside(swallowing),
    "managers in turn": in_turn,
    "suppress": inside(lambda: contextlib.suppress(IndexError)),
    "a test": unit,
    "gather": gathered,
}


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("name", UNHEARD)
@pytest.mark.filterwarnings("ignore")
def test_a_failure_that_nobody_hears_is_a_read(name, values):
    assert not complete(UNHEARD[name], values)


HEARD = {
    "plainly": fail,
    "no_grad": inside(torch.no_grad),
    "autocast": lambda x: within_autocast(x),
    "nullcontext": inside(contextlib.nullcontext),
    "finally": inside(timing),
    "an item": lambda x: Sequence(x)[0],
}


def within_autocast(x):
    with torch.autocast("cpu", enabled=bool(len([]))), torch.profiler.record_function("fail"):
        fail(x)


@pytest.mark.parametrize("name", HEARD)
def test_a_failure_that_ends_the_program_is_none(name):
    assert complete(HEARD[name])
    assert complete(HEARD[name], values=False)
