"""Counted operations of real code equal the formulas, exactly."""

import itertools

import pytest
import sympy
from attnproof.numeric import attention
from attnproof.numeric.flops import counted, kept
from attnproof.symbolic import modules
from attnproof.symbolic.cost import compressed_head, full_head, macs
from needs import need

torch = need("torch")
pytestmark = pytest.mark.claim("T9")


def draw(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("n", "r", "d", "dv"), [(8, 2, 4, 4), (16, 5, 3, 7), (33, 32, 2, 2)])
def test_reference_head(n, r, d, dv):
    q, k, v, e, f = draw(n, d), draw(n, d), draw(n, dv), draw(r, n), draw(r, n)
    assert counted(lambda: attention.full_attention(q, k, v)) == macs(full_head(n, d, dv))
    assert counted(lambda: attention.compressed_attention(q, k, v, e, f)) == macs(compressed_head(n, r, d, dv))


@pytest.mark.parametrize(("one", "shared", "context"), [*itertools.product([False, True], [False, True], [None, 12])])
def test_linformer_package(one, shared, context):
    layer = need("linformer.linformer").LinformerSelfAttention(16, 24, k=6, heads=4, one_kv_head=one, share_kv=shared)
    x, c = draw(3, 24, 16), None if context is None else draw(3, context, 16)
    derived = modules.compressed_multi_head(
        3, 24, 6, 16, 4, 4, m=context, kv_heads=1 if one else None, shared_values=shared
    )
    assert counted(lambda: layer(x, context=c)) == macs(derived)


@pytest.mark.parametrize("method", ["learnable", "no_params", "convolution"])
@pytest.mark.parametrize("sharing", ["none", "headwise", "kv", "layerwise"])
def test_linformer_pytorch_package(method, sharing):
    package = need("linformer_pytorch")
    layer = package.Linformer(24, 16, 6, dim_ff=32, nhead=4, method=method, parameter_sharing=sharing).eval()
    attend = (
        modules.convolved_multi_head(2, 24, 4, 16, 4, 4)
        if method == "convolution"
        else modules.compressed_multi_head(2, 24, 6, 16, 4, 4)
    )
    derived = macs(attend) + macs(modules.feed_forward(2, 24, 16, 32))
    assert counted(lambda: layer(draw(2, 24, 16))) == derived


def test_linformer_pytorch_full_attention():
    layer = need("linformer_pytorch").Linformer(24, 16, 6, dim_ff=32, nhead=4, full_attention=True).eval()
    derived = macs(modules.multi_head(2, 24, 16, 4, 4)) + macs(modules.feed_forward(2, 24, 16, 32))
    assert counted(lambda: layer(draw(2, 24, 16))) == derived


@pytest.mark.parametrize("context", [None, 9])
def test_multi_head_attention_of_torch(context):
    layer = torch.nn.MultiheadAttention(16, 4, batch_first=True).eval()
    x = draw(2, 12, 16)
    c = x if context is None else draw(2, context, 16)
    assert counted(lambda: layer(x, c, c, need_weights=False)) == macs(modules.multi_head(2, 12, 16, 4, 4, m=context))


def test_the_default_count_misses_fused_attention():
    q = draw(1, 2, 16, 8)
    call = lambda: torch.nn.functional.scaled_dot_product_attention(q, q, q)  # noqa: E731
    assert counted(call) == macs(full_head(16, 8, 8)) * 2
    assert counted(call, plain=False) == 0


def test_grouped_key_value_heads():
    q, kv = draw(1, 4, 8, 4), draw(1, 2, 8, 4)
    call = lambda: torch.nn.functional.scaled_dot_product_attention(q, kv, kv, enable_gqa=True)  # noqa: E731
    derived = [p for p in modules.multi_head(1, 8, 16, 4, 4, kv_heads=2) if not p.name.startswith("project")]
    assert counted(call) == macs(derived)
    projected = macs(modules.multi_head(1, 8, 16, 4, 4)) - macs(modules.multi_head(1, 8, 16, 4, 4, kv_heads=2))
    assert projected == 2 * 8 * 16 * 2 * 4


@pytest.mark.parametrize("needs_gradient", [True, False])
def test_backward_pass(needs_gradient):
    layer = need("linformer.linformer").LinformerSelfAttention(16, 24, k=6, heads=4)
    x = draw(2, 24, 16).requires_grad_(needs_gradient)
    out = layer(x).sum()
    derived = modules.compressed_multi_head(2, 24, 6, 16, 4, 4)
    assert counted(out.backward) == modules.backward(derived, input_needs_gradient=needs_gradient)


def test_decoding_with_and_without_a_cache():
    n, d, dv = 7, 4, 6
    q, k, v = draw(n, d), draw(n, d), draw(n, dv)

    def cached():
        for t in range(1, n + 1):
            torch.softmax(q[t - 1 : t] @ k[:t].T, -1) @ v[:t]

    def anew():
        for t in range(1, n + 1):
            torch.softmax(q[:t] @ k[:t].T, -1) @ v[:t]

    assert counted(cached) == modules.decoding(n, d, dv)
    assert counted(anew) == modules.decoding(n, d, dv, cached=False)
    t, p = sympy.symbols("t p", integer=True, positive=True)
    assert sympy.expand(modules.decoding(t, d, dv) - sympy.summation(p * (d + dv), (p, 1, t))) == 0


@pytest.mark.parametrize(("n", "block"), [(8, 2), (12, 3), (12, 12), (5, 1)])
def test_decoding_by_completed_blocks(n, block):
    total = sum(1 + t // block for t in range(1, n + 1))
    assert modules.decoding_blocks(n, block, 3, 4) == total * 7


@pytest.mark.parametrize(("n", "r", "d", "dv"), [(16, 4, 3, 5), (9, 2, 2, 2)])
def test_numbers_kept_for_backward(n, r, d, dv):
    q, k, v, e, f = (draw(*s).requires_grad_() for s in ((n, d), (n, d), (n, dv), (r, n), (r, n)))
    assert kept(lambda: torch.softmax(q @ k.T, -1) @ v) == modules.kept_for_backward(n, d, dv)
    assert kept(lambda: torch.softmax(q @ (e @ k).T, -1) @ (f @ v)) == modules.kept_for_backward(n, d, dv, r)


def test_a_wrong_formula_is_seen():
    layer = need("linformer.linformer").LinformerSelfAttention(16, 24, k=6, heads=4)
    count = counted(lambda: layer(draw(3, 24, 16)))
    assert count != macs(modules.compressed_multi_head(3, 24, 7, 16, 4, 4))
    assert count != macs(modules.multi_head(3, 24, 16, 4, 4))
