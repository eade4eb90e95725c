"""`python -m benchmarks.gpu --backend torch --device cuda`: the claims on a GPU, against enclosures and against NumPy.

1. Every quantity of the numeric layer is computed on the device for small exact inputs and compared with FLINT's
   enclosure of it (`against enclosures`).
2. Every claim's check at scale runs there (`claims at scale`), and the quantities are timed against NumPy on the host.

Without a GPU it runs as a self-test of itself on the CPU (`--device cpu`, the default) and says so: a row is called a
GPU row only if a CUDA device computed its result, which is looked up on the result. Asked for a device that is not
there, it prints one sentence and no row, and leaves with 2.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import array_api_compat as compat
import numpy as np
from attnproof.numeric.attention import compressed_attention, full_attention
from attnproof.numeric.enclosure import (
    ball_attention,
    ball_compressed,
    ball_matrix,
    ball_scores,
    ball_softmax,
    frobenius,
    precision,
    singular_values,
)
from attnproof.numeric.error import certified_error, compression_error
from attnproof.numeric.exact import exact_matrix
from attnproof.numeric.optimum import projection_error, truncation_error
from attnproof.numeric.rank import mixing_rank
from attnproof.numeric.retention import certified_span_retention, exact_leverage, leverage, span_retention
from attnproof.numeric.scale import CHECKS
from attnproof.numeric.spectrum import mixing_row_sums, mixing_spectrum, most_negative_coefficient
from flint import arb

BACKENDS = ("numpy", "torch", "jax", "cupy")


@dataclass
class Machine:
    """A library on a device: how to put arrays there, wait for it, and read results back."""

    backend: str
    xp: Any
    device: Any
    name: str
    is_gpu: bool
    wait: Callable[[Any], None]

    def put(self, values: np.ndarray) -> Any:
        if self.backend == "cupy":
            with self.device:
                return self.xp.asarray(values)
        return self.xp.asarray(values, device=self.device) if self.device is not None else self.xp.asarray(values)

    def back(self, x: Any) -> np.ndarray:
        """The values on the host, once the array is seen to lie on the device that the rows speak of."""
        self.wait(x)
        if self.is_gpu and "cpu" in str(compat.device(x)).lower():
            raise SystemExit(f"a result lies on {compat.device(x)}, not on {self.name}; no row is printed for it")
        if self.backend == "torch":
            return x.cpu().numpy()
        return x.get() if self.backend == "cupy" else np.asarray(x)


def machine(backend: str, device: str) -> Machine:
    """The library and device asked for. SystemExit with one sentence when either is missing."""
    try:
        library = import_module({"jax": "jax.numpy"}.get(backend, backend))
    except ImportError:
        _leave(f"--backend {backend} is not installed here; pip install 'attnproof[{backend}]'")
    xp = library if backend == "jax" else import_module(f"array_api_compat.{backend}")
    if backend == "numpy":
        if device != "cpu":
            _leave(f"--device {device!r} is not usable with numpy; use cpu, or another --backend")
        return Machine(backend, xp, None, "CPU", False, lambda x: None)
    if backend == "torch":
        import torch

        try:
            place = torch.device(device)
            torch.ones(1, device=place)
        except Exception as error:
            _leave(f"--device {device!r} is not usable with torch ({str(error).splitlines()[0]}); no row was measured")
        gpu = place.type == "cuda"
        name = torch.cuda.get_device_name(place) if gpu else "CPU"
        return Machine(backend, xp, place, name, gpu, lambda x: torch.cuda.synchronize() if gpu else None)
    if backend == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        try:
            found = jax.devices({"cuda": "gpu"}.get(device, device))[0]
        except RuntimeError as error:
            _leave(f"--device {device!r} is not usable with jax ({str(error).splitlines()[0]}); no row was measured")
        gpu = found.platform in ("gpu", "cuda", "rocm")
        return Machine(backend, xp, found, found.device_kind, gpu, lambda x: x.block_until_ready())
    import cupy

    try:
        chip = cupy.cuda.Device(0)
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as error:
        _leave(f"--device {device!r} is not usable with cupy ({str(error).splitlines()[0]}); no row was measured")
    return Machine(backend, xp, chip, name, True, lambda x: chip.synchronize())


def _leave(sentence: str) -> Any:
    print(f"benchmarks.gpu: {sentence}", file=sys.stderr)
    raise SystemExit(2)


# -- against enclosures ------------------------------------------------------------------------------------------------


def enclosures() -> tuple[list[tuple[str, str, Callable[[Any], Any], list[arb]]], dict[str, np.ndarray]]:
    """One head of 12 positions and 3 slots: (claim, quantity, how to compute it, its enclosure), and the arrays."""
    rng = np.random.default_rng(5)
    n, d, r = 12, 3, 3
    h = {
        name: rng.standard_normal(shape)
        for name, shape in {"Q": (n, d), "K": (n, d), "V": (n, 2), "E": (r, n), "F": (r, n), "B": (n, r)}.items()
    }
    with precision(200):
        A = ball_softmax(ball_scores(ball_matrix(h["Q"]), ball_matrix(h["K"])))
        slots = ball_softmax(ball_scores(ball_matrix(h["Q"]), ball_matrix(h["E"]) * ball_matrix(h["K"])))
        off = A - slots * ball_matrix(h["F"])
        mixing = exact_matrix(h["B"]) * exact_matrix(h["F"])
        values = singular_values(A)
        sigma = singular_values(mixing)
        error = certified_error(*(h[name] for name in "QKVEF"), digits=40)
        smallest = min(range(n * n), key=lambda k: mixing.entries()[k])
        exact = [arb(x) for x in mixing.entries()]
        cases = [
            (
                "T1",
                "full attention",
                lambda a: full_attention(a["Q"], a["K"], a["V"]),
                ball_attention(h["Q"], h["K"], h["V"]).entries(),
            ),
            (
                "T1",
                "compressed attention",
                lambda a: compressed_attention(*(a[x] for x in "QKVEF")),
                ball_compressed(*(h[x] for x in "QKVEF")).entries(),
            ),
            (
                "T1",
                "error of compression",
                lambda a: compression_error(*(a[x] for x in "QKVEF"))[:2],
                [error.frobenius, error.largest],
            ),
            ("T3", "singular values of BF", lambda a: mixing_spectrum(a["B"], a["F"]).values, sigma[:r]),
            ("T3", "rank of BF", lambda a: mixing_rank(a["B"], a["F"]), [arb(r)]),
            (
                "T4",
                "row sums of BF",
                lambda a: mixing_row_sums(a["B"], a["F"]),
                [sum(exact[i * n : (i + 1) * n], arb(0)) for i in range(n)],
            ),
            (
                "T4",
                "least coefficient of BF",
                lambda a: most_negative_coefficient(a["B"], a["F"]),
                [exact[smallest], arb(smallest // n), arb(smallest % n)],
            ),
            ("T6", "‖A − BF‖_F", lambda a: projection_error(a["Q"], a["K"], a["E"], a["F"])[0], [frobenius(off)]),
            (
                "T6",
                "optimum at rank 3",
                lambda a: truncation_error(a["Q"], a["K"], 3)[:2],
                2 * [sum((s * s for s in values[3:]), arb(0)).sqrt()],
            ),
            ("T6", "singular values of A", lambda a: truncation_error(a["Q"], a["K"], 3).values, values),
            (
                "T8",
                "leverages",
                lambda a: leverage(a["F"]).values,
                [arb(x.numerator) / x.denominator for x in exact_leverage(h["F"])],
            ),
            (
                "T8",
                "span 2:7",
                lambda a: span_retention(a["F"], 2, 7).values,
                certified_span_retention(h["F"], 2, 7)[0],
            ),
        ]
    return cases, h


def compare(place: Machine) -> list[dict[str, Any]]:
    """Largest distance from the enclosures, in units of the precision times the size of the quantity."""
    cases, h = enclosures()
    arrays = {name: place.put(x) for name, x in h.items()}
    rows = []
    for claim, what, compute, balls in cases:
        found = compute(arrays)
        parts = found if isinstance(found, tuple) else (found,)
        flat = np.concatenate([np.atleast_1d(place.back(x)).astype(float).ravel() for x in parts])
        assert len(flat) == len(balls), f"{what}: {len(flat)} values for {len(balls)} enclosures"
        size = max(float(abs(b).upper()) for b in balls)
        eps = float(place.xp.finfo(arrays["Q"].dtype).eps)
        with precision(200):
            off = max(float(abs(arb(float(x)) - b).upper()) for x, b in zip(flat, balls, strict=True))
        rows.append(
            {
                "claim": claim,
                "what": what,
                "device": place.name,
                "gpu": place.is_gpu,
                "off_eps": off / (eps * size),
                "ok": off <= 1e4 * eps * size,
            }
        )
    return rows


# -- at scale, and timed -----------------------------------------------------------------------------------------------


def claims_at_scale(place: Machine, n: int) -> list[dict[str, Any]]:
    rows = []
    device = place.device if place.backend != "numpy" else None
    for claim, check in CHECKS.items():
        start = time.perf_counter()
        try:
            ok, said = True, check(SimpleNamespace(xp=place.xp, device=device, n=n, seed=0))
        except AssertionError as error:
            ok, said = False, str(error)
        rows.append(
            {
                "claim": claim,
                "what": said,
                "device": place.name,
                "gpu": place.is_gpu,
                "seconds": time.perf_counter() - start,
                "ok": ok,
            }
        )
    return rows


def timed(place: Machine, n: int, m: int, r: int, d: int, rounds: int) -> list[dict[str, Any]]:
    """Best seconds on the device and in NumPy on the host, run alternately; the result is waited for."""
    rng = np.random.default_rng(0)
    h = {
        "B": rng.standard_normal((n, r)),
        "F": rng.standard_normal((r, n)),
        "Q": rng.standard_normal((m, d)),
        "K": rng.standard_normal((m, d)),
    }
    h |= {"V": rng.standard_normal((m, d)), "E": rng.standard_normal((r, m)) / m, "G": rng.standard_normal((r, m)) / m}
    a = {name: place.put(x) for name, x in h.items()}
    calls = {
        f"mixing_spectrum, n = {n:,}, r = {r}": lambda x: mixing_spectrum(x["B"], x["F"]).values,
        f"leverage, n = {n:,}, r = {r}": lambda x: leverage(x["F"]).values,
        f"full_attention, n = {m:,}, d = {d}": lambda x: full_attention(x["Q"], x["K"], x["V"]),
        f"projection_error, n = {m:,}, d = {d}, r = {r}": lambda x: (
            projection_error(x["Q"], x["K"], x["E"], x["G"]).frobenius
        ),
        f"truncation_error, n = {m:,}, d = {d}, r = {r}": lambda x: truncation_error(x["Q"], x["K"], r).frobenius,
    }
    rows = []
    for what, call in calls.items():
        place.back(call(a))  # warm, and seen to lie on the device
        there, here = float("inf"), float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            place.wait(call(a))
            there = min(there, time.perf_counter() - start)
            start = time.perf_counter()
            call(h)
            here = min(here, time.perf_counter() - start)
        rows.append(
            {
                "what": what,
                "device": place.name,
                "gpu": place.is_gpu,
                "seconds": there,
                "numpy_s": here,
                "ratio": here / there,
            }
        )
    return rows


def show(place: Machine, found: dict[str, list[dict[str, Any]]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 160)
    where = f"{place.name}, {place.backend}"
    console.print(f"GPU rows, measured on {where}" if place.is_gpu else f"CPU self-test ({where}): no GPU was measured")
    table = Table("claim", "quantity", "distance from the enclosure", "", title="against enclosures")
    for row in found["against enclosures"]:
        table.add_row(row["claim"], row["what"], f"{row['off_eps']:.1f} ε × size", "✓" if row["ok"] else "✗")
    console.print(table)
    table = Table("claim", "found", "seconds", "", title="claims at scale")
    for row in found["claims at scale"]:
        table.add_row(row["claim"], row["what"], f"{row['seconds']:.2f}", "✓" if row["ok"] else "✗")
    console.print(table)
    table = Table("what", f"{where}", "NumPy", "NumPy / device", title="timed")
    for row in found["timed"]:
        table.add_row(row["what"], f"{row['seconds']:.3g} s", f"{row['numpy_s']:.3g} s", f"{row['ratio']:.3g} ×")
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=BACKENDS, default="torch")
    parser.add_argument("--device", default="cpu", help="cuda, cuda:1, gpu, cpu; cpu is a self-test")
    parser.add_argument("--n", type=int, default=None, help="positions; 2,000 on a CPU, 200,000 on a GPU")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--save", help="write the rows to this JSON file as well")
    options = parser.parse_args()
    place = machine(options.backend, options.device)
    n = options.n or (200_000 if place.is_gpu else 2_000)
    m = 32_768 if place.is_gpu else 500
    found = {
        "against enclosures": compare(place),
        "claims at scale": claims_at_scale(place, n),
        "timed": timed(place, n, m, 64 if place.is_gpu else 8, 64 if place.is_gpu else 8, options.rounds),
    }
    document = {
        "schema_version": 1,
        "gpu_measured": place.is_gpu,
        "device": place.name,
        "backend": options.backend,
        "versions": {name: _version(name) for name in ("numpy", options.backend, "attnproof")},
        "rows": found,
    }
    if options.save:
        with open(options.save, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=2, ensure_ascii=False)
    if options.format == "json":
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        show(place, found)
    return 0 if all(row.get("ok", True) for rows in found.values() for row in rows) else 1


def _version(name: str) -> str:
    return str(getattr(import_module(name), "__version__", ""))


if __name__ == "__main__":
    sys.exit(main())
