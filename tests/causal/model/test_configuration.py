"""From a configuration alone: models without weights, no code of others, no network."""

from __future__ import annotations

import json
import socket

import pytest
from needs import need

torch = need("torch")
transformers = need("transformers")

from attnproof.causal.model import ModelError, from_configuration
from transformers import LlamaForCausalLM

TINY = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
LLAMA = TINY | {"model_type": "llama"}


@pytest.fixture
def written(tmp_path):
    """The path of a file that holds these entries, or this text."""

    def write(data):
        path = tmp_path / "config.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return path

    return write


def test_a_file_gives_the_model_that_it_describes_without_weights(written):
    model, make_input, vocabulary = from_configuration(LlamaForCausalLM, written(LLAMA))
    assert all(p.is_meta for p in model.parameters())
    assert len(model.model.layers) == 2
    assert not model.training
    assert not model.config.use_cache
    frequencies = LlamaForCausalLM(transformers.LlamaConfig(**TINY)).model.rotary_emb.inv_freq
    assert model.model.rotary_emb.inv_freq.equal(frequencies)
    x = make_input(7)
    assert (x.shape, x.dtype, vocabulary) == ((1, 7), torch.int64, 50)
    assert 0 <= int(x.min()) <= int(x.max()) < 50


def test_the_precision_is_that_of_the_file(written):
    model = from_configuration(LlamaForCausalLM, written(LLAMA | {"dtype": "bfloat16"})).model
    assert {p.dtype for p in model.parameters()} == {torch.bfloat16}
    assert model.model.rotary_emb.inv_freq.dtype is torch.float32


def test_a_type_has_its_default_numbers():
    model, _, vocabulary = from_configuration(LlamaForCausalLM, "llama")
    assert sum(p.numel() for p in model.parameters()) == 6_738_415_616
    assert vocabulary == 32000


def test_a_class_for_every_type_will_do(written):
    model = from_configuration(transformers.AutoModelForCausalLM, written(LLAMA)).model
    assert type(model) is LlamaForCausalLM


def test_the_part_of_a_larger_configuration_that_is_the_class_s_own_is_taken(written):
    path = written({"model_type": "composite", "text_config": LLAMA, "vision_config": {"model_type": "vit"}})
    assert len(from_configuration(LlamaForCausalLM, path).model.model.layers) == 2


def test_no_socket_is_opened(written, monkeypatch):
    def refused(*_):
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    from_configuration(LlamaForCausalLM, written(LLAMA | {"_name_or_path": "meta-llama/Llama-3.1-8B"}))
    with pytest.raises(ModelError, match="is neither a file nor a model type"):
        from_configuration(LlamaForCausalLM, "meta-llama/Llama-3.1-8B")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            LLAMA | {"auto_map": {"AutoModel": "code.Model"}},
            "holds auto_map, which names code elsewhere, which is never",
        ),
        ({"model_type": "x", "text_config": LLAMA | {"auto_map": {"A": "b.C"}}}, "holds auto_map"),
        (LLAMA | {"attn_implementation": "kernels-community/flash-attn"}, "a kernel elsewhere; use 'sdpa' or 'eager'"),
        (LLAMA | {"quantization_config": {"bits": 4}}, "holds quantization_config, which describes how weights"),
        (LLAMA | {"model_type": "mistral"}, "describes a 'mistral', and LlamaForCausalLM takes a 'llama'"),
        (LLAMA | {"hidden_size": "wide"}, "does not give a LlamaForCausalLM ("),
        ("{", "is no JSON ("),
        ("[1]", "holds a JSON list; pass a config.json, which holds an object"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_one_sentence(written, data, sentence):
    with pytest.raises(ModelError) as caught:
        from_configuration(LlamaForCausalLM, written(data))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model_class", "configuration", "sentence"),
    [
        (LlamaForCausalLM, "lama", "is neither a file nor a model type that transformers knows; did you mean llama?"),
        (LlamaForCausalLM, ".", "is a folder; pass the path of the config.json in it"),
        (torch.nn.Linear, "llama", "model_class = 'Linear' takes no configuration of transformers"),
        (transformers.ViTModel, "vit", "takes pixel_values, so that its input is not told"),
        (transformers.T5ForConditionalGeneration, "t5", "takes input_ids and decoder_input_ids"),
    ],
)
def test_a_class_or_type_that_does_not_fit_is_refused_in_one_sentence(model_class, configuration, sentence):
    with pytest.raises(ModelError) as caught:
        from_configuration(model_class, configuration)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("said", "used"), [({}, "batched_mm"), ({"experts_implementation": "eager"}, "eager")])
def test_experts_are_applied_token_by_token_unless_the_file_says_otherwise(written, said, used):
    entries = TINY | {"model_type": "mixtral", "num_local_experts": 2} | said
    model = from_configuration(transformers.MixtralForCausalLM, written(entries)).model
    assert model.get_experts_implementation()[""] == used
