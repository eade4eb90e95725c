"""Compiled Rocq files and verdicts kept between runs, and believed only under this user's seal.

A folder of the cache is named after a hash of all that went in. What lies in it decides whether a theorem counts as
proved, so it is sealed: a keyed hash of its files, whose key lies apart from the cache and is readable by the user
alone. A folder that was copied from elsewhere, restored from an archive, or changed by one file is built anew. Where
the environment says CI nothing is kept and nothing is believed. A program that runs as the user can read the key: no
cache protects against that one.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SEAL = "seal"
KEY_BYTES = 32


def cache_folder() -> Path:
    """Where compiled files go: `$XDG_CACHE_HOME/attnproof`, by default `~/.cache/attnproof`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attnproof"


def key_file() -> Path:
    """Where the key of the seals lies: `$XDG_STATE_HOME/attnproof/cache.key`, by default below `~/.local/state`."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "attnproof" / "cache.key"


def in_ci() -> bool:
    """Whether the environment says that this is a CI run: caches are restored from elsewhere there."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def make_room(home: Path, keep: int = 4) -> bool:
    """Whether `home` can be made in the cache; older folders of its kind are removed, all but the latest few."""
    kind = home.name.partition("-")[0]
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        older = sorted(home.parent.glob(f"{kind}-*"), key=lambda folder: folder.stat().st_mtime)
    except OSError:
        return False
    for folder in older[: -keep or None]:
        shutil.rmtree(folder, ignore_errors=True)
    return os.access(home.parent, os.W_OK)


def digest_of(sources: Mapping[str, str], *more: str) -> str:
    """A hash of the sources by name and of anything else that decides the outcome."""
    digest = hashlib.sha256()
    for piece in (*more, *(part for name in sorted(sources) for part in (name, sources[name]))):
        data = piece.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@contextmanager
def build_folder(sources: Mapping[str, str], home: Path | None) -> Iterator[Path]:
    """A fresh folder that holds the sources; sealed and moved to `home` at the end, unless that is None or there.

    What goes wrong inside leaves nothing behind.
    """
    with tempfile.TemporaryDirectory(dir=home and home.parent, prefix="building-") as work:
        folder = Path(work) / "development"
        folder.mkdir()
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        yield folder
        if home is not None and not home.exists():
            seal = _seal(folder, home.name)
            if seal is not None:
                (folder / SEAL).write_text(seal, encoding="ascii")
            try:
                folder.rename(home)
            except OSError:
                if not home.exists():  # another process may have been faster
                    raise


def kept(home: Path) -> bool:
    """Whether `home` is what `build_folder` left there, by its seal; a folder that is not is removed."""
    if in_ci() or not home.exists():
        return False
    try:
        written = (home / SEAL).read_text(encoding="ascii")
    except (OSError, ValueError):
        written = ""
    seal = _seal(home, home.name)
    if seal is not None and hmac.compare_digest(seal, written):
        return True
    shutil.rmtree(home, ignore_errors=True)
    return False


def _seal(folder: Path, name: str) -> str | None:
    """The keyed hash of a folder's name and of every file in it; None where there is no key, or something else lies."""
    key = _key()
    if key is None:
        return None
    mac = hmac.new(key, name.encode(), "sha256")
    for entry in sorted(folder.iterdir()):
        if entry.is_symlink() or not entry.is_file():
            return None
        if entry.name != SEAL:
            mac.update(f"/{entry.name}/".encode() + hashlib.sha256(entry.read_bytes()).digest())
    return mac.hexdigest()


def _key() -> bytes | None:
    """The key of the seals, made on first use; None where it cannot be kept, or where others can read it."""
    path = key_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
        key, mode = path.read_bytes(), path.stat().st_mode
    except OSError:
        return None
    private = os.name == "nt" or mode & 0o077 == 0
    return key if private and len(key) == KEY_BYTES else None
