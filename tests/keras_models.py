"""Models of Keras 3 and what a check says of each, as JSON: run with KERAS_BACKEND in the environment."""

from __future__ import annotations

import json
import os

import attnproof as ap
import keras
import numpy as np
from attnproof.causal.model.setting import ModelError
from keras import layers, ops

X = np.random.default_rng(0).normal(size=(1, 6, 4)).astype(np.float32)


def given():
    if os.environ["KERAS_BACKEND"] == "torch":
        import torch

        return torch.from_numpy(X)
    import jax.numpy as jnp

    return jnp.asarray(X)


def of(*parts):
    """The layers one after the other, as a model."""
    at = first = keras.Input((6, 4))
    for part in parts:
        at = part(at)
    return keras.Model(first, at)


def attention(mask=True, **keywords):
    layer = layers.MultiHeadAttention(2, 4, name="mixing", **keywords)
    return of(lambda x: layer(x, x, use_causal_mask=mask))


@keras.saving.register_keras_serializable()
class Forgetful(layers.Layer):
    """Attention with a fast way that masks, and a slow one, for dropout and whoever wants scores, that forgets to."""

    def __init__(self, drawn=0.1):
        super().__init__(name="forgetful")
        self.drop = layers.Dropout(drawn, seed=1)

    def call(self, x, training=False, scores=False):
        x = x[:, :, None]
        if scores or (training and self.drop.rate):
            weights = ops.softmax(ops.einsum("bqhd,bkhd->bhqk", x, x))  # no mask
            return ops.einsum("bhqk,bkhd->bqhd", self.drop(weights), x)[:, :, 0]
        return ops.dot_product_attention(x, x, x, is_causal=True)[:, :, 0]


class Gated(layers.Layer):
    """A frozen parameter that is zero closes a leak."""

    def build(self, shape):
        self.gate = self.add_weight(shape=(), initializer="zeros", name="gate")
        self.trainable = False

    def call(self, x):
        return ops.cumsum(x, 1) + self.gate * ops.mean(x, 1, keepdims=True)


def built(layer):
    layer(given())
    return layer


def norm():
    return of(layers.Conv1D(4, 3, padding="causal"), layers.BatchNormalization(name="norm"))


def told(model):
    """A function that says itself in which mode it wants the model."""
    return lambda x: model(x, training=False)


def closed_over(model):
    return lambda x: model(x)


CASES = {  # what is checked, the mode, more inputs
    "attention": (attention, "eval"),
    "attention, dropout, training": (lambda: attention(dropout=0.1), "train"),
    "attention, leaking": (lambda: attention(False), "eval"),
    "recurrence": (lambda: of(layers.LSTM(4, return_sequences=True)), "eval"),
    "convolution, causal": (lambda: of(layers.Conv1D(4, 3, padding="causal")), "train"),
    "convolution, same": (lambda: of(layers.Conv1D(4, 3, padding="same", name="around")), "eval"),
    "norm": (norm, "eval"),
    "norm, training": (norm, "train"),
    "norm, closed over, training": (lambda: closed_over(norm()), "train"),
    "norm, told not to, training": (lambda: told(norm()), "train"),
    "forgetful": (lambda: built(Forgetful()), "eval"),
    "forgetful, training": (lambda: built(Forgetful()), "train"),
    "forgetful, without dropout, training": (lambda: built(Forgetful(0.0)), "train"),
    "forgetful, scores": (lambda: built(Forgetful()), "eval", {"scores": True}),
    "gated": (lambda: built(Gated()), "eval"),
    "never called": (Gated, "eval"),
}


def said(build, mode, *more):
    model = build()
    before = [np.array(v) for v in getattr(model, "variables", ())]
    call = layers.Layer.__call__
    try:
        verdict = ap.check_model(model, given(), *more, modes=(mode,))
    except ModelError as error:
        return {"error": str(error)}
    assert layers.Layer.__call__ is call
    assert keras.config.is_traceback_filtering_enabled()
    after = [np.array(v) for v in getattr(model, "variables", ())]
    return {
        "status": verdict.status.name,
        "conditions": [c.text for c in verdict.conditions],
        "assumptions": list(verdict.assumptions),
        "reasons": list(verdict.reasons),
        "entry": (verdict.details["blame"] or {}).get("entry"),
        "replays": verdict.witness is None or verdict.witness.replay(),
        "kept": all(map(np.array_equal, before, after)),
        "versions": sorted(verdict.versions),
    }


if __name__ == "__main__":
    print(json.dumps({name: said(*case) for name, case in CASES.items()}))
