"""What a test needs beyond the core: a visible skip where it is missing, a failure where CI says that it must be there.

`ATTNPROOF_REQUIRE=torch,jax,rocq` names what may not be missing.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from types import ModuleType

import pytest


def _missing(name: str, why: str) -> None:
    required = {w.strip() for w in os.environ.get("ATTNPROOF_REQUIRE", "").split(",")}
    if name in required:
        pytest.fail(f"{name} is required by ATTNPROOF_REQUIRE but missing: {why}", pytrace=False)
    pytest.skip(f"{name}: {why}", allow_module_level=True)


def need(name: str) -> ModuleType:
    """The module, or a skip that says how to get it (a failure when ATTNPROOF_REQUIRE names it)."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        _missing(name.split(".")[0], f"not importable ({error})")
        raise


def need_installed(name: str) -> None:
    """A skip where a library is not installed, which is not imported here."""
    if importlib.util.find_spec(name) is None:
        _missing(name, "not installed")


def need_rocq() -> str:
    """The path of coqc, or a skip (a failure when ATTNPROOF_REQUIRE names rocq)."""
    path = shutil.which("coqc")
    if path is None:
        _missing("rocq", "coqc is not on the PATH; install coq and libcoq-mathcomp-analysis")
    return path or ""


def need_chromium() -> str:
    """The path of Chromium, or a skip (a failure when ATTNPROOF_REQUIRE names chromium)."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        _missing("chromium", "no chromium on the PATH; install chromium")
    return path or ""


def need_cuda(module: ModuleType) -> None:
    """A skip unless torch sees a CUDA device (a failure when ATTNPROOF_REQUIRE names cuda)."""
    if not module.cuda.is_available():
        _missing("cuda", "no CUDA device here")
