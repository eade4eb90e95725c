"""What a static reader sees of the package: doors that are callables with arguments, not Any."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import need

DOORS = ("check_projection", "check_family", "check_model", "check_pipeline", "assert_causal", "assert_no_lookahead")


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> dict[int, str]:
    """What mypy says of a user's file, by line: two lines for each door."""
    need("mypy")
    import attnproof

    folder = tmp_path_factory.mktemp("user")
    home = Path(attnproof.__file__).parent
    (folder / "attnproof").symlink_to(home, target_is_directory=True)  # mypy follows no import hook of an editable one
    lines = [f"reveal_type(attnproof.{door})\nattnproof.{door}(1, 2, nonsense=3)" for door in DOORS]
    (folder / "user.py").write_text("\n".join(["import attnproof", *lines]) + "\n", encoding="utf-8")
    environment = {**os.environ, "MYPYPATH": str(folder)}
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports", "user.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said: dict[int, str] = {}
    for line in done.stdout.splitlines():
        if line.startswith("user.py:"):
            _, number, text = line.split(":", 2)
            said[int(number)] = said.get(int(number), "") + text
    assert said, done.stdout + done.stderr
    return said


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_a_callable_that_returns_a_verdict(seen, door):
    revealed = seen[2 + 2 * DOORS.index(door)]
    assert 'Revealed type is "def (' in revealed, revealed
    assert "attnproof.causal.verdict.Verdict" in revealed, revealed


@pytest.mark.parametrize("door", [door for door in DOORS if door.startswith("check_")])
def test_a_nonsense_call_is_an_error(seen, door):  # the assertions hand keywords on
    said = seen[3 + 2 * DOORS.index(door)]
    assert f'Unexpected keyword argument "nonsense" for "{door}"' in said, said
