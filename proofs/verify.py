"""Running the claims: every derivation decided anew, every check run, one row per claim."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..causal.verdict import Evidence
from ..symbolic.typeset import typeset
from .claim import Claim, Scale, claim_by_id, registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.table import Table
    from rich.text import Text

    from ..symbolic.derivation import Lemma

SCHEMA_VERSION = 1
PROVING = ("symbolic", "exact", "solver")  # an enclosure proves a number, a property check samples: neither is enough
MARK = {True: "✓", False: "✗", None: "–"}
COLOUR = {"proved": "green", "derived": "cyan", "failed": "red", "incomplete": "yellow"}
DEFAULT_DIGITS = 30
MOST_DIGITS = 4000


@dataclass(frozen=True)
class Row:
    """What was found for one claim: its status, the evidence, the lemmas leant on.

    `status` is "proved", "failed", "incomplete", or "derived": every step was decided, and lemmas are left that the
    kernel has not closed in this run.
    """

    claim: Claim
    status: str
    evidence: tuple[Evidence, ...]
    lemmas: tuple[Lemma, ...]
    seconds: float

    @property
    def open_lemmas(self) -> tuple[Lemma, ...]:
        """The lemmas that nothing closes: all of them until the kernel has accepted the claim's theorems."""
        return _still_open(self.lemmas, self.evidence)

    @property
    def standing(self) -> str:
        """The status in words: "proved", or "derived, 5 lemmas" while so many are open."""
        count = len(self.open_lemmas)
        return f"derived, {count} lemma{'s' * (count > 1)}" if self.status == "derived" else self.status

    def _repr_markdown_(self) -> str:
        claim = self.claim
        lines = [f"**{claim.id}. {claim.title}** — {self.standing}", "", f"$$\\displaystyle {claim.latex}$$", ""]
        lines += [typeset(claim.statement), "", "| evidence | | found | seconds |", "|---|---|---|---|"]
        for e in self.evidence:
            seconds = "" if e.seconds is None else f"{e.seconds:.2f}"
            lines.append(f"| {e.kind} | {MARK[e.ok]} | {typeset(e.detail)} | {seconds} |")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The row as `attnproof verify --format json` writes it."""
        return {
            "id": self.claim.id,
            "statement": self.claim.statement,
            "status": self.status,
            "open_lemmas": len(self.open_lemmas),
            "evidence": [{"kind": e.kind, "ok": e.ok, "detail": e.detail, "seconds": e.seconds} for e in self.evidence],
        }


def check_claim(
    claim: Claim | str, *, digits: int = DEFAULT_DIGITS, seed: int = 0, scale: Scale | None = None, kernel: bool = False
) -> Row:
    """Everything that can be checked of one claim, checked now.

    `digits` is the precision of the enclosures, `seed` feeds the property check, `scale` asks for the check on arrays,
    `kernel` for the Rocq proofs. A check that fails makes the row `failed`; one that cannot run here says why.
    Raises ValueError for an unknown claim and for digits outside 1 … 4000.

    >>> row = check_claim("T1", digits=12)
    >>> row.status, [e.kind for e in row.evidence]
    ('proved', ['symbolic', 'enclosure', 'property'])
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
        raise ValueError(f"precision = {digits!r} is not a number of digits from 1 to {MOST_DIGITS}; pass one that is")
    claim = claim_by_id(claim) if isinstance(claim, str) else claim
    start = time.perf_counter()
    lemmas: list[Lemma] = []
    checks: dict[str, Callable[[], str] | None] = {
        "symbolic": claim.derive and (lambda: _derived(claim, lemmas)),
        "exact": claim.exact,
        "enclosure": claim.enclosure and (lambda: claim.enclosure(digits)),
        "property": claim.property and (lambda: claim.property(random.Random(seed))),
        "replay": claim.replay,
        "solver": claim.solver,
    }
    evidence = [_run(kind, check) for kind, check in checks.items() if check is not None]
    if scale is not None:
        evidence.append(_scale_evidence(claim, scale))
    if kernel:
        evidence.extend(_kernel_evidence(claim))
    return Row(claim, _status(claim, evidence, lemmas), tuple(evidence), tuple(lemmas), time.perf_counter() - start)


def _derived(claim: Claim, lemmas: list[Lemma]) -> str:
    assert claim.derive is not None
    checked = claim.derive().check()
    lemmas.extend(checked.lemmas)
    return str(checked)


def _run(kind: str, check: Callable[[], str]) -> Evidence:
    """One check. A failed one is evidence against the claim; a missing library is no evidence either way."""
    start = time.perf_counter()
    ok: bool | None = True
    try:
        detail = check()
    except ImportError as error:
        ok, detail = None, f"not run: {error}"
    except Exception as error:
        ok, detail = False, f"{error}" if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
    return Evidence(kind, ok, detail, round(time.perf_counter() - start, 4))


def _scale_evidence(claim: Claim, scale: Scale) -> Evidence:
    if claim.scale is None:
        return Evidence("scale", None, "not run: this claim has no check on arrays")
    run, most = claim.scale, claim.largest_n
    if most is not None and scale.n is not None and scale.n > most:
        capped = replace(scale, n=most)
        return _run(
            "scale", lambda: f"{run(capped)} (n = {scale.n} was asked; {most} is the most that means something)"
        )
    return _run("scale", lambda: run(scale))


def _kernel_evidence(claim: Claim) -> list[Evidence]:
    try:
        from . import kernel
    except ImportError as error:
        return [Evidence("kernel", None, f"not run: {error}")]
    found = kernel.kernel_evidence(claim.id)
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _status(claim: Claim, evidence: Sequence[Evidence], lemmas: Sequence[Lemma]) -> str:
    if any(e.ok is False for e in evidence):
        return "failed"
    if claim.incomplete is not None or not any(e.ok and e.kind in PROVING for e in evidence):
        return "incomplete"
    return "derived" if _still_open(lemmas, evidence) else "proved"


def _still_open(lemmas: Sequence[Lemma], evidence: Sequence[Evidence]) -> tuple[Lemma, ...]:
    closed = any(e.kind == "kernel" and e.ok for e in evidence)
    return tuple(lemma for lemma in lemmas if not (closed and lemma.theorem))


def verify(ids: Iterable[str] = (), **options: Any) -> Iterator[Row]:
    """The rows of the named claims, or of all, one at a time as they are done; options as for `check_claim`.

    >>> [row.standing for row in verify(["T1", "T3"])]
    ['proved', 'derived, 3 lemmas']
    """
    for claim in [claim_by_id(name) for name in ids] or list(registry().values()):
        yield check_claim(claim, **options)


def as_json(rows: Iterable[Row]) -> dict[str, Any]:
    """`{"schema_version": 1, "claims": […]}`."""
    return {"schema_version": SCHEMA_VERSION, "claims": [row.to_dict() for row in rows]}


def table(rows: Sequence[Row]) -> Table:
    """The rows as a Rich table: claim and status, statement, each kind of evidence with a mark, lemmas, seconds."""
    from rich.table import Table
    from rich.text import Text

    found = Table(title="Claims about sequence-compressed attention", title_justify="left", show_lines=True)
    found.add_column("claim", no_wrap=True)
    found.add_column("statement", ratio=3)
    found.add_column("evidence", ratio=2, min_width=12)
    found.add_column("lemmas", justify="right", no_wrap=True)
    found.add_column("seconds", justify="right", no_wrap=True)
    for row in rows:
        claim = Text(f"{row.claim.id}\n").append(row.standing, style=COLOUR[row.status])
        found.add_row(claim, row.claim.statement, _marks(row), _leaning(row), f"{row.seconds:.2f}")
    return found


def _leaning(row: Row) -> str:
    """How many lemmas the row leans on, and of how many once the kernel has closed some."""
    still = len(row.open_lemmas)
    return str(still) if still == len(row.lemmas) else f"{still} of {len(row.lemmas)}"


def _marks(row: Row) -> Text:
    """Each kind of evidence with its mark; the worst one where a kind occurs twice."""
    from rich.text import Text

    found = Text()
    for kind in dict.fromkeys(e.kind for e in row.evidence):
        oks = [e.ok for e in row.evidence if e.kind == kind]
        worst = False if False in oks else None if None in oks else True
        found.append(f"{kind}{MARK[worst]} ", style={True: "green", False: "red", None: "yellow"}[worst])
    return found


def remarks(rows: Iterable[Row]) -> list[str]:
    """One line for everything that failed or was not run, and per claim that is not proved."""
    lines = []
    for row in rows:
        if row.claim.incomplete is not None:
            lines.append(f"{row.claim.id} is incomplete: {row.claim.incomplete}")
        lines += [f"{row.claim.id} {e.kind} {MARK[e.ok]} {e.detail}" for e in row.evidence if not e.ok]
    return lines
