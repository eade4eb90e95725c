"""`attnproof design`: the catalogue, one design with its proof and picture, and the exported questions."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from needs import need

pytestmark = pytest.mark.claim("T16")
need("z3")
need("cvc5")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "attnproof.cli", "design", *arguments], capture_output=True, text=True)


def test_list_names_every_design_with_its_verdict():
    from attnproof.causal.design.catalogue import BUILD

    done = run("list", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema_version"] == 1
    rows = found["designs"]
    assert [row["name"] for row in rows] == list(BUILD)
    assert {row["status"] for row in rows[:8]} == {"PROVED"}
    assert {row["status"] for row in rows[8:]} == {"REFUTED"}
    assert "PROVED: design dyadic is safe and complete for every n ≥ 1, p ≥ 1" in run("list").stdout


def test_show_proves_prints_and_draws(tmp_path):
    need("matplotlib")
    picture = tmp_path / "blocks.png"
    done = run("show", "completed-blocks", "--n", "11", "--block", "3", "--save", str(picture))
    assert done.returncode == 0, done.stderr
    least = "no design with 3 slots is below 2, T14; none that starves nobody is below 3, T21"
    assert f"staleness: 2 positions ({least})" in " ".join(done.stdout.split())
    assert "PROVED: design completed-blocks" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_picture_is_promised_for_save_only():
    said = " ".join(run("show", "--help").stdout.split())
    assert "One design: its proof for every n and its numbers at size N and, with --save, a picture of it." in said
    assert "Write a picture of who reads what and who sees what" in said


def test_show_refutes_published_designs():
    done = run("show", "triangular-scores", "--n", "8", "--slots", "3", "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["witness"]["n"] == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "blocks"], "design 'blocks' is unknown; did you mean "),
        (["show", "dyadic", "--n", "0"], "--n 0 is too small; pass a whole number of at least 1"),
        (["show", "dyadic", "--d", "0"], "--d 0 is too small; pass a whole number of at least 1"),
        (["show", "dyadic", "--block", "3"], "--block does not apply to design dyadic; it takes none of these options"),
        (["show", "decaying", "--slots", "3"], "--slots does not apply to design decaying; it takes --stride"),
        (
            ["show", "blocks-with-window", "--block", "5", "--window", "1"],
            "--window 1 does not fit; pass a whole number",
        ),
        (["show", "blocks-with-window", "--block", "0"], "--block 0 is too small; pass a whole number of at least 1"),
        (["show", "zzzz"], "design 'zzzz' is unknown; the designs are completed-blocks, "),
        (
            ["show", "packed-blocks", "--lengths", "3,x"],
            "--lengths '3,x' is not a list of lengths; write whole numbers",
        ),
        (
            ["show", "packed-blocks", "--n", "9", "--lengths", "3,3"],
            "--lengths '3,3' are no documents over --n 9 positions; pass positive lengths that sum to 9",
        ),
        (
            ["show", "dyadic", "--save", "picture.txt"],
            "--save 'picture.txt' has no picture's ending; use .png, .svg or .pdf",
        ),
        (["show", "dyadic", "--save", "nowhere/x.png"], "--save 'nowhere/x.png' lies in a folder that does not exist"),
        (
            ["show", "dyadic", "--n", "2000", "--save", "x.png"],
            "--n 2000 is too large for a picture; pass at most 1000",
        ),
    ],
)
def test_bad_arguments_get_one_sentence(arguments, sentence, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "attnproof.cli", "design", *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def refused(monkeypatch, capsys, free: int, *arguments: str) -> str:
    """What is said on standard error where so much memory is free; nothing is computed."""
    import attnproof.cli as cli
    import attnproof.cli.cost
    import attnproof.cli.design

    monkeypatch.setattr(attnproof.cli.cost, "free_memory", lambda: free)
    monkeypatch.setattr(attnproof.cli.design, "_numbers", lambda *_: pytest.fail("the matrices were made"))
    monkeypatch.setattr(sys, "argv", ["attnproof", "design", "show", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 2
    return capsys.readouterr().err


def test_sizes_beyond_the_memory_are_refused_beforehand(monkeypatch, capsys):
    said = refused(monkeypatch, capsys, 12 * 10**6, "completed-blocks", "--n", "100000", "--block", "4")
    # 12 bytes for each of n ⌊n/4⌋ pairs: 2000 positions make 10⁶ pairs, 2001 more.
    assert said == (
        "attnproof: --n 100000 needs about 27.9 GiB for the matrices of 25,000 slots, 0.0 GiB are free; "
        "the largest n that fits is 2000\n"
    )
    lengths = refused(monkeypatch, capsys, 2**20, "packed-blocks", "--n", "4000", "--lengths", "2000,2000")
    assert "; the largest n that fits is " in lengths
    done = run("show", "dyadic", "--n", "10000000")  # on any machine
    assert done.returncode == 2
    assert done.stderr.startswith("attnproof: --n 10000000 needs about ")


@pytest.mark.parametrize(
    "name", ["completed-blocks", "dyadic", "decaying", "packed-blocks", "packed-decaying", "dense"]
)
def test_the_memory_is_estimated_for_the_slots_there_are(name):
    import tracemalloc

    from attnproof.causal.design.catalogue import build
    from attnproof.cli.design import _memory, _numbers

    design = build(name, 700)
    slots, need = _memory(design, 700)
    tracemalloc.start()
    try:
        numbers = _numbers(design, 700, 64)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert numbers["slots"] == slots
    assert peak <= 1.15 * need + 2**20


def test_export_writes_every_question(tmp_path):
    done = run("export", str(tmp_path / "smt"))
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "smt").iterdir())
    assert done.stdout.startswith(f"{len(files)} files")
    assert "dyadic.completeness.smt2" in [f.name for f in files]
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert text.count("(check-sat)") == 1
        assert "(set-info :status " in text
