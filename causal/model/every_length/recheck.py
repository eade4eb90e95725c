"""Checks the statements of a proof for every length again, with the solvers that are here and nothing else.

    python recheck.py DIR

DIR holds `claim.json` and one SMT-LIB file for each statement, as `attnproof model … --n all --save-obligations DIR`
writes them. This file imports nothing of attnproof: copy it anywhere. Every file must be the one that the claim names
(by its hash), and each solver that is installed (Z3 and cvc5, as Python packages or as commands) must call it unsat.
What it does not check is that these statements are all that the program needs: that is the abstract run's part.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

Solver = Callable[[Path], str]
SECONDS = 60


def main(directory: Path) -> int:
    """0 where every statement is unsat for every solver, 1 where one is not, 3 where there is no solver."""
    claim = json.loads((directory / "claim.json").read_text(encoding="utf-8"))
    solvers = available()
    if not solvers:
        print("no solver here: pip install z3-solver cvc5")
        return 3
    print(f"claim: {claim['claim']}")
    wrong = [entry["file"] for entry in claim["obligations"] if not holds(directory, entry, solvers)]
    names = " and ".join(solvers)
    if wrong:
        print(f"{len(wrong)} of {len(claim['obligations'])} statements do not hold for {names}: {', '.join(wrong)}")
        return 1
    print(f"{len(claim['obligations'])} statements: unsat by {names}")
    return 0


def holds(directory: Path, entry: dict[str, str], solvers: dict[str, Solver]) -> bool:
    """Whether a file is the one that the claim names, and is unsat for every solver."""
    path = directory / entry["file"]
    if hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
        print(f"{entry['file']}: not the file that the claim names")
        return False
    said = {name: ask(path) for name, ask in solvers.items()}
    right = set(said.values()) == {"unsat"}
    print(f"{entry['file']}: {', '.join(f'{name} {answer}' for name, answer in said.items())}  ({entry['about']})")
    return right


def available() -> dict[str, Solver]:
    """The solvers that are here."""
    found: dict[str, Solver] = {}
    for name, by_package in (("z3", _z3), ("cvc5", _cvc5)):
        if find_spec(name) is not None:
            found[name] = by_package
        elif shutil.which(name):
            found[name] = _command(name)
    return found


def _z3(path: Path) -> str:
    z3 = import_module("z3")
    solver = z3.Solver()
    solver.set("timeout", SECONDS * 1000)
    solver.from_file(str(path))
    return str(solver.check())


def _cvc5(path: Path) -> str:
    cvc5 = import_module("cvc5")
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(SECONDS * 1000))
    parser = cvc5.InputParser(solver)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, str(path))
    output = ""
    while not (command := parser.nextCommand()).isNull():
        output += command.invoke(solver, parser.getSymbolManager())
    return output.strip()


def _command(name: str) -> Solver:
    def ask(path: Path) -> str:
        done = subprocess.run([name, str(path)], capture_output=True, text=True, timeout=SECONDS, check=False)
        return done.stdout.strip()

    return ask


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python recheck.py DIR")
    sys.exit(main(Path(sys.argv[1])))
