"""Functions that PyTorch computes by looking at values, or not at all under a mode."""

from __future__ import annotations

import pytest
from needs import need

torch = need("torch")
import torch.nn.functional as F
from attnproof.causal.model import check_model
from attnproof.causal.model.trace.composed import normed_embedding, one_hot
from torch import nn
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

TOKENS = torch.tensor([[1, 2, 3, 4, 0, 3], [4, 4, 1, 2, 3, 0]])
X = torch.linspace(-1, 1, 48).sin().reshape(1, 6, 8)


def heads(x, n=6):
    return x.view(1, n, 2, 4).transpose(1, 2)


def test_one_hot_is_the_same_and_no_read():
    assert torch.equal(one_hot(TOKENS, 5), F.one_hot(TOKENS, 5))
    with pytest.raises(RuntimeError):
        one_hot(TOKENS, 4)
    for model in (lambda t: F.one_hot(t, 5).double().cumsum(1), lambda t: F.one_hot(t, num_classes=5).cumsum(1)):
        assert check_model(model, TOKENS, vocabulary=5).status.name == "PROVED"
    assert check_model(lambda t: F.one_hot(t.flip(1), 5), TOKENS, vocabulary=5).status.name == "REFUTED"


def test_a_failure_of_one_hot_that_the_program_catches_is_still_one():
    def model(t):
        try:
            F.one_hot(t, 5)
        except RuntimeError:
            return t * 0
        return t

    verdict = check_model(model, TOKENS, vocabulary=5, sequence_axis=1)
    assert verdict.status.name == "UNDECIDED", verdict
    assert any("whose failure the program catches" in reason for reason in verdict.reasons)


@pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
def test_rows_of_a_limited_norm_are_the_same(norm):
    weight = torch.randn(5, 8)
    expected = F.embedding(TOKENS, weight.clone(), max_norm=1.0, norm_type=norm)
    assert torch.allclose(normed_embedding(TOKENS, weight, max_norm=1.0, norm_type=norm), expected)


def test_rows_of_a_limited_norm_use_their_own_token_and_the_table_all_of_them():
    embed = nn.Embedding(5, 8, max_norm=1.0)
    nn.init.normal_(embed.weight, std=9.0)
    before = embed.weight.clone()
    assert check_model(lambda t: embed(t).cumsum(1), TOKENS).status.name == "PROVED"
    assert check_model(lambda t: embed(t).cumsum(1) @ embed.weight.T, TOKENS).status.name == "REFUTED"
    assert torch.equal(embed.weight, before)


@pytest.mark.parametrize(("bias", "status"), [(causal_lower_right, "PROVED"), (causal_upper_left, "PROVED")])
def test_causal_biases_are_made_within_a_model(bias, status):
    def model(x):
        q = heads(x)
        return F.scaled_dot_product_attention(q, q, q, attn_mask=bias(6, 6)).transpose(1, 2).flatten(2)

    assert check_model(model, X).status.name == status
    assert "__new__" not in vars(type(bias(2, 2)))


def test_a_bias_over_more_keys_than_queries_is_aligned_as_its_name_says():
    def model(bias):
        def attend(x):
            k = heads(torch.cat([x, x[:, :2]], 1), 8)
            return F.scaled_dot_product_attention(heads(x), k, k, attn_mask=bias(6, 8)).transpose(1, 2).flatten(2)

        return attend

    assert check_model(model(causal_upper_left), X).status.name == "PROVED"
    assert check_model(model(causal_lower_right), X).status.name == "REFUTED"


@pytest.mark.parametrize("shape", [(0, 6, 8), (2, 6, 0)])
def test_an_input_without_numbers_is_refused_in_a_sentence(shape):
    with pytest.raises(ValueError, match="holds no number"):
        check_model(lambda x: x.cumsum(1), torch.zeros(shape))
