"""Many pipelines on one input: each is checked, and what cannot be is told beside the verdicts of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..verdict import Status
from .check import NoSuchColumn, check_pipeline
from .words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..verdict import Verdict


@dataclass(frozen=True)
class Surveyed:
    """One pipeline: its name and its verdict, or the error in its place."""

    name: str
    verdict: Verdict | None
    error: str | None = None

    @property
    def status(self) -> str:
        """The verdict's status, or "ERROR"."""
        return "ERROR" if self.verdict is None else self.verdict.status.name

    def to_row(self) -> dict[str, Any]:
        """The line that tells of it: what leaks, where first, how far, by what, and how many decisions change."""
        leaking = [c for c in self.verdict.columns if c.status is Status.REFUTED] if self.verdict is not None else []
        first = leaking[0] if leaking else None
        signals = {} if self.verdict is None else self.verdict.details["signals"]
        return {
            "name": self.name,
            "status": self.status,
            "leaking": [column.name for column in leaking],
            "first_row": first and first.first_row,
            "reach": first and first.reach,
            "carrier": first and (first.carrier or first.through),
            "decisions": {name: of["changed"] for name, of in signals.items()},
            "untold": [] if self.verdict is None else self.verdict.details["untold"],
            "said": self.error if self.verdict is None else self.verdict.headline().partition(": ")[2],
        }

    def __str__(self) -> str:
        row = self.to_row()
        if row["untold"] and not row["leaking"]:
            return f"{self.name}: {self.status}: not deterministic: {listed(row['untold'])}"
        return f"{self.name}: {self.status}: {row['said']}"


def check_pipelines(
    functions: Mapping[str, Any], data: Any, *, labels: Sequence[str] = (), signals: Sequence[str] = (), **options: Any
) -> Iterator[Surveyed]:
    """Check each of several functions, by name, on the same data, and yield what was found as soon as it was.

    `labels` and `signals` are those that any of them returns; `options` are those of `check_pipeline`. An error of one
    function is told in its place.

    >>> import numpy as np
    >>> for line in check_pipelines({"sum": np.cumsum, "back": lambda x: x[::-1].copy()}, np.arange(9.0)):
    ...     print(line.name, line.status, line.to_row()["leaking"])
    sum UNDECIDED []
    back REFUTED ['y']
    """
    for name, function in functions.items():
        roles = {"labels": list(labels), "signals": list(signals)}
        try:
            yield Surveyed(name, _checked(function, data, roles, options))
        except (ValueError, TypeError, ImportError) as error:
            yield Surveyed(name, None, " ".join(str(error).split()))


def _checked(function: Any, data: Any, roles: dict[str, list[str]], options: Mapping[str, Any]) -> Verdict:
    """The verdict, in which a name that this function's result lacks plays no role."""
    while True:
        try:
            return check_pipeline(function, data, labels=roles["labels"], signals=roles["signals"], **options)
        except NoSuchColumn as error:
            roles[error.argument] = [name for name in roles[error.argument] if name not in error.columns]
