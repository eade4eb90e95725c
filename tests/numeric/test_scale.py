"""The checks at scale: they pass on every library, print the n they used, and each of them can fail."""

from __future__ import annotations

from types import SimpleNamespace

import array_api_compat.numpy as npx
import numpy as np
import pytest
from attnproof.numeric import scale
from attnproof.numeric.scale import CHECKS, LARGEST, Room
from attnproof.numeric.spectrum import Coefficient, Spectrum


def marked(name):
    return pytest.param(name, marks=pytest.mark.claim(name))


EVERY = [marked(name) for name in CHECKS]


def place(xp=npx, n=None, device=None, seed=0):
    return SimpleNamespace(xp=xp, device=device, n=n, seed=seed)


def namespace(backend):
    import array_api_compat as compat

    return compat.array_namespace(backend.array(np.ones(1)))


@pytest.mark.parametrize("name", EVERY)
def test_on_every_library(backend, name):
    if backend.traced:
        return  # a check draws and judges: it is no function to trace, and the eager run of jax is another parameter
    n = min(120, LARGEST.get(name, 120))
    computes = backend.computes
    said = CHECKS[name](place(namespace(backend), n))
    assert said.startswith(f"n = {n} (")
    assert backend.computes - computes <= 1 or name == "T1"


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("n", [1, 2, 3, 9, 5000])
def test_at_any_size(name, n):
    said = CHECKS[name](place(n=n, seed=n))
    assert said.startswith("n = ")
    used = int(said.split()[2])
    assert used == LARGEST.get(name, used) or used >= n or name in LARGEST


def test_sizes_are_capped_where_floats_end():
    assert CHECKS["T5"](place(n=10**6)).startswith("n = 16 ")
    assert CHECKS["T1"](place(n=10**6)).startswith("n = 3 ")


def test_the_device_is_used_and_named():
    strict = pytest.importorskip("array_api_strict")
    said = CHECKS["T18"](place(strict, 50, strict.Device("device1")))
    assert "array_api_strict on array_api_strict.Device('device1')" in said


class Bent:
    """A namespace with some functions replaced."""

    def __init__(self, **replaced):
        self.__dict__.update(replaced)

    def __getattr__(self, name):
        return getattr(npx, name)


def bent_function(name, change):
    original = getattr(scale, name)
    return lambda *a, **k: change(original(*a, **k))


def without_bias(Q, K, V, E, F, bias=None):
    return scale_compressed(Q, K, V, E, F)


scale_compressed = scale.compressed_attention

MUTATIONS = [
    ("T1", {"compressed_attention": lambda *a: scale_compressed(*a) * 1.0001}, {}),
    ("T2", {}, {"mean": lambda x, axis: npx.max(x, axis=axis)}),
    ("T3", {"_singular_values": lambda x: np.linalg.svd(x, compute_uv=False) + 1e-9}, {}),
    ("T3", {"mixing_spectrum": bent_function("mixing_spectrum", lambda s: Spectrum(s.values, s.error + 1e9))}, {}),
    ("T4", {"mixing_row_sums": bent_function("mixing_row_sums", lambda s: s + 1e-9)}, {}),
    (
        "T4",
        {
            "most_negative_coefficient": bent_function(
                "most_negative_coefficient", lambda c: Coefficient(c.value - 1, c.row, c.column)
            )
        },
        {},
    ),
    (
        "T4",
        {
            "most_negative_coefficient": bent_function(
                "most_negative_coefficient", lambda c: Coefficient(c.value, c.row, c.column + 1)
            )
        },
        {},
    ),
    ("T5", {"_log_determinant": bent_function("_log_determinant", lambda x: x + 0.01)}, {}),
    ("T6", {"projection_error": bent_function("projection_error", lambda p: type(p)(*(x / 10 for x in p)))}, {}),
    ("T7", {"compressed_attention": lambda *a: scale_compressed(*a) + 1}, {}),
    ("T7", {"full_attention": bent_function("full_attention", lambda y: 0 * y)}, {}),
    ("T8", {"leverage": bent_function("leverage", lambda x: type(x)(x.values * 1.01, x.rank, x.error))}, {}),
    ("T8", {"leverage": bent_function("leverage", lambda x: type(x)(x.values, x.rank - 1, x.error))}, {}),
    ("T10", {"compressed_attention": without_bias}, {}),
    ("T10", {"compressed_attention": lambda Q, K, V, *rest: scale_compressed(Q, K, V, *rest) * 0}, {}),
    ("T11", {"compressed_attention": lambda Q, K, V, *rest: scale_compressed(Q, K, V, *rest) + K.mean()}, {}),
    ("T11", {"compressed_attention": lambda Q, K, V, E, F: scale_compressed(Q, 0 * K, V, E, F)}, {}),
    ("T14", {}, {"max": lambda x: npx.min(x)}),
    ("T15", {"compressed_attention": without_bias}, {}),
    ("T18", {}, {"sum": lambda x, axis: 0 * x[:, 0]}),
    ("T18", {}, {"matmul": lambda a, b: npx.matmul(a, b) + npx.max(b)}),
]


@pytest.mark.parametrize(
    ("name", "functions", "bent"),
    [pytest.param(*m, id=f"{m[0]}-{i}", marks=pytest.mark.claim(m[0])) for i, m in enumerate(MUTATIONS)],
)
def test_each_can_fail(name, functions, bent, monkeypatch):
    for function, replacement in functions.items():
        monkeypatch.setattr(scale, function, replacement)
    with pytest.raises(AssertionError):
        CHECKS[name](place(Bent(**bent), 120 if name != "T5" else 10))
    assert {m[0] for m in MUTATIONS} == set(CHECKS)


def test_a_room_is_as_large_as_asked():
    assert Room(place(n=7), 100).n == 7
    assert Room(place(), 100).n == 100
    assert Room(place(n=7), 100, least=9).n == 9
    assert Room(place(n=7), 100, largest=5).n == 5
