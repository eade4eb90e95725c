"""Random programs and modules against brute force: no claim of a run may be contradicted.

    python -m benchmarks.fuzz_modules --programs 5000 --seed 0

Half are tensor programs (`tests/tensor_programs.py`), half modules (`tests/module_programs.py`), whose parameters are
redrawn before every comparison, since a claim holds for all of them. Every position is replaced at several scales, and
an output element that moves must have the position in its interval. Every 50th module is checked with `check_model`,
too: what is proved must not move. With `--replay never` the abstract runs compute no values, unless a program asks for
some. The exit status is 1 when something is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import attnproof as ap
import module_programs
import tensor_programs
import torch
from attnproof.causal import trace
from tensor_probe import contradiction, moved

FAILS = (RuntimeError, ValueError, IndexError)


def compared(run: trace.Trace, values: bool) -> str:
    """How the run that is compared went."""
    return "compared, with values after all" if run.with_values and not values else "compared"


def judge_program(seed: int, values: bool) -> tuple[str, str | None]:
    """How a tensor program went, and what is wrong with the claims about it."""
    size = tensor_programs.SIZES[seed % len(tensor_programs.SIZES)]
    function = tensor_programs.program(seed, 2 + seed % 8)
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(size, generator=g, dtype=torch.float64)
    try:
        base = function(x.clone())
    except FAILS:
        return "not valid", None
    if any(not t.isfinite().all() or (t.abs() > 1e12).any() for t in base if t.is_floating_point()):
        return "not finite", None
    run = trace.run(function, (x,), sequence_axis=0, finite_masks=False, values=values)
    return (compared(run, values), contradiction(function, x, run, 0, g)) if run.complete else ("undecided", None)


def judge_module(seed: int, values: bool) -> tuple[str, str | None]:
    """The same of a module."""
    model = module_programs.module(seed)
    g = torch.Generator().manual_seed(seed)
    x = torch.randn((1, module_programs.N, module_programs.D), generator=g, dtype=torch.float64)
    run = trace.run(model, (x,), sequence_axis=1, finite_masks=False, values=values)
    if not run.complete:
        return "undecided", None
    found = contradiction(model, x, run, 1, g)
    module_programs.redraw(model, g)
    return compared(run, values), found or contradiction(model, x, run, 1, g)


def judge_verdict(seed: int, values: bool) -> tuple[str, str | None]:
    """What `check_model` says of a module."""
    model = module_programs.module(seed)
    g = torch.Generator().manual_seed(seed)
    x = torch.randn((1, module_programs.N, module_programs.D), generator=g, dtype=torch.float64)
    verdict = ap.check_model(model, x, sequence_axis=1, replay="auto" if values else "never")
    if verdict.status.name == "PROVED":
        module_programs.redraw(model, g)
        for t in range(1, module_programs.N):
            y = x.clone()
            y[:, t:] = torch.randn(y[:, t:].shape, generator=g, dtype=x.dtype) * 3
            if moved(model(x)[:, :t], model(y)[:, :t]).any():
                return "PROVED", f"is proved, and moves with position {t}"
    return verdict.status.name, None


def main() -> int:
    """Run, report, and say by the exit status whether something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", choices=("auto", "never"), default="auto", help="never: without values")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    counts: Counter[str] = Counter()
    wrong = []
    started = time.perf_counter()
    for k in range(options.programs):
        seed = options.seed + k
        judges = [judge_program] if k % 2 else [judge_module, judge_verdict] if k % 100 == 0 else [judge_module]
        for judge in judges:
            kind, fault = judge(seed, options.replay == "auto")
            counts[f"{judge.__name__.removeprefix('judge_')} {kind}"] += 1
            if fault:
                wrong.append(f"{judge.__name__.removeprefix('judge_')} {seed}: {fault}")
                print(wrong[-1], flush=True)
    seconds = time.perf_counter() - started
    how = f"seed {options.seed}, replay {options.replay}, {seconds:.0f} s, torch {torch.__version__}"
    print(f"{options.programs} programs, {how}")
    for kind, count in sorted(counts.items()):
        print(f"{count:7d}  {kind}")
    print(f"wrong: {len(wrong)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
