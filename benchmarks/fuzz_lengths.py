"""Random programs over sequences of every length: is a bound for all lengths ever below what the program reads?

    python -m benchmarks.fuzz_lengths --programs 2000 --seed 0 [--language torch]

Each program is recorded once with a symbol for its length; the bound that is found is compared, at up to ten lengths
(1 and shorter than a block among them), with the rows that change the output when they are changed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false")  # compiles in half the time

import jax
import jax.numpy as jnp
import numpy as np
from attnproof.causal.model.every_length.boundaries import sides_of
from attnproof.causal.model.every_length.integers import NotLinear
from attnproof.causal.model.every_length.jax_front import prove, recorded_as
from attnproof.causal.model.every_length.lengths import Lengths
from attnproof.causal.model.every_length.prove import LengthProof  # noqa: TC002
from attnproof.causal.model.jax.program import JaxProgram
from attnproof.causal.model.jax.subject import subject_of
from attnproof.causal.model.setting import ModelError
from length_programs import WIDTH, Step, program, reads

AT = (1, 2, 3, 4, 5, 7, 8, 9, 12, 13)
RANGES = (Lengths(), Lengths(least=2), Lengths(least=4), Lengths(4, 0), Lengths(4, 1), Lengths(4, 3))


@dataclass(frozen=True)
class Case:
    """One program: `proof` is None where it could not be recorded, or is not linear."""

    name: str
    proof: LengthProof | None
    wrong: tuple[int, ...] = ()
    sharp: bool = False


def proof_of(run: Step, lengths: Lengths, boundary: str = "prefix") -> LengthProof | None:
    """The run over the program at every length; None where there is none."""
    n = lengths.smallest + 4 * lengths.block
    subject = subject_of(run, (jnp.zeros((n, WIDTH)),), 0, 0, None)
    try:
        concrete = JaxProgram.of(subject, "eval")
        recorded = recorded_as(concrete, lengths, None, "eval").about(concrete.recording.paths)
        return prove(recorded, lengths, sides_of(boundary))
    except (NotLinear, ModelError):
        return None


def case(seed: int) -> Case:
    """One random program of JAX, with the lengths at which its bound lies below what it reads."""
    name, run = program(seed)
    return judged(name, (proof_of(run, lengths) for lengths in RANGES), run, reads, seed)


def judged(name: str, proofs: Iterable[LengthProof | None], run: Step, read: Callable[..., Any], seed: int) -> Case:
    """The first of the proofs that followed the program, against what it reads."""
    for proof in proofs:
        if proof is not None and not proof.unknown:
            at = [n for n in AT if proof.lengths.holds(n)]
            found = {n: (proof.latest(n), truth) for n, truth in read(run, at, seed).items()}
            wrong = tuple(n for n, (bound, truth) in found.items() if (bound < truth).any())
            sharp = all(np.array_equal(bound, truth) for bound, truth in found.values())
            return Case(name, proof, wrong, sharp)
    return Case(name, None)


def torch_proof(run: Step, lengths: Lengths, boundary: str = "prefix") -> LengthProof | None:
    """The run over a program of PyTorch at every length; None where there is none."""
    import torch
    from attnproof.causal.model.arguments import subject_of as of_tensors
    from attnproof.causal.model.every_length.aten.front import AtenFront
    from attnproof.causal.model.program import Program

    n = max(12 - 12 % lengths.block + lengths.residue, lengths.smallest)
    subject = of_tensors(run, (torch.zeros(n, WIDTH),), 0, 0, None)
    front = AtenFront(Program.of(subject).about(("",)), None, "eval")
    try:
        wanted = next(front.ranges()) if lengths.block == 1 else lengths
        return front.prove(wanted, sides_of(boundary), True)
    except (NotLinear, ModelError):
        return None


def torch_case(seed: int) -> Case:
    """One random program of PyTorch."""
    import length_programs_torch as programs

    name, run = programs.program(seed)
    return judged(name, (torch_proof(run, r) for r in (RANGES[0], *RANGES[3:])), run, programs.reads, seed)


def main() -> None:
    """Counts, and every program whose bound is too early."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--language", choices=("jax", "torch"), default="jax")
    arguments = parser.parse_args()
    jax.config.update("jax_disable_most_optimizations", True)  # what compiling takes is most of the time
    began, counts = time.perf_counter(), Counter[str]()
    for seed in range(arguments.seed, arguments.seed + arguments.programs):
        found = case(seed) if arguments.language == "jax" else torch_case(seed)
        counts["followed" if found.proof else "not followed"] += 1
        counts["closed"] += found.proof is not None and found.proof.closed
        counts["exact"] += found.sharp
        counts["wrong"] += bool(found.wrong)
        if found.wrong:
            print(f"WRONG: seed {seed}, {found.name}, at n = {found.wrong}", flush=True)
        if (seed + 1) % 100 == 0:
            jax.clear_caches()  # compiled programs are kept for ever otherwise
            print(f"{seed + 1}: {dict(counts)}, {time.perf_counter() - began:.0f} s", flush=True)
    of = f"{arguments.language}, seed {arguments.seed}, {arguments.programs} programs"
    print(f"{of}: {dict(counts)}, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
