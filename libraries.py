"""Optional libraries, imported when a call needs them; one sentence says how to get a missing one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRAS = {
    "torch": "torch",
    "jax": "jax",
    "cupy": "cupy",
    "dask": "dask",
    "distributed": "dask",
    "z3": "smt",
    "cvc5": "smt",
    "pandas": "pipelines",
    "polars": "pipelines",
    "pyarrow": "pipelines",
    "cloudpickle": "pipelines",
    "matplotlib": "plot",
    "transformers": "models",
    "tokenizers": "models",
    "scipy": "models",
    "linformer": "models",
    "linformer_pytorch": "models",
}
"""The extra that brings a library, by the name under which it is imported."""


def library(name: str, purpose: str) -> Any:
    """The module `name`, or ImportError that says what needs it and how to get it.

    >>> library("math", "arithmetic").sqrt(4)
    2.0
    >>> library("no_such_library", "counting operations")
    Traceback (most recent call last):
    ...
    ImportError: counting operations needs no_such_library; install it and run again
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise missing(error, purpose, name) from None


def missing(error: ImportError, purpose: str, name: str | None = None) -> ImportError:
    """The error to raise for a failed import: what needs the library, and the extra that brings it.

    A library that is there and cannot be imported is told apart from one that is not.

    >>> print(missing(ModuleNotFoundError("No module named 'torch'", name="torch"), "keep_safe"))
    keep_safe needs torch; install it with pip install 'attnproof[torch]'
    >>> print(missing(ImportError("libcudart.so: cannot open", name="torch._C"), "keep_safe"))
    keep_safe needs torch, which is installed but cannot be imported (libcudart.so: cannot open); install it again
    """
    name = (name or error.name or "a library").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and (error.name or name).partition(".")[0] == name:
        return ImportError(f"{purpose} needs {name}; {remedy(name)}", name=name)
    why = " ".join(str(error).split())
    return ImportError(
        f"{purpose} needs {name}, which is installed but cannot be imported ({why}); install it again", name=name
    )


def remedy(name: str) -> str:
    """How to get a library.

    >>> remedy("dask.array")
    "install it with pip install 'attnproof[dask]'"
    >>> remedy("my_helpers")
    'install it and run again'
    """
    extra = EXTRAS.get(name.partition(".")[0])
    return f"install it with {command(extra)}" if extra else "install it and run again"


def command(extra: str) -> str:
    """What installs an extra.

    >>> command("smt")
    "pip install 'attnproof[smt]'"
    """
    return f"pip install 'attnproof[{extra}]'"
