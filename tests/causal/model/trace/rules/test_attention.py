"""Fused attention kernels and layers, against the same attention written out."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from tensor_probe import check, normal

X = normal(6, 4)
B = (6, 6)
FUTURE = torch.ones(B).triu(1).bool()
ENCODER = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).double().eval()
MHA = torch.nn.MultiheadAttention(4, 2, batch_first=True).double().eval()
KERNEL = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


def heads(x):
    return x[None, None]


def hidden(value):
    return torch.zeros(B, dtype=torch.float64).masked_fill(FUTURE, value)


def padding(x):
    return torch.tensor([[False, False, False, True, True, True]])


def plain(f):
    def g(x):
        with torch.no_grad():
            return f(x)

    return g


CASES = {
    "sdpa": lambda x: F.scaled_dot_product_attention(heads(x), heads(x), heads(x)),
    "sdpa causal": lambda x: F.scaled_dot_product_attention(heads(x), heads(x), heads(x), is_causal=True),
    "sdpa bool": lambda x: F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=~FUTURE),
    "sdpa float": lambda x: F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=hidden(-torch.inf)),
    "sdpa tail": lambda x: F.scaled_dot_product_attention(heads(x)[..., 3:, :], heads(x), heads(x), is_causal=True),
    "sdpa grouped": lambda x: F.scaled_dot_product_attention(
        heads(x).expand(1, 4, 6, 4),
        heads(x).expand(1, 2, 6, 4),
        heads(x).expand(1, 2, 6, 4),
        is_causal=True,
        enable_gqa=True,
    ),
    "sdpa more queries": lambda x: F.scaled_dot_product_attention(
        heads(x), heads(x)[..., :4, :], heads(x)[..., 1:5, :], is_causal=True
    ),
    "sdpa keys from the end": lambda x: F.scaled_dot_product_attention(
        heads(x), heads(x.flip(0)), heads(x), is_causal=True
    ),
    "sdpa constant queries": lambda x: F.scaled_dot_product_attention(
        torch.ones(1, 1, 6, 4, dtype=x.dtype),
        heads(x.roll(1, 0) * (torch.arange(6) > 0)[:, None]),
        heads(x),
        is_causal=True,
    ),
    "sdpa without heads": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    "kernel": lambda x: KERNEL(heads(x), heads(x), heads(x), 0.0, True)[0],
    "kernel bias": lambda x: KERNEL(heads(x), heads(x), heads(x), 0.0, False, attn_mask=hidden(-torch.inf))[0],
    "kernel finite": lambda x: KERNEL(heads(x), heads(x), heads(x), 0.0, False, attn_mask=hidden(-1e9))[0],
    "encoder": plain(lambda x: ENCODER(x[None])),
    "encoder masked": plain(lambda x: ENCODER(x[None], src_mask=hidden(-torch.inf))),
    "encoder bool": plain(lambda x: ENCODER(x[None], src_mask=FUTURE)),
    "encoder padding": plain(lambda x: ENCODER(x[None], src_key_padding_mask=padding(x))),
    "mha": plain(lambda x: MHA(*[x[None]] * 3)[0]),
    "mha masked": plain(lambda x: MHA(*[x[None]] * 3, attn_mask=FUTURE, need_weights=False)[0]),
    "mha weights": plain(lambda x: MHA(x[None], x[None], x[None], attn_mask=FUTURE)),
    "mha fused weights": plain(lambda x: MHA(*[x[None]] * 3, attn_mask=FUTURE)),
    "mha fused weights by head": plain(lambda x: MHA(*[x[None]] * 3, attn_mask=FUTURE, average_attn_weights=False)),
    "mha cross": plain(lambda x: MHA(x[None, :2], x[None], x[None])[0]),
}
LOOSE = {"mha weights", "mha fused weights", "mha fused weights by head", "kernel finite"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


def test_the_fused_path_names_its_assumption():
    run = check(CASES["encoder masked"], X)
    assert any("fused" in a for a in run.assumptions)


def test_a_bias_that_is_large_but_finite_is_a_condition_in_a_kernel_too():
    assert check(CASES["kernel finite"], X, exact=False).conditions[0].kind == "finite-mask"


FUSED = ("aten._native_multi_head_attention", "aten._transformer_encoder_layer_fwd")


def test_a_hint_without_a_mask_changes_nothing():
    run = check(plain(lambda x: ENCODER(x[None], is_causal=True)), X)
    assert run.outputs[0].along(1)[1].tolist() == [5] * 6


@pytest.mark.parametrize(("name", "axis"), [("mha fused weights", 1), ("mha fused weights by head", 2)])
def test_the_weights_of_a_query_use_what_it_may_see(name, axis):
    run = check(CASES[name], X, exact=False)
    assert "aten._native_multi_head_attention" in run.operations
    assert run.outputs[1].along(axis)[1].tolist() == [0, 1, 2, 3, 4, 5]


def square_padding(n):
    """One row per sample, as many samples as positions: its shape is that of a (queries, keys) mask."""
    mask = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
    mask[3:, 1:] = True
    return mask


def test_a_padding_mask_is_no_causal_mask():
    x = torch.randn(6, 6, 4)
    attention = torch.nn.MultiheadAttention(4, 2, batch_first=True).eval()
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    hidden = square_padding(6)
    models = [
        lambda x: attention(x, x, x, key_padding_mask=hidden, need_weights=False)[0],
        lambda x: layer(x, src_key_padding_mask=hidden),
    ]
    for model in models:
        assert ap.check_model(model, x).status.name == "REFUTED"
    causal = torch.nn.Transformer.generate_square_subsequent_mask(6)
    assert ap.check_model(lambda x: layer(x, src_mask=causal), x).status.name == "PROVED"


def test_padding_that_the_tokens_tell_counts_key_by_key_in_fused_paths():
    tokens = torch.tensor([[1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 5, 6]])
    embed, future = torch.nn.Embedding(8, 4), torch.ones(6, 6, dtype=torch.bool).triu(1)
    attention = torch.nn.MultiheadAttention(4, 2, batch_first=True).eval()
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()

    def attend(t, mask, hidden):
        x = embed(t)
        return attention(x, x, x, attn_mask=mask, key_padding_mask=hidden, need_weights=False)[0]

    for model in (attend, lambda t, mask, hidden: layer(embed(t), src_mask=mask, src_key_padding_mask=hidden)):
        proved = ap.check_model(lambda t, f=model: f(t, future, t == 0), tokens)
        assert proved.status.name == "PROVED", proved
        assert any(name in proved.details["operations"] for name in FUSED)
        assert ap.check_model(lambda t, f=model: f(t, None, t == 0), tokens).status.name == "REFUTED"
        told_late = ap.check_model(lambda t, f=model: f(t, future, t.flip(1) == 0), tokens)  # by another token
        assert told_late.status.name == "REFUTED"
