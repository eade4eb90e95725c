"""Compiling a Rocq development away from its sources: in a cache folder named after a hash of what goes in.

Nothing is ever written beside the sources, which may lie in an installed package. Exit codes count for little here: the
callers look at the compiled files and read the output.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[int, int, str], None]

LIBRARY = "AttnProof"
NOT_RUN = "not run (install coq, libcoq-mathcomp-analysis)"
WARNINGS = ("-w", "-notation-overridden,-ambiguous-paths,-redundant-canonical-projection")
TIME_LIMIT = 300.0  # seconds for one file


@dataclass(frozen=True)
class Toolchain:
    """The Rocq compiler found here: its path and what it says of itself."""

    coqc: str
    version: str


def find_toolchain() -> Toolchain | None:
    """coqc with MathComp-Analysis, or None where either is missing."""
    coqc = shutil.which("coqc")
    if coqc is None or shutil.which("coqdep") is None:
        return None
    where = _said([coqc, "-where"]).strip()
    if not (Path(where) / "user-contrib" / "mathcomp" / "analysis").is_dir():
        return None
    return Toolchain(coqc, " ".join(_said([coqc, "--version"]).split()))


def _said(command: list[str]) -> str:
    return _in(Path.cwd(), command)


def clean_environment() -> dict[str, str]:
    """The environment without the variables that add load paths or options to Rocq."""
    return {k: v for k, v in os.environ.items() if k not in {"COQPATH", "ROCQPATH", "COQEXTRAFLAGS", "COQRC"}}


def cache_folder() -> Path:
    """Where compiled files go: `$XDG_CACHE_HOME/attnproof`, by default `~/.cache/attnproof`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attnproof"


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


@dataclass(frozen=True)
class Compiled:
    """What became of one file: whether it compiled, what Rocq printed, how long it took."""

    ok: bool
    output: str
    seconds: float


def compile_file(toolchain: Toolchain, folder: Path, file: str, limit: float = TIME_LIMIT) -> Compiled:
    """Compile one file in `folder`; it counts as compiled only when its .vo is there and no error was printed."""
    start = time.perf_counter()
    product = folder / Path(file).with_suffix(".vo")
    product.unlink(missing_ok=True)
    command = [toolchain.coqc, "-q", *WARNINGS, "-R", ".", LIBRARY, file]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False, env=clean_environment()
        )
        output = done.stdout + done.stderr
        ok = done.returncode == 0 and product.exists() and not re.search(r"^Error\b", output, re.MULTILINE)
    except subprocess.TimeoutExpired:
        ok, output = False, f"{file} did not compile within {limit:g} s"
    return Compiled(ok, output, time.perf_counter() - start)


def dependencies(folder: Path, files: list[str]) -> dict[str, list[str]]:
    """For each file the files of the development that it requires, as coqdep reads them."""
    coqdep = shutil.which("coqdep")
    if coqdep is None:
        raise FileNotFoundError("coqdep is not on the PATH; install coq")
    text = _in(folder, [coqdep, "-R", ".", LIBRARY, *files])
    needs: dict[str, list[str]] = {file: [] for file in files}
    for target, sources in re.findall(r"^(\S+)\.vo [^:\n]*:([^\n]*)$", text, re.MULTILINE):
        if f"{target}.v" in needs:
            needs[f"{target}.v"] = [f"{s[:-3]}.v" for s in sources.split() if s.endswith(".vo")]
    return {file: [n for n in found if n in needs] for file, found in needs.items()}


def _in(folder: Path, command: list[str]) -> str:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60, env=clean_environment()
    ).stdout


def compile_all(
    toolchain: Toolchain, folder: Path, files: list[str], progress: Progress | None = None, limit: float = TIME_LIMIT
) -> dict[str, Compiled]:
    """Compile every file once those that it requires have compiled, several at a time; the rest is not tried."""
    needs = dependencies(folder, files)
    done: dict[str, Compiled] = {}
    running: dict[Future[Compiled], str] = {}
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        waiting = list(files)
        while waiting or running:
            before = len(waiting)
            for file in list(waiting):
                stuck = [n for n in needs[file] if n in done and not done[n].ok]
                if stuck:
                    done[file] = Compiled(False, f"not tried, because {stuck[0]} does not compile", 0.0)
                    waiting.remove(file)
                elif all(n in done for n in needs[file]):
                    running[pool.submit(compile_file, toolchain, folder, file, limit)] = file
                    waiting.remove(file)
            if not running:
                if len(waiting) == before:
                    circle = Compiled(False, "not tried: the files require each other in a circle", 0.0)
                    return done | dict.fromkeys(waiting, circle)
                continue
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                file = running.pop(future)
                done[file] = future.result()
                if progress is not None:
                    progress(len(done), len(files), file)
    return done


def digest_of(sources: Mapping[str, str], *more: str) -> str:
    """A hash of the sources by name and of anything else that decides the outcome."""
    digest = hashlib.sha256()
    for piece in (*more, *(part for name in sorted(sources) for part in (name, sources[name]))):
        data = piece.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@contextmanager
def build_folder(sources: Mapping[str, str], home: Path | None) -> Iterator[Path]:
    """A fresh folder that holds the sources; moved to `home` at the end, unless that is None or already there.

    What goes wrong inside leaves nothing behind.
    """
    with tempfile.TemporaryDirectory(dir=home and home.parent, prefix="building-") as work:
        folder = Path(work) / "development"
        folder.mkdir()
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        yield folder
        if home is not None and not home.exists():
            try:
                folder.rename(home)
            except OSError:
                if not home.exists():  # another process may have been faster
                    raise
