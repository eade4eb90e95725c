"""What the first runs of a program showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .trace.records import Trace
    from .watch import Table


@dataclass(frozen=True)
class Seen:
    """What one run showed: what the model returned, the coarsest float in use, randomness, writes, tables.

    `unset` says why the mode is not the one asked for, `unbounded` what gave a number that is not finite; `lent`: the
    result lay in memory of the model's own, which was put back. Without a run (`ran`), nothing of this is known but the
    shapes of the result. `first` is the abstract run that came before it, for any parameters and positions in their
    order, or why there is none.
    """

    result: Any
    epsilon: float
    random: bool
    apart: bool
    writes_input: tuple[int, ...]
    writes_state: tuple[str, ...]
    tables: frozenset[Table]
    strangers: tuple[Any, ...] = ()
    fixed_modes: tuple[str, ...] = ()
    unset: str = ""
    unbounded: str = ""
    lent: bool = False
    ran: bool = True
    first: Trace | str = ""
