"""Models of JAX through the door of `check_model`: every kind of them, each beside a twin that leaks."""

from __future__ import annotations

import json
import subprocess
import sys

from needs import need

need("jax")
need("flax")
need("equinox")

import attnproof as ap
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attnproof.causal.model.setting import ModelError
from attnproof.causal.model.trace.jaxpr import interpreter  # noqa: F401  (registers the rules)
from attnproof.causal.model.trace.jaxpr.registry import BINDINGS, Binding
from flax import linen, nnx

N, D = 8, 8
KEY = jax.random.key(0)
X = jax.random.normal(KEY, (1, N, D))
TOKENS = jnp.arange(N)[None] % 5


def mask(leak):
    return jnp.tril(jnp.ones((N, N), bool), int(leak))


class Attention(nnx.Module):
    """Tokens through an embedding, attention with dropout, and a head."""

    def __init__(self, leak, drawn=0.0):
        rngs = nnx.Rngs(0)
        self.embed, self.leak = nnx.Embed(11, D, rngs=rngs), leak
        self.attend = nnx.MultiHeadAttention(2, D, decode=False, rngs=rngs)
        self.drop = nnx.Dropout(drawn, rngs=rngs)

    def __call__(self, tokens):
        x = self.embed(tokens)
        return self.embed.attend(self.drop(x + self.attend(x, mask=mask(self.leak))))


class Linen(linen.Module):
    leak: bool = False

    @linen.compact
    def __call__(self, x, train: bool = False):
        x = linen.BatchNorm(use_running_average=not train)(linen.Dense(D)(x))
        return linen.MultiHeadDotProductAttention(2)(x, x, mask=mask(self.leak))


class Equinox(eqx.Module):
    attend: eqx.nn.MultiheadAttention
    drop: eqx.nn.Dropout
    leak: bool = eqx.field(static=True)

    def __init__(self, leak):
        self.attend, self.leak = eqx.nn.MultiheadAttention(2, D, key=KEY), leak
        self.drop = eqx.nn.Dropout(0.5)

    def __call__(self, x):
        return self.drop(self.attend(x, x, x, mask=mask(self.leak)), key=KEY)


def bound(leak):
    module = Linen(leak)
    return module.bind(module.init(KEY, X))


def closing_over(leak):
    module = Attention(leak)
    module.eval()
    return lambda tokens: module(tokens)


W = np.asarray(jax.random.normal(KEY, (D, D)))
KINDS = {
    "nnx": (Attention, TOKENS),
    "nnx with dropout": (lambda leak: Attention(leak, 0.5), TOKENS),
    "nnx closed over": (closing_over, TOKENS),
    "nnx closed over and jitted": (lambda leak: jax.jit(closing_over(leak)), TOKENS),
    "a method of nnx": (lambda leak: Attention(leak).__call__, TOKENS),
    "linen": (bound, X),
    "equinox": (Equinox, X[0]),
    "equinox vmapped": (lambda leak: jax.vmap(Equinox(leak)), X),
    "a function": (lambda leak: lambda x: jnp.einsum("ts,bsd->btd", mask(leak), x @ W), X),
    "a jitted function": (lambda leak: jax.jit(lambda x: jnp.einsum("ts,bsd->btd", mask(leak), x)), X),
}


RUN = {"linen", "a function", "nnx closed over and jitted"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_proved_and_its_leaking_twin_refuted(kind):
    build, x = KINDS[kind]
    axis = {"sequence_axis": 0} if x.ndim == 2 and x.dtype.kind == "f" else {}
    proved = ap.check_model(build(False), x, **axis, replay="auto" if kind in RUN else "never")  # runs take seconds
    refuted = ap.check_model(build(True), x, **axis)
    assert proved.status.name in ("PROVED", "PROVED_IF"), proved.reasons
    assert not any("parameter" in c.text for c in proved.conditions)
    assert any("parameters may be any numbers" in a for a in proved.assumptions)
    assert refuted.status.name == "REFUTED"
    assert refuted.witness.position > refuted.witness.query
    assert refuted.witness.setting.precision == "float64"
    assert refuted.witness.replay()
    entry = refuted.details["blame"]["entry"]
    assert entry["line"].startswith(__file__)
    assert entry["operation"]


def test_a_mode_is_set_where_a_model_has_one_and_said_to_be_unset_where_it_has_none():
    module = Linen()
    variables = module.init(KEY, X)
    assert ap.check_model(module, variables, X, replay="never").status.name == "PROVED_IF"
    trained = ap.check_model(module, variables, X, modes=("train",))
    assert trained.status.name == "REFUTED"  # a norm over the batch and its positions
    assert trained.details["blame"]["entry"]["module"] == "Linen.BatchNorm_0"
    assert any("batch_stats.BatchNorm_0.mean" in reason for reason in trained.reasons)
    drawn = ap.check_model(Attention(False, 0.5), TOKENS, modes=("train",), replay="never")
    assert drawn.status.name == "PROVED_IF"
    assert "random draws are the same in every run" in drawn.assumptions
    assert not any(
        "random draws" in a for a in ap.check_model(Attention(False, 0.5), TOKENS, replay="never").assumptions
    )
    one = {"sequence_axis": 0, "modes": ("eval", "train"), "replay": "never"}
    assert len(ap.check_model(Equinox(False), X[0], **one).conditions) == 2
    alone = ap.check_model(lambda x: jnp.cumsum(x, 1), X, modes=("train",))
    assert "no mode that could be set" in alone.reasons[0]


class Keeping(nnx.Module):
    """Adds what the last call saw last."""

    def __init__(self, used):
        self.last, self.used = nnx.Variable(jnp.zeros(D)), used

    def __call__(self, x):
        y = jnp.cumsum(x, 1) + (self.last[...] if self.used else 0)
        self.last[...] = x[0, -1]
        return y


@pytest.mark.parametrize("used", [False, True])
def test_what_a_call_leaves_in_the_model_may_be_anything_in_the_next(used):
    model = Keeping(used)
    verdict = ap.check_model(model, X)
    assert verdict.status.name == "PROVED"  # whatever the state holds, it does not depend on this call
    assert any("changes the model's own last" in reason for reason in verdict.reasons)
    assert (model.last[...] == 0).all()


class Steered(Keeping):
    """Looks ahead where the last call left something."""

    def __call__(self, x):
        y = jnp.cumsum(x, 1) + jnp.where(self.last[...] == 0, 0.0, x[:, ::-1])
        self.last[...] = self.last[...] + 1
        return y


def test_a_leak_of_later_calls_is_a_condition_on_the_first():
    verdict = ap.check_model(Steered(True), X)
    assert verdict.status.name == "PROVED_IF"
    assert any("starts from the state as given" in c.text for c in verdict.conditions)


def test_arrays_closed_over_that_are_no_modules_are_said_to_be_taken_as_they_are():
    kept = jnp.ones((D, D))
    verdict = ap.check_model(lambda x: jnp.cumsum(x @ kept, 1), X)
    assert any("which may be parameters, are taken as they are: float32[8,8]" in a for a in verdict.assumptions)
    variables = {"params": {"w": jnp.ones((D, D))}}
    verdict = ap.check_model(jax.jit(lambda x: jnp.cumsum(x @ variables["params"]["w"], 1)), X)
    assert not any("taken as they are" in a for a in verdict.assumptions)


def test_zeros_among_parameters_are_a_condition_with_a_counterexample():
    variables = {"params": {"w": jnp.tril(jnp.ones((N, N)))}}
    verdict = ap.check_model(lambda x: jnp.einsum("ts,bsd->btd", variables["params"]["w"], x), X)
    assert verdict.status.name == "PROVED_IF"
    assert verdict.conditions[0].text == "the zeros among the parameters stay zero: w"
    assert verdict.conditions[0].counterexample.replay()
    as_stored = {"parameters": "stored"}
    assert ap.check_model(lambda x: variables["params"]["w"] @ x, X, **as_stored).status.name == "PROVED"


def test_other_inputs_count_as_any_numbers_where_that_is_enough():
    assert ap.check_model(lambda x, w: jnp.cumsum(x @ w, 1), X, W).status.name == "PROVED"
    given = ap.check_model(lambda x, w: w @ x, X, np.tril(np.ones((N, N), np.float32)))
    assert given.status.name == "PROVED_IF"
    assert "other inputs keep the values given" in given.conditions[0].text


def test_shapes_are_enough_for_a_proof():
    model = nnx.eval_shape(lambda: Attention(False))
    verdict = ap.check_model(model, jax.ShapeDtypeStruct((1, N), jnp.int32))
    assert verdict.status.name == "PROVED_IF"
    assert verdict.details["runs"][0]["forwards"] == 0
    assert ap.check_model(nnx.eval_shape(lambda: Attention(True)), TOKENS).status.name == "UNDECIDED"


@pytest.mark.parametrize(
    ("model", "inputs", "keywords", "words"),
    [
        (Linen(), (X,), {}, "of flax without its variables; pass module.bind(variables), or the variables before"),
        (lambda x: x if x.sum() > 0 else -x, (X,), {}, "reads a value that depends on its input into Python"),
        (lambda x: x @ x[:, :3], (X,), {}, "raised TypeError on these inputs"),
        (lambda x: x + 0.0, (TOKENS,), {}, "holds whole numbers and no embedding tells their bound"),
        (jnp.sin, (X,), {"sequence_axis": 3}, "is no axis of input 0, whose shape is (1, 8, 8)"),
        (jnp.sin, (X,), {"rules": (len,)}, "are for operations of PyTorch"),
        (jnp.sin, (X, X), {"vary": 2}, "names none of the 2 inputs"),
    ],
)
def test_what_cannot_be_checked_is_told_in_a_sentence(model, inputs, keywords, words):
    with pytest.raises(ModelError) as raised:
        ap.check_model(model, *inputs, **keywords)
    assert words in str(raised.value)


def test_outputs_lengths_boundaries_and_keywords():
    def two(x, *, lag=0):
        return {"y": jnp.roll(jnp.cumsum(x, 1), lag, 1).at[:, :lag].set(0), "pooled": x.mean(1)}

    verdict = ap.check_model(two, X, {"lag": 1}, boundary="strict", outputs="y")
    assert verdict.status.name == "PROVED"
    assert verdict.details["unchecked"] == ["['pooled']"]
    several = ap.check_model(two, lengths=(4, 6), make_input=lambda n: jnp.ones((1, n, D)))
    assert [run["n"] for run in several.details["runs"]] == [4, 6]
    assert several.status.name == "PROVED"
    assert ap.check_model(two, X, lengths=(5,)).details["shape"] == [1, 5, D]


def leaking(x):
    return jnp.cumsum(jnp.roll(x, -1, 1), 1)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.complex64])
def test_a_witness_comes_back_from_its_file_and_replays(dtype):
    verdict = ap.check_model(leaking, X.astype(dtype))
    read = ap.Verdict.from_json(verdict.to_json()).witness
    assert read == verdict.witness
    assert read.replay(leaking)
    assert not read.replay(lambda x: jnp.cumsum(x, 1))


WITHOUT = """
import sys
sys.modules["torch"] = None
import jax.numpy as jnp, attnproof as ap
x = jnp.arange(24.0).reshape(1, 8, 3) / 7
leak = ap.check_model(lambda x: jnp.cumsum(x[:, ::-1], 1), x)
print(ap.assert_causal(lambda x: jnp.cumsum(x, 1), x).status.name, leak.status.name, leak.witness.replay())
ap.Verdict.from_json(leak.to_json())
"""


def test_who_has_no_pytorch_checks_models_of_jax():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["PROVED", "REFUTED", "True"], done.stderr


def test_the_command_line(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import jax.numpy as jnp\n\n"
        "def build():\n    return lambda x: jnp.cumsum(x[:, ::-1], 1), lambda n: jnp.ones((1, n, 2))\n"
    )
    command = [sys.executable, "-m", "attnproof", "model", f"{file}:build", "--n", "4,6", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert said["status"] == "REFUTED"
    assert said["details"]["blame"]["entry"]["line"] == f"{file}:4"


# -- what a function closes over ---------------------------------------------------------------------------------------


class Gate(eqx.Module):
    gate: jax.Array

    def __call__(self, x):
        return x.cumsum(-2) + self.gate * x.mean(-2, keepdims=True)


class Gated(nnx.Module):
    def __init__(self):
        self.gate = nnx.Param(jnp.zeros(()))

    def __call__(self, x):
        return x.cumsum(1) + self.gate * x.mean(1, keepdims=True)


def closed_gates():
    graph, state = nnx.split(Gated())
    alone = nnx.Param(jnp.zeros(()))
    return {
        "split and merged": lambda x: nnx.merge(graph, state)(x),
        "a parameter alone": lambda x: x.cumsum(1) + alone[...] * x.mean(1, keepdims=True),
        "compiled by equinox": eqx.filter_jit(Gate(jnp.zeros(()))),
        "compiled by equinox, mapped": eqx.filter_jit(jax.vmap(Gate(jnp.zeros(())))),
    }


@pytest.mark.parametrize("kind", closed_gates())
def test_a_declared_parameter_that_is_zero_is_a_condition_however_it_is_held(kind):
    verdict = ap.check_model(closed_gates()[kind], X)
    assert verdict.status.name == "PROVED_IF"
    assert verdict.conditions[0].text.startswith("the zeros among the parameters stay zero")


def test_a_number_that_a_function_closes_over_is_named():
    zero = jnp.zeros(())
    verdict = ap.check_model(lambda x: x.cumsum(1) + zero * x.mean(1, keepdims=True), X)
    assert any("float32[]" in said for said in verdict.assumptions)


class Counting(nnx.Module):
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x.cumsum(1) if self.calls < 2 else x.cumsum(1) + x.mean(1, keepdims=True)


def test_a_module_that_counts_its_calls_in_python_is_proved_from_the_state_as_given():
    verdict = ap.check_model(Counting(), X)
    assert verdict.status.name == "PROVED_IF"
    assert "every call starts from the state as given" in verdict.conditions[0].text


def test_a_constant_that_a_callback_makes_is_not_computed():
    verdict = ap.check_model(lambda x: eqx.error_if(x.cumsum(1), jnp.isnan(x[:, :1]).any(), "no"), X)
    assert verdict.status.name == "PROVED"


def test_a_rule_that_fails_leaves_a_model_undecided(monkeypatch):
    def broken(call):
        raise IndexError("of the rule's own")

    monkeypatch.setitem(BINDINGS, "cumsum", Binding(rule=broken))
    verdict = ap.check_model(lambda x: x.cumsum(1), jnp.ones((1, 6, 2)))
    assert verdict.status.name == "UNDECIDED"
    assert "IndexError: of the rule's own" in verdict.reasons[0]


def written(x, update, p):
    return jax.lax.dynamic_update_slice_in_dim(x, update, p.astype(int), 1)


PLACES = jnp.stack([jnp.ones((8, 8)), jnp.tril(jnp.ones((8, 8)))])


@pytest.mark.parametrize(
    ("p", "read"),
    [
        (jnp.arange(8.0), lambda x, p: x[:, jnp.argsort(p)].cumsum(1)),
        (jnp.arange(8.0), lambda x, p: jnp.zeros_like(x).at[:, jnp.argsort(p)].add(x).cumsum(1)),
        (jnp.array(1.0), lambda x, p: jnp.roll(x, p.astype(int) - 1, 1).cumsum(1)),
        (jnp.array(1.0), lambda x, p: written(jnp.pad(x, ((0, 0), (1, 1), (0, 0))), x, p)[:, 1:-1].cumsum(1)),
        (jnp.triu(jnp.ones((8, 8), bool), 1), lambda x, p: jnp.where(p, 0.0, 1.0) @ x),
        (jnp.array(1, jnp.uint32), lambda x, p: jax.lax.dynamic_slice(PLACES, (p, p * 0, p * 0), (1, 8, 8))[0] @ x),
    ],
)
def test_places_and_choices_made_of_a_parameter_rest_on_its_values_beside_zeros_of_another(p, read):
    class Read(nnx.Module):
        def __init__(self):
            self.p, self.gate = nnx.Param(p), nnx.Param(jnp.zeros(()))

        def __call__(self, x):
            return read(x, self.p[...]) + self.gate[...] * x[:, ::-1]

    verdict = ap.check_model(Read(), jnp.ones((1, 8, 3)))
    assert [c.text for c in verdict.conditions] == [
        "parameters keep their stored values: p",
        "the zeros among the parameters stay zero: gate",
    ], verdict


def test_a_loop_on_data_under_vmap_runs_on_numbers_as_it_does_in_jax():
    def halved(row):
        return jax.lax.while_loop(lambda row: jnp.abs(row).sum() > 1, lambda row: row / 2, row)

    def model(x):
        return jax.vmap(jax.vmap(halved))(x[:, ::-1].cumsum(1))

    verdict = ap.check_model(model, jax.random.normal(jax.random.key(0), (2, 5, 3)))
    assert verdict.status.name == "REFUTED"
    x = verdict.witness.inputs[0].astype(np.float32)
    wide = np.moveaxis(np.asarray(model(x)), 1, 0)[verdict.witness.query].reshape(-1)
    assert np.allclose(wide, verdict.witness.outputs[0], atol=1e-5)


def test_a_parameter_that_python_reads_while_the_program_is_recorded_is_a_condition():
    held = {"params": {"gate": jnp.zeros(())}}

    def model(x):
        return x.cumsum(1) + float(held["params"]["gate"]) * x[:, ::-1]

    said = [c.text for c in ap.check_model(model, X).conditions]
    assert len(said) == 1
    assert "stay as they are: gate, which the recorded program does not hold" in said[0]
    with pytest.raises(ap.NotProvedError, match="stay as they are: gate"):
        ap.assert_causal(model, X)


def test_parameters_of_the_model_itself_are_never_missing_from_the_program():
    assert ap.check_model(Gate(jnp.ones(())), X).status.name == "REFUTED"
    model = eqx.nn.Sequential(
        [eqx.nn.Lambda(lambda x: x.cumsum(0)), eqx.nn.Lambda(jax.vmap(eqx.nn.Linear(D, D, key=KEY)))]
    )
    assert ap.check_model(model, X[0], sequence_axis=0).status.name == "PROVED"
