"""attnproof model: verdicts, exit codes, pictures, JSON and one-sentence errors."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from needs import need

need("torch")

SOURCE = """
import torch
from torch import nn

torch.manual_seed(0)
gru = nn.GRU(4, 4, batch_first=True)


def good():
    return gru, torch.randn(1, 8, 4)


def leaking():
    return nn.GRU(4, 4, batch_first=True, bidirectional=True), (torch.randn(1, 8, 4),)


def by_length():
    return gru, lambda n: torch.randn(1, n, 4)


def masked():
    def attend(x):
        mask = torch.full((x.shape[1],) * 2, -1e4).triu(1)
        return (x @ x.mT / 2 + mask).softmax(-1) @ x
    return attend, torch.randn(1, 8, 4)


def routed():
    return (lambda x: x * 2 if bool(x[0, -1, 0] > 100) else x), torch.randn(1, 8, 4)


def on_meta():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mask", torch.full((8, 8), -torch.inf).triu(1))

        def forward(self, x):
            y = self.layer(x)
            return (y @ y.mT + self.mask).softmax(-1) @ y

    with torch.device("meta"):
        return Masked(), torch.zeros(1, 8, 4)


def wrong():
    return gru


value = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    (path / "my_models.py").write_text(SOURCE)
    return path


@pytest.fixture
def attnproof(folder, monkeypatch, capsys):
    """The command in this process: (exit code, standard output, standard error)."""
    import attnproof.cli as cli

    monkeypatch.chdir(folder)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["attnproof", *words])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run


def test_a_causal_model_leaves_with_0(attnproof):
    code, out, err = attnproof("model", "my_models:good")
    assert (code, err) == (0, "")
    assert out.startswith("PROVED: GRU over 8 positions")


def test_a_leaking_model_leaves_with_1(attnproof):
    code, out, _ = attnproof("model", "my_models.py:leaking")
    assert code == 1
    assert out.startswith("REFUTED")
    assert "can enter output" in out


def test_conditional_and_undecided_leave_with_3_unless_accepted(attnproof):
    assert attnproof("model", "my_models:masked")[0] == 3
    assert attnproof("model", "my_models:masked", "--accept", "conditional")[0] == 0
    assert attnproof("model", "my_models:routed")[0] == 3
    assert attnproof("model", "my_models:routed", "--accept", "conditional,undecided")[0] == 0


def test_limits_of_a_search_are_said_and_told_by_their_options(attnproof):
    code, out, _ = attnproof("model", "my_models:routed", "--tries", "3")
    assert code == 3
    assert "stopped by tries = 3" in " ".join(out.split())
    assert "stopped by budget" in " ".join(attnproof("model", "my_models:routed", "--budget", "1e-6")[1].split())
    code, _, err = attnproof("model", "my_models:routed", "--budget", "0")
    assert code == 2
    assert "--budget 0" in err, err


def test_a_model_is_run_on_no_numbers_where_that_is_asked(attnproof):
    code, out, _ = attnproof("model", "my_models:good", "--replay", "never")
    assert code == 0
    assert "the model itself was not run" in " ".join(out.split())
    code, out, _ = attnproof("model", "my_models:leaking", "--replay", "never")
    assert code == 3
    assert "no leak was looked for" in " ".join(out.split())
    code, _, err = attnproof("model", "my_models:good", "--replay", "often")
    assert code == 2
    assert "'often' is unknown; use auto or never" in err, err


def test_json_modes_lengths_and_boundary(attnproof):
    code, out, _ = attnproof("model", "my_models:by_length", "--n", "4,6", "--mode", "eval,train", "--format", "json")
    data = json.loads(out)
    assert code == 0
    assert [(r["mode"], r["n"]) for r in data["details"]["runs"]] == [
        ("eval", 4), ("train", 4), ("eval", 6), ("train", 6),
    ]  # fmt: skip
    code, out, _ = attnproof("model", "my_models:good", "--boundary", "strict", "--format", "json")
    assert code == 1
    assert json.loads(out)["boundary"]["kind"] == "strict"


def test_the_picture_is_written(attnproof, folder):
    need("matplotlib")
    assert attnproof("model", "my_models:leaking", "--save", "leak.png")[0] == 1
    assert (folder / "leak.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("my_models",), "MODULE:FACTORY = 'my_models' lacks one half; write it like my_module:build"),
        (
            ("no_such_module:build",),
            "MODULE = 'no_such_module' is not found; run where it can be imported, or give the path of its file",
        ),
        (("no_such.py:build",), "MODULE = 'no_such.py' is no file here"),
        (("my_models:value",), "FACTORY = 'value' is no factory of 'my_models'; name one that 'my_models' defines"),
        (("my_models:wrong",), "my_models:wrong returned GRU; it must return (callable, inputs)"),
        (("my_models:by_length",), "gives make_input(n), so that --n must name one, such as --n 64"),
        (
            ("my_models:good", "--n", "four"),
            "--n 'four' is not a list of lengths of at least 1; write it like 64 or 64,128, or all",
        ),
        (
            ("my_models:good", "--n", "0"),
            "--n '0' is not a list of lengths of at least 1; write it like 64 or 64,128, or all",
        ),
        (("my_models:good", "--mode", "test"), "--mode names 'test', which is no mode"),
        (("my_models:good", "--boundary", "past"), "--boundary 'past' is unknown"),
        (("my_models:good", "--sequence-axis", "5"), "--sequence-axis 5 is no axis of input 0"),
        (
            ("my_models:good", "--save", "x.xyz"),
            "--save 'x.xyz' has no picture's ending; use .png, .svg, .pdf or .html",
        ),
        (("my_models:good", "--accept", "all"), "--accept 'all' is unknown"),
    ],
)
def test_errors_are_one_sentence(attnproof, words, sentence):
    code, _, err = attnproof("model", *words)
    assert code == 2
    assert err.startswith("attnproof: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_the_installed_command_shows_no_traceback(folder):
    command = [sys.executable, "-m", "attnproof.cli", "model", "my_models:leaking"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stderr
    assert "Traceback" not in found.stderr


TALKING = """
import torch
print("imported")


def build():
    print("built")

    def f(x):
        print("called")
        return x.cumsum(1)

    return f, torch.randn(1, 8, 4)
"""


def test_what_the_model_prints_goes_to_standard_error(folder, attnproof):
    (folder / "talking.py").write_text(TALKING)
    words = ("model", "talking:build", "--format", "json")
    done = subprocess.run([sys.executable, "-m", "attnproof.cli", *words], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "PROVED"), done.stderr
    assert done.stderr.split()[:3] == ["imported", "built", "called"]
    code, out, err = attnproof(*words)  # in this process, whose standard output is no file
    assert (code, json.loads(out)["status"], err.split()[0]) == (0, "PROVED", "imported")


LLAMA = "transformers:LlamaForCausalLM"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((LLAMA, "--config", "lama", "--n", "8"), "--config 'lama' is neither a file nor a model type"),
        ((LLAMA, "--config", "llama"), "--config tells no length, so that --n must name one, such as --n 64"),
        ((LLAMA, "--config", "llama", "--n", "8", "--stored"), "--config 'llama' gives none; leave --stored out"),
        (("my_models:good", "--config", "llama", "--n", "8"), "CLASS = 'good' is no class of 'my_models'"),
        (("torch.nn:Linear", "--config", "llama", "--n", "8"), "CLASS 'Linear' takes no configuration of transformers"),
        (
            (LLAMA, "--config", "code.json", "--n", "8"),
            "--config 'code.json' holds auto_map, which names code elsewhere",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_is_told_in_one_sentence(attnproof, folder, words, sentence):
    need("transformers")
    (folder / "code.json").write_text('{"model_type": "llama", "auto_map": {"AutoModel": "code.Model"}}')
    test_errors_are_one_sentence(attnproof, words, sentence)


TINY = {"model_type": "llama", "vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}


def test_what_a_configuration_describes_is_proved_without_weights(attnproof, folder):
    need("transformers")
    (folder / "config.json").write_text(json.dumps(TINY | {"num_attention_heads": 4}))
    words = ("model", LLAMA, "--config", "config.json", "--n", "6,8", "--format", "json")
    code, out, err = attnproof(*words)
    found = json.loads(out)
    assert (code, found["status"], [r["n"] for r in found["details"]["runs"]]) == (0, "PROVED", [6, 8]), err
    assert attnproof(*words, "--boundary", "strict")[0] == 3  # no leak is looked for in what has no values


def test_a_factory_that_makes_its_model_on_meta_is_proved_with_the_numbers_of_its_buffers(attnproof):
    code, out, _ = attnproof("model", "my_models:on_meta")
    assert code == 0
    assert out.startswith("PROVED: Masked over 8 positions")


def test_a_search_shows_how_far_it_is(attnproof, monkeypatch):
    from contextlib import contextmanager

    from attnproof.cli import model

    shown = []

    @contextmanager
    def on_a_terminal(what):
        shown.append(what)
        yield shown.append

    monkeypatch.setattr(model, "quiet_progress", on_a_terminal)
    assert attnproof("model", "my_models:leaking")[0] == 1
    assert shown[:2] == [
        "checking my_models:leaking",
        "checking my_models:leaking: looking for a leak, forward 1 (float64)",
    ]
