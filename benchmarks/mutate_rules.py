"""Breaks the transfer functions one place at a time, and counts which of these the tests notice.

    python -m benchmarks.mutate_rules --mutants 60 --seed 0

A mutant swaps minimum and maximum, earliest and latest, and and or, a comparison, or drops an operand of a join. The
tests of its family and random programs run against it, each in a process of its own. What survives is printed: it is
either an equal program, a loss of precision that no test looks for, or a test that is missing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.machinery
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "causal" / "model" / "trace" / "transfer"
TESTS = ROOT / "tests" / "causal" / "model" / "trace"
NAMES = {"minimum": "maximum", "min": "max", "amin": "amax", "lo": "hi", "any": "all", "cummin": "cummax"}
SWAPS = {**NAMES, **{b: a for a, b in NAMES.items()}}
OPERATORS: dict[type, type] = {
    ast.And: ast.Or, ast.Or: ast.And, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[tuple[str, dict[str, Any]]]:
    """Other values of the node's fields, in words."""
    if isinstance(node, ast.Attribute) and node.attr in SWAPS:
        yield f"{node.attr} → {SWAPS[node.attr]}", {"attr": SWAPS[node.attr]}
    if isinstance(node, ast.Name) and node.id in SWAPS and isinstance(node.ctx, ast.Load):
        yield f"{node.id} → {SWAPS[node.id]}", {"id": SWAPS[node.id]}
    for field in ("op", "ops"):
        old = getattr(node, field, None)
        first = old[0] if isinstance(old, list) else old
        if type(first) in OPERATORS:
            new = OPERATORS[type(first)]()
            yield (
                f"{type(first).__name__} → {type(new).__name__}",
                {field: [new, *old[1:]] if isinstance(old, list) else new},
            )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and "join" in node.func.id and len(node.args) > 1:
        yield f"{node.func.id} without its last operand", {"args": node.args[:-1]}


def mutants(paths: Iterable[Path]) -> list[tuple[Path, int, str, str]]:
    """File, line, what is changed, and the text of the whole file with it."""
    found = []
    for path in sorted(paths):
        tree = ast.parse(path.read_text())
        for k, node in enumerate(ast.walk(tree)):
            for words, fields in changes(node):
                other = copy.deepcopy(tree)
                target = next(n for i, n in enumerate(ast.walk(other)) if i == k)
                for field, value in fields.items():
                    setattr(target, field, value)
                found.append((path, node.lineno, words, ast.unparse(ast.fix_missing_locations(other))))
    return found


def instead(path: Path, text: str) -> None:
    """In a process of its own, which then prints nothing: the file is imported with this text."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    read = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, name: str) -> Any:
        return compile(text, str(path), "exec") if Path(self.path).resolve() == path else read(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def noticed(path: Path, text: str) -> None:
    """In a process of its own: exits with 0 where the tests pass with this text in place of the file's."""
    instead(path, text)
    import pytest

    tests = [
        t for t in (TESTS / "transfer" / f"test_{path.stem}.py", TESTS / "rules" / f"test_{path.stem}.py") if t.exists()
    ]
    tests.append(TESTS / "test_soundness.py")
    os._exit(
        int(
            pytest.main(
                [
                    "-x",
                    "-q",
                    "--assert=plain",
                    "-p",
                    "no:cacheprovider",
                    f"--rootdir={ROOT}",
                    *map(str, tests),
                    "-k",
                    "not every_rule and not finds_a_wrong",
                ]
            )
        )
    )


def survives(work: Callable[..., None], *given: Any, limit: float = 300) -> bool:
    """Whether the work, in a process of its own, exits with 0; what never ends is noticed."""
    process = multiprocessing.get_context("fork").Process(target=work, args=given)
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        return False
    return process.exitcode == 0


def main() -> int:
    """Run and report; what survives is no failure by itself."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    import hypothesis  # noqa: F401  (imported once, before the processes part)
    import torch

    torch.set_num_threads(1)
    every = mutants(RULES.glob("*.py"))
    chosen = random.Random(options.seed).sample(every, min(options.mutants, len(every)))
    started, alive = time.perf_counter(), []
    for path, line, words, text in chosen:
        if survives(noticed, path, text):
            alive.append(f"{path.name}:{line}: {words}")
            print(f"survives: {alive[-1]}", flush=True)
    seconds, count = time.perf_counter() - started, len(chosen)
    print(f"{count} of {len(every)} mutants, seed {options.seed}, {seconds:.0f} s: {count - len(alive)} noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
