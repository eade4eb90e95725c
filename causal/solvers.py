"""Z3 and cvc5 as two readers of the same SMT-LIB text: what one calls unsat counts only if the other does, too."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ..libraries import library

TIMEOUT_MS = 20_000
STRATEGIES: tuple[Mapping[str, str], ...] = ({}, {"use-soi": "true"}, {"decision": "stoponly"})  # cvc5's options


def both(text: str) -> tuple[str, str]:
    """What Z3 and cvc5 say to an SMT-LIB text without `(check-sat)`: each "unsat", "sat" or "unknown"."""
    return z3_says(text)[0], cvc5_says(text)[0]


def z3_says(text: str) -> tuple[str, dict[str, int] | None, float]:
    """Z3's answer, the constants of a model where there is one, and the seconds that it took."""
    z3 = library("z3", "a proof over all lengths")
    began = time.perf_counter()
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT_MS)
    solver.from_string(text)
    status = str(solver.check())
    model = None
    if status == "sat":
        found = solver.model()
        model = {d.name(): found[d].as_long() for d in found.decls() if d.arity() == 0 and z3.is_int_value(found[d])}
    return status, model, time.perf_counter() - began


def cvc5_says(text: str) -> tuple[str, float]:
    """cvc5's answer: each strategy for a short time, then the first for the rest of it.

    Divisions can send one strategy round in circles that another sees through at once.
    """
    began = time.perf_counter()
    short = max(1, TIMEOUT_MS // 10)
    for strategy, limit in (*((s, short) for s in STRATEGIES), (STRATEGIES[0], TIMEOUT_MS - len(STRATEGIES) * short)):
        status = _ask_cvc5(text, strategy, limit)
        if status != "unknown":
            break
    return status, time.perf_counter() - began


def _ask_cvc5(text: str, options: Mapping[str, str], limit_ms: int) -> str:
    cvc5 = library("cvc5", "the second opinion on a proof over all lengths")
    solver = cvc5.Solver()
    for name, value in {"tlimit-per": str(limit_ms), **options}.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text + "(check-sat)\n", "family")
    output = ""
    while not (command := parser.nextCommand()).isNull():
        output += command.invoke(solver, parser.getSymbolManager())
    status = output.strip().splitlines()[-1] if output.strip() else "unknown"
    return status if status in ("sat", "unsat") else "unknown"
