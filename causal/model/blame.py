"""Where the future enters: the first operation that mixes a forbidden position in, and the way to the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import TYPE_CHECKING, Any

import numpy as np

from .program import Program
from .witness import BEYOND_ROUNDING, ModelWitness

if TYPE_CHECKING:
    from torch import Tensor

    from ..boundary import Boundary
    from .interface import AnyProgram
    from .setting import Setting
    from .trace.policy import Policy
    from .trace.records import Chain, Operation, Trace

SHOWN = 6  # operations of a chain that a sentence shows


@dataclass(frozen=True)
class Blame:
    """The chain of one leak (query ← positions), and its words."""

    query: int
    positions: tuple[int, ...]
    chain: Chain

    @property
    def entry(self) -> Operation | None:
        """The operation where the forbidden position enters."""
        return self.chain.entry

    def sentence(self) -> str:
        """'the future enters at aten.bmm in layers.0.attn (model.py:31), and goes on through …'."""
        entry = self.entry
        assert entry is not None
        after = [op for op in self.chain.path if op is not entry]
        names = [f"{op.name.removeprefix('aten.')}{f' in {op.module}' if op.module else ''}" for op in after]
        names = [name for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
        shown = names if len(names) <= SHOWN else [*names[: SHOWN - 1], "…", names[-1]]
        on = f", and goes on through {' → '.join(shown)}" if shown else ""
        what = (
            f"input {self.positions[0]}"
            if len(self.positions) == 1
            else f"inputs {self.positions[0]}–{self.positions[-1]}"
        )
        return f"{what} can enter output {self.query} at {entry}{on}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `verdict.details`."""
        return {
            "query": self.query,
            "positions": list(self.positions),
            "entry": _plain(self.entry),
            "path": [_plain(op) for op in self.chain.path],
            "entries": [_plain(op) for op in self.chain.entries],
        }


def _plain(op: Operation | None) -> dict[str, str] | None:
    return None if op is None else {"operation": op.name, "module": op.module, "line": op.line, "detail": op.detail}


def blame_leak(
    program: AnyProgram,
    boundary: Boundary,
    output: int,
    query: int,
    positions: Sequence[int],
    policy: Policy,
    setting: Setting,
    like: Trace,
) -> Blame | None:
    """The chain by which forbidden positions reach the query, or None when the run cannot tell (a guide, no proof).

    What belongs to any position that is closed to the query is passed over: it may depend on them. `like` is the
    attempt's own run.
    """
    marked, closed = np.zeros(boundary.n, bool), ~boundary.allowed_row(query)
    marked[list(positions)] = True
    try:
        chain = program.chain(policy, setting, like, output=output, position=query, forbidden=marked, closed=closed)
    except Exception:  # a guide must never stop a verdict
        return None
    return Blame(query, tuple(int(j) for j in positions), chain) if chain.entry is not None else None


def corrected(blame: Blame, program: AnyProgram, boundary: Boundary, witness: ModelWitness) -> Blame | None:
    """The same chain, entered later when the witness's two runs clear the module of its entry.

    What goes into and comes out of the modules is compared at the position where the query stands, along an axis of
    the sequence's length. When the output of the blamed module (or of one around it) is still the same there, the
    future enters later: in the first module whose output differs, or in the parent of the first whose input does. None
    when the module is cleared and no later one is seen to differ. A guide, like the chain.
    """
    if boundary.stands is None or blame.entry is None or not isinstance(program, Program):
        return blame
    stands = int(boundary.stands[witness.query])
    before, after = (_events(program, witness, x, stands) for x in witness.inputs)
    if [e[:2] for e in before] != [e[:2] for e in after]:
        return blame
    cleared = False
    for (name, side, a), (_, _, b) in zip(before, after, strict=True):
        scale = max(witness.rounding, 2.0**-50 * float(a.abs().max())) if a.numel() else 0.0
        if a.numel() and float((a - b).abs().max()) > BEYOND_ROUNDING * scale:
            module = name if side == "out" else name.rpartition(".")[0]
            return (cleared and _entered_in(blame, module)) or blame
        cleared |= side == "out" and f"{blame.entry.module}.".startswith(f"{name}.")
    return None if cleared else blame


def _entered_in(blame: Blame, module: str) -> Blame | None:
    """The chain from its first operation in the module; None when it has none there."""
    path = tuple(dropwhile(lambda op: op.module != module, blame.chain.path))
    return replace(blame, chain=replace(blame.chain, entry=path[0], path=path)) if path else None


def _events(program: Program, witness: ModelWitness, x: np.ndarray, stands: int) -> list[tuple[str, str, Tensor]]:
    """What goes "in" and comes "out" of every module at the position, in the order in which it happens."""
    import torch

    found: list[tuple[str, str, Tensor]] = []

    def keep(name: str, side: str, value: Any) -> None:
        y = value[0] if isinstance(value, (tuple, list)) and value else value
        if not isinstance(y, torch.Tensor) or not y.is_floating_point():
            return
        axes = [a for a, size in enumerate(y.shape) if size == program.n]
        if len(axes) == 1:
            found.append((name, side, y.detach().select(axes[0], stands).clone()))

    def before(name: str) -> Any:
        return lambda module, given: keep(name, "in", given)

    def after(name: str) -> Any:
        return lambda module, given, y: keep(name, "out", y)

    named = [(name, m) for top in program.modules for name, m in top.named_modules() if name]
    hooks = [m.register_forward_pre_hook(before(name)) for name, m in named]
    hooks += [m.register_forward_hook(after(name)) for name, m in named]
    try:
        program.run(witness.tensor(x), witness.setting)
    finally:
        for hook in hooks:
            hook.remove()
    return [(name, side, y.double().nan_to_num()) for name, side, y in found]
