"""Modes are set on whatever module a model reaches, however it is held, and are as before afterwards."""

from __future__ import annotations

from functools import partial

from needs import need

need("jax")
need("flax")
need("equinox")

import attnproof as ap
import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from attnproof.causal.model.setting import ModelError
from flax import nnx

X = jnp.ones((1, 6, 3))


class Switched(nnx.Module):
    """Looks ahead in eval mode alone."""

    def __init__(self):
        self.drop = nnx.Dropout(0.5, rngs=nnx.Rngs(0))

    def __call__(self, x):
        return x[:, ::-1] if self.drop.deterministic else x.cumsum(1)


class Frozen(eqx.Module):
    drop: eqx.nn.Dropout

    def __call__(self, x):
        return x[:, ::-1] if self.drop.inference else x.cumsum(1)


class Holder:
    """No module, but holds one."""

    def __init__(self, net):
        self.net = net

    def predict(self, x):
        return self.net(x)


class Hiding(nnx.Module):
    """Holds a module in something that flax does not look into."""

    def __init__(self, net):
        self.held = Holder(net).predict

    def __call__(self, x):
        return self.held(x)


def remembered(net):
    """A function that JAX has recorded in train mode before."""
    f = jax.jit(lambda x: net(x))
    f(X)
    return f


WAYS = {
    "itself": lambda net: net,
    "closed over": lambda net: lambda x: net(x),
    "in a partial": lambda net: partial(net),
    "in an object": lambda net: Holder(net).predict,
    "in a module, hidden": Hiding,
    "jitted": remembered,
    "jitted inside": lambda net: lambda x: remembered(net)(x) + 0.0,
    "compiled by equinox": lambda net: eqx.filter_jit(lambda x: net(x)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [Switched, lambda: Frozen(eqx.nn.Dropout(0.5))], ids=["nnx", "equinox"])
def test_the_mode_is_set_wherever_the_module_lies(make, way):
    net = make()
    model = WAYS[way](net)
    found = [ap.check_model(model, X, modes=(mode,), replay="never") for mode in ("eval", "train", "eval")]
    assert [v.status.name for v in found] == ["UNDECIDED", "PROVED", "UNDECIDED"]
    assert not any("mode that could be set" in reason for reason in found[1].reasons)
    flag = net.drop.deterministic if make is Switched else net.drop.inference
    assert flag is False  # as it was
    assert (net(X) == X.cumsum(1)).all()


def test_the_mode_comes_back_when_the_model_fails():
    net = Switched()
    with pytest.raises(ModelError):
        ap.check_model(lambda x: net(x) @ x, X)
    assert net.drop.deterministic is False


def test_a_leak_of_eval_mode_is_seen_in_a_module_that_is_in_train_mode():
    verdict = ap.check_model(remembered(Switched()), X)
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
