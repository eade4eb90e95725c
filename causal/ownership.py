"""Whose code a file holds: the user's own, or a library's; and where in it a line stands."""

from __future__ import annotations

import os
import sysconfig
from functools import cache
from pathlib import Path


@cache
def is_own_file(file: str | None) -> bool:
    """Whether a file of code is the user's own: of no library, of Python or of the checker itself.

    >>> import json
    >>> is_own_file(json.__file__), is_own_file(__file__), is_own_file(None), is_own_file("/home/me/model.py")
    (False, False, False, True)
    """
    if file is None or file.startswith("<frozen"):
        return False
    path = Path(file)
    if {"site-packages", "dist-packages"} & set(path.parts) or file.startswith(_libraries()):
        return False
    return not any(path.relative_to(folder).parts[0] in _installed_in(folder) for folder in path.parents)


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of Python's own library, which take long to tell, and of the checker."""
    return sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(__file__).parent)


@cache
def _installed_in(folder: Path) -> frozenset[str]:
    """The packages and files that were installed in a folder of any name, as by `pip install --target`.

    What else lies in it is the user's own.
    """
    try:
        records = [folder / name / "RECORD" for name in os.listdir(folder) if name.endswith(".dist-info")]
        lines = [line for record in records for line in record.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return frozenset()
    return frozenset(line.partition(",")[0].strip('"').partition("/")[0] for line in lines)


def short_place(line: str) -> str:
    """A line of code by its file and the folder of that.

    >>> short_place("/home/me/model.py:12").split("/")
    ['me', 'model.py:12']
    """
    return "/".join(line.replace("\\", "/").split("/")[-2:])
