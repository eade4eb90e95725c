"""What the command line says to whatever does not fit: one sentence with the argument, its value and the remedy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from attnproof.cli import COMMANDS, main
from attnproof.cli.usage import shown, suggestion

pytestmark = pytest.mark.claim("T10")

HALF = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
COMMAND = [sys.executable, "-m", "attnproof.cli"]


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run `attnproof …` here, in a folder with a projection f.npy: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    np.save("f.npy", HALF)
    np.save("square.npy", np.eye(3))
    np.save("nan.npy", np.full((3, 2), np.nan))

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["attnproof", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("chek f.npy", "command 'chek' is unknown; did you mean check?"),
        ("zzzz", "command 'zzzz' is unknown; attnproof --help lists them"),
        ("design sho", "command 'sho' is unknown; did you mean show?"),
        ("--versio", "'--versio' is no option of attnproof; did you mean --version?"),
        ("check f.npy --tol 3", "'--tol' is no option of attnproof check; did you mean --tolerance?"),
        ("check f.npy --zzz", "'--zzz' is no option of attnproof check; attnproof check --help lists them"),
        ("check", "FILE is missing; write attnproof check FILE"),
        ("pipeline m:f", "DATA is missing; write attnproof pipeline MODULE:FUNCTION DATA"),
        ("explain", "CLAIM is missing; write attnproof explain CLAIM"),
        ("cost --n 8", "--r is missing; write attnproof cost --n N --r R --d D"),
        ("check f.npy g.npy", "'g.npy' is too many; attnproof check takes FILE and options"),
        ("doctor x", "'x' is too many; attnproof doctor takes options only"),
        ("check f.npy --key", "--key lacks its value; write --key and the value after it"),
        ("check f.npy --kernel=3", "--kernel takes no value; write --kernel alone"),
        ("check f.npy --format yaml", "--format 'yaml' is unknown; use text or json"),
        ("check f.npy --tolerance abc", "--tolerance 'abc' is no number; pass one of at least 0"),
        ("check f.npy --tolerance -1", "--tolerance '-1' is no bound; pass a number of at least 0"),
        ("check f.npy --tolerance nan", "--tolerance 'nan' is no bound; pass a number of at least 0"),
        ("cost --n 8 --r 2 --d 0", "--d 0 is too small; pass a whole number of at least 1"),
        ("cost --n 8 --r 2 --d 2.5", "--d '2.5' is no whole number; pass one of at least 1"),
        ("model m:f --sequence-axis x", "--sequence-axis 'x' is no whole number; pass one"),
        ("pipeline m:f t.csv --workers 0", "--workers 0 is too small; pass a whole number of at least 1"),
        ("check f.npy --accept all", "--accept 'all' is unknown; use conditional, undecided or both with a comma"),
        (
            "check f.npy --boundary lag:x",
            "--boundary 'lag:x' does not fit (the lag is 'x', which is no whole number); write it like lag:2",
        ),
        (
            "check f.npy --boundary lag:-1",
            "--boundary 'lag:-1' does not fit (the lag is -1, which is below 0); write it like lag:2",
        ),
        (
            "check f.npy --boundary documents:1,x",
            "--boundary 'documents:1,x' does not fit (a length is 'x', which is no whole number); "
            "write lengths that sum to 3, like documents:2,1",
        ),
        (
            "check f.npy --boundary documents:1,1",
            "--boundary 'documents:1,1' does not fit (lengths sum to 2, not to the 3 positions); "
            "write lengths that sum to 3, like documents:2,1",
        ),
        (
            "check f.npy --visible largets",
            "--visible 'largets' is unknown; use largest, or the path of a mask (.npy, .npz, "
            ".safetensors, .pt, .pth, .csv, .parquet)",
        ),
        (
            "check f.npy --visible gone.npy",
            "--visible 'gone.npy' is not a file; pass the path of one of "
            ".npy, .npz, .safetensors, .pt, .pth, .csv, .parquet",
        ),
        (
            "check .",
            "FILE = '.' is a folder; pass the path of one of .npy, .npz, .safetensors, .pt, .pth, .csv, .parquet",
        ),
        ("cost --n 8 --r 2 --d 2 --save .", "--save '.' has no picture's ending; use .png, .svg or .pdf"),
        (
            "cost --n 8 --r 2 --d 2 --save a/x.png",
            "--save 'a/x.png' lies in a folder that does not exist; create a first",
        ),
        (
            "check square.npy",
            "--layout is missing and cannot be read off F of shape (3, 3), which is square; "
            "pass --layout 'slots-first' (r = 3, n = 3) or 'positions-first' (r = 3, n = 3)",
        ),
        ("check f.npy --layout up", "--layout 'up' is unknown; pass 'slots-first' or 'positions-first'"),
        ("check f.npy --visible square.npy", "--visible has shape (3, 3); pass (queries, r) with r = 2"),
        (
            "check f.npy --visible nan.npy",
            "--visible[0, 0] = nan is no bias; pass -inf for hidden and a finite float64 otherwise",
        ),
        ("retention f.npy --span 0:1 --layout up", "--layout 'up' is unknown; pass 'slots-first' or 'positions-first'"),
        ("design export f.npy", "'f.npy' cannot be used (File exists); name another path"),
    ],
)
def test_one_sentence_each(run, words, sentence):
    assert run(*words.split()) == (2, "", f"attnproof: {sentence}\n")


def test_files_that_cannot_be_read(run, tmp_path, monkeypatch):
    (tmp_path / "junk.npy").write_bytes(b"these are words, not numbers" * 9)
    assert run("check", "junk.npy")[2] == "attnproof: junk.npy is damaged, cut short or no .npy file; write it again\n"
    (tmp_path / "empty.npy").write_bytes(b"")
    assert run("check", "empty.npy")[2] == "attnproof: FILE = 'empty.npy' is empty; write it again\n"
    np.savez("none.npz")
    assert run("check", "none.npz")[2] == "attnproof: none.npz holds no array; save one there\n"
    code, _, err = run("check", "x" * 5000 + ".npy")
    assert code == 2
    assert len(err) < 350
    assert "…" in err
    (tmp_path / "d.png").mkdir()
    said = run("cost", "--n", "8", "--r", "2", "--d", "2", "--save", "d.png")[2]
    assert said == "attnproof: --save 'd.png' is a folder; name a file in it\n"
    for shape in ((3,), (2, 3, 4)):
        np.save("f.npy", np.ones(shape))
        assert f"F has shape {shape}; pass a 2-D array" in run("check", "f.npy")[2]


def test_a_file_without_permission(run, monkeypatch):
    def refused(self, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refused)  # root, as whom tests may run, can read every file
    said = run("check", "f.npy")[2]
    assert said == "attnproof: FILE = 'f.npy' cannot be read (Permission denied); make it readable or pass another\n"


def test_what_the_user_s_module_does_wrong(run, tmp_path, monkeypatch):
    written = {
        "syntax": "def build(:",
        "leaves": "import sys; sys.exit(0)",
        "lacks": "import a_library_of_theirs",
        "frames": "import pandas",
        "factory": "number = 3\ndef build(): raise RuntimeError('first\\nsecond')\ndef leave(): raise SystemExit(0)",
        "json": "def build(): pass",
    }
    for name, text in written.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "t.csv").write_text("x\n1\n2\n3\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "pandas", None)
    said = {
        "syntax.py:build": "MODULE = 'syntax' raises SyntaxError on import (",
        "leaves.py:build": "MODULE = 'leaves' raises SystemExit on import (0); it must import",
        "lacks.py:build": "MODULE = 'lacks' needs a_library_of_theirs; install it and run again",
        "frames.py:build": "MODULE = 'frames' needs pandas; install it with pip install 'attnproof[pipelines]'",
        "factory.py:build": "factory.py:build raises RuntimeError (first); it must run without arguments",
        "factory.py:leave": "factory.py:leave raises SystemExit (0); it must run without arguments",
        "factory.py:buld": "FACTORY = 'buld' is not there; did you mean build?",
        "factory.py:number": "FACTORY = 'number' is no factory of 'factory.py'; ",
        "json.py:build": "MODULE = 'json.py' is called like a module that is loaded already; rename it",
    }
    for factory, sentence in said.items():
        code, out, err = run("model", factory)
        assert (code, out, err.count("\n")) == (2, "", 1), factory
        assert err.startswith(f"attnproof: {sentence}"), err


def test_code_under_check_that_exits_is_not_proved(run, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr("attnproof.cli.design.smtlib_texts", lambda: sys.exit(0))
    code, out, err = run("design", "export", "folder")
    assert (code, out, err) == (2, "", "attnproof: a library called sys.exit(0); it must return\n")


def test_what_nobody_foresaw_is_one_sentence_and_a_traceback_on_request(run, monkeypatch):
    monkeypatch.setattr("attnproof.cli.design.smtlib_texts", lambda: [][1])
    assert run("design", "export", "folder")[::2] == (
        2,
        "attnproof: IndexError that nobody foresaw (list index out of range); please report it with what "
        "ATTNPROOF_DEBUG=1 prints\n",
    )
    monkeypatch.setattr(sys, "argv", ["attnproof", "design", "export", "folder"])
    monkeypatch.setenv("ATTNPROOF_DEBUG", "1")
    with pytest.raises(IndexError):
        main()


def test_long_values_and_far_suggestions():
    assert shown("a\nb") == "'a\\nb'"
    assert len(shown("x" * 10_000)) < 210
    assert suggestion("dyadc", ["dyadic", "dense"]) == "did you mean dyadic? "
    assert suggestion("nonsense", ["T1", "T18"]) == ""


def test_help_shows_whole_summaries(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for words in (("--help",), ("design", "--help")):
        code, out, _ = run(*words)
        assert code == 0
        assert "..." not in out.partition("Commands:")[2]
        assert max(map(len, out.splitlines())) <= 80
    assert "its boundary forbids" in " ".join(run("--help")[1].split())


@pytest.mark.parametrize(("columns", "width"), [("100", 100), ("130", 130), ("", 160), ("no", 160), ("0", 160)])
def test_piped_tables_are_as_wide_as_asked(run, monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = run("verify", "T2")
    assert code == 0
    assert max(map(len, out.splitlines())) == width


def test_a_closed_pipe_is_no_refutation(tmp_path):
    np.save(tmp_path / "f.npy", np.random.default_rng(0).standard_normal((40, 400)))
    done = subprocess.Popen(
        [*COMMAND, "check", str(tmp_path / "f.npy"), "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert done.stdout is not None
    assert done.stderr is not None
    done.stdout.close()
    assert done.stderr.read() == b""
    assert done.wait() == 141


def test_an_interrupt_is_one_sentence(run, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("attnproof.cli.design.smtlib_texts", interrupted)
    code, out, err = run("design", "export", "folder")
    assert (code, out) == (130, "")
    assert err.lstrip("\n") == "attnproof: interrupted; nothing was decided\n"  # Click starts a new line after ^C


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_one_sentence(tmp_path):
    np.save(tmp_path / "f.npy", HALF)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "check", str(tmp_path / "f.npy")], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr == (
        "attnproof: reading or writing failed (No space left on device); make room or choose another place\n"
    )


def test_the_page_on_the_command_line_says_what_happens(run):
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    if not page.is_file():
        pytest.skip("docs is not part of this installation")
    text = page.read_text(encoding="utf-8")
    for command, sentence in re.findall(r"^\$ attnproof (.*)\n(.*)\n", text, re.MULTILINE):
        assert run(*command.replace("F.npy", "f.npy").split()) == (2, "", f"{sentence}\n")
    for command in re.findall(r"^attnproof (\w+)", text, re.MULTILINE):
        assert command in COMMANDS


def test_a_shell_is_told_how_to_complete():
    def completed(words, last):
        environment = {"_ATTNPROOF_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(last)}
        command = [sys.executable, "-c", "from attnproof.cli import main; main()"]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})

    done = completed("attnproof ch", 1)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["check"], "")
    assert "--visible" in completed("attnproof check --vi", 2).stdout.split()


def test_an_array_without_entries_is_refused(run):
    np.save("none.npy", np.zeros((0, 4)))
    said = "attnproof: none.npy holds an array of shape (0, 4), without entries; save one that has some\n"
    assert run("check", "none.npy") == (2, "", said)
    assert run("retention", "none.npy", "--span", "0:1") == (2, "", said)
