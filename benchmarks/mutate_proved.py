"""Breaks the transfer functions that are compared with the proved rules (T23), and counts what the comparison notices.

    python -m benchmarks.mutate_proved --cases 900

Every mutant of `mutate_rules` that lies in a function whose row in docs/trust.md says "proved, compared" gives its
answers on random shadows; those of the functions as they are were compared with the extracted rules first. Each has
its own process. What survives is printed.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.mutate_rules import RULES, instead, mutants, survives

PAGE = Path(__file__).resolve().parent.parent / "docs" / "trust.md"


def compared() -> dict[Path, list[range]]:
    """Per file the lines of the functions that the page calls proved and compared, and of what they are made of."""
    rows = re.findall(r"^\| proved, compared \|.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`(\w+\.\w+)`", row)}
    names |= {"contractions.contract", "contractions.sweep", "elementwise.assemble", "elementwise.chosen"}
    found = defaultdict(list)
    for path in RULES.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and f"{path.stem}.{node.name}" in names:
                found[path].append(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def answered(cases: int) -> list[np.ndarray]:
    """What the tracer says on random shadows, rule by rule."""
    from attnproof.causal.model.trace.domain import full
    from attnproof.proofs import transfers

    rng, said = np.random.default_rng(1), []
    for rule, sizes in transfers.RULES.items():
        for n in sizes:
            rows = transfers.random_rows(rng, rule, cases, n)
            found, _ = transfers.answers(rule, rows, rng.random(rows.shape) < 0.5)
            said.append(np.stack([np.asarray(part, np.int64) for part in full(found)]))
    return said


def keep(file: str, cases: int) -> None:
    """In a process of its own: compares with the proved rules, and keeps the answers. Exits with 0 if they agree."""
    from attnproof.proofs import transfers

    _, different = transfers.compare(200)
    np.savez(file, *answered(cases))
    os._exit(bool(different))


def noticed(path: Path, text: str, file: str, cases: int) -> None:
    """In a process of its own: exits with 0 where the file with this text gives the answers that were kept."""
    instead(path, text)
    try:
        kept = np.load(file)
        same = all(np.array_equal(a, kept[f"arr_{i}"]) for i, a in enumerate(answered(cases)))
    except Exception:  # an error is noticed
        same = False
    os._exit(int(not same))


def main() -> int:
    """Run and report; what survives is no failure by itself."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=900)
    cases = parser.parse_args().cases
    where = compared()
    every = [m for m in mutants(where) if any(m[1] in lines for lines in where[m[0]])]
    started, alive = time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "answers.npz")
        if not survives(keep, file, cases):
            print("the tracer's functions do not agree with the proved rules")
            return 1
        for path, line, words, text in every:
            if survives(noticed, path, text, file, cases):
                alive += 1
                print(f"survives: {path.name}:{line}: {words}", flush=True)
    print(f"{len(every)} mutants, {time.perf_counter() - started:.0f} s: {len(every) - alive} noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
