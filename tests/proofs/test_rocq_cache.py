"""What the cache holds counts only under the user's own seal, and in CI not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attnproof.proofs import kernel, rocq_cache
from attnproof.proofs.kernel import Development, GateReport, run_gate
from rocq_samples import BASE, FRAUDS, HONEST


def test_the_cache_keeps_only_the_latest(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"kernel-{number}").mkdir()
        os.utime(tmp_path / f"kernel-{number}", (number, number))
    (tmp_path / "other-1").mkdir()
    assert rocq_cache.make_room(tmp_path / "kernel-new", keep=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kernel-4", "kernel-5", "other-1"]


def fraud_kept() -> tuple[Development, Path]:
    """A development that does not pass, judged, and the folder that the cache keeps of it."""
    changes, _, _ = FRAUDS["admitted"]
    development = Development({**HONEST, "base.v": changes["base__v"], "Claims.v": changes["Claims__v"]})
    assert not run_gate(development=development).ok
    assert run_gate(development=development).cached
    return development, next(rocq_cache.cache_folder().glob("kernel-*"))


def test_a_planted_report_is_not_believed(cache: Path) -> None:
    development, home = fraud_kept()
    row = kernel.TheoremRow("T1", "base.two", "1 + 1 = 3", (), 0.1, True, "closed under the global context")
    (home / "report.json").write_text(GateReport((row,)).to_json(), encoding="utf-8")
    report = run_gate(development=development)
    assert not report.cached
    assert not report.ok


def test_a_folder_that_another_key_sealed_is_not_believed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    development, _ = fraud_kept()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert not run_gate(development=development).cached


def test_a_key_that_others_can_read_seals_nothing(cache: Path) -> None:
    development, _ = fraud_kept()
    assert rocq_cache.key_file().stat().st_mode & 0o777 == 0o600
    rocq_cache.key_file().chmod(0o644)
    assert not run_gate(development=development).cached


def test_a_folder_under_another_name_is_not_believed(tmp_path: Path, cache: Path) -> None:
    with rocq_cache.build_folder({"x.v": "text"}, tmp_path / "kernel-1"):
        pass
    assert rocq_cache.kept(tmp_path / "kernel-1")
    (tmp_path / "kernel-1").rename(tmp_path / "kernel-2")
    assert not rocq_cache.kept(tmp_path / "kernel-2")
    assert not (tmp_path / "kernel-2").exists()


@pytest.mark.parametrize("change", ["content", "more", "link"])
def test_one_changed_file_breaks_the_seal(change: str, tmp_path: Path, cache: Path) -> None:
    home = tmp_path / "kernel-1"
    with rocq_cache.build_folder({"x.v": "text", "y.v": "text"}, home):
        pass
    if change == "content":
        (home / "x.v").write_text("other", encoding="utf-8")
    elif change == "more":
        (home / "z.vo").write_text("", encoding="utf-8")
    else:
        (home / "x.v").unlink()
        (home / "x.v").symlink_to(home / "y.v")
    assert not rocq_cache.kept(home)


def test_in_ci_nothing_is_kept_and_nothing_believed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run_gate(development=Development(HONEST)).cached
    monkeypatch.setenv("CI", "true")
    assert not run_gate(development=Development(HONEST)).cached
    folders = sorted(cache.glob("attnproof/*"))
    other = Development({**HONEST, "base.v": BASE + "\n"})
    assert run_gate(development=other).ok
    assert sorted(cache.glob("attnproof/*")) == folders
    assert not run_gate(development=other).cached
