"""Compiling a Rocq development away from its sources, in an environment that adds nothing to it.

Nothing is ever written beside the sources, which may lie in an installed package. Exit codes count for little here: the
callers look at the compiled files and read the output.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[int, int, str], None]

LIBRARY = "AttnProof"
NOT_RUN = "not run (install coq, libcoq-mathcomp-analysis)"
WARNINGS = ("-w", "-notation-overridden,-ambiguous-paths,-redundant-canonical-projection")
TIME_LIMIT = 900.0  # seconds for one file, on a machine that does other things as well


@dataclass(frozen=True)
class Toolchain:
    """The Rocq compiler found here: its path, what it says of itself, and the libraries that the development builds on.

    `libraries` are the names of the compiled files of Rocq's own library and of MathComp; `digest` stands for the
    compiler's version and for these files by path, size and time, so that it changes with MathComp's version.
    """

    coqc: str
    version: str
    libraries: frozenset[str] = frozenset()
    digest: str = ""


def find_toolchain() -> Toolchain | None:
    """coqc with MathComp-Analysis, or None where either is missing."""
    coqc = shutil.which("coqc")
    if coqc is None or shutil.which("coqdep") is None:
        return None
    home = Path(_said([coqc, "-where"]).strip())
    mathcomp = home / "user-contrib" / "mathcomp"
    if not (mathcomp / "analysis").is_dir():
        return None
    version = " ".join(_said([coqc, "--version"]).split())
    files = [file for folder in (home / "theories", mathcomp) for file in sorted(folder.rglob("*.vo"))]
    stamps = [(str(file), (at := file.stat()).st_size, at.st_mtime_ns) for file in files]
    digest = hashlib.sha256(repr((version, stamps)).encode()).hexdigest()
    return Toolchain(coqc, version, frozenset(file.stem for file in files), digest)


def _said(command: list[str]) -> str:
    return _in(Path.cwd(), command)


def clean_environment() -> dict[str, str]:
    """The environment without what adds load paths, plugins or options to Rocq.

    Rocq looks for libraries below XDG_DATA_HOME and XDG_DATA_DIRS, and in `~/.local/share` where these are not set; so
    they are set, to a place that does not exist.
    """
    adding = ("COQ", "ROCQ", "XDG_", "OCAML", "CAML")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(adding)}
    nowhere = ("XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS")
    return kept | dict.fromkeys(nowhere, str(Path(os.devnull) / "attnproof"))


@dataclass(frozen=True)
class Compiled:
    """What became of one file: whether it compiled, what Rocq printed, how long it took.

    `said` is standard output alone, where answers stand; `errors` is standard error, which a source can write on.
    """

    ok: bool
    said: str
    errors: str
    seconds: float

    @property
    def output(self) -> str:
        """Both together, for a person."""
        return self.said + self.errors


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
        failed = re.search(r"^Error\b", done.stdout + done.stderr, re.MULTILINE)
        ok, said, errors = done.returncode == 0 and product.exists() and not failed, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        ok, said, errors = False, "", f"{file} did not compile within {limit:g} s"
    return Compiled(ok, said, errors, time.perf_counter() - start)


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
                    done[file] = Compiled(False, "", f"not tried, because {stuck[0]} does not compile", 0.0)
                    waiting.remove(file)
                elif all(n in done for n in needs[file]):
                    running[pool.submit(compile_file, toolchain, folder, file, limit)] = file
                    waiting.remove(file)
            if not running:
                if len(waiting) == before:
                    circle = Compiled(False, "", "not tried: the files require each other in a circle", 0.0)
                    return done | dict.fromkeys(waiting, circle)
                continue
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                file = running.pop(future)
                done[file] = future.result()
                if progress is not None:
                    progress(len(done), len(files), file)
    return done
