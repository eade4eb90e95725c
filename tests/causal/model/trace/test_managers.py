"""Managers that may swallow an error, of every making; and such as do not."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading

import pytest
from attnproof.causal.model.trace.managers import swallows

HERE = "manager"


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


class Leaving(Swallowing):
    def __exit__(self, *error):
        return None


class ByProperty(Swallowing):
    __exit__ = property(lambda self: lambda *error: True)


class AnswersTrue:
    def __call__(self, *error):
        return True


class ByObject(Swallowing):
    __exit__ = AnswersTrue()


class Either(Swallowing):
    def __exit__(self, kind, *rest):
        return kind is IndexError or False


class Called(Leaving):
    def __call__(self):
        return Swallowing()


class MakesAnother(Leaving):
    def __new__(cls):
        return Swallowing()


class CallsAnother(type):
    def __call__(cls):
        return Swallowing()


class ByMetaclass(Leaving, metaclass=CallsAnother):
    pass


def guarded():
    try:
        yield
    except IndexError:
        return


@contextlib.contextmanager
def passed_on():
    yield from guarded()


@contextlib.contextmanager
def timed():
    try:
        yield
    finally:
        sys.getrefcount(None)


@functools.cache
def cached():
    return Swallowing()


def replaced(function):
    @functools.wraps(function)
    def another():
        return Swallowing()

    return another


@contextlib.contextmanager
@replaced
def wrapped_within():
    yield


def made_of(Leaving):
    def make():
        return Leaving()

    return make


def plain():
    return Leaving()


SWALLOW = {
    "a property": ByProperty,
    "an object as __exit__": ByObject,
    "one of two": Either,
    "what an object gives when called": Called(),
    "what __new__ gives": MakesAnother,
    "what a metaclass gives": ByMetaclass,
    "yield from": passed_on,
    "yield from, made already": passed_on(),
    "what a cache keeps": cached,
    "a wrapper": replaced(plain),
    "a wrapper within": wrapped_within,
    "what a closure names": made_of(Swallowing),
    "a stack": contextlib.ExitStack(),
    "suppress": contextlib.suppress(IndexError),
}
LEAVE = {
    "a class": Leaving,
    "an object": Leaving(),
    "a function": plain,
    "finally": timed,
    "finally, made already": timed(),
    "a lock": threading.Lock(),
    "nullcontext": contextlib.nullcontext,
    "closing": contextlib.closing,
}


def means(value):
    manager = value  # noqa: F841
    return swallows(HERE, sys._getframe())


@pytest.mark.parametrize("name", SWALLOW)
def test_what_may_swallow_is_told(name):
    assert means(SWALLOW[name])


@pytest.mark.parametrize("name", LEAVE)
def test_what_does_not_is_told(name):
    assert not means(LEAVE[name])
