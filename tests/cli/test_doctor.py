"""`attnproof doctor`: what is usable is tried, what is missing or broken is named with a remedy."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import metadata

import numpy as np
import pytest
from attnproof import cli
from attnproof.cli import doctor
from needs import need


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["attnproof", "doctor", *arguments])
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0), out.getvalue(), err.getvalue()


@pytest.fixture
def light(monkeypatch):
    """Only NumPy and FLINT are tried, so that nothing heavy is imported."""
    monkeypatch.setattr(doctor, "LIBRARIES", ("numpy",))
    monkeypatch.setattr(doctor, "PROVERS", {"flint": doctor.PROVERS["flint"]})


def test_json(monkeypatch, light):
    code, out, err = run(monkeypatch, "--format", "json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["schema_version"] == 1
    assert found["python"].startswith("3.")
    assert found["devices"] == [{"library": "numpy", "device": "cpu", "usable": True, "detail": np.__version__}]
    assert [(p["prover"], p["usable"]) for p in found["provers"]] == [("flint", True)]
    assert {p["package"] for p in found["core"]} >= {"numpy", "sympy", "python-flint"}
    assert all(p["usable"] for p in found["core"])
    assert {"torch", "jax", "dask", "smt", "test"} <= {e["extra"] for e in found["extras"]}


def test_text(monkeypatch, light):
    code, out, _ = run(monkeypatch)
    assert code == 0
    for word in ("extras", "array libraries and devices", "provers", "numpy", "flint", "1.414213…", "torch"):
        assert word in out


def test_every_library_and_prover_that_is_here_is_usable():
    for name in ("torch", "jax", "dask"):
        need({"dask": "dask.array"}.get(name, name))
        assert all(row["usable"] for row in doctor._devices(name)), name
    for name, module in (("z3", "z3"), ("cvc5", "cvc5")):
        need(module)
        assert doctor._prover(name, doctor.PROVERS[name])["usable"], name


def test_a_missing_library_is_named_with_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    expected = {
        "library": "torch",
        "device": None,
        "usable": False,
        "detail": "not installed; pip install 'attnproof[torch]'",
    }
    assert doctor._devices("torch") == [expected]
    monkeypatch.setitem(sys.modules, "z3", None)
    assert doctor._prover("z3", doctor._z3) == {
        "prover": "z3",
        "usable": False,
        "detail": "not installed; pip install 'attnproof[smt]'",
    }
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "install coq and libcoq-mathcomp-analysis" in doctor._prover("coqc", doctor._coqc)["detail"]


def test_a_library_that_breaks_or_computes_wrongly_is_not_usable(monkeypatch):
    def broken():
        raise OSError("libcuda.so is missing\nmore")

    assert doctor._prover("x", broken) == {"prover": "x", "usable": False, "detail": "libcuda.so is missing"}
    monkeypatch.setattr(doctor, "_places", lambda library: broken())
    assert doctor._devices("torch")[0]["detail"] == "libcuda.so is missing"
    wrong = doctor._tried("numpy", "cpu", lambda x: 2 * np.asarray(x))
    assert not wrong["usable"]
    assert "for the singular values 3 and 2" in wrong["detail"]
    assert not doctor._tried("numpy", "cpu", lambda x: x.tolist())["usable"]


def test_a_package_that_is_too_old_is_not_usable(monkeypatch):
    monkeypatch.setattr(
        metadata, "requires", lambda name: ["numpy>=999.1", "old >= 1.2 ; extra == 'torch'", 'numpy; extra == "jax"']
    )
    assert doctor._package(*doctor._needs("")[0]) == {
        "package": "numpy",
        "version": np.__version__,
        "needs": ">=999.1",
        "usable": False,
    }
    torch, jax = doctor._extra("torch"), doctor._extra("jax")
    assert (torch["usable"], torch["remedy"]) == (False, "pip install 'attnproof[torch]'")
    assert torch["packages"][0]["version"] is None
    assert (jax["usable"], jax["remedy"]) == (True, "")
    assert doctor._extras() == ["torch", "jax"]
    assert "(needs >=999.1)" in doctor._packed(doctor._package("numpy", "999.1"))


def test_a_provers_wrong_answer_is_seen(monkeypatch):
    z3 = need("z3")
    monkeypatch.setattr(z3.Solver, "check", lambda self: z3.sat)
    assert doctor._prover("z3", doctor._z3)["detail"] == "z3 does not refute 1 < x < 3/2"
