"""What a failing assertion about a model says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .witness import ModelWitness

if TYPE_CHECKING:
    from ..verdict import Verdict


def failure_message(verdict: Verdict) -> str:
    """What `assert_causal` says: the layer, the pair (t ← j), both values, and what to look at."""
    lines = [verdict.headline()]
    witness, blame = verdict.witness, verdict.details.get("blame")
    if isinstance(witness, ModelWitness):
        before, after = (float(o[witness.feature]) for o in witness.outputs)
        lines.append(f"  pair      output {witness.query} ← input {witness.position}")
        lines.append(f"  values    {before!r} becomes {after!r} ({witness.describe()})")
    if blame:
        entry = blame["entry"]
        where = f"{entry['module']}: " if entry["module"] else ""
        lines.append(f"  enters at {where}{entry['operation']} ({entry['line']})")
    lines += [f"  provided  {c.text}" for c in verdict.conditions]
    lines += [f"  because   {r}" for r in verdict.reasons]
    if verdict.status.name == "REFUTED":
        look = blame["entry"]["line"] if blame else "the masks and everything that mixes positions"
        lines.append(f"  look at   {look}; verdict.witness.replay() shows the change again, verdict.plot() the pattern")
    elif verdict.status.name == "UNDECIDED":
        lines.append("  look at   the operations named; a rule for one of them can be passed with rules=")
    else:
        lines.append(
            "  look at   the conditions; pass accept=('PROVED', 'PROVED_IF') if they hold where you use the model"
        )
    return "\n".join(lines)
