"""From a configuration alone: models without weights, no code of others, no network."""

from __future__ import annotations

import json
import socket

import pytest
from needs import need

torch = need("torch")
transformers = need("transformers")

from attnproof.causal.model import ModelError, check_model, from_configuration
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
SORTED = TINY | {
    "model_type": "gpt_oss",
    "num_local_experts": 4,
    "head_dim": 8,
    "experts_implementation": "grouped_mm",
}
TWICE = {
    "model_type": "gpt_neo",
    "vocab_size": 50,
    "hidden_size": 32,
    "num_layers": 2,
    "num_heads": 4,
    "attention_types": [[["global", "local"], 1]],
    "max_position_embeddings": 64,
}


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


MIXED = {"model_type": "mixtral", "num_local_experts": 2}
LATENT = {"model_type": "deepseek_v3", "n_routed_experts": 4, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2}
LATENT |= {"moe_intermediate_size": 8, "q_lora_rank": 8, "kv_lora_rank": 8, "first_k_dense_replace": 1}
LATENT |= {"qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 6, "num_key_value_heads": 4}


def test_buffers_that_a_checkpoint_fills_have_no_values_and_those_that_a_class_computes_do(written):
    model = from_configuration(transformers.DeepseekV3ForCausalLM, written(TINY | LATENT)).model
    on_meta = {name.rpartition(".")[2] for name, b in model.named_buffers() if b.is_meta}
    held = {name.rpartition(".")[2] for name, b in model.named_buffers() if not b.is_meta}
    assert on_meta == {"e_score_correction_bias"}
    assert "inv_freq" in held
    entries = {k: v for k, v in TINY.items() if k in ("vocab_size", "hidden_size")} | {"model_type": "gpt_neo"}
    entries |= {"num_layers": 1, "num_heads": 4, "attention_types": [[["global"], 1]]}
    assert not any(
        b.is_meta for b in from_configuration(transformers.GPTNeoForCausalLM, written(entries)).model.buffers()
    )


def checked(model_class, path, n=12):
    model, make_input, vocabulary = from_configuration(model_class, path)
    return check_model(model, lengths=[n], make_input=make_input, vocabulary=vocabulary)


@pytest.mark.parametrize(
    ("model_class", "entries"),
    [
        (LlamaForCausalLM, LLAMA),
        (LlamaForCausalLM, LLAMA | {"dtype": "bfloat16"}),
        (transformers.MixtralForCausalLM, TINY | MIXED),
        (transformers.MixtralForCausalLM, TINY | MIXED | {"experts_implementation": "batched_mm"}),
        (transformers.PhimoeForCausalLM, TINY | MIXED | {"model_type": "phimoe"}),  # whose router finds two in turn
        (transformers.DeepseekV3ForCausalLM, TINY | LATENT),  # whose values are narrower than its queries
    ],
    ids=["llama", "half precision", "sorted experts", "experts token by token", "two routes", "latent attention"],
)
def test_what_a_configuration_describes_is_proved_and_nothing_is_run(written, model_class, entries):
    verdict = checked(model_class, written(entries))
    assert verdict.status.name == "PROVED"
    assert "it ran the program without values" in verdict.evidence[0].detail
    assert "was not run on any values" in verdict.evidence[1].detail


@pytest.mark.parametrize(
    ("model_class", "entries"),
    [
        (LlamaForCausalLM, LLAMA | {"attn_implementation": "eager"}),
        (transformers.GptOssForCausalLM, SORTED),  # whose sorted rows are added to in place
        (transformers.GPTNeoForCausalLM, TWICE),  # which adds two finite masks
    ],
    ids=["llama", "gpt_oss", "gpt_neo"],
)
def test_an_explicit_mask_is_a_condition(written, model_class, entries):
    verdict = checked(model_class, written(entries))
    assert verdict.status.name == "PROVED_IF", verdict
    assert "it ran the program without values" in verdict.evidence[0].detail


def test_what_looks_ahead_is_left_open_with_the_operation_where_it_does(written):
    entries = {k: v for k, v in TINY.items() if k != "num_key_value_heads"} | {"model_type": "bert"}
    verdict = checked(transformers.BertModel, written(entries))
    assert verdict.status.name == "UNDECIDED"
    assert verdict.details["blame"]["entry"]["operation"] == "aten._safe_softmax"


def test_more_positions_than_a_table_has_are_refused_in_one_sentence(written):
    entries = {"model_type": "gpt2", "vocab_size": 50, "n_embd": 32, "n_layer": 1, "n_head": 4, "n_positions": 8}
    assert checked(transformers.GPT2LMHeadModel, written(entries), 8).status.name == "PROVED"
    with pytest.raises(ModelError, match=r"stopped \(IndexError: index 8 is out of range for 8 places\)"):
        checked(transformers.GPT2LMHeadModel, written(entries), 9)
