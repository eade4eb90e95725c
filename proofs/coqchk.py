"""The second opinion: coqchk, a checker smaller than the compiler, goes over every compiled module again."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from .development import CLASSICAL_AXIOMS
from .rocq_build import LIBRARY, clean_environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COQCHK_LIMIT = 3600.0  # seconds; it re-checks all of MathComp-Analysis as well (220 s on an idle core)


def recheck(folder: Path, files: Sequence[str]) -> tuple[bool, str]:
    """Have coqchk re-check the compiled files in one call; accepted only when its summary names nothing of ours."""
    program = shutil.which("coqchk")
    if program is None:
        return False, "coqchk is not on the PATH; install coq"
    modules = [f"{LIBRARY}.{name.removesuffix('.v')}" for name in files]
    try:
        done = subprocess.run(
            [program, "-silent", "-o", "-R", ".", LIBRARY, *modules],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=COQCHK_LIMIT,
            env=clean_environment(),
        )
    except subprocess.TimeoutExpired:
        return False, f"did not finish within {COQCHK_LIMIT:g} s"
    return read_coqchk(done.stdout + done.stderr, done.returncode)


def read_coqchk(output: str, returncode: int) -> tuple[bool, str]:
    """What coqchk's summary says: accepted, and one line of reasons.

    Its context holds the axioms of everything that is loaded, so those of Rocq's own library are expected there; none
    may come from the development, and nothing may rest on a check that was switched off.

    >>> read_coqchk("Fatal Error: file x.vo is damaged", 1)
    (False, 'Fatal Error: file x.vo is damaged')
    """
    sections = dict(re.findall(r"^\* ([^:\n]+):(.*?)(?=^\* |\Z)", output, re.MULTILINE | re.DOTALL))
    if returncode != 0 or "CONTEXT SUMMARY" not in output or "Axioms" not in sections:
        return False, " ".join(output.split())[-300:] or "it printed nothing"
    axioms = [] if sections["Axioms"].strip() == "<none>" else sections["Axioms"].split()
    strange = [a for a in axioms if not (a in CLASSICAL_AXIOMS or a.startswith("Coq."))]
    unsafe = [
        f"{title}: {' '.join(body.split())}"
        for title, body in sections.items()
        if title not in {"Axioms", "Theory"} and body.strip() != "<none>"
    ]
    if strange or unsafe:
        return False, "; ".join([*(f"axiom {a}" for a in strange), *unsafe])[:300]
    return True, f"accepts all modules; {len(CLASSICAL_AXIOMS.intersection(axioms))} classical axioms, none of ours"
