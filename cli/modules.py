"""`MODULE:NAME`: the user's function or factory, imported; whatever goes wrong there is one sentence."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from .usage import first_line, shown, suggestion


def load(text: str, what: str, fits: Callable[[Any], bool]) -> Any:
    """What `MODULE:NAME` names; MODULE is importable from here, or a file that ends in .py.

    `what` is FACTORY or FUNCTION, as the command's help calls the name; `fits` says whether what was found will do.
    Raises ValueError where there is no such module or name, ImportError where the module needs a library that is
    missing.
    """
    module_name, colon, name = text.rpartition(":")
    if not colon or not module_name or not name:
        raise ValueError(f"MODULE:{what} = {shown(text)} lacks one half; write it like my_module:build")
    module = load_module(module_name)
    found = getattr(module, name, None)
    if not fits(found):
        near = suggestion(name, (n for n in vars(module) if fits(getattr(module, n)) and not n.startswith("_")))
        said = f"is no {what.lower()} of {shown(module_name)}" if hasattr(module, name) else "is not there"
        raise ValueError(
            f"{what} = {shown(name)} {said}; {near.strip() or f'name one that {shown(module_name)} defines'}"
        )
    return found


def load_module(name: str) -> Any:
    """The module of this name or in this file. Its folder goes on the path, so that other processes find it too."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    if name.endswith(".py"):
        if not Path(name).is_file():
            raise ValueError(f"MODULE = {shown(name)} is no file here; give the path of a Python file")
        file = Path(name).resolve()
        sys.path.insert(0, str(file.parent))
        name = file.stem
        loaded = getattr(sys.modules.get(name), "__file__", str(file) if name not in sys.modules else "")
        if not loaded or Path(loaded).resolve() != file:
            raise ValueError(f"MODULE = {shown(file.name)} is called like a module that is loaded already; rename it")
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing == name or name.startswith(f"{missing}."):
            raise ValueError(
                f"MODULE = {shown(name)} is not found; run where it can be imported, or give the path of its file"
            ) from None
        from ..libraries import remedy

        raise ImportError(f"MODULE = {shown(name)} needs {missing}; {remedy(missing)}", name=missing) from None
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"MODULE = {shown(name)} raises {type(error).__name__} on import ({first_line(error)}); it must import"
        ) from error


def called(build: Callable[[], Any], text: str) -> Any:
    """What the factory returns; ValueError in one sentence when it raises."""
    try:
        return build()
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"{text} raises {type(error).__name__} ({first_line(error)}); it must run without arguments"
        ) from error


@contextmanager
def prints_aside() -> Iterator[None]:
    """What the code under check prints goes to standard error: standard output holds the verdict alone.

    Its file is turned as well as `sys.stdout`, for what libraries in C and other processes print.
    """
    out = sys.stdout
    out.flush()
    try:
        place, aside = out.fileno(), sys.stderr.fileno()
        kept = os.dup(place)
    except (OSError, io.UnsupportedOperation):  # no file behind it, as in a notebook
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        os.dup2(aside, place)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        out.flush()
        os.dup2(kept, place)
        os.close(kept)
