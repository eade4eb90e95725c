"""Random programs for JAX against brute force: no element moves with a position outside the interval claimed for it.

    python -m benchmarks.fuzz_jaxprs --programs 5000 --seed 0

Every program runs on its input and on two others for each position, compiled as they are. The exit status is 1 when
something is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import jax
from jaxpr_probe import wrong
from jaxpr_programs import program


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--programs", type=int, default=5000)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    jax.config.update("jax_disable_most_optimizations", True)  # what compiling takes is most of the time
    started, faults = time.perf_counter(), 0
    for k in range(asked.programs):
        f, x = program(asked.seed + k)
        said = wrong(f, x, draws=2)
        if said:
            faults += 1
            print(f"seed {asked.seed + k}: {said}", flush=True)
        if k % 100 == 99:
            jax.clear_caches()  # compiled programs are kept for ever otherwise
            print(f"{k + 1} programs, {faults} wrong, {time.perf_counter() - started:.0f} s", flush=True)
    print(f"jax {jax.__version__}, seed {asked.seed}: {asked.programs} programs, {faults} with an interval too small")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
