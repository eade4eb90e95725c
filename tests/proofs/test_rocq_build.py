"""Compiling away from the sources: nothing that the environment adds, no leftovers, no endless proofs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from attnproof.proofs import rocq_build


def test_a_proof_that_runs_forever_is_stopped(cache: Path, tmp_path: Path) -> None:
    toolchain = rocq_build.find_toolchain()
    assert toolchain is not None
    (tmp_path / "x.v").write_text("Ltac forever := forever.\nGoal True. forever. Qed.", encoding="utf-8")
    done = rocq_build.compile_file(toolchain, tmp_path, "x.v", limit=1.0)
    assert not done.ok
    assert done.output == "x.v did not compile within 1 s"


def test_a_leftover_product_does_not_count_as_compiled(cache: Path, tmp_path: Path) -> None:
    toolchain = rocq_build.find_toolchain()
    assert toolchain is not None
    (tmp_path / "x.v").write_text("Definition x := y.", encoding="utf-8")
    (tmp_path / "x.vo").write_text("old", encoding="utf-8")
    assert not rocq_build.compile_file(toolchain, tmp_path, "x.v").ok
    assert not (tmp_path / "x.vo").exists()


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "XDG_DATA_DIRS", "COQPATH", "HOME"])
def test_a_library_that_the_environment_adds_is_not_found(
    variable: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = {"COQPATH": "", "HOME": ".local/share/coq"}.get(variable, "coq")
    folder = tmp_path / "added" / below
    folder.mkdir(parents=True)
    toolchain = rocq_build.find_toolchain()
    assert toolchain is not None
    (folder / "evil.v").write_text("Definition evil := 1.", encoding="utf-8")
    subprocess.run([toolchain.coqc, "evil.v"], cwd=folder, check=True)
    own = tmp_path / "own"
    own.mkdir()
    (own / "x.v").write_text("Require evil.", encoding="utf-8")
    monkeypatch.setenv(variable, str(tmp_path / "added"))
    if variable == "HOME":
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert subprocess.run([toolchain.coqc, "x.v"], cwd=own, capture_output=True, check=False).returncode == 0
    assert "Cannot find a physical path" in rocq_build.compile_file(toolchain, own, "x.v").output


def test_another_version_of_mathcomp_is_another_digest(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "bin" / "coqc"
    library = tmp_path / "lib" / "user-contrib" / "mathcomp" / "analysis" / "exp.vo"
    for path in (compiler, library):
        path.parent.mkdir(parents=True)
    compiler.write_text(f"#!/bin/sh\ncase $1 in -where) echo {tmp_path / 'lib'};; *) echo version 8;; esac\n")
    compiler.chmod(0o755)
    (compiler.parent / "coqdep").symlink_to(compiler)
    monkeypatch.setenv("PATH", str(compiler.parent), prepend=os.pathsep)
    library.write_text("version 1", encoding="utf-8")
    before = rocq_build.find_toolchain()
    library.write_text("version 0.7", encoding="utf-8")
    after = rocq_build.find_toolchain()
    assert before is not None
    assert after is not None
    assert before.version == after.version == "version 8"
    assert before.digest != after.digest
    assert before.libraries == {"exp"}
