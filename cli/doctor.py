"""`attnproof doctor`: which extras, array libraries, devices and provers are usable here."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module, metadata
from typing import Any

from ..libraries import command
from . import Format, FormatOption, app
from .layout import console

MARK = {True: "✓", False: "✗"}
LIBRARIES = ("numpy", "torch", "jax", "cupy", "dask")
DISTRIBUTION = "attnproof"


@app.command()
def doctor(
    output: FormatOption = Format.text,
) -> None:
    """Which extras, array libraries, devices and provers are usable here: each is tried, not only looked for."""
    if output is Format.json:
        print(json.dumps(examine(), indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    terminal = Console(stderr=True)
    with terminal.status("trying what is installed") if sys.stderr.isatty() else nullcontext():
        found = examine()
    _show(console(140), found)


def examine() -> dict[str, Any]:
    """Everything that `doctor` prints, as plain data with `schema_version`.

    >>> found = examine()
    >>> [row["usable"] for row in found["devices"] if row["library"] == "numpy"]
    [True]
    """
    return {
        "schema_version": 1,
        "attnproof": metadata.version(DISTRIBUTION),
        "python": ".".join(map(str, sys.version_info[:3])),
        "core": [_package(*need) for need in _needs("")],
        "extras": [_extra(name) for name in _extras()],
        "devices": [row for library in LIBRARIES for row in _devices(library)],
        "provers": [_prover(name, attempt) for name, attempt in PROVERS.items()],
    }


# -- packages, read from the metadata of the installed distribution ---------------------------------------------------


def _requirements() -> list[tuple[str, str, str]]:
    """(extra or "", package, least version or "") of every requirement."""
    found = []
    for line in metadata.requires(DISTRIBUTION) or []:
        what, _, marker = line.partition(";")
        extra = re.search(r"""extra\s*==\s*["']([\w-]+)["']""", marker)
        name = re.match(r"[\w.-]+", what)
        least = re.search(r">=\s*([\d.]+)", what)
        if name is not None:
            found.append((extra[1] if extra else "", name[0], least[1] if least else ""))
    return found


def _needs(extra: str) -> list[tuple[str, str]]:
    return [(name, least) for which, name, least in _requirements() if which == extra]


def _extras() -> list[str]:
    return [name for name in dict.fromkeys(which for which, _, _ in _requirements()) if name not in ("", "all")]


def _package(name: str, least: str) -> dict[str, Any]:
    version = _version(name)
    recent = version is not None and _numbers(version) >= _numbers(least)
    return {"package": name, "version": version, "needs": f">={least}" if least else "", "usable": recent}


def _version(name: str) -> str | None:
    """The installed version; another build of CuPy will do for CuPy."""
    names = [name]
    if name.startswith("cupy"):
        names += ["cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x"]
    for each in names:
        try:
            return metadata.version(each)
        except metadata.PackageNotFoundError:
            continue
    return None


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version.

    >>> _numbers("2.13.0+cpu") > _numbers("2.4")
    True
    """
    return tuple(int(x) for x in re.match(r"[\d.]*", version)[0].split(".") if x)  # type: ignore[index]


def _extra(name: str) -> dict[str, Any]:
    packages = [_package(*need) for need in _needs(name)]
    usable = all(p["usable"] for p in packages)
    return {
        "extra": name,
        "usable": usable,
        "packages": packages,
        "remedy": "" if usable else command(name),
    }


# -- devices: a small computation on each -----------------------------------------------------------------------------


def _devices(library: str) -> list[dict[str, Any]]:
    """One row per device of a library, with a small computation tried on it; or one row that says what is missing."""
    try:
        found = _places(library)
    except ImportError as error:
        detail = f"not installed; {command(library)}" if isinstance(error, ModuleNotFoundError) else str(error)
        return [{"library": library, "device": None, "usable": False, "detail": _line(detail)}]
    except Exception as error:
        return [{"library": library, "device": None, "usable": False, "detail": _line(error)}]
    return [_tried(library, device, make) for device, make in found]


def _places(library: str) -> list[tuple[str, Callable[[Any], Any]]]:
    """(name, how to put NumPy values there) of each device that the library lists."""
    import numpy as np

    if library == "numpy":
        return [("cpu", np.asarray)]
    if library == "torch":
        import torch

        names = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        names += ["mps"] if torch.backends.mps.is_available() else []
        return [(name, lambda x, name=name: torch.asarray(x.astype(np.float32), device=name)) for name in names]  # type: ignore[misc]
    if library == "jax":
        import jax

        return [(str(d), lambda x, d=d: jax.device_put(x, d)) for d in jax.devices()]  # type: ignore[misc]
    if library == "cupy":
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
        return [(f"cuda:{i}", lambda x, i=i: _on_cupy(cupy, x, i)) for i in range(count)]  # type: ignore[misc]
    da: Any = import_module("dask.array")
    return [("cpu", lambda x: da.from_array(x, chunks=(4, -1)))]


def _on_cupy(cupy: Any, x: Any, index: int) -> Any:
    with cupy.cuda.Device(index):
        return cupy.asarray(x)


def _tried(library: str, device: str, make: Callable[[Any], Any]) -> dict[str, Any]:
    """The singular values of a known B F, computed there."""
    import numpy as np

    from ..numeric.spectrum import mixing_spectrum

    B, F = np.eye(8, 2), np.diag([3.0, 2.0]) @ np.eye(2, 8)
    try:
        values = mixing_spectrum(make(B), make(F)).values
        usable = abs(float(values[0]) - 3) < 1e-4 and abs(float(values[1]) - 2) < 1e-4
        version = _version("cupy-cuda12x" if library == "cupy" else library)
        detail = str(version) if usable else f"computed {values} for the singular values 3 and 2"
    except Exception as error:
        usable, detail = False, _line(error)
    return {"library": library, "device": device, "usable": usable, "detail": detail}


# -- provers: a small question to each --------------------------------------------------------------------------------


def _prover(name: str, attempt: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"prover": name, "usable": True, "detail": attempt()}
    except ModuleNotFoundError:
        return {"prover": name, "usable": False, "detail": f"not installed; {command('smt')}"}
    except Exception as error:
        return {"prover": name, "usable": False, "detail": _line(error)}


def _flint() -> str:
    from flint import arb

    from ..numeric.enclosure import decimals
    from ..symbolic.precision import precision

    with precision(64):
        digits = decimals(lambda: arb(2).sqrt(), 6)
    if digits != "1.414213…":
        raise ArithmeticError(f"FLINT gives {digits} for the root of 2")
    return f"python-flint {metadata.version('python-flint')}, √2 = {digits}"


def _z3() -> str:
    z3 = import_module("z3")
    x, solver = z3.Int("x"), z3.Solver()
    solver.add(x > 1, 2 * x < 3)
    if solver.check() != z3.unsat:
        raise ArithmeticError("z3 does not refute 1 < x < 3/2")
    return f"z3 {z3.get_version_string()}"


def _cvc5() -> str:
    cvc5 = import_module("cvc5")
    pythonic = import_module("cvc5.pythonic")
    x, solver = pythonic.Int("x"), pythonic.Solver()
    solver.add(x > 1, 2 * x < 3)
    if str(solver.check()) != "unsat":
        raise ArithmeticError("cvc5 does not refute 1 < x < 3/2")
    return f"cvc5 {getattr(cvc5, '__version__', metadata.version('cvc5'))}"


def _coqc() -> str:
    from ..proofs.rocq_build import find_toolchain

    toolchain = find_toolchain()
    if toolchain is None:
        raise FileNotFoundError("coqc with MathComp-Analysis was not found; install coq and libcoq-mathcomp-analysis")
    return f"{toolchain.version}, with MathComp-Analysis ({toolchain.coqc})"


PROVERS: dict[str, Callable[[], str]] = {"flint": _flint, "z3": _z3, "cvc5": _cvc5, "coqc": _coqc}


def _line(error: object) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


# -- in a terminal ----------------------------------------------------------------------------------------------------


def _show(console: Any, found: dict[str, Any]) -> None:
    from rich.table import Table

    core = ", ".join(f"{p['package']} {p['version'] or 'missing'}" for p in found["core"])
    console.print(f"attnproof {found['attnproof']}, Python {found['python']}; {core}", markup=False, highlight=False)
    extras = Table("extra", "", "packages", "to install", title="extras", title_justify="left")
    for row in found["extras"]:
        packages = ", ".join(_packed(p) for p in row["packages"])
        extras.add_row(row["extra"], MARK[row["usable"]], packages, row["remedy"].replace("[", r"\["))
    devices = Table("library", "device", "", "", title="array libraries and devices", title_justify="left")
    for row in found["devices"]:
        devices.add_row(row["library"], row["device"] or "", MARK[row["usable"]], row["detail"].replace("[", r"\["))
    provers = Table("prover", "", "", title="provers", title_justify="left")
    for row in found["provers"]:
        provers.add_row(row["prover"], MARK[row["usable"]], row["detail"].replace("[", r"\["))
    for table in (extras, devices, provers):
        console.print(table)


def _packed(package: dict[str, Any]) -> str:
    version = package["version"] or "missing"
    return f"{package['package']} {version}" + (
        "" if package["usable"] or version == "missing" else f" (needs {package['needs']})"
    )
