"""How many tokens there are, told by the tables that they index, directly or after slices, shifts and offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .precision import uncompiled

if TYPE_CHECKING:
    from collections.abc import Collection

    from torch import Tensor

    from .program import Program
    from .setting import Setting
    from .watch import Table


def inferred(program: Program, setting: Setting, tables: Collection[Table]) -> int | None:
    """The number of tokens: the rows of the smallest table that takes them as they are, where no other takes them.

    Else the largest number that a table suggests and that runs show to be safe: with all tokens the largest, with all
    the smallest, and with random ones. None where no table was seen, or none suggests one.
    """
    if all(table.plain for table in tables):
        return min((table.rows for table in tables), default=None)
    suggested = {t.rows for t in tables} | {t.rows - t.offset for t in tables if t.offset > 0}
    return next(
        (count for count in sorted(suggested, reverse=True) if count > 1 and _safe(program, setting, count)), None
    )


def _safe(program: Program, setting: Setting, count: int) -> bool:
    """Whether the model runs on tokens from 0 to count − 1."""
    import torch

    x = program.input
    if not x.is_floating_point() and count - 1 > torch.iinfo(x.dtype).max:
        return False
    generator = torch.Generator().manual_seed(count)
    mixed = torch.randint(0, count, x.shape, generator=generator).to(x.device, x.dtype)
    return all(_runs(program, setting, t) for t in (torch.full_like(x, count - 1), torch.zeros_like(x), mixed))


def _runs(program: Program, setting: Setting, x: Tensor) -> bool:
    from .watch import Watcher

    try:
        with program.prepared(setting), uncompiled(), Watcher(x, strict=True) as watch:
            program.call(watch.x)
    except Exception:  # whatever the model raises says no more than that
        return False
    return True
