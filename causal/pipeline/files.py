"""Files that a function writes and reads: what it wrote is put back before every call, and what it reads is named.

A scaler that is pickled at the first call would hide its look-ahead from every later call. Python tells an audit hook
of each file that is opened; what compiled code opens by itself (Parquet, a database) is not seen.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 2**26
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
FLAGS = {"sqlite3.connect": os.O_APPEND | WRITES}  # a database is not put back under an open connection
CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".pth", ".egg-link")
FOREIGN = tuple({sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), "/dev", "/proc", "/sys", "/usr", "/etc"})


class Files:
    """What a function did to files in this thread while it was `watched`; None as content: there was no file.

    Files to which it appends, and large ones, are named and stay as they are.
    """

    def __init__(self) -> None:
        self.before: dict[Path, bytes | None] = {}
        self.read: list[Path] = []
        self.appended: list[Path] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Files opened within are this function's."""
        _install()
        _WATCHING[threading.get_ident()] = self
        try:
            yield
        finally:
            _WATCHING.pop(threading.get_ident(), None)

    def opened(self, path: Path, flags: int) -> None:
        """Keep the content that a file had before it was written for the first time."""
        if path in self.before or path in self.appended:
            return
        if not flags & WRITES:
            if path not in self.read and path.is_file():
                self.read.append(path)
        elif flags & os.O_APPEND or (path.exists() and (not path.is_file() or path.stat().st_size > MOST_BYTES)):
            self.appended.append(path)
        else:
            self.before[path] = path.read_bytes() if path.exists() else None

    def put_back(self) -> list[str]:
        """Every file as it was; the names of those that were not."""
        changed = []
        for path, content in self.before.items():
            now = path.read_bytes() if path.is_file() else None
            if now != content:
                changed.append(f"file {path.name}")
                if content is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_bytes(content)
        return changed


_WATCHING: dict[int, Files] = {}  # by thread
_INSTALLED: list[bool] = []


def _install() -> None:
    if not _INSTALLED:  # a hook cannot be taken away again
        _INSTALLED.append(True)
        sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WATCHING or event not in ("open", "os.rename", "os.remove", "sqlite3.connect"):
        return
    files = _WATCHING.pop(threading.get_ident(), None)  # what is opened here is not the function's
    if files is None:
        return
    try:
        paths = arguments[:2] if event == "os.rename" else arguments[:1]
        for path in filter(None, map(_own, paths)):
            files.opened(path, FLAGS.get(event, WRITES) if event != "open" else arguments[2])
    except OSError:
        pass
    finally:
        _WATCHING[threading.get_ident()] = files


def _own(name: Any) -> Path | None:
    """A path of the user's own; None for code, devices and what Python and the system hold, and for open files."""
    if isinstance(name, int) or name is None:
        return None
    path = Path(os.path.abspath(os.fsdecode(name)))
    own = not str(path).startswith(FOREIGN) and path.suffix not in CODE and "__pycache__" not in path.parts
    return path if own else None
