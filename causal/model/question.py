"""What is asked of one mode and length."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from .limits import Limits
from .setting import Setting

if TYPE_CHECKING:
    from ..boundary import Boundary
    from .interface import AnyProgram
    from .outputs import Outputs
    from .seen import Seen
    from .trace.policy import Policy
    from .trace.registry import Rule


@dataclass(frozen=True)
class Question:
    """A program under a boundary, in one mode: may any of its outputs depend on what the boundary forbids?

    `seen` is what a first run showed, `vocabulary` the number of tokens (None for numbers that are none); `parameters`
    says whether a leak that needs other parameters counts ("any"), `rules` are the caller's own, `limits` bound
    its searches. Without `replay`, or where nothing was `seen` to run, the model itself is not run. `unused`: allowed
    positions that no output is seen to use are looked for.
    """

    program: AnyProgram
    boundary: Boundary
    seen: Seen
    outputs: Outputs
    mode: str
    vocabulary: int | None = None
    parameters: Literal["any", "stored"] = "any"
    rules: tuple[Rule, ...] = ()
    limits: Limits = field(default_factory=Limits)
    replay: bool = True
    unused: bool = False

    @property
    def policy(self) -> Policy:
        """What a first proof assumes."""
        from .trace.policy import Policy

        return Policy(rules=self.rules, values=False)

    @property
    def runs(self) -> bool:
        """Whether the model itself may be run."""
        return self.replay and self.seen.ran

    @property
    def setting(self) -> Setting:
        """How the model is run as given."""
        return Setting(mode=self.mode, apart=self.seen.apart)

    @property
    def place(self) -> str:
        """'eval mode, n = 32'."""
        return f"{self.mode} mode, n = {self.program.n}"
