"""Results that lie in memory in another way outside the run: what is written into them, and what is asked of them."""

from __future__ import annotations

from needs import need

torch = need("torch")
F = need("torch.nn.functional")

import attnproof as ap
import pytest
from leaks import N, never_proved
from torch.nn.attention import SDPBackend, sdpa_kernel


def heads(x):
    return x.view(1, N, 2, 2).transpose(1, 2)


def seen():
    return torch.ones(N, N).tril().bool()


def written_through_attention(x):
    o = F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=seen()).transpose(1, 2)
    flat = o.reshape(1, N, 4)  # a view of what a fused kernel returns, a copy of what the math path does
    flat += x.flip(1)
    return o.reshape(1, N, 4)


def asked_of_attention(x):
    o = F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=seen()).transpose(1, 2)
    return x.flip(1) if o.is_contiguous() else x.cumsum(1)


def written(o, x):
    """The outputs of attention with another sequence added, where reshaping them gives a view."""
    o = o.transpose(1, 2)
    flat = o.reshape(1, N, 4)
    flat += x.flip(1)
    return o.reshape(1, N, 4)


@torch.jit.script
def scripted(x, seen):
    h = x.view(1, x.shape[1], 2, 2).transpose(1, 2)
    o = torch.nn.functional.scaled_dot_product_attention(h, h, h, attn_mask=seen).transpose(1, 2)
    flat = o.reshape(1, x.shape[1], 4)
    flat += x.flip(1)
    return o.reshape(1, x.shape[1], 4)


@torch.jit.script
def attention_in_a_script(h, seen):
    return torch.nn.functional.scaled_dot_product_attention(h, h, h, attn_mask=seen)


def written_in_a_script(x):
    return scripted(x, seen())


def written_after_a_script(x):
    return written(attention_in_a_script(heads(x), seen()), x)


def written_after_an_overload(x):
    return written(torch.ops.aten.scaled_dot_product_attention.default(heads(x), heads(x), heads(x), seen()), x)


def by_a_kernel_of_its_choice(x):
    with sdpa_kernel(SDPBackend.MATH):
        o = F.scaled_dot_product_attention(heads(x), heads(x), heads(x), is_causal=True)
    flat = o.reshape(-1)  # a view of what the math path returns, a copy of what a fused kernel does
    flat += heads(x.flip(1)).reshape(-1)
    return o.transpose(1, 2).reshape(1, N, 4)


def reshaped(x):
    o = F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=seen()).transpose(1, 2)
    return o, o.reshape(1, N, 4)


def asked_for_its_order(x):
    return x.flip(1) if reshaped(x)[0].dim_order() == (0, 1, 2, 3) else x.cumsum(1)


def asked_for_its_storage(x):
    o, flat = reshaped(x)
    return x.flip(1) if flat.untyped_storage()._cdata == o.untyped_storage()._cdata else x.cumsum(1)


def asked_for_its_base(x):
    o, flat = reshaped(x)
    return x.flip(1) if flat._base is o._base else x.cumsum(1)


def attended(x, mask):
    return F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=mask).transpose(1, 2)


def written_through_a_view(x):
    o = attended(x, seen())
    o.view(1, N, 4).add_(x.flip(1))
    return o.reshape(1, N, 4)


def steered_by_a_view(x):
    try:
        attended(x, seen()).view(1, N, 4)
    except RuntimeError:
        return x.cumsum(1)
    return x.flip(1)


def asked_of_a_pool(x):
    return x.flip(1) if F.max_pool1d(x.mT, 1).is_contiguous() else x.cumsum(1)


def written_through_a_pool(x):
    o = F.max_pool1d(x.mT, 1)
    flat = o.reshape(-1)
    flat += x.flip(1).mT.reshape(-1)
    return o.mT


def written_through_a_norm(x):
    o = F.batch_norm(x.mT, torch.zeros(4), torch.ones(4))
    flat = o.reshape(-1)
    flat += x.flip(1).mT.reshape(-1)
    return o.mT


def asked_for_strides(x):
    return x.flip(1) if F.logsigmoid(x.mT).stride(-1) == 1 else x.cumsum(1)


def asked_of_a_transform(x):
    both = torch.fft.rfft2(torch.cat([x, x]), dim=(0, 1))
    return x.flip(1) if both.stride(0) == 5 else x.cumsum(1)


def cleaned_through_what_may_be_a_copy(x):
    new = torch.zeros_like(F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=seen()))
    flat = new.reshape(-1)
    new += heads(x.flip(1))
    flat.zero_()
    return new.transpose(1, 2).reshape(1, N, 4)


def written_after_it_was_reshaped(x):
    new = torch.zeros_like(attended(x, seen()))
    flat = new.reshape(-1)
    new += x.flip(1).reshape(1, N, 2, 2)
    return flat.reshape(1, N, 4)


def written_after_it_was_made_contiguous(x):
    new = torch.zeros_like(attended(x, seen()))
    other = new.contiguous()
    new[:, 0] = x.flip(1)[:, 0].reshape(1, 2, 2)
    return other.reshape(1, N, 4)


@torch.jit.script
def contiguous_in_a_script(x):
    return x.contiguous()


def written_after_a_script_made_it_contiguous(x):
    new = torch.zeros_like(attended(x, seen()))
    other = contiguous_in_a_script(new)
    new[:, 0] = x.flip(1)[:, 0].reshape(1, 2, 2)
    return other.reshape(1, N, 4)


def written_through_a_view_of_something_new(x):
    new = torch.zeros_like(attended(x, seen()))
    part = new[:, :, 0]
    flat = new.reshape(-1)
    part += x.flip(1)[..., :2]
    return flat.reshape(1, N, 4)


@pytest.mark.parametrize(
    "model",
    [
        cleaned_through_what_may_be_a_copy,
        written_after_it_was_reshaped,
        written_after_it_was_made_contiguous,
        written_after_a_script_made_it_contiguous,
        written_through_a_view_of_something_new,
        written_through_attention,
        written_through_a_view,
        steered_by_a_view,
        asked_of_attention,
        written_in_a_script,
        written_after_a_script,
        written_after_an_overload,
        by_a_kernel_of_its_choice,
        asked_of_a_pool,
        written_through_a_pool,
        asked_for_its_order,
        asked_for_its_storage,
        asked_for_its_base,
        written_through_a_norm,
        asked_for_strides,
        asked_of_a_transform,
    ],
)
def test_a_leak_through_the_layout_of_a_result_is_not_proved(model):
    never_proved(model, width=4)


def test_kernels_chosen_before_a_check_are_the_programs_choice():
    def model(x):
        o = F.scaled_dot_product_attention(heads(x), heads(x), heads(x), is_causal=True)
        return x.flip(1) if o.is_contiguous() else x.cumsum(1)

    with sdpa_kernel(SDPBackend.MATH):
        assert ap.check_model(model, torch.randn(1, N, 4), replay="never").status.name == "UNDECIDED"


def attending_in_a_script(x):
    o = attention_in_a_script(heads(x), seen()).transpose(1, 2).reshape(1, N, 4)
    return F.linear(o, torch.ones(4, 4)) + x


def pooled_written(x):
    o = F.max_pool1d(F.conv1d(F.pad(x.mT, (2, 0)), torch.ones(4, 4, 3)), 1)
    o += x.mT
    return o.relu_().mT


def part_by_part(x):
    """As the chunks of a gated delta rule are written."""
    o = attended(x, seen())
    new = torch.zeros_like(o)
    for i in range(N):
        new[:, i] = o[:, i]
        new[:, i] += 1
    return new.reshape(1, N, 4)


def norm_written(x):
    h = F.layer_norm(x, (4,))
    h += x
    return h.mul_(2).cumsum(1)


def scores_written(x):
    scores = x @ x.mT
    scores.masked_fill_(~seen(), -torch.inf)
    return scores.softmax(-1) @ x


def projected(x):
    o = F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=seen()).transpose(1, 2)
    h = F.linear(o.reshape(1, N, 4), torch.ones(4, 4))
    h += x
    return h.relu_()


def new_memory_written(x):
    made = x.mT.new_empty(1, N, 4)
    made[..., :2], made[..., 2:] = x[..., 2:], x[..., :2]
    return made.cumsum(1)


@pytest.mark.parametrize(
    "model",
    [
        norm_written,
        scores_written,
        projected,
        new_memory_written,
        pooled_written,
        attending_in_a_script,
        part_by_part,
    ],
)
@pytest.mark.parametrize("replay", ["auto", "never"])
def test_what_is_written_into_in_models_is_certain(model, replay):
    assert ap.check_model(model, torch.randn(1, N, 4), replay=replay).status.name == "PROVED"


def test_a_view_of_what_a_fused_kernel_returns_needs_no_copy():
    x = torch.randn(1, N, 4)
    model = lambda x: attended(x, seen()).view(1, N, 4)  # noqa: E731
    assert ap.check_model(model, x).status.name == "PROVED"
    assert ap.check_model(lambda x: model(x).view(1, N, -1), x, replay="never").status.name == "PROVED"
    assert ap.check_model(lambda x: attended(x, seen().mT).view(1, N, 4), x).status.name == "REFUTED"
