"""The statements that a proof for every length rests on, as files that others can check without us."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ...verdict import Status
from ..setting import ModelError
from . import recheck

if TYPE_CHECKING:
    from ...verdict import Verdict


def save_obligations(verdict: Verdict, directory: str | Path) -> Path:
    """Writes `claim.json`, an SMT-LIB file for each statement and `recheck.py`, which checks them again.

    Raises ModelError where the verdict is no proof for every length, or the directory holds something already.
    """
    found = verdict.details.get("every_length")
    if found is None or verdict.status not in (Status.PROVED, Status.PROVED_IF):
        raise ModelError("the verdict", "is no proof for every length", "pass lengths='all', and one that is proved")
    path = Path(directory)
    if path.exists() and any(path.iterdir()):
        raise ModelError("the directory", f"{str(path)!r} is not empty", "name a new one")
    path.mkdir(parents=True, exist_ok=True)
    entries = []
    for k, obligation in enumerate(found["obligations"], 1):
        name, text = f"{k:03d}.smt2", f"; {obligation['about']}\n{obligation['smtlib']}(check-sat)\n"
        (path / name).write_text(text, encoding="utf-8")
        sha = hashlib.sha256(text.encode()).hexdigest()
        entries.append({"file": name, "about": obligation["about"], "sha256": sha})
    shutil.copy(str(recheck.__file__), path / "recheck.py")
    claim = {
        "claim": f"{verdict.status.name}: {verdict.about}",
        "boundary": found["boundary"],
        "conditions": [c.text for c in verdict.conditions],
        "assumptions": list(verdict.assumptions),
        "versions": dict(verdict.versions),
        "obligations": entries,
    }
    (path / "claim.json").write_text(json.dumps(claim, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
