"""Breaks the checker of projections and the exact matrices one place at a time, and counts what is noticed.

    python -m benchmarks.mutate_exact --mutants 40 --seed 0

Two mutants that once survived come first: compressed keys made with F, and a determinant without the sign of its row
exchanges. A mutant of `causal/projection` runs on random heads against the oracle of the tests (`fuzz_heads`), what
survives that on the tests of its file, and what survives those on all tests of its folder; one of `symbolic` on tests
alone. Each has its own process. `--skip` takes a run up where another was stopped.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path

from benchmarks.mutate_rules import instead, mutants, survives

ROOT = Path(__file__).resolve().parent.parent
PROJECTION = ("columns", "counterexample", "decide", "exact", "leak", "rounding", "support", "visible", "witness")
SYMBOLIC = ("attention", "rank")
NAMED = (
    ("symbolic/attention.py", "return self.e * self.keys", "return self.f * self.keys"),
    ("symbolic/rank.py", "            flips = -flips\n", ""),
)
LIMIT = 1800  # seconds for one stage of one mutant
HEADS, FIRST = 300, 2_000_000  # random heads per mutant, and the first seed: none of the long run's


def noticed(path: Path, text: str, stage: str) -> None:
    """In a process of its own: exits with 0 where nothing fails with this text in place of the file's."""
    instead(path, text)
    if stage == "heads":
        try:
            from benchmarks import fuzz_heads

            fuzz_heads.rounding.breaking_input = lambda *_: None
            os._exit(int(any(fuzz_heads.judge(FIRST + k)[1] for k in range(HEADS))))
        except Exception:  # an error is noticed
            os._exit(1)
    import pytest

    folder = ROOT / "tests" / path.relative_to(ROOT).parent
    own = folder / f"test_{path.stem}.py"
    tests = folder if stage == "folder" else own if own.exists() else folder / "test_exact.py"
    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", f"--rootdir={ROOT}", str(tests)]
    os._exit(int(pytest.main(options)))


def main() -> int:
    """Run and report; what survives is no failure by itself, but for the two that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="so many were run before")
    options = parser.parse_args()
    every = mutants([ROOT / "causal" / "projection" / f"{name}.py" for name in PROJECTION])
    every += mutants([ROOT / "symbolic" / f"{name}.py" for name in SYMBOLIC])
    chosen = random.Random(options.seed).sample(every, min(options.mutants, len(every)))
    named = []
    for file, old, new in NAMED:
        text = (ROOT / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise AssertionError(f"{file} has no one {old!r}; say anew which text is broken")
        named.append(
            (
                ROOT / file,
                text[: text.index(old)].count("\n") + 1,
                f"{old.strip()} → {new.strip()}",
                text.replace(old, new),
            )
        )
    started, alive = time.perf_counter(), []
    asked = [*named, *chosen][options.skip :]
    for path, line, words, text in asked:
        stages = ("heads", "file", "folder") if "projection" in path.parts else ("file", "folder")
        if all(survives(noticed, path, text, stage, limit=LIMIT) for stage in stages):
            alive.append((path, line, words, text))
            print(f"survives: {path.relative_to(ROOT)}:{line}: {words}", flush=True)
    seconds, count = time.perf_counter() - started, len(asked)
    print(f"{count} of {len(every)} mutants, seed {options.seed}, {seconds:.0f} s: {count - len(alive)} noticed")
    return int(any(mutant in named for mutant in alive))


if __name__ == "__main__":
    sys.exit(main())
