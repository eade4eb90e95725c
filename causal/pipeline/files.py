"""Files that a function writes and reads: what it wrote is put back before every call, and what it reads is named.

A scaler that is pickled at the first call would hide its look-ahead from every later call. Python tells an audit hook
of each file that is opened. What compiled code opens by itself (Parquet) is told to nobody: files that the function's
code names are therefore kept from the start, and a writer whose file is not named there is itself named.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MOST_BYTES = 2**26
MOST_NAMED = 256  # of paths that are looked at before every call
LONGEST = 200  # letters of a path
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".pth", ".egg-link")
FOREIGN = tuple({sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), "/dev", "/proc", "/sys", "/usr", "/etc"})
LIKE_A_FILE = re.compile(r"[^\s*?{}<>|:\"']*[^\s*?{}<>|:\"'.]\.[A-Za-z][A-Za-z0-9_]{0,9}")
COMPILED = (".parquet", ".feather", ".arrow", ".ipc", ".orc", ".avro", ".h5", ".hdf5")  # read by compiled code
COMPILED_WRITER = re.compile(r"(write|sink|to)_(parquet|feather|ipc|orc|avro|delta|hdf|dataset|table)|(write|sink)_csv")


class Files:
    """What a function did to files in this thread while it was `watched`; None as content: there was no file.

    Files to which it appends and which it never reads (logs), databases and large files are named and stay as they are.
    `named` are paths that its code names: what appears there is taken away, and what is there is taken for `read`.
    """

    def __init__(self, named: Collection[Path] = ()) -> None:
        self.before: dict[Path, bytes | None] = {}
        self.read = [path for path in named if path.is_file() and path.suffix in COMPILED]
        self.appended: dict[Path, bytes | None] = {}
        self.kept: list[Path] = []  # databases and large files that it writes
        self.absent = [path for path in named if not path.exists()]
        self.there = {path: _stamp(path) for path in named if path.is_file()}

    @property
    def names_compiled(self) -> bool:
        """Whether its code names a file of a kind that compiled code writes."""
        return any(path.suffix in COMPILED for path in (*self.absent, *self.there))

    @property
    def left(self) -> list[Path]:
        """The files that it writes and that stay so."""
        return [*self.appended, *self.kept]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Files opened within are this function's."""
        _install()
        _WATCHING[threading.get_ident()] = self
        try:
            yield
        finally:
            _WATCHING.pop(threading.get_ident(), None)

    def opened(self, path: Path, flags: int, database: bool = False) -> None:
        """Keep the content that a file had before it was written for the first time."""
        if path in self.before or path in self.kept:
            return
        writes, appends = bool(flags & WRITES), bool(flags & os.O_APPEND)
        if database or (writes and path.exists() and not _is_small(path)):
            self.kept.append(path)
        elif path in self.appended and not appends:  # no log: it is read, renamed or written anew
            self.before[path] = self.appended.pop(path)
        elif writes and path not in self.appended:
            (self.appended if appends else self.before)[path] = path.read_bytes() if path.exists() else None
        elif not writes and path not in self.read and path.is_file():
            self.read.append(path)

    def put_back(self) -> list[str]:
        """Every file as it was; the names of those that were not."""
        changed = []
        for path in self.absent:  # compiled code may have written it
            if path not in self.before and path not in self.left and path.is_file():
                self.before[path] = None
        for path, content in self.before.items():
            now = path.read_bytes() if path.is_file() else None
            if now != content:
                changed.append(f"file {path.name}")
                if content is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_bytes(content)
        for path, stamp in self.there.items():  # by whom it was written nobody knows
            if path not in self.before and path not in self.left and _stamp(path) != stamp:
                self.kept.append(path)
        return changed


def named_files(texts: Collection[Any]) -> list[Path]:
    """The user's own files, there or not, that texts and paths name, by themselves or in a folder that others name."""
    short = [text for text in texts if isinstance(text, (str, Path)) and 0 < len(str(text)) <= LONGEST]
    names = [text for text in short if LIKE_A_FILE.fullmatch(str(text))]
    folders = [text for text in short if text not in names and os.sep in str(text) and os.path.isdir(text)]
    paths = [*map(_own, names), *(_own(os.path.join(folder, name)) for folder in folders for name in names)]
    return list(dict.fromkeys(path for path in paths if path is not None))[:MOST_NAMED]


def _is_small(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= MOST_BYTES


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


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
            files.opened(path, WRITES if event != "open" else arguments[2], event == "sqlite3.connect")
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
