"""Models of Keras 3 on both back ends, each in a process of its own, as Keras keeps the one that it starts with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from needs import need, need_installed

need_installed("keras")
need("torch")
need("jax")

import pytest

TESTS = Path(__file__).parents[2]
PROVED = {
    "recurrence", "convolution, causal", "norm", "norm, told not to, training",
}  # fmt: skip
MASKED = {
    "attention",
    "attention, dropout, training",
    "forgetful",
    "forgetful, without dropout, training",
}  # −∞, or low
LEAKS = {  # the layer that is blamed
    "attention, leaking": "mixing",
    "convolution, same": "around",
    "norm, training": "norm",
    "norm, closed over, training": "norm",
    "forgetful, training": "forgetful",
    "forgetful, scores": "forgetful",
}


@cache
def verdicts(backend):
    with tempfile.TemporaryDirectory() as home:
        around = os.environ | {"KERAS_BACKEND": backend, "KERAS_HOME": home}
        command = [sys.executable, "-W", "ignore", str(TESTS / "keras_models.py")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=around)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(params=["jax", "torch"])
def found(request):
    return verdicts(request.param)


def test_causal_models_are_proved_in_the_mode_that_is_asked_for(found):
    for name in PROVED:
        assert found[name]["status"] == "PROVED", (name, found[name])
    for name in MASKED:
        assert found[name]["status"] in ("PROVED", "PROVED_IF"), (name, found[name])
        assert all("masked value" in c for c in found[name]["conditions"])


@pytest.mark.parametrize("name", LEAKS)
def test_leaks_are_refuted_and_the_layer_is_blamed(found, name):
    said = found[name]
    assert said["status"] == "REFUTED", said
    assert said["replays"]
    assert LEAKS[name] in said["entry"]["module"].split("."), said["entry"]
    file, _ = said["entry"]["line"].rsplit(":", 1)
    of_layers = os.path.join("keras", "src", "layers", "") in file and not file.endswith("layer.py")
    assert of_layers or Path(file).name == "keras_models.py"
    if "forgetful" in name:
        assert Path(file).name == "keras_models.py"


def test_attention_that_forgets_its_mask_is_seen_in_the_mode_where_it_does(found):
    """Two public reports (2025, 2026): attention that loses its mask in training with dropout, or asked for scores."""
    assert found["forgetful"]["status"] != "REFUTED" == found["forgetful, training"]["status"]
    assert found["forgetful, scores"]["status"] == "REFUTED"


def test_a_frozen_parameter_counts_as_any_number(found):
    said = found["gated"]
    assert said["status"] == "PROVED_IF"
    assert said["conditions"][0].startswith("the zeros among the parameters stay zero")
    assert "gate" in said["conditions"][0]


def test_a_check_leaves_variables_as_they_were(found):
    assert all(said.get("kept", True) for said in found.values())


def test_draws_of_training_are_said_to_be_the_same_in_every_run(found):
    assert any("random draws are the same" in a for a in found["attention, dropout, training"]["assumptions"])
    assert not any("mode that could" in reason for reason in found["convolution, causal"]["reasons"])


def test_a_layer_that_was_never_called_is_refused_where_it_cannot_make_its_variables():
    assert "was never called; call the model once first" in verdicts("jax")["never called"]["error"]


def test_the_versions_name_keras():
    assert "keras" in verdicts("jax")["norm"]["versions"]
