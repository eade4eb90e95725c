"""Doors that do not dispatch, also by names that a program took before the run; failures that nobody hears."""

from __future__ import annotations

from needs import need

torch = need("torch")

import asyncio
import contextlib
import ctypes
import gc
import unittest
import weakref

import pytest
from leaks import complete
from torch._C import _DisableTorchDispatch as off
from torch._C import _pop_torch_dispatch_stack as pop
from torch.utils._python_dispatch import _disable_current_modes as no_modes
from torch.utils.dlpack import to_dlpack

KEY = torch._C.DispatchKey
CPU, PYTHON = torch._C.DispatchKeySet(KEY.CPU), torch._C.DispatchKeySet(KEY.Python)
COPY = torch.ops.aten.copy_.default


def popped(x):
    mode = pop(None)
    x.add(1)
    torch._C._push_on_torch_dispatch_stack(mode)


def under(guard):
    def function(x):
        with guard():
            x.add(1)

    return function


def excluded(x):
    torch._C._dispatch_tls_set_dispatch_key_excluded(KEY.Python, True)
    x.add(1)
    torch._C._dispatch_tls_set_dispatch_key_excluded(KEY.Python, False)


def poked(x):
    torch.zeros(1).untyped_storage()[3] = 64


DOORS = {
    "no modes": under(no_modes),
    "a mode taken off": popped,
    "no dispatch": under(off),
    "a key excluded": under(lambda: torch._C._ExcludeDispatchKeyGuard(PYTHON)),
    "keys forced": under(lambda: torch._C._ForceDispatchKeyGuard(CPU, PYTHON)),
    "a key set to be excluded": under(lambda: torch._C._SetExcludeDispatchKeyGuard(KEY.Python, True)),
    "a key excluded by a call": excluded,
    "redispatch": lambda x: COPY.redispatch(CPU, torch.zeros(3), x[0, 1]),
    "a kernel by its key": lambda x: COPY._op_dk(KEY.CPU, torch.zeros(3), x[0, 1]),
    "dlpack by its name": lambda x: to_dlpack(x.clone()),
    "dlpack with a version": lambda x: torch._C._to_dlpack_versioned(x.clone()),
    "a byte of a storage": poked,
    "bytes of a storage swapped": lambda x: torch.zeros(1).untyped_storage().byteswap(torch.float32),
}


@pytest.mark.parametrize("name", DOORS)
def test_a_door_is_seen(name):
    assert not complete(DOORS[name])


@pytest.mark.skipif(not hasattr(torch.library, "get_kernel"), reason="needs a PyTorch that shows its kernels")
def test_a_kernel_that_is_called_itself_is_seen():
    assert not complete(lambda x: torch.library.get_kernel("aten::neg", "CPU").call_boxed(CPU, x))


def test_what_leaves_the_modes_on_is_no_door():
    def function(x):
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(KEY.AutogradCPU)):
            str(torch.zeros(2))
        return torch.vmap(lambda v: v * 2)(x)

    assert complete(function)
    assert "_op_dk" not in vars(torch._ops.OpOverload)


# -- failures that nobody hears ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", UNHEARD)
@pytest.mark.filterwarnings("ignore")
def test_a_failure_that_nobody_hears_is_a_read(name):
    assert not complete(UNHEARD[name])


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
