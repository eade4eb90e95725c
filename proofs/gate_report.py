"""What the gate of the Rocq proofs found: a row per theorem, and what no single theorem answers for."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class TheoremRow:
    """One pinned theorem: its claim, name (`file.name`), pinned statement, axioms used, and whether it passes and why.

    `axioms` are those that the theorem uses, alone or together with the others about the reals. `seconds` is the time
    that Rocq took for the file that proves it.
    """

    claim: str
    theorem: str
    statement: str
    axioms: tuple[str, ...]
    seconds: float
    ok: bool
    detail: str

    @property
    def name(self) -> str:
        """The theorem's name without its file."""
        return self.theorem.rpartition(".")[2]


@dataclass(frozen=True)
class GateReport:
    """What the gate found: a row per theorem, and findings about the sources that no single theorem answers for.

    Attributes: `rows`; `findings`, each a failure; `rocq`, the compiler's own words; `seconds`; `cached`, true when the
    same sources were judged before; `coqchk`, true or false when the second checker ran and None when it did not;
    `not_run`, a reason, when Rocq is missing.
    """

    rows: tuple[TheoremRow, ...] = ()
    findings: tuple[str, ...] = ()
    rocq: str = ""
    seconds: float = 0.0
    cached: bool = False
    coqchk: bool | None = None
    coqchk_detail: str = ""
    not_run: str | None = None

    @property
    def passed(self) -> int:
        """How many theorems passed."""
        return sum(row.ok for row in self.rows)

    @property
    def failed(self) -> int:
        """How many theorems failed, and findings, and coqchk where it refused."""
        return len(self.rows) - self.passed + len(self.findings) + (self.coqchk is False)

    @property
    def ok(self) -> bool:
        """True only when the gate ran, let every theorem through, and found nothing."""
        return self.not_run is None and self.passed > 0 and self.failed == 0

    def of_claim(self, claim_id: str) -> tuple[TheoremRow, ...]:
        """The rows of one claim."""
        return tuple(row for row in self.rows if row.claim == claim_id)

    def __str__(self) -> str:
        if self.not_run is not None:
            return f"kernel: {self.not_run}"
        wide = max((len(row.theorem) for row in self.rows), default=0)
        lines = [
            f"{'pass' if row.ok else 'FAIL'}  {row.claim:<4} {row.theorem:<{wide}}  {row.seconds:6.1f} s  {row.detail}"
            for row in self.rows
        ]
        lines += [f"FAIL  {finding}" for finding in self.findings]
        if self.coqchk is not None:
            lines.append(f"{'pass' if self.coqchk else 'FAIL'}  coqchk: {self.coqchk_detail}")
        return "\n".join([*lines, f"{self.passed} passed, {self.failed} failed"])

    def to_json(self) -> str:
        """The report as the cache keeps it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> GateReport:
        """The report that `to_json` wrote, marked as read from the cache; ValueError for another text."""
        data = json.loads(text)
        rows = tuple(TheoremRow(**{**row, "axioms": tuple(row["axioms"])}) for row in data.pop("rows"))
        return cls(**{**data, "rows": rows, "findings": tuple(data["findings"]), "cached": True})
