"""T16: designs given by rules in n, safe for every n or refuted at one."""

from __future__ import annotations

from .claim import Claim

CLAIM = Claim(
    id="T16",
    title="Families of designs",
    statement="A design given by rules in n is safe for all n iff its violation formula is unsatisfiable.",
    latex=r"\nexists\,n,t,j,s:\ \text{sees}(t,s,n)\wedge\text{reads}(s,j,n)\wedge\neg\,\text{allowed}(t,j,n)",
    source="ours",
    incomplete="its derivation and solver check have not landed",
)
