"""One fixture gives the array library; each test of the layer runs on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from needs import need, need_cuda

NAMES = ("numpy", "read-only numpy", "array_api_strict", "torch", "jax", "jax.jit", "dask")
if find_spec("cupy") is not None:
    NAMES += ("cupy",)  # else test_backends.py shows one skip for it, instead of one for every test


DROPPED = pytest.StashKey[int]()


class Backend:
    """Makes arrays of one library, runs a function on them, and brings the results back as NumPy arrays."""

    def __init__(self, name: str, stack: ExitStack) -> None:
        self.name = name
        self.computes = 0
        self.module = np if "numpy" in name else need({"jax.jit": "jax", "dask": "dask.array"}.get(name, name))
        if name == "cupy":
            need_cuda(need("torch"))
        if name.startswith("jax"):
            stack.enter_context(self.module.enable_x64(True))
        if name == "dask":
            import dask

            def counted(*arguments: Any, **keywords: Any) -> Any:
                self.computes += 1
                return dask.get(*arguments, **keywords)

            stack.enter_context(dask.config.set(scheduler=counted))

    @property
    def traced(self) -> bool:
        return self.name == "jax.jit"

    @property
    def lazy(self) -> bool:
        return self.name == "dask"

    def array(self, values: Any, dtype: Any = None) -> Any:
        """The values in this library; on Dask in chunks of three along both of the last axes."""
        values = np.array(values, dtype=dtype)
        if self.name == "read-only numpy":
            values.setflags(write=False)
            return values
        if self.name.startswith("jax"):
            return self.module.numpy.asarray(values)
        if self.name == "dask":
            return self.module.from_array(values, chunks=tuple(min(3, s) if s else 1 for s in values.shape))
        return self.module.asarray(values)

    def run(self, function: Callable[..., Any], *arrays: Any, **static: Any) -> Any:
        """`function(*arrays, **static)` on this library, results (an array or a tuple of them) as NumPy arrays.

        The result must be of the same library; on Dask nothing is computed before the one compute at the end.
        """
        made = [a if a is None else self.array(a) for a in arrays]
        call = partial(function, **static)
        before = self.computes
        result = (self.module.jit(call) if self.traced else call)(*made)
        parts = result if isinstance(result, tuple) else (result,)
        for part in parts:
            if not (self.name.endswith("numpy") and isinstance(part, np.generic)):
                assert type(part) is type(made[0]), f"{type(part)} came back for {type(made[0])}"
        if self.lazy:
            assert self.computes == before, "a lazy array was computed on the way"
            import dask

            expected = [(p.shape, p.dtype) for p in parts]
            parts = dask.compute(*parts)
            assert self.computes == before + 1
            assert [(np.shape(p), np.asarray(p).dtype) for p in parts] == expected, "the lazy shapes were wrong"
        back = [self.back(p) for p in parts]
        return type(result)(*back) if isinstance(result, tuple) else back[0]

    def back(self, x: Any) -> np.ndarray:
        return x.get() if self.name == "cupy" else np.asarray(x)

    def _computed(self, result: Any) -> Any:
        if self.lazy:
            import dask

            return dask.compute(result)
        return result

    def refuses(
        self, kind: type[Exception], match: str, function: Callable[..., Any], *arrays: Any, **static: Any
    ) -> None:
        """The call raises `kind` with a one-sentence message that matches; on Dask at the latest in the one compute."""
        with pytest.raises(kind, match=match) as caught:
            self._computed(function(*arrays, **static))
        assert "\n" not in str(caught.value)


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    with ExitStack() as stack:
        yield Backend(request.param, stack)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On JAX, which compiles every operation for every shape, each test function runs with one set of parameters."""
    last: dict[tuple[str, str], pytest.Item] = {}
    for item in items:
        if (name := _jax(item)) is not None:
            last[(item.nodeid.partition("[")[0], name)] = item
    dropped = [i for i in items if (name := _jax(i)) is not None and last[(i.nodeid.partition("[")[0], name)] is not i]
    config.hook.pytest_deselected(items=dropped)
    config.stash[DROPPED] = len(dropped)
    items[:] = [i for i in items if i not in set(dropped)]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say why some tests are deselected: nobody left them out by an option."""
    if dropped := config.stash.get(DROPPED, 0):
        terminalreporter.line(
            f"{dropped} deselected: JAX compiles every operation for every shape, so each test runs there with the "
            "last of its parameter sets only; the other libraries run with all"
        )


def _jax(item: pytest.Item) -> str | None:
    spec = getattr(item, "callspec", None)
    name = spec.params.get("backend") if spec is not None else None
    many = spec is not None and "name" not in spec.params and "function" not in spec.params
    return name if many and isinstance(name, str) and name.startswith("jax") else None
