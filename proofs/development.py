"""A Rocq development to judge: its sources, and the axioms that each of its files may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .rocq_source import Pin

# What MathComp-Analysis assumes of the real numbers; Debian's version 0.6 names them so.
CLASSICAL_AXIOMS = frozenset(
    f"mathcomp.classical.boolp.{name}"
    for name in (
        "functional_extensionality_dep",
        "propositional_extensionality",
        "constructive_indefinite_description",
    )
)
# The files that speak of the real exponential. Every other theorem must be closed under the global context.
REAL_FILES = frozenset(
    {
        "exact_reals.v",
        "example.v",
        "example_decimals.v",
        "exponential_sums.v",
        "jensen.v",
        "mixing_softmax.v",
        "normalised.v",
        "softmax_det.v",
    }
)
# Sources that are no part of the development: they prove nothing.
NOT_BUILT = frozenset({"extraction.v", "transfer_extraction.v"})


@dataclass(frozen=True)
class Development:
    """Sources to judge: texts by name (`_CoqProject` and `*.v`), and the files that may use the classical axioms."""

    sources: Mapping[str, str]
    real_files: frozenset[str] = field(default=REAL_FILES)

    def allowed(self, pin: Pin) -> frozenset[str]:
        """The axioms that this theorem may use, by full name."""
        return CLASSICAL_AXIOMS if pin.file in self.real_files else frozenset()

    @classmethod
    def packaged(cls) -> Development:
        """The development that ships with attnproof."""
        folder = resources.files(__package__) / "rocq"
        names = sorted(e.name for e in folder.iterdir() if e.name.endswith(".v") and e.name not in NOT_BUILT)
        return cls({name: (folder / name).read_text(encoding="utf-8") for name in ["_CoqProject", *names]})
