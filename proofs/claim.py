"""What a claim is: a statement with a source, a derivation, and checks that can fail; and the register of all claims.

Each claim lives in a module of its own, `proofs/tNN_name.py`, which defines `CLAIM`. A check returns one line that says
what was done, or raises `CheckFailed`; nothing in a row of the table is a constant.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from ..symbolic.derivation import Derivation


class CheckFailed(AssertionError):
    """A check of a claim came out false; the message names what differed."""


def expect(holds: object, message: str) -> None:
    """Raises CheckFailed with the message unless `holds` is true."""
    if not holds:
        raise CheckFailed(message)


@dataclass
class Scale:
    """Where and at what size a scale check runs.

    `xp` is an array-API namespace, `device` a device of it or None, `n` the number of positions asked for (None: the
    claim's own default). `seed` feeds every random draw.
    """

    xp: Any
    device: Any = None
    n: int | None = None
    seed: int = 0

    def array(self, values: Any) -> Any:
        """The values as an array of `xp`, on the device."""
        return self.xp.asarray(values) if self.device is None else self.xp.asarray(values, device=self.device)


@dataclass(frozen=True)
class Claim:
    """One claim of docs/theory.md.

    Attributes: `id` ("T3"); `title`; `statement`, one plain line; `latex`; `source` ("article, 'Which matrix has low
    rank?'", "Linformer paper §4" or "ours"); `derive()` builds the derivation whose steps are decided anew;
    `enclosure(digits)`, `property(rng)`, `scale(Scale)`, `exact()`, `solver()` are checks or None where the claim has
    none; `largest_n` is the largest size at which the scale check means something; `theorems` names the Rocq theorems
    that settle it; `incomplete` says why a claim has no evidence yet; `reading` tells a person how to read
    the claim and what it does not say.
    """

    id: str
    title: str
    statement: str
    latex: str
    source: str
    derive: Callable[[], Derivation] | None = None
    exact: Callable[[], str] | None = None
    enclosure: Callable[[int], str] | None = None
    property: Callable[[random.Random], str] | None = None
    scale: Callable[[Scale], str] | None = None
    solver: Callable[[], str] | None = None
    replay: Callable[[], str] | None = None
    largest_n: int | None = None
    theorems: tuple[str, ...] = field(default=())
    incomplete: str | None = None
    reading: str = ""


@cache
def registry() -> dict[str, Claim]:
    """All claims by id, in order: every module `tNN_*.py` of this folder.

    >>> list(registry())[:2]
    ['T1', 'T2']
    """
    names = sorted(
        entry.name.removesuffix(".py")
        for entry in resources.files(__package__).iterdir()
        if re.fullmatch(r"t\d\d_\w+\.py", entry.name)
    )
    claims = [import_module(f"{__package__}.{name}").CLAIM for name in names]
    return {claim.id: claim for claim in claims}


def claim_by_id(name: str) -> Claim:
    """The claim with this id ("T11", "t11" or "11"); a nearly right id is suggested.

    Raises ValueError for an id that no claim has.
    """
    wanted = name.strip().upper()
    wanted = wanted if wanted.startswith("T") else f"T{wanted}"
    if wanted in registry():
        return registry()[wanted]
    near = [f"did you mean {claim}; " for claim in difflib.get_close_matches(wanted, registry(), n=1)]
    raise ValueError(f"claim {name!r} is unknown; {''.join(near)}the claims are {', '.join(registry())}")
