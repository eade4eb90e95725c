"""Writes docs/will-compression-pay.md: one decision with real numbers. `python -m benchmarks.pay` (PyTorch needed).

Counts and theorems are exact; times are of the machine that ran it, and the page says so.
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path

import numpy as np
import torch
from attnproof.numeric import designs, roofline
from attnproof.numeric.compression import compression_report
from attnproof.numeric.encoder import installed_text, minilm
from attnproof.numeric.retention import leverage
from attnproof.symbolic import cost
from attnproof.symbolic.modules import feed_forward

PAGE = Path(__file__).parent.parent / "docs" / "will-compression-pay.md"
N, R, HEADS, D, MODEL = 4096, 256, 12, 64, 768


def times() -> dict[str, float]:
    with torch.no_grad():
        calls = roofline.attention_calls(torch, N, R, D, D, HEADS)
        return {kind: roofline.measured_seconds(call, 3) for kind, call in calls.items()}


def layer_rest() -> float:
    """Seconds of what compression does not touch in one layer: feature projections and feed-forward."""
    x = torch.randn(N, MODEL)
    square, wide, narrow = torch.randn(MODEL, MODEL), torch.randn(MODEL, 4 * MODEL), torch.randn(4 * MODEL, MODEL)
    with torch.no_grad():
        return 4 * roofline.measured_seconds(lambda: x @ square, 3) + roofline.measured_seconds(
            lambda: x @ wide @ narrow, 3
        )


def heads(n: int, r: int) -> tuple[float, float, float]:
    """Medians over the 12 heads of layer 0 of the packaged model: relative output error, ratio to the best, invisible."""
    encoder = minilm()
    layer, _ = encoder.layer(0, encoder.embed(encoder.tokens(installed_text())[:n]))
    E = designs.pooling(n, r)
    found = [compression_report(Q, K, V, E, E) for Q, K, V in zip(layer.Q, layer.K, layer.V, strict=True)]
    errors, ratios, lost = zip(*((x.output_relative, x.ratio, x.invisible) for x in found), strict=True)
    return float(np.median(errors)), float(np.median(ratios)), float(np.median(lost))


def page() -> str:
    full = HEADS * cost.macs(cost.full_head(N, D, D))
    small = HEADS * cost.macs(cost.compressed_head(N, R, D, D))
    rest = int(4 * MODEL * MODEL + cost.macs(feed_forward(1, 1, MODEL, 4 * MODEL)))
    layer = cost.speedup(N, R, rest, HEADS * 2 * D)
    measured, other = times(), layer_rest()
    whole = {kind: t + other for kind, t in measured.items()}
    error, ratio, invisible = heads(256, 16)
    leverages = leverage(designs.pooling(N, R))
    threshold = float(cost.paper_threshold(N, D))
    return (
        f"""# Will compression pay for me?

One decision, worked through: transcripts of n = {N} tokens, a layer of {HEADS} heads of width {D} ({MODEL} channels), r = {R} slots. This page is
written by `python -m benchmarks.pay`; put your own sizes at the head of that script, or ask `attnproof cost`, `attnproof error` and
`attnproof retention`.

## 1. What is counted

| one layer | full | compressed | ratio |
|---|---|---|---|
| multiply–adds of attention | {int(full):,} | {int(small):,} | {float(small / full):.3g} (2r/n) |
| coefficients per head | {N * N:,} | {N * R:,} | {R / N:.3g} (r/n) |
| extra parameters | – | {2 * R * N:,} | half of it when E = F |

With the {rest:,} multiply–adds per position that compression does not touch, the whole layer's arithmetic falls by a factor of **{float(layer):.2f}**, not {float(full / small):.0f}. Below
n = {2 * R} it would rise (T9).

## 2. What the clock says

On the machine that wrote this page ({platform.machine()}, {torch.get_num_threads()} threads, PyTorch {torch.__version__}, float32), in milliseconds:

| | attention | whole layer | against compressed, whole layer |
|---|---|---|---|
"""
        + "".join(
            f"| {name} | {1e3 * measured[kind]:.0f} | {1e3 * whole[kind]:.0f} | {whole[kind] / whole['compressed']:.2f} × |\n"
            for kind, name in (
                ("full", "full, stores n × n"),
                ("fused", "fused exact attention"),
                ("compressed", "compressed"),
            )
        )
        + f"""
What you would pick instead is the fused row: it is exact and its memory is already linear. A smaller coefficient array alone establishes no speed-up.

## 3. What it loses

* No relative error bound exists (T7): for r < n some values are sent to 0 whatever the weights. For the 12 heads of layer 0 of all-MiniLM-L6-v2 on 256 tokens of
  documentation, mean pooling to 16 slots loses {invisible:.0%} of the values' energy outright; the output's error is {error:.0%} of its norm and {ratio:.1f} × the best of rank 16 (medians).
* The leverages of your {R} slots sum to {float(np.sum(np.asarray(leverages.values))):.0f} over {N} positions: on average {R / N:.1%} of a position's variance can be recovered linearly (T8). What can be
  recovered of a sentence is its share of that, unless E and F were trained to favour it; telling two known sentences apart can take less (notebook 08).
* The paper's bound, read at face value, asks for more than n slots once the relative error is to be below {threshold:.2f}. Its constants are hidden, so this is a reading.

## 4. May it look ahead?

For a decision inside the call it must not, and a dense projection does (`attnproof check`). The largest safe mask of completed blocks leaves some query without its last
⌊n/(r+1)⌋ = {N // (R + 1)} positions (T14), so add an uncompressed window of at least that length; `attnproof design show` has designs proved for every n.

## 5. So

Compression pays when n is well beyond {2 * R}, when attention dominates the layer, when nothing that must be seen sits in few positions, and when the text is complete at
the decision time or the design is a safe one. Otherwise take the fused exact kernel.
"""
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pay", description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, default=PAGE, help="the file to write (default: %(default)s)")
    path = parser.parse_args().page
    torch.set_num_threads(2)
    path.write_text(page(), encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
