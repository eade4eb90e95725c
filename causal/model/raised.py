"""What a model raises, as one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .setting import ModelError


def raised(error: Exception) -> ModelError:
    """That the model raised it on its inputs."""
    return ModelError(
        "the model",
        f"raised {type(error).__name__} on these inputs ({_in_one_line(error)})",
        "call it once yourself and mend that first",
    )


def phrase(error: Exception) -> str:
    """The kind of error with what it says, in few words: why a model could not be traced."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _in_one_line(error: Exception) -> str:
    said = " ".join(str(error).split())
    return said if len(said) <= 300 else f"{said[:297]}…"


@contextmanager
def told() -> Iterator[None]:
    """Whatever the PyTorch model raises, as one sentence with the original as its cause."""
    from .trace.pytree import TreeError

    try:
        yield
    except (ModelError, KeyboardInterrupt):
        raise
    except TreeError as error:
        raise ModelError(error.name, error.problem, error.remedy) from None
    except Exception as error:
        said = _in_one_line(error)
        if "CUDA" in said or "cuda" in said or "Triton" in said:
            raise ModelError(
                "the model",
                f"needs a CUDA kernel that does not run here ({type(error).__name__}: {said})",
                "check it on a machine with a GPU or switch the model to its plain path",
            ) from error
        raise raised(error) from error
