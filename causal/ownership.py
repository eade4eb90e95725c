"""Whose code a file holds: the user's own, or a library's; and where in it a line stands."""

from __future__ import annotations

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
    libraries = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(__file__).parent))
    return not {"site-packages", "dist-packages"} & set(Path(file).parts) and not file.startswith(libraries)


def short_place(line: str) -> str:
    """A line of code by its file and the folder of that.

    >>> short_place("/home/me/model.py:12").split("/")
    ['me', 'model.py:12']
    """
    return "/".join(line.replace("\\", "/").split("/")[-2:])
