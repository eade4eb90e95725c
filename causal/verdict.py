"""What a check returns: a status, the evidence for it, the assumptions it rests on, and a witness when it is refuted.

Four statuses are kept apart: `PROVED` holds for all inputs, `PROVED_IF` under listed conditions that data, training or
rounding can break, `REFUTED` comes with a witness that replays, `UNDECIDED` says what could not be excluded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from . import report
from .boundary import Boundary
from .late_text import HasLateTexts, LateText
from .spans import Runs, spans_of

SCHEMA_VERSION = 1

EVIDENCE_KINDS = (
    "symbolic",
    "exact",
    "enclosure",
    "property",
    "scale",
    "solver",
    "abstract",
    "replay",
    "kernel",
)


class Status(Enum):
    """The outcome of a check; the value reads as advice.

    >>> Status.PROVED_IF.value
    'holds under the listed conditions, which data, training or rounding can break'
    """

    PROVED = "holds for all inputs under the printed assumptions"
    PROVED_IF = "holds under the listed conditions, which data, training or rounding can break"
    REFUTED = "does not hold: the witness replays"
    UNDECIDED = "could be neither proved nor refuted: the reasons say what could not be excluded"


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence: its kind (see EVIDENCE_KINDS), whether it holds, and what was done.

    `ok` is None when it was not run; `detail` then says why. `seconds` is wall-clock time where it was measured.
    """

    kind: str
    ok: bool | None
    detail: str
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in EVIDENCE_KINDS:
            raise ValueError(f"kind = {self.kind!r} is no kind of evidence; use one of {', '.join(EVIDENCE_KINDS)}")


class Witness:
    """A counterexample that replays: two inputs that agree wherever the query may look, and two different outputs.

    Subclasses (one per kind of subject) set `kind`, the fields below, and implement `replay` and `to_dict`/`from_dict`.

    Attributes: `query` and `position` (0-based; output `query` changed with input `position`), `slot` where there is
    one, `inputs` (before, after), `outputs` (before, after).
    """

    kind: ClassVar[str] = ""
    replays_with: ClassVar[str] = ""  # what `replay` needs of a witness that was read back, in words of the call
    _homes: ClassVar[dict[str, str]] = {
        "projection": ".projection.witness",
        "family": ".design.witness",
        "model": ".model.witness",
        "pipeline": ".pipeline.witness",
    }
    _classes: ClassVar[dict[str, type[Witness]]] = {}

    query: int
    position: int
    slot: int | None
    inputs: tuple[Any, Any]
    outputs: tuple[Any, Any]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.kind:
            Witness._classes[cls.kind] = cls

    def replay(self) -> bool:
        """Recompute both outputs independently of the checker; true iff they differ again."""
        raise NotImplementedError

    def describe(self) -> str:
        """A sentence: who changes with whom, and from which value to which."""
        before, after = self.outputs
        return f"output {self.query} changes from {before} to {after} when input {self.position} changes"

    def changes(self) -> list[tuple[str, str, str]]:
        """What differs between the two inputs, each with both values as text; empty where the record lacks them."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with `kind`."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Witness:
        """The witness that `to_dict` wrote; ValueError for an unknown kind."""
        kind = data["kind"]
        if kind not in Witness._classes and kind in Witness._homes:
            import_module(Witness._homes[kind], __package__)
        if kind not in Witness._classes:
            raise ValueError(f"kind = {kind!r} is no kind of witness; use one of {', '.join(Witness._homes)}")
        return Witness._classes[kind].from_dict(data)


@dataclass(frozen=True)
class Condition:
    """What must hold for a `PROVED_IF` verdict, and the input that breaks it where one is known."""

    text: str
    counterexample: Witness | None = None


@dataclass(frozen=True)
class LeakBound:
    """How much all forbidden positions together can move an output (T19), rounded outwards.

    Where no forbidden value moves by more than η and no forbidden score by more than θ, however many of them move, no
    component of the output moves by more than `values` · η + `keys` · θ · |V|, with |V| the largest value.
    """

    values: float
    keys: float

    @classmethod
    def later(cls, compute: Callable[[], LeakBound]) -> LeakBound:
        """A bound that is computed when it is first looked at: it can cost more than the verdict.

        >>> LeakBound.later(lambda: LeakBound(1.0, 0.0)) == LeakBound(1.0, 0.0)
        True
        """
        bound = object.__new__(cls)
        bound.__dict__["compute"] = compute
        return bound

    def __getattr__(self, name: str) -> Any:
        compute = self.__dict__.pop("compute", None) if name in ("values", "keys") else None
        if compute is not None:
            found = compute()
            self.__dict__.update(values=found.values, keys=found.keys)
        if name not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return LeakBound, (self.values, self.keys)


@dataclass(frozen=True)
class Column:
    """One output column of a pipeline: its status, the first leaking row, the reach, both values, what carries it."""

    name: str
    status: Status
    detail: str
    first_row: int | None = None
    reach: int | str | None = None
    values: tuple[Any, Any] | None = None
    carrier: str | None = None
    through: str | None = None  # "value" or "length"
    score: float | None = None  # share of settled values that were rewritten


@dataclass(frozen=True, repr=False)
class Verdict(HasLateTexts):
    """The result of a check. `bool(verdict)` is true only for `PROVED`.

    Attributes: `subject` ("projection", "family", "model" or "pipeline"); `about`, a phrase that says of what;
    `status`; `claims`, the ids of the theorems used; `evidence`; `assumptions` and `conditions`; `witness` when
    refuted; `reasons` when undecided, and remarks otherwise; `leak_bound`; `starved`, the queries that see nothing;
    `boundary`; `columns` for pipelines; `details`, plain data that only this kind of subject has; `suppressed`, the
    reason given for accepting the verdict all the same; `versions`; `input_hash` ("" where it was written to since).

    >>> v = Verdict("projection", "2 slots over 3 positions", Status.PROVED, claims=("T10",), starved=(0,))
    >>> bool(v), v.headline()
    (True, 'PROVED: 2 slots over 3 positions; 1 query starved')
    >>> Verdict.from_json(v.to_json()) == v
    True
    """

    subject: str
    about: str
    status: Status
    claims: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    assumptions: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    witness: Witness | None = None
    reasons: tuple[str, ...] = ()
    leak_bound: LeakBound | None = None
    starved: Sequence[int] = ()
    queries: int | None = None
    boundary: Boundary | None = None
    columns: tuple[Column, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    suppressed: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    input_hash: LateText = LateText()  # noqa: RUF009  (a descriptor)

    def __bool__(self) -> bool:
        return self.status is Status.PROVED

    def with_evidence(self, *more: Evidence) -> Verdict:
        """The same verdict with further evidence."""
        return replace(self, evidence=(*self.evidence, *more))

    def suppress(self, reason: str) -> Verdict:
        """The same verdict, accepted for a stated reason that every output shows; ValueError for an empty reason."""
        if not reason.strip():
            raise ValueError("reason is empty; say why this verdict is acceptable, it is shown with it")
        return replace(self, suppressed=reason)

    # -- words ----------------------------------------------------------------------------------------------------

    def headline(self) -> str:
        """The first line: status, subject, and how many queries see nothing."""
        starved = ""
        if len(self.starved):
            of = f" of {self.queries}" if self.queries is not None else ""
            plural = "query" if len(self.starved) == 1 and not of else "queries"
            starved = f"; {len(self.starved)}{of} {plural} starved"
        return f"{self.status.name}: {self.about}{starved}"

    def explain(self) -> str:
        """A paragraph for a person: what was decided, by which evidence, under which assumptions, what to look at."""
        return report.paragraph(self)

    def __str__(self) -> str:
        return report.text(self)

    def __rich__(self) -> Any:
        return report.rich_panel(self)

    def __repr__(self) -> str:
        return f"<Verdict {self.headline()}>"

    def _repr_html_(self) -> str:
        return report.html(self)

    def report(self, path: str | Path) -> None:
        """Write a page of HTML that stands by itself, with the verdict's JSON inside: `from_report` reads it again.

        It shows what was decided, the evidence, the witness and how to replay it, and of the user's data only what the
        witness and the JSON need. Raises ValueError for an ending other than .html, OSError without the folder.
        """
        from . import document, page

        document.write(page.page(self), path)

    @classmethod
    def from_report(cls, path: str | Path) -> Verdict:
        """The verdict that lies in a page that `report` wrote; ValueError for a file without one."""
        from .page import json_in

        return cls.from_json(json_in(path))

    def plot(self, axes: Any = None) -> Any:
        """Draw the verdict (matplotlib axes); what is drawn depends on the subject."""
        from .page import pictures_of

        return pictures_of(self.subject).plot(self, axes)

    # -- JSON -----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data with `schema_version`; fractions as "a/b", starved queries as runs [first, past the last]."""
        data: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
        for f in fields(self):
            data[f.name] = _plain(getattr(self, f.name))
        data["starved"] = [list(run) for run in spans_of(self.starved)]
        data["boundary"] = None if self.boundary is None else self.boundary.to_dict()
        return data

    def to_json(self, **keywords: Any) -> str:
        """JSON text; keywords go to `json.dumps`. Numbers that JSON lacks (nan, inf) are written as strings."""
        return json.dumps(self.to_dict(), allow_nan=False, **keywords)

    @classmethod
    def from_json(cls, text: str) -> Verdict:
        """The verdict that `to_json` wrote; ValueError when the schema version is another."""
        data = json.loads(text)
        version = data.pop("schema_version", None)
        if version != SCHEMA_VERSION:
            raise ValueError(f"schema_version = {version!r} cannot be read; this release reads {SCHEMA_VERSION}")
        witness, bound, boundary = data["witness"], data["leak_bound"], data["boundary"]
        return cls(
            **{
                **data,
                "status": Status[data["status"]],
                "claims": tuple(data["claims"]),
                "evidence": tuple(Evidence(**e) for e in data["evidence"]),
                "assumptions": tuple(data["assumptions"]),
                "conditions": tuple(
                    Condition(c["text"], c["counterexample"] and Witness.from_dict(c["counterexample"]))
                    for c in data["conditions"]
                ),
                "witness": witness and Witness.from_dict(witness),
                "reasons": tuple(data["reasons"]),
                "leak_bound": bound and LeakBound(*(float(bound[k]) for k in ("values", "keys"))),
                "starved": Runs(data["starved"]),
                "boundary": boundary and Boundary.from_dict(boundary),
                "columns": tuple(
                    Column(**{**c, "status": Status[c["status"]], "values": c["values"] and tuple(c["values"])})
                    for c in data["columns"]
                ),
            }
        )


def _plain(value: Any) -> Any:
    """Data that JSON can hold, without losing exactness silently."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Status):
        return value.name
    if isinstance(value, Witness):
        return value.to_dict()
    if isinstance(value, (Evidence, Condition, LeakBound, Column)):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Iterable):
        return [_plain(v) for v in value]
    return str(value)


# -- errors that assertions raise ---------------------------------------------------------------------------------


class NotProvedError(AssertionError):
    """The verdict has a status that is not accepted; `verdict` is attached."""

    def __init__(self, verdict: Verdict, message: str | None = None) -> None:
        super().__init__(message or f"{verdict}")
        self.verdict = verdict


class PrefixLeakError(NotProvedError):
    """The verdict is `REFUTED`: something looks ahead; `verdict.witness` replays it."""


def accept_or_raise(verdict: Verdict, accept: Sequence[str], suppress: str | None = None) -> Verdict:
    """The verdict when its status is among `accept` or a suppression names its reason; otherwise raises.

    Raises PrefixLeakError for REFUTED, NotProvedError for another status, ValueError for an unknown status in `accept`.

    >>> accept_or_raise(Verdict("projection", "it", Status.PROVED), ("PROVED",)).status.name
    'PROVED'
    """
    names = [accept] if isinstance(accept, str) else list(accept)
    for name in names:
        if name not in Status.__members__:
            raise ValueError(f"accept names {name!r}, which is no status; use {', '.join(Status.__members__)}")
    if verdict.status.name in names:
        return verdict
    if suppress is not None:
        return verdict.suppress(suppress)
    raise (PrefixLeakError if verdict.status is Status.REFUTED else NotProvedError)(verdict)


def versions_of(*modules: str) -> dict[str, str]:
    """Installed versions of attnproof and the named distributions, for the verdict's record."""
    return {name: _version(name) for name in ("attnproof", *modules)}


@cache
def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
