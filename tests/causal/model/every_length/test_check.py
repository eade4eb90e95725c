"""`lengths="all"`: architectures that are proved for every length, and leaking twins that are refuted at one."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache

from needs import need

need("jax")
need("flax")
need("equinox")
need("z3")
need("cvc5")

import attnproof as ap
import jax.numpy as jnp
import numpy as np
import pytest
from attnproof.causal.model.every_length.certificate import save_obligations
from attnproof.causal.model.setting import ModelError
from flax import nnx
from jax import export
from length_models import MODELS, B, D, attend, given, places


def checked(name, leak, **keywords):
    model = MODELS[name][0](leak)
    extra = {"vocabulary": 7} if name == "flax" else {}
    return ap.check_model(model, given(name), lengths="all", tries=60, **extra, **keywords)


@pytest.mark.parametrize("name", MODELS)
def test_proved_for_every_length(name):
    verdict = checked(name, False)
    assert verdict.status.name in ("PROVED", "PROVED_IF"), verdict.reasons
    assert verdict.about.endswith(MODELS[name][1]), verdict.about
    found = verdict.details["every_length"]
    assert any(e.kind == "solver" and e.ok for e in verdict.evidence)
    assert all("declare" in o["smtlib"] for o in found["obligations"])


@pytest.mark.parametrize("name", MODELS)
def test_a_leaking_twin_is_refuted_at_one_length(name):
    verdict = checked(name, True)
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


def test_a_leak_that_the_length_given_does_not_show():
    """From the seventeenth position on it looks ahead; twelve do not tell."""

    def model(x):
        t = jnp.arange(x.shape[1])[:, None]
        ahead = jnp.concatenate([x[:, 1:], x[:, :1]], 1)
        return jnp.where(t < 16, x.cumsum(1), ahead)

    one = ap.check_model(model, given("full"), sequence_axis=1)
    assert one.status.name == "PROVED"
    verdict = ap.check_model(model, given("full"), sequence_axis=1, lengths="all", tries=60)
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert verdict.witness.query >= 16


def test_a_row_that_sees_nothing_reads_everything():
    """A finite mask over blocks of which none is complete for the first positions: a softmax of equals."""

    def model(x):
        i, j = places(x)
        return attend(x, j // B < i // B, -1e30)

    verdict = ap.check_model(model, given("full"), lengths="all", tries=60)
    assert verdict.status.name == "REFUTED"


def test_blocks_whose_size_grows_are_not_followed():
    def model(x):
        b, n, _ = x.shape
        return x.reshape(b, 4, n // 4, D).cumsum(2).reshape(b, n, D)

    verdict = ap.check_model(model, given("full"), lengths="all", tries=60)
    assert verdict.status.name == "UNDECIDED"
    assert "for every length it is open" in verdict.reasons[0]


def test_blocks_as_large_as_the_width():
    def model(x):
        b, n, d = x.shape
        return x.reshape(b, n // B, B, d).cumsum(2).reshape(b, n, d)

    verdict = ap.check_model(model, given("full")[..., :B], sequence_axis=1, lengths="all", replay="never")
    assert verdict.about.endswith("every n = 4·m ≥ 4"), verdict.about


def test_masks_that_were_numbers_in_between():
    """As flax makes them: truth values as floating numbers, and back."""

    def model(x):
        i, j = places(x)
        kept = (j <= i).astype(jnp.float32) * (j > i - 4).astype(jnp.float32)
        return attend(x, kept.astype(bool))

    verdict = ap.check_model(model, given("full"), lengths="all")
    assert verdict.status.name == "PROVED", verdict.reasons


def test_a_fault_in_a_rule_leaves_it_open(monkeypatch):
    from attnproof.causal.model.every_length.primitives import RULES

    monkeypatch.setitem(RULES, "tanh", lambda e: 1 // 0)
    verdict = ap.check_model(MODELS["full"][0](False), given("full"), lengths="all", tries=30)
    assert verdict.status.name == "UNDECIDED"
    assert "ZeroDivisionError" in verdict.reasons[0]


def test_branches_of_python_on_the_length():
    def model(x):
        return x[:, ::-1] if x.shape[1] > 20 else x.cumsum(1)

    verdict = ap.check_model(model, given("full"), lengths="all", tries=60)
    assert verdict.status.name in ("UNDECIDED", "REFUTED"), verdict.about
    if verdict.status.name == "UNDECIDED":
        assert "for every length it is open" in verdict.reasons[0]


@pytest.mark.parametrize("asks", [
    lambda n: n == 16, lambda n: n % 10 == 0, lambda n: not n % 10, lambda n: n in (16, 20),
])  # fmt: skip
def test_branches_of_python_on_single_lengths(asks):
    """JAX says that n is not 16, and that n % 10 is not 0: the program recorded would be that of other lengths."""

    def model(x):
        return x[:, ::-1] if asks(x.shape[1]) else x.cumsum(1)

    verdict = ap.check_model(model, given("full"), lengths="all", tries=60)
    assert verdict.status.name == "UNDECIDED"
    assert "which depends on the length" in verdict.reasons[0]


KEPT = {16: 1.0}


@lru_cache
def kept_mask(n):
    return jnp.tril(jnp.ones((n, n)))


@pytest.mark.parametrize("asks", [lambda n: KEPT.get(n, 0.0), lambda n: n in KEPT, lambda n: (n in {16, 20}) * 1.0])
def test_lengths_that_are_looked_up(asks):
    """A symbol is in no dict of numbers, so that the program would be that of other lengths."""

    def model(x):
        return x[:, ::-1] if asks(x.shape[1]) else x.cumsum(1)

    verdict = ap.check_model(model, given("full"), lengths="all", tries=60)
    assert verdict.status.name == "UNDECIDED"
    assert "which depends on the length" in verdict.reasons[0]


def test_a_cache_of_what_is_made_for_a_length_is_none():
    verdict = ap.check_model(lambda x: kept_mask(x.shape[1]) @ x, given("full"), lengths="all", replay="never")
    assert verdict.status.name == "PROVED", verdict.reasons


def test_what_is_asked_and_holds_for_all_lengths_narrows_the_range():
    def model(x):
        return x.cumsum(1) if x.shape[1] != 1 and x.shape == (1, x.shape[1], D) else x

    verdict = ap.check_model(model, given("full"), lengths="all", tries=60)
    assert verdict.status.name == "PROVED"
    assert verdict.about.endswith("every n ≥ 2")
    assert "__bool__" not in vars(type(export.symbolic_shape("n")[0]))


def test_other_inputs_that_grow_are_made():
    def model(x, scale):
        return x.cumsum(1) * scale[:, :, None]

    x, scale = given("full"), jnp.ones((1, 12))
    with pytest.raises(ModelError, match=r"pass make_input\(n\)"):
        ap.check_model(model, x, scale, lengths="all")

    def make(n):
        return jnp.ones((1, n, D)), jnp.ones((1, n))

    verdict = ap.check_model(model, lengths="all", make_input=make)
    assert verdict.status.name == "PROVED"
    assert verdict.about.endswith("every n ≥ 1")


@pytest.mark.parametrize("size", [lambda n: n // 4, lambda n: -(-n // 4), lambda n: min(n, 64)])
def test_other_inputs_whose_size_is_rounded_are_not_followed(size):
    def model(x, memory):
        return x[:, ::-1] if isinstance(memory.shape[0], int) and memory.shape[0] in range(9, 65) else x.cumsum(1)

    def make(n):
        return jnp.ones((1, n, D)), jnp.ones(size(n))

    verdict = ap.check_model(model, lengths="all", sequence_axis=1, make_input=make, tries=60)
    assert verdict.status.name in ("UNDECIDED", "REFUTED"), verdict.about


def test_a_remainder_at_which_it_leaks():
    """Blocks of four are causal; what is left over after them reads its end."""

    def model(x):
        b, n, _ = x.shape
        left = n % B
        y = x[:, : n - left].reshape(b, -1, B, D).cumsum(2).reshape(b, n - left, D)
        return jnp.concatenate([y, jnp.flip(x[:, n - left :], 1)], 1)

    verdict = ap.check_model(model, given("full"), sequence_axis=1, lengths="all", tries=60)
    assert verdict.status.name == "REFUTED", (verdict.about, verdict.reasons)
    assert verdict.witness.replay()


class Chunked(nnx.Module):
    """Blocks of four in training alone."""

    def __init__(self):
        self.dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(0))

    def __call__(self, x):
        b, n, _ = x.shape
        if self.dropout.deterministic:
            return x.cumsum(1)
        return x.reshape(b, n // B, B, D).cumsum(2).reshape(b, n, D)


def test_modes_that_are_proved_for_different_lengths():
    verdict = ap.check_model(Chunked(), given("full"), sequence_axis=1, lengths="all", modes=("eval", "train"))
    assert verdict.status.name == "PROVED", verdict.reasons
    assert verdict.about.endswith("every n ≥ 1 in eval mode; every n = 4·m ≥ 4 in train mode")


def test_the_statements_can_be_checked_elsewhere(tmp_path):
    verdict = checked("window", False)
    folder = save_obligations(verdict, tmp_path / "proof")
    told = json.loads((folder / "claim.json").read_text())
    assert told["claim"].endswith("every n ≥ 1")
    assert told["obligations"]
    run = [sys.executable, "-I", str(folder / "recheck.py"), str(folder)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "unsat by z3 and cvc5" in done.stdout
    first = folder / told["obligations"][0]["file"]
    first.write_text(first.read_text().replace("(assert", "(assert true) (push 1) ;", 1))
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not the file" in done.stdout


def test_nothing_is_saved_of_what_is_no_proof(tmp_path):
    verdict = ap.check_model(MODELS["full"][0](False), given("full"))
    with pytest.raises(ModelError, match="is no proof for every length"):
        save_obligations(verdict, tmp_path / "proof")
    assert not (tmp_path / "proof").exists()


def test_the_bound_at_one_length_is_that_of_the_run_there():
    from attnproof.causal.model.every_length.boundaries import sides_of
    from attnproof.causal.model.every_length.jax_front import prove, recorded_as
    from attnproof.causal.model.every_length.lengths import Lengths
    from attnproof.causal.model.jax.program import JaxProgram
    from attnproof.causal.model.jax.subject import subject_of

    for name, blocks in (("window", Lengths()), ("convolution", Lengths()), ("chunks", Lengths(4))):
        model = MODELS[name][0](False)
        program = JaxProgram.of(subject_of(model, (given(name),), 0, 1, None), "eval")
        proof = prove(recorded_as(program, blocks, None, "eval").about(program.recording.paths), blocks, sides_of(None))
        for n in (1, 2, 3, 4, 5, 8, 12, 16, 17):
            if blocks.holds(n):
                assert np.array_equal(proof.latest(n), np.arange(n)), (name, n)
