"""Boundaries that hold at every length: proved, refuted on either side, or refused in a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from needs import need

need("jax")
need("z3")
need("cvc5")

import attnproof as ap
import jax.numpy as jnp
import numpy as np
import pytest
from attnproof.causal.model.every_length.boundaries import sides_of
from attnproof.causal.model.every_length.certificate import save_obligations
from attnproof.causal.model.every_length.integers import solver, whole
from attnproof.causal.model.setting import ModelError
from jax import lax
from length_models import B, D, attend, given, places


def checked(model, boundary, **keywords):
    x = given("full")
    return ap.check_model(model, x, sequence_axis=1, lengths="all", boundary=boundary, tries=60, **keywords)


def masked(rule):
    return lambda x: jnp.where(rule(*places(x)), 1.0, 0.0) @ x


def softmaxed(rule, low=-jnp.inf):
    return lambda x: attend(x, rule(*places(x)), low)


def convolved(x):
    """The two positions before, across documents."""
    return x + jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, : x.shape[1]]


def within(i, j):
    return (j <= i) & (i // B == j // B)


def reset(before):
    """A recurrence that forgets at the start of every document, or of every second one only."""

    def model(x):
        def once(carry, row):
            k, h = carry
            h = jnp.where(k % before == 0, 0.0, h) * 0.5 + row
            return (k + 1, h), h

        first = (jnp.int32(0), jnp.zeros((x.shape[0], D)))
        return lax.scan(once, first, x.transpose(1, 0, 2))[1].transpose(1, 0, 2)

    return model


CASES = {
    "strict": (masked(lambda i, j: j < i), "strict", "PROVED"),
    "strict, and its own": (masked(lambda i, j: j <= i), "strict", "REFUTED"),
    "lag": (masked(lambda i, j: j + 3 <= i), "lag:3", "PROVED"),
    "lag, one too few": (masked(lambda i, j: j + 2 <= i), "lag:3", "REFUTED"),
    "documents": (masked(within), "documents-of:4", "PROVED"),
    "documents, softmax": (softmaxed(within), "documents-of:4", "PROVED"),
    "documents, large mask": (softmaxed(within, -1e30), "documents-of:4", "PROVED_IF"),
    "documents, two layers": (lambda x: softmaxed(within)(jnp.tanh(softmaxed(within)(x))), "documents-of:4", "PROVED"),
    "documents of eight hold those of four": (masked(within), "documents-of:8", "PROVED"),
    "documents, looking ahead": (masked(lambda i, j: i // B == j // B), "documents-of:4", "REFUTED"),
    "documents, the one before": (masked(lambda i, j: (j <= i) & (i // B <= j // B + 1)), "documents-of:4", "REFUTED"),
    "documents, a causal model": (softmaxed(lambda i, j: j <= i), "documents-of:4", "REFUTED"),
    "documents, a convolution": (convolved, "documents-of:4", "REFUTED"),
    "documents, a convolution after": (lambda x: convolved(masked(within)(x)), "documents-of:4", "REFUTED"),
    "blocks": (masked(lambda i, j: j // B <= i // B), "blocks:4", "PROVED"),
    "blocks, softmax": (softmaxed(lambda i, j: j // B <= i // B, -1e30), "blocks:4", "PROVED_IF"),
    "blocks, two layers": (
        lambda x: masked(lambda i, j: j // B <= i // B)(softmaxed(lambda i, j: j // B <= i // B)(x)),
        "blocks:4",
        "PROVED",
    ),
    "blocks, the next one": (masked(lambda i, j: j // B <= i // B + 1), "blocks:4", "REFUTED"),
    "blocks, one position on": (masked(lambda i, j: j <= i + 1), "blocks:4", "REFUTED"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_boundary_at_every_length(name):
    model, boundary, status = CASES[name]
    verdict = checked(model, boundary)
    assert verdict.status.name == status, verdict.reasons
    if status == "REFUTED":
        assert verdict.witness.replay()
        n = verdict.boundary.n
        assert not ap.Boundary.parse(boundary, n).allowed(verdict.witness.query, verdict.witness.position)
    else:
        assert verdict.about.endswith("every n ≥ 1")


def test_a_leak_into_the_document_before_that_the_length_given_does_not_show():
    """From the seventeenth position on it reads what belongs to the document before."""

    def model(x):
        t = jnp.arange(x.shape[1])[:, None]
        before = jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, : x.shape[1]]
        return jnp.where(t < 16, masked(within)(x), before)

    assert ap.check_model(model, given("full"), sequence_axis=1, boundary="documents-of:4").status.name == "PROVED"
    verdict = checked(model, "documents-of:4")
    assert verdict.status.name == "REFUTED"
    assert (verdict.witness.query, verdict.witness.position) == (16, 15)


@pytest.mark.parametrize(("before", "ok"), [(B, ("PROVED",)), (2 * B, ("REFUTED",))])
def test_a_recurrence_that_forgets(before, ok):
    assert checked(reset(before), "documents-of:4").status.name in ok


def test_the_statements_of_both_ends_can_be_checked_elsewhere(tmp_path):
    verdict = checked(softmaxed(within), "documents-of:4", replay="never")
    folder = save_obligations(verdict, tmp_path / "proof")
    claim = json.loads((folder / "claim.json").read_text(encoding="utf-8"))
    assert claim["boundary"] == "documents-of:4"
    script = [str(folder / "recheck.py"), str(folder)]
    done = subprocess.run([sys.executable, "-I", *script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(claim['obligations'])} statements: unsat by z3 and cvc5" in done.stdout


def test_the_statements_can_be_checked_by_a_solver_that_is_a_command(tmp_path):
    found = shutil.which("z3", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip("no z3 command here")
    folder = save_obligations(checked(masked(within), "documents-of:4", replay="never"), tmp_path / "proof")
    script = [sys.executable, "-I", "-S", str(folder / "recheck.py"), str(folder)]  # -S: no packages
    path = {**os.environ, "PATH": str(Path(found).parent)}
    done = subprocess.run(script, capture_output=True, text=True, check=False, env=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "unsat by z3" in done.stdout


@pytest.mark.parametrize(
    "text", ["prefix", "strict", "lag:3", "documents-of:4", "documents-of:5", "blocks:1", "blocks:4"]
)
def test_the_sides_are_the_boundary_at_each_length(text):
    """What the terms allow is what the boundary of a single length allows."""
    for n in (1, 3, 4, 5, 8, 11):
        allowed = np.ones((n, n), bool)
        for side in sides_of(text):
            for t in range(n):
                end = side.rank(side.allowed(whole(t)), whole(n - 1))
                ranks = [side.rank(whole(j), whole(n - 1)) for j in range(n)]
                allowed[t] &= [bool(solver.is_true(solver.simplify(r <= end))) for r in ranks]
        assert np.array_equal(allowed, ap.Boundary.parse(text, n).to_array()), (text, n)


@pytest.mark.parametrize(("boundary", "sentence"), [
    (ap.Boundary.prefix(12), r"boundary does not say what holds at every length; use prefix, strict, lag:K, documents"),
    ("documents:6,6", r"boundary = 'documents:6,6' speaks of one length, the sum of its documents; use prefix"),
    ("bidirectional", r"boundary = 'bidirectional' forbids nothing at any length; use prefix"),
    ("blocks:0", r"boundary = 'blocks:0' does not say what holds at every length; use prefix"),
    (ap.Boundary.prefix, r"boundary is a function, of which nobody knows what it gives at every length; use prefix"),
])  # fmt: skip
def test_what_speaks_of_no_length_or_of_one_is_refused(boundary, sentence):
    with pytest.raises(ModelError, match=sentence):
        checked(softmaxed(lambda i, j: j <= i), boundary)
