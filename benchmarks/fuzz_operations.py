"""PyTorch's own table of operations, with its sample inputs, against brute force: no claim may be contradicted.

    pip install --group fuzz
    python -m benchmarks.fuzz_operations --calls 5000 --seed 0

Each sample is called as it is and, where the operation has one, in place. One of its axes carries the positions; every
position is replaced at two scales, and an element of the result that moves must have the position in its interval. The
other arguments must hold afterwards what they held before. With `--replay never` the abstract runs compute no values,
unless an operation asks for some. With `--derivatives` the derivative of each result by its input is what is compared.
Operations that have no rule are counted by the sample that calls them. The exit status is 1 when something is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from attnproof.causal import trace
from tensor_probe import contradiction, moved, tensors
from torch.testing._internal.common_methods_invocations import op_db

MOST = 400  # elements of an input
PER_OPERATION = 40  # samples
STATISTICS = ("batch_norm", "instance_norm")  # write the running ones that they are given, which the run follows


def slope(call: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """The derivative, by the input, of the sum of squares of what a call returns."""

    def along(x: torch.Tensor) -> list[torch.Tensor]:
        with torch.enable_grad():
            z = x.detach().clone().requires_grad_()
            found = [t for t in call(z) if t.requires_grad]
            return list(torch.autograd.grad(sum((t * t.conj()).real.sum() for t in found), z)) if found else []

    return along


def calls(rng: random.Random) -> Iterator[tuple[str, Callable[[torch.Tensor], Any], torch.Tensor, int, list[Any]]]:
    """Name, function of one tensor, that tensor, its axis, and the other tensors, in a random order of operations."""
    for operation in rng.sample(op_db, len(op_db)):
        if not operation.supports_dtype(torch.float64, "cpu"):
            continue
        samples = operation.sample_inputs("cpu", torch.float64, requires_grad=False)
        for sample in itertools.islice(samples, PER_OPERATION):
            x, rest = sample.input, [*sample.args, *sample.kwargs.values()]
            if (
                not isinstance(x, torch.Tensor)
                or x.layout is not torch.strided
                or not x.dim()
                or not 0 < x.numel() <= MOST
            ):
                continue
            for variant in filter(None, (operation.op, operation.inplace_variant)):
                axis = rng.randrange(x.dim())
                in_place = variant is operation.inplace_variant

                def call(y: torch.Tensor, variant: Any = variant, sample: Any = sample, copy: bool = in_place) -> Any:
                    return tensors(variant(y.clone() if copy else y, *sample.args, **sample.kwargs))

                yield f"{operation.name}{'_' if in_place else ''}", call, x.detach(), axis, tensors(rest)


def judge(
    call: Callable[[torch.Tensor], Any],
    x: torch.Tensor,
    axis: int,
    rest: list[Any],
    keeps: bool,
    seed: int,
    values: bool,
    without: set[str],
) -> tuple[str, str | None]:
    """How a call went, and what is wrong with the claims about it; `without` gains operations without a rule."""
    before = [t.clone() for t in (x, *rest)]
    try:
        if any(moved(a, b).any() for a, b in zip(call(x.clone()), call(x.clone()), strict=True)):
            return "random", None
        run = trace.run(call, (x,), sequence_axis=axis, values=values)
    except Exception:  # operations fail in their own ways
        return "not valid", None
    without.update(o.name for o in run.unknown if "." in o.name)  # not what the table draws out of sight
    if not run.complete or run.conditions or run.breaches:
        return "undecided", None
    if not keeps and not all(torch.equal(a, b) or a.isnan().any() for a, b in zip(before, (x, *rest), strict=True)):
        return "compared", "writes an argument"
    try:
        kind = "compared, with values after all" if run.with_values and not values else "compared"
        return kind, contradiction(call, x, run, axis, torch.Generator().manual_seed(seed))
    except Exception:
        return "not valid elsewhere", None


def main() -> int:
    """Run, report, and say by the exit status whether something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", choices=("auto", "never"), default="auto", help="never: without values")
    parser.add_argument("--derivatives", action="store_true", help="of each result by its input")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.manual_seed(options.seed)
    counts: Counter[str] = Counter()
    names, wrong = set(), []
    without: dict[str, set[str]] = {}
    started = time.perf_counter()
    for k, (name, *case) in enumerate(itertools.islice(calls(random.Random(options.seed)), options.calls)):
        keeps, lacks = any(word in name for word in STATISTICS), set()
        call, *rest = case
        call = slope(call) if options.derivatives else call
        kind, fault = judge(call, *rest, keeps, options.seed + k, options.replay == "auto", lacks)
        for operation in lacks:
            without.setdefault(operation, set()).add(name)
        counts[kind] += 1
        names.add(name)
        if fault:
            wrong.append(f"{name}, call {k}: {fault}")
            print(wrong[-1], flush=True)
    seconds = time.perf_counter() - started
    how = f"seed {options.seed}, replay {options.replay}, {seconds:.0f} s, torch {torch.__version__}"
    print(f"{counts.total()} calls of {len(names)} operations, {how}")
    for kind, count in sorted(counts.items()):
        print(f"{count:7d}  {kind}")
    for operation, callers in sorted(without.items()):
        print(f"without a rule: {operation}, by {', '.join(sorted(callers))}")
    print(f"wrong: {len(wrong)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
