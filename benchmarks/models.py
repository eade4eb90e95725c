"""What check_model costs beside a forward pass, brute force, one backward per position, and asdex in JAX.

    python benchmarks/models.py            12 layers × 768, n = 1024; then 4 layers, n = 4096
    python benchmarks/models.py --quick    2 layers × 128, n = 128

Everything runs on one core, in pairs within one run, each measurement in a process of its own so that its peak memory
is its own. Brute force (n − 1 forwards) and per-position backward (n of them) are extrapolated from a few.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

SIZES = {"layers": 12, "width": 768, "heads": 12, "n": 1024}
LONG = {"layers": 4, "width": 768, "heads": 12, "n": 4096}
QUICK = {"layers": 2, "width": 128, "heads": 4, "n": 128}
ASDEX = (32, 64, 128)


def gpt(layers: int, width: int, heads: int, n: int) -> Any:
    """A plain pre-norm decoder on embedded inputs, with PyTorch's fused causal attention."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            b, t, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, heads, -1).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, width))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    torch.manual_seed(0)
    return nn.Sequential(*(Block() for _ in range(layers)), nn.LayerNorm(width)).eval()


def timed(work: Callable[[], Any]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(what: str, size: dict[str, int]) -> dict[str, float]:
    """One measurement, in this process: seconds, the forward's seconds beside it, and the peak memory."""
    import resource

    import torch

    torch.set_num_threads(1)
    model, x = gpt(**size), torch.randn(1, size["n"], size["width"])

    def forward() -> None:
        with torch.no_grad():
            model(x)

    first = timed(forward)
    found: dict[str, float] = {"forward": first}
    if what == "forward":
        found["seconds"] = min(first, timed(forward))
    elif what == "abstract":
        from attnproof.causal import trace

        seconds = timed(lambda: trace.run(model, (x,), sequence_axis=1))
        found |= {"seconds": seconds, "forward": min(first, timed(forward))}
    elif what == "check":
        import attnproof as ap

        started = time.perf_counter()
        verdict = ap.check_model(model, x)
        found |= {"seconds": time.perf_counter() - started, "forward": min(first, timed(forward))}
        found |= {"proved": float(bool(verdict)), "forwards": float(verdict.details["runs"][0]["forwards"])}
    elif what == "backward":
        grown = x.clone().requires_grad_()
        y = model(grown)
        some = 3
        seconds = timed(lambda: [torch.autograd.grad(y[0, t].sum(), grown, retain_graph=True) for t in range(some)])
        found |= {"seconds": seconds / some * size["n"], "forward": min(first, timed(forward))}
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return found


def isolated(what: str, size: dict[str, int]) -> dict[str, float]:
    """`measure` in a fresh process on one core."""
    command = [sys.executable, __file__, "--measure", what, json.dumps(size)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"measuring {what} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def table(size: dict[str, int], *, others: bool) -> None:
    """The rows for one size: seconds, ratio to the forward beside it, peak memory and its ratio."""
    shape = f"{size['layers']} layers × {size['width']}, {size['heads']} heads, n = {size['n']}"
    base = isolated("forward", size)
    rows = [("one forward", base["seconds"], 1.0, base["peak"])]
    for what, name in (("abstract", "abstract run"), ("check", "check_model, whole call")):
        m = isolated(what, size)
        rows.append((name, m["seconds"], m["seconds"] / m["forward"], m["peak"]))
        if what == "check":
            assert m["proved"], "the model of this benchmark must be proved"
            rows[-1] = (f"{name} ({m['forwards']:.0f} forwards in it)", *rows[-1][1:])
    if others:
        n = size["n"]
        rows.append((f"brute force, {n - 1} forwards (extrapolated)", base["seconds"] * (n - 1), n - 1.0, base["peak"]))
        m = isolated("backward", size)
        rows.append((f"{n} backward passes (extrapolated)", m["seconds"], m["seconds"] / m["forward"], m["peak"]))
    print(f"\n{shape}\n{'':44} {'seconds':>10} {'× forward':>10} {'peak MiB':>9} {'× forward':>10}")
    for name, seconds, ratio, peak in rows:
        print(f"{name:44} {seconds:10.2f} {ratio:10.2f} {peak / 2**20:9.0f} {peak / base['peak']:10.2f}", flush=True)


def asdex_table() -> None:
    """One masked attention head: asdex's pattern in JAX beside our abstract run of the same function in PyTorch."""
    try:
        import asdex
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        print(f"\nasdex: not run ({error}); pip install asdex jax")
        return
    import numpy as np
    import torch
    from attnproof.causal import trace

    def head_jax(x: Any) -> Any:
        scores = jnp.where(jnp.tri(x.shape[0], dtype=bool), x @ x.T, -jnp.inf)
        return jax.nn.softmax(scores) @ x

    def head_torch(x: Any) -> Any:
        mask = torch.ones(x.shape[0], x.shape[0], dtype=torch.bool).tril()
        return (x @ x.T).masked_fill(~mask, -torch.inf).softmax(-1) @ x

    print(f"\n{'one masked head, width 4':32} {'asdex s':>9} {'future pairs':>13} {'ours s':>9} {'future pairs':>13}")
    trace.run(head_torch, (torch.randn(4, 4),), sequence_axis=0)
    for n in ASDEX:
        started = time.perf_counter()
        pattern = asdex.jacobian_sparsity(head_jax, jnp.ones((n, 4)))
        seconds = time.perf_counter() - started
        pairs = np.asarray(pattern.todense()).reshape(n, 4, n, 4).any(axis=(1, 3))
        started = time.perf_counter()
        run = trace.run(head_torch, (torch.randn(n, 4),), sequence_axis=0)
        ours = time.perf_counter() - started
        future = int(np.maximum(run.outputs[0].along(0)[1] - np.arange(n), 0).sum())
        print(f"n = {n:<28} {seconds:9.2f} {int(np.triu(pairs, 1).sum()):13d} {ours:9.3f} {future:13d}", flush=True)


def main() -> None:
    """The tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], json.loads(options.measure[1]))))
        return
    if options.quick:
        table(QUICK, others=True)
    else:
        table(SIZES, others=True)
        table(LONG, others=False)
    asdex_table()


if __name__ == "__main__":
    main()
