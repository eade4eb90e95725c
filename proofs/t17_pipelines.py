"""T17: perturbation and truncation invariance of functions of a whole series."""

from __future__ import annotations

from .claim import Claim

CLAIM = Claim(
    id="T17",
    title="Look-ahead in pipelines",
    statement="Over all inputs and prefixes truncation invariance implies perturbation invariance, and not conversely.",
    latex=r"f(x)_{\le t}=f(x_{\le t})\Rightarrow(x_{\le t}=x'_{\le t}\Rightarrow f(x)_{\le t}=f(x')_{\le t})",
    source="article, 'Two conditions behind the saving' (input pipeline); ours",
    incomplete="its derivation and counterexamples have not landed",
)
