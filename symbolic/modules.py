"""What whole layers cost: the products of multi-head attention and of public Linformer layers, from their shapes (T9).

`b` sequences of `n` queries over `m` context positions, `model` channels, `heads` heads of width `d`, `r` slots. A list
of products with symbolic sizes gives a formula, with numbers a count that an operation counter must reproduce exactly.
Softmax, biases, normalisation and activations are not matrix products and are left out, as counters leave them out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy
from sympy import Expr

from .cost import Product

Products = list[Product]


def multi_head(b: Any, n: Any, model: Any, heads: Any, d: Any, *, m: Any = None, kv_heads: Any = None) -> Products:
    """Multi-head attention with feature projections; cross-attention when `m` is given, grouped heads by `kv_heads`.

    >>> from attnproof.symbolic.cost import macs
    >>> macs(multi_head(1, 4, 8, 2, 4)) == 4 * (4 * 8 * 8) + 2 * (2 * 4 * 4 * 4)
    True
    """
    m, g = n if m is None else m, heads if kv_heads is None else kv_heads
    return [
        Product("project queries", b * n, model, heads * d, True),
        Product("project keys", b * m, model, g * d, True),
        Product("project values", b * m, model, g * d, True),
        Product("scores", b * heads * n, d, m),
        Product("mix values", b * heads * n, m, d),
        Product("project out", b * n, heads * d, model),
    ]


def compressed_multi_head(
    b: Any,
    n: Any,
    r: Any,
    model: Any,
    heads: Any,
    d: Any,
    *,
    m: Any = None,
    kv_heads: Any = None,
    shared_values: bool = False,
) -> Products:
    """Multi-head attention over r slots, as the package `linformer` builds it.

    `shared_values`: values are the keys (its `share_kv`), which saves a feature projection but is compressed twice all
    the same; `kv_heads=1` is its `one_kv_head`.

    >>> from attnproof.symbolic.cost import macs
    >>> n, r = sympy.symbols("n r")
    >>> attending = [p for p in compressed_multi_head(1, n, r, 8, 2, 4) if not p.name.startswith("project")]
    >>> macs(attending)
    32*n*r
    """
    m, g = n if m is None else m, heads if kv_heads is None else kv_heads
    values = [] if shared_values else [Product("project values", b * m, model, g * d, True)]
    return [
        Product("project queries", b * n, model, heads * d, True),
        Product("project keys", b * m, model, g * d, True),
        *values,
        Product("compress keys", b * g * d, m, r),
        Product("compress values", b * g * d, m, r),
        Product("scores", b * heads * n, d, r),
        Product("mix values", b * heads * n, r, d),
        Product("project out", b * n, heads * d, model),
    ]


def convolved_multi_head(b: Any, n: Any, stride: Any, model: Any, heads: Any, d: Any) -> Products:
    """Multi-head attention whose slots are strided convolutions over all d channels of a head (`method="convolution"`).

    n/stride slots; `stride` must divide n. Each slot mixes features too: compressing costs d times a projection's.

    >>> from attnproof.symbolic.cost import macs
    >>> macs(convolved_multi_head(1, 8, 2, 4, 1, 4)) - macs(compressed_multi_head(1, 8, 4, 4, 1, 4))
    0
    """
    slots = n // stride if isinstance(n, int) and isinstance(stride, int) else sympy.S(n) / stride
    products = compressed_multi_head(b, n, slots, model, heads, d)
    swapped = {name: Product(name, b * heads * slots, d * stride, d) for name in ("compress keys", "compress values")}
    return [swapped.get(p.name, p) for p in products]


def feed_forward(b: Any, n: Any, model: Any, hidden: Any) -> Products:
    """The two products of a feed-forward layer.

    >>> from attnproof.symbolic.cost import macs
    >>> macs(feed_forward(1, 2, 4, 16))
    256
    """
    return [Product("widen", b * n, model, hidden, True), Product("narrow", b * n, hidden, model)]


def backward(products: Iterable[Product], *, input_needs_gradient: bool = True) -> Expr:
    """Multiply–adds of the backward pass: each product Y = A·B needs A's gradient and B's, one product each.

    A first layer does not need the gradient of its input: products that read it cost one product instead of two.

    >>> layer = feed_forward(1, 2, 4, 16)
    >>> backward(layer), backward(layer, input_needs_gradient=False)
    (512, 384)
    """
    return sympy.Add(*(p.macs * (1 if p.of_input and not input_needs_gradient else 2) for p in products))


def decoding(n: Any, d: Any, dv: Any, *, cached: bool = True) -> Expr:
    """Multiply–adds of full attention (one head, feature projections apart) that writes n tokens one at a time.

    With a cache, token t attends to t keys: Σ t (d + d_v). Without, the whole prefix is attended anew: Σ t² (d + d_v).

    >>> n, d = sympy.symbols("n d")
    >>> decoding(n, d, d), sympy.factor(decoding(n, d, d, cached=False))
    (d*n*(n + 1), d*n*(n + 1)*(2*n + 1)/3)
    """
    n = sympy.S(n)
    steps = n * (n + 1) / 2 if cached else n * (n + 1) * (2 * n + 1) / 6
    return sympy.factor(steps * (sympy.S(d) + dv))


def decoding_blocks(n: Any, block: Any, d: Any, dv: Any) -> Expr:
    """The same for completed blocks of `block` positions, one slot each (safe by T10): token t sees ⌊t/block⌋ slots.

    Each position is folded into its slot once, d + d_v; scores and mixing take Σ_t ⌊t/block⌋ (d + d_v), here for
    `block` dividing n. A projection that reads ahead (unsafe by T11) has no such cost: its slots change with tokens
    that do not exist yet, so nothing that was computed can be kept.

    >>> decoding_blocks(8, 2, 1, 1) == 2 * (8 + sum(t // 2 for t in range(1, 9)))
    True
    """
    n, p = sympy.S(n), sympy.S(block)
    blocks = n / p
    attended = p * blocks * (blocks - 1) / 2 + blocks  # ⌊t/p⌋ for t = 1 … n
    return sympy.factor((n + attended) * (sympy.S(d) + dv))


def kept_for_backward(n: Any, d: Any, dv: Any, r: Any = None) -> Expr:
    """Numbers that one head keeps for its backward pass: factors of products and the softmax's result, once each.

    Full (r None): Q, K, V and the n² weights. Compressed: Q, K, V, E, F, K̄, V̄ and the n r weights.

    >>> n, d = sympy.symbols("n d")
    >>> kept_for_backward(n, d, d)
    3*d*n + n**2
    """
    n = sympy.S(n)
    if r is None:
        return n * d * 2 + n * dv + n * n
    return n * d * 2 + n * dv + 2 * r * n + r * d + r * dv + n * r
