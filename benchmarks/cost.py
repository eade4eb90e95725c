"""What compression costs, measured: `python -m benchmarks.cost` (PyTorch needed; about two minutes on two cores).

1. operations counted by PyTorch against the formulas, module by module; 2. times against the two-number model and
against fused attention; 3. the measured break-even r beside n/2; 4. growth exponents with 95 % intervals; 5. memory.
"""

from __future__ import annotations

import argparse
import os
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from attnproof.numeric import roofline
from attnproof.numeric.flops import counted, kept
from attnproof.symbolic import modules
from attnproof.symbolic.cost import Product, macs
from rich.console import Console
from rich.table import Table

console = Console(width=120)


def table(title: str, *columns: str) -> Table:
    console.print(f"\n{title}")
    found = Table()
    for i, column in enumerate(columns):
        found.add_column(column, justify="left" if i == 0 else "right")
    return found


def module_rows() -> list[tuple[str, int, int, int]]:
    """Name, derived, counted, and counted by default, for b = 2, n = 64, r = 16, 4 heads of width 16."""
    b, n, r, model, heads, d = 2, 64, 16, 64, 4, 16
    x = torch.randn(b, n, model)
    found = []

    def add(name: str, derived: list[Product], call: Callable[[], Any]) -> None:
        found.append((name, int(macs(derived)), counted(call), counted(call, plain=False)))

    attention = torch.nn.MultiheadAttention(model, heads, batch_first=True).eval()
    add(
        "nn.MultiheadAttention",
        modules.multi_head(b, n, model, heads, d),
        lambda: attention(x, x, x, need_weights=False),
    )
    encoder = torch.nn.TransformerEncoderLayer(model, heads, 256, batch_first=True).eval()
    both = modules.multi_head(b, n, model, heads, d) + modules.feed_forward(b, n, model, 256)
    add("nn.TransformerEncoderLayer", both, lambda: encoder(x))
    try:
        from linformer.linformer import LinformerSelfAttention
        from linformer_pytorch import Linformer
    except ImportError as error:
        console.print(f"linformer packages: not run ({error}; install attnproof[models])")
        return found
    for one in (False, True):
        for shared in (False, True):
            layer = LinformerSelfAttention(model, n, k=r, heads=heads, one_kv_head=one, share_kv=shared)
            derived = modules.compressed_multi_head(
                b, n, r, model, heads, d, kv_heads=1 if one else None, shared_values=shared
            )
            add(f"linformer, one_kv_head={one}, share_kv={shared}", derived, partial(layer, x))
    for method in ("learnable", "convolution", "no_params"):
        layer = Linformer(n, model, r, dim_ff=128, nhead=heads, method=method).eval()
        derived = (
            modules.convolved_multi_head(b, n, n // r, model, heads, d)
            if method == "convolution"
            else modules.compressed_multi_head(b, n, r, model, heads, d)
        ) + modules.feed_forward(b, n, model, 128)
        add(f"linformer-pytorch, method={method}", derived, partial(layer, x))
    return found


def timings(machine: roofline.Machine, d: int, heads: int) -> None:
    found = table(
        "Times, r = 256, 8 heads of width 64: milliseconds measured (predicted)",
        "n",
        *roofline.KINDS,
        "fused / compressed",
    )
    for n in (512, 1024, 2048, 4096):
        cells, seconds = [], {}
        for kind in roofline.KINDS:
            seconds[kind] = roofline.measured_seconds(roofline.attention_calls(torch, n, 256, d, d, heads)[kind], 3)
            predicted = roofline.predict(machine, kind, n, 256, d, d, heads)
            cells.append(f"{1e3 * seconds[kind]:.3g} ({1e3 * predicted:.3g})")
        found.add_row(f"{n}", *cells, f"{seconds['fused'] / seconds['compressed']:.2f}")
    console.print(found)


def break_even(n: int, d: int, heads: int) -> None:
    """The r at which compressed takes as long as full and as fused, by a straight line through a sweep of r."""
    shares = np.array([n // 8, n // 4, n // 2, 3 * n // 4, n])
    times = [
        roofline.measured_seconds(roofline.attention_calls(torch, n, int(r), d, d, heads)["compressed"], 3)
        for r in shares
    ]
    slope, start = np.polyfit(shares, times, 1)
    calls = roofline.attention_calls(torch, n, n, d, d, heads)
    found = table(f"Break-even at n = {n}: the arithmetic says r = {n // 2}", "against", "measured r", "share of n")
    for kind in ("full", "fused"):
        r = (roofline.measured_seconds(calls[kind], 3) - start) / slope
        found.add_row(kind, f"{r:.0f}", f"{r / n:.2f}")
    console.print(found)


def exponents(d: int, heads: int) -> None:
    sizes = [2048, 4096, 8192, 16384]
    found = table(
        "Growth exponents of compressed attention, fitted over n = 2048 … 16384", "r", "derived", "counted", "timed"
    )
    for name, slots, stated in (
        ("64", lambda n: 64, 1.0),
        ("√n", lambda n: round(n**0.5), 1.5),
        ("n/16", lambda n: n // 16, 2.0),
    ):
        counts, times = [], []
        for n in sizes:
            call = roofline.attention_calls(torch, n, slots(n), d, d, heads)["compressed"]
            counts.append(counted(call))
            times.append(roofline.measured_seconds(call, 5))
        by_count, by_time = roofline.fit_exponent(sizes, counts), roofline.fit_exponent(sizes, times)
        found.add_row(
            name,
            f"{stated:g}",
            f"{by_count.exponent:.3f} ± {by_count.half_width:.3f}",
            f"{by_time.exponent:.2f} ± {by_time.half_width:.2f}{'' if by_time.holds(stated) else ' (outside)'}",
        )
    console.print(found)


def memory(n: int, r: int, d: int) -> None:
    q, k, v = (torch.randn(n, d, requires_grad=True) for _ in range(3))
    e, f = (torch.randn(r, n, requires_grad=True) for _ in range(2))
    found = table(f"Memory, one head, n = {n}, r = {r}, d = {d}", "", "derived", "measured")
    rows = [
        ("kept for backward, full", modules.kept_for_backward(n, d, d), kept(lambda: torch.softmax(q @ k.T, -1) @ v)),
        (
            "kept for backward, compressed",
            modules.kept_for_backward(n, d, d, r),
            kept(lambda: torch.softmax(q @ (e @ k).T, -1) @ (f @ v)),
        ),
    ]
    for name, derived, measured in rows:
        found.add_row(f"numbers {name}", f"{int(derived):,}", f"{measured:,}")
    for kind, numbers in (("full", n * n), ("compressed", n * r)):
        call = roofline.attention_calls(np, n, r, d, d)[kind]
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        found.add_row(
            f"peak of NumPy, {kind}, in coefficient arrays",
            "3 (scores, exponentials, weights)",
            f"{peak / 4 / numbers:.2f}",
        )
    console.print(found)


def main() -> None:
    argparse.ArgumentParser(prog="python -m benchmarks.cost", description=__doc__).parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    found = table(
        "Multiply–adds of a layer: derived and counted must be equal",
        "module",
        "derived",
        "counted",
        "counted by default",
    )
    for name, derived, count, default in module_rows():
        found.add_row(name, f"{derived:,}", f"{count:,}{'' if count == derived else ' DIFFERS'}", f"{default:,}")
    console.print(found)
    console.print(
        "The default count misses fused attention and the fused encoder; softmax and biases are never counted."
    )
    machine = roofline.measure_machine(torch)
    console.print(
        f"\nThis machine: {machine.rate / 1e9:.1f} G multiply–adds/s, {machine.bandwidth / 1e9:.1f} GB/s (float32)"
    )
    with torch.no_grad():
        timings(machine, 64, 8)
        break_even(1024, 64, 8)
        exponents(64, 1)
    memory(1024, 64, 64)


if __name__ == "__main__":
    main()
