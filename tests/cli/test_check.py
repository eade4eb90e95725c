"""`attnproof check`: files of every kind, exit codes, JSON, and one sentence for whatever cannot be read."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from attnproof import Verdict, check_projection, nearest_safe_projection
from attnproof.cli import main
from attnproof.cli.files import open_file
from needs import need

pytestmark = pytest.mark.claim("T10", "T11", "T12", "T13")

HALF = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `attnproof …` here and give (exit code, standard output, standard error)."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["attnproof", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return stop.value.code, captured.out, captured.err

    return call


def test_the_keys_projection_comes_from_the_same_file(run, tmp_path):
    for name in ("F", "E"):
        np.save(tmp_path / f"{name}.npy", HALF)
    F, E = tmp_path / "F.npy", tmp_path / "E.npy"
    said = f"attnproof: --keys-from {str(E)!r} does not apply to {F}, which holds one array; save both in one .npz\n"
    assert run("check", F, "--keys-from", E) == (2, "", said)
    said = f"attnproof: --key 'F' does not apply to {F}, which holds one array; leave it out\n"
    assert run("check", F, "--key", "F") == (2, "", said)


def test_the_three_verdicts_and_their_codes(run, tmp_path):
    file = tmp_path / "f.npy"
    np.save(file, HALF)
    code, out, _ = run("check", file)
    assert code == 1
    assert out.startswith("REFUTED: 2 slots over 3 positions, E = F")
    assert "output 0 changes from 0 to 1/4 when value 1 changes from 0 to 1" in out
    code, out, _ = run("check", file, "--visible", "largest")
    assert (code, out.splitlines()[0]) == (0, "PROVED: 2 slots over 3 positions, E = F; 1 of 3 queries starved")
    both = tmp_path / "both.npz"
    np.savez(both, values=np.array([[1.0, 1], [3, -1]]), keys=np.ones((2, 2)))
    pair = ("--key", "values", "--keys-from", "keys", "--layout", "slots-first")
    code, out, _ = run("check", both, *pair)
    assert (code, out.split(":")[0]) == (3, "PROVED_IF")
    assert run("check", both, *pair, "--accept", "conditional")[0] == 0
    assert run("check", both, *pair, "--accept", "undecided")[0] == 3
    assert run("check", file, "--accept", "conditional")[0] == 1
    assert run("check", file, "--tolerance", "2")[0] == 3


def test_json_reads_back_and_replays(run, tmp_path):
    file = tmp_path / "f.npy"
    np.save(file, HALF)
    code, out, err = run("check", file, "--format", "json")
    assert (code, err) == (1, "")
    assert json.loads(out)["schema_version"] == 1
    verdict = Verdict.from_json(out)
    assert verdict.witness.replay()
    assert verdict.input_hash == check_projection(HALF).input_hash


def test_boundaries_and_masks(run, tmp_path):
    file, mask = tmp_path / "f.npy", tmp_path / "mask.npy"
    np.save(file, np.kron(np.eye(2), np.ones((1, 2))))
    np.save(mask, np.array([[False, False], [True, False], [True, False], [True, True]]))
    assert run("check", file, "--visible", mask)[0] == 0
    assert run("check", file, "--visible", mask, "--boundary", "strict")[0] == 1
    assert run("check", file, "--boundary", "bidirectional")[0] == 0
    assert run("check", file, "--visible", mask, "--boundary", "documents:2,2")[0] == 1
    code, _, err = run("check", file, "--boundary", "later")
    assert (code, err) == (
        2,
        "attnproof: --boundary 'later' is unknown; "
        "use prefix, strict, lag:K, documents:a,b,…, documents-of:B, blocks:B or bidirectional\n",
    )
    np.save(mask, np.zeros((2, 2)))
    code, out, _ = run("check", file, "--visible", mask)
    assert code == 1
    assert "2 queries" in out
    np.save(mask, np.ones((4, 3), bool))
    code, _, err = run("check", file, "--visible", mask)
    assert (code, err) == (2, "attnproof: --visible has shape (4, 3); pass (queries, r) with r = 2\n")


def test_the_projection_of_a_published_package(run, tmp_path):
    """linformer 0.2.3 keeps E and F with positions first."""
    linformer, torch, save = need("linformer"), need("torch"), need("safetensors.torch")
    torch.manual_seed(0)
    state = linformer.Linformer(dim=16, seq_len=64, depth=1, heads=2, k=16).state_dict()
    (key_v,) = [k for k in state if k.endswith("proj_v")]
    (key_k,) = [k for k in state if k.endswith("proj_k")]
    file, mask = tmp_path / "linformer.safetensors", tmp_path / "visible.npy"
    save.save_file({k: v.contiguous() for k, v in state.items()}, file)
    completed = np.arange(64)[:, None] >= 4 * np.arange(16)[None, :] + 3
    np.save(mask, completed)
    pair = ("--key", key_v, "--keys-from", key_k, "--layout", "positions-first")
    code, out, _ = run("check", file, *pair, "--visible", mask, "--format", "json")
    verdict = Verdict.from_json(out)
    assert code == 1
    assert verdict.witness.replay()
    witness = verdict.witness
    assert witness.position > witness.query
    column = state[key_v][witness.position] if witness.position in witness.F else state[key_k][witness.position]
    stored = (witness.F if witness.position in witness.F else witness.E)[witness.position]
    assert [float(column[s]) for s in witness.slots] == [float(x) for x in stored]
    repaired = dict(state)
    for name in (key_v, key_k):
        repaired[name] = nearest_safe_projection(state[name], layout="positions-first", visible=completed).contiguous()
    save.save_file({k: v.contiguous() for k, v in repaired.items()}, tmp_path / "repaired.safetensors")
    code, out, _ = run("check", tmp_path / "repaired.safetensors", *pair, "--visible", mask)
    assert (code, out.split(":")[0]) == (0, "PROVED")
    code, out, _ = run("check", file, *pair, "--visible", "largest")
    assert code == 0
    assert out.splitlines()[0] == "PROVED: 16 slots over 64 positions, E and F; 63 of 64 queries starved"
    assert run("check", file, "--key", key_v, "--layout", "positions-first")[0] == 1
    torch.save(state, tmp_path / "linformer.pt")
    code, out, _ = run("check", tmp_path / "linformer.pt", *pair, "--visible", "largest")
    assert out.splitlines()[0] == "PROVED: 16 slots over 64 positions, E and F; 63 of 64 queries starved"


def test_bfloat16_files(run, tmp_path):
    torch, save = need("torch"), need("safetensors.torch")
    F = torch.tensor([[1.0, 0.0, 2.0**-133], [1.0, 0.0, 0.0]]).bfloat16()
    save.save_file({"other": torch.zeros(3), "f": F}, tmp_path / "f.safetensors")
    code, out, _ = run("check", tmp_path / "f.safetensors", "--key", "f", "--format", "json")
    verdict = Verdict.from_json(out)
    assert (code, verdict.details["dtype"]) == (1, "bfloat16")
    assert (verdict.witness.query, verdict.witness.position) == (0, 2)
    torch.save(F, tmp_path / "f.pt")
    assert run("check", tmp_path / "f.pt", "--format", "json")[1].count('"bfloat16"') == 1
    save.save_file({"f": torch.zeros(2, 3, dtype=torch.float8_e8m0fnu)}, tmp_path / "eight.safetensors")
    code, _, err = run("check", tmp_path / "eight.safetensors")
    assert code == 2
    assert "'f' in" in err
    assert "which NumPy lacks; save it as float32 or bfloat16" in err


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "float8_e5m2", "bfloat16"])
def test_every_number_of_a_short_float_type_is_read_exactly(kind, tmp_path):
    torch, save = need("torch"), need("safetensors.torch")
    bits = torch.arange(256, dtype=torch.uint8) if "8_" in kind else torch.arange(-(2**15), 2**15, 8, dtype=torch.int16)
    stored = bits.view(getattr(torch, kind)).reshape(2, -1)
    save.save_file({"f": stored}, tmp_path / "f.safetensors")
    found = open_file(tmp_path / "f.safetensors").array("f", "--key")
    assert found.dtype == "bfloat16"
    np.testing.assert_array_equal(found.data, stored.float().numpy())


class Bomb:
    """Pickled, it writes a file when read."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".pt", ".safetensors"])
def test_pickles_in_disguise_are_refused_and_never_run(run, tmp_path, suffix):
    if suffix == ".pt":
        need("torch")
    harm, file = tmp_path / "harm", tmp_path / f"model{suffix}"
    file.write_bytes(pickle.dumps(Bomb(harm)))
    code, out, err = run("check", file)
    assert (code, out) == (2, "")
    assert err.startswith(f"attnproof: {file} ")
    assert err.count("\n") == 1
    assert not harm.exists()


def test_object_arrays_and_pickled_entries_are_refused(run, tmp_path):
    file = tmp_path / "objects.npy"
    np.save(file, np.array([[1, None]], object), allow_pickle=True)
    code, _, err = run("check", file)
    assert (code, err) == (
        2,
        f"attnproof: {file} holds pickled objects, which can run code when read; save plain arrays instead\n",
    )
    archive = tmp_path / "objects.npz"
    np.savez(archive, f=np.array([[1, None]], object))
    code, _, err = run("check", archive)
    assert (code, "holds pickled objects" in err) == (2, True)
    torch = need("torch")
    weird = tmp_path / "weird.pt"
    torch.save({"f": Bomb(tmp_path / "harm")}, weird)
    code, _, err = run("check", weird)
    assert code == 2
    assert "holds more than tensors and would run code when read; save a state_dict instead" in err
    torch.save([1, 2], weird)
    assert "holds a list, not tensors by name; save a state_dict instead" in run("check", weird)[2]
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".pt", ".safetensors"])
@pytest.mark.parametrize("keep", [0, 10, 100, -5])
def test_truncated_files_get_one_sentence(run, tmp_path, suffix, keep):
    torch, save = need("torch"), need("safetensors.numpy")
    file = tmp_path / f"f{suffix}"
    {
        ".npy": lambda: np.save(file, HALF),
        ".npz": lambda: np.savez(file, f=HALF),
        ".pt": lambda: torch.save({"f": torch.asarray(HALF)}, file),
        ".safetensors": lambda: save.save_file({"f": HALF}, file),
    }[suffix]()
    file.write_bytes(file.read_bytes()[:keep])
    before = sorted(tmp_path.iterdir())
    code, out, err = run("check", file)
    assert (code, out) == (2, "")
    assert str(file) in err
    assert ("is empty; write it again" if keep == 0 else "is damaged, cut short or no ") in err
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_wrong_paths_keys_and_options(run, tmp_path):
    missing = tmp_path / "gone.npy"
    code, _, err = run("check", missing)
    assert (code, err) == (
        2,
        f"attnproof: FILE = '{missing}' is not a file; pass the path of one of .npy, .npz, .safetensors, "
        ".pt, .pth, .csv, .parquet\n",
    )
    text = tmp_path / "f.pkl"
    text.write_text("x")
    assert "ends in '.pkl'; save it as one of .npy" in run("check", text)[2]
    both = tmp_path / "both.npz"
    np.savez(both, a=HALF, b=HALF)
    assert f"{both} holds 2 arrays; name one with --key: 'a', 'b'" in run("check", both)[2]
    assert f"--key 'c' is not in {both}; its keys are 'a', 'b'" in run("check", both, "--key", "c")[2]
    assert "--keys-from 'c' is not in" in run("check", both, "--key", "a", "--keys-from", "c")[2]
    single = tmp_path / "f.npy"
    np.save(single, HALF)
    code, _, err = run("check", single, "--key", "a")
    assert (code, err) == (2, f"attnproof: --key 'a' does not apply to {single}, which holds one array; leave it out\n")
    np.save(single, np.eye(3))
    code, _, err = run("check", single)
    assert code == 2
    assert "--layout is missing and cannot be read off F of shape (3, 3), which is square" in err
    np.save(single, np.ones(3))
    assert "F has shape (3,); pass a 2-D array" in run("check", single)[2]
    np.save(single, np.ones((2, 3), complex))
    assert "F has dtype complex128; projections are real" in run("check", single)[2]
    np.save(single, np.array([[1.0, np.nan, 0]]))
    assert "F[0, 1] = nan is not finite" in run("check", single)[2]
    assert run("check", single, "--accept", "maybe")[0] == 2
    assert "--accept 'maybe' is unknown" in run("check", single, "--accept", "maybe")[2]
    assert run("check", single, "--unknown")[0] == 2
    assert run("check")[0] == 2


def test_torch_files_without_torch_name_the_extra(run, tmp_path, monkeypatch):
    file = tmp_path / "f.pt"
    file.write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = run("check", file)
    assert code == 2
    assert err == f"attnproof: reading {file} needs torch; install it with pip install 'attnproof[torch]'\n"


def test_arrays_are_mapped_not_copied(tmp_path):
    np.save(tmp_path / "f.npy", HALF)
    assert isinstance(open_file(tmp_path / "f.npy").array(None, "--key"), np.memmap)


def test_the_kernel_is_asked_and_a_contradiction_stops_everything(run, tmp_path, monkeypatch):
    differential = need("attnproof.proofs.differential")
    from attnproof.causal.verdict import Evidence

    file = tmp_path / "f.npy"
    np.save(file, HALF)
    asked = []

    def answer(detail, ok):
        def kernel_evidence(E, F, visible=None, boundary=None):
            asked.append((np.shape(E), np.shape(F), np.shape(visible), boundary.describe()))
            return Evidence("kernel", ok, detail)

        monkeypatch.setattr(differential, "kernel_evidence", kernel_evidence)

    answer("leaks: accepted", True)
    code, out, _ = run("check", file, "--kernel")
    assert (code, "✓ kernel" in out) == (1, True)
    assert asked == [((2, 3), (2, 3), (3, 2), "prefix boundary over 3 positions")]
    code, _, err = run("check", file, "--kernel", "--visible", "largest")
    assert code == 1
    assert "--kernel contradicts the checker" in err
    answer("not run: Rocq is missing", None)
    code, out, err = run("check", file, "--kernel", "--visible", "largest")
    assert code == 3
    assert out.startswith("PROVED")
    assert "--kernel could not run: not run: Rocq is missing" in err


def test_the_installed_command_runs_as_a_process(tmp_path):
    np.save(tmp_path / "f.npy", HALF)
    done = subprocess.run(
        [sys.executable, "-m", "attnproof.cli", "check", str(tmp_path / "f.npy")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("REFUTED")


# -- archives that are damaged, packed oddly or too large, and tables -------------------------------------------------


def header(shape):
    room = io.BytesIO()
    np.lib.format.write_array_header_1_0(room, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return room.getvalue()


def archived(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return bytearray(path.read_bytes())


def test_archives_that_cannot_be_unpacked_say_why(run, tmp_path):
    path = tmp_path / "F.npz"
    whole = archived(path, F=header((2, 3)) + HALF.tobytes())
    listed = whole.find(b"PK\x01\x02")
    spoilt = {
        "cannot be unpacked (That compression method is not supported); save it with": [(8, 99), (listed + 10, 99)],
        "cannot be unpacked (File 'F.npy' is encrypted": [(6, 1), (listed + 8, 1)],
        "is damaged, cut short or no .npz file; write it again": [(45, 255), (46, 255)],
    }
    for words, changes in spoilt.items():
        bad = bytearray(whole)
        for place, byte in changes:
            bad[place] = byte
        path.write_bytes(bad)
        code, _, said = run("check", path)
        assert (code, "nobody foresaw" in said) == (2, False)
        assert words in said


def test_a_size_is_read_before_the_array(run, tmp_path, monkeypatch):
    packed, wide = tmp_path / "packed.npz", tmp_path / "wide.npy"
    archived(packed, F=header((40, 10**7)))
    wide.write_bytes(header((10**12, 0)))
    limit = "and the limit is 2 GiB; raise it with ATTNPROOF_MOST_GIB, or save fewer"
    assert f"holds an array of shape (40, 10000000), 2.98 GiB, {limit}" in run("check", packed)[2]
    assert f"holds an empty array of shape (1000000000000, 0), {limit}" in run("check", wide)[2]
    monkeypatch.setenv("ATTNPROOF_MOST_GIB", "4")
    assert "packed.npz is damaged, cut short" in run("check", packed)[2]
    (tmp_path / "flag.npy").write_bytes(header((True, 3)) + bytes(24))
    assert "flag.npy is damaged" in run("check", tmp_path / "flag.npy")[2]


def test_tables_and_suffixes_in_capitals(run, tmp_path):
    pyarrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    np.savetxt(tmp_path / "F.csv", HALF, delimiter=",")
    parquet.write_table(pyarrow.table({name: HALF[:, j] for j, name in enumerate("abc")}), tmp_path / "F.parquet")
    np.save(tmp_path / "F.npy", HALF)
    (tmp_path / "F.npy").rename(tmp_path / "F.NPY")
    for name in ("F.csv", "F.parquet", "F.NPY"):
        assert np.array_equal(open_file(tmp_path / name).array(None, "--key"), HALF)
        assert run("check", tmp_path / name)[0] == 1
    (tmp_path / "words.csv").write_text("a,b\n")
    assert "words.csv is no table of numbers" in run("check", tmp_path / "words.csv")[2]
