# ruff: noqa: E501 - tables of calls
"""Small programs for every primitive that has a rule: by its name, functions of x (5 positions, 3 features)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

N, D = 5, 3
X = jnp.asarray(np.random.default_rng(0).uniform(0.1, 0.9, (N, D)), jnp.float32)
MASK = np.tril(np.ones((N, N), bool))
W = np.random.default_rng(1).normal(size=(D, D)).astype(np.float32)
Z = np.where(np.arange(N)[:, None] % 2, 0.0, 1.5).astype(np.float32)  # zeros in every second row
KEY = np.array([1, 2], np.uint32)


def whole(x):
    """x as whole numbers."""
    return (x * 7).astype(jnp.int32)


def cplx(x):
    return lax.complex(x, x[::-1] + 0.5)


def square(x):
    """(5, 3, 3), definite in each place."""
    return x[:, :, None] * x[:, None, :] + 2 * jnp.eye(D)


UNARY = {
    name: [getattr(lax, name)]
    for name in [
        "abs",
        "sign",
        "sin",
        "sinh",
        "tanh",
        "erf",
        "expm1",
        "cbrt",
        "asin",
        "asinh",
        "atan",
        "log1p",
        "sqrt",
        "ceil",
        "floor",
        "round",
        "tan",
        "cos",
        "cosh",
        "erfc",
        "erf_inv",
        "bessel_i0e",
        "bessel_i1e",
        "acos",
        "atanh",
        "log",
        "rsqrt",
        "digamma",
        "lgamma",
        "neg",
        "exp",
        "exp2",
        "logistic",
        "is_finite",
        "square",
    ]
}
for name in ["sin", "tanh", "asinh", "log1p", "sqrt", "ceil", "exp"]:  # zeros and −∞ among constants and data
    UNARY[name].append(lambda x, f=UNARY[name][0]: f(x * Z))
UNARY["exp"].append(lambda x: lax.exp(jnp.where(MASK, x @ x.T, -jnp.inf)))
UNARY["exp"].append(lambda x: lax.exp(jnp.where(MASK, x @ x.T, 0) + np.where(MASK, 0, -1e9).astype(np.float32)))
UNARY["acosh"] = [lambda x: lax.acosh(x + 1.5)]

BINARY = {
    "eq": [lambda x: x == x[::-1]], "ne": [lambda x: x != x[::-1]], "lt": [lambda x: x < x[::-1]], "le": [lambda x: x <= x[::-1]],
    "gt": [lambda x: x > x[::-1]], "ge": [lambda x: x >= x[::-1]], "max": [lambda x: lax.max(x, x[::-1])], "min": [lambda x: lax.min(x, x[::-1])],
    "add": [lambda x: x + x[::-1], lambda x: x + np.where(Z == 0, -np.inf, 1).astype(np.float32)],
    "add_any": [lambda x: jax.vjp(lambda v: (jnp.sin(v), jnp.cos(v)), x)[1]((x, x[::-1]))[0]],
    "sub": [lambda x: x - x[::-1], lambda x: x - Z, lambda x: np.where(Z == 0, -np.inf, 1).astype(np.float32) - x, lambda x: x - np.where(Z == 0, 1e9, 0).astype(np.float32)],
    "mul": [lambda x: x * x[::-1], lambda x: x * Z, lambda x: (x * Z) * x[::-1], lambda x: x * 0.0],
    "div": [lambda x: x / x[::-1], lambda x: (Z * x) / jnp.exp(x[::-1]), lambda x: (Z * x) / x[::-1], lambda x: whole(x) * (Z > 0) // (whole(x[::-1]) % 3), lambda x: lax.div(whole(x) * (Z > 0), whole(x[::-1]) % 3)],
    "rem": [lambda x: lax.rem(x, x[::-1]), lambda x: lax.rem(whole(x), 2 + whole(x[::-1]))],
    "pow": [lambda x: x ** x[::-1], lambda x: x**2.5], "integer_pow": [lambda x: x**3, lambda x: x**-2, lambda x: (x * Z) ** 3],
    "atan2": [lambda x: lax.atan2(x, x[::-1]), lambda x: lax.atan2((x * 0.0) * (x[::-1] - 0.5), -jnp.ones_like(x))],
    "nextafter": [lambda x: lax.nextafter(x, x[::-1]), lambda x: lax.nextafter(jnp.zeros_like(x), (x - 0.5) * 0.0 * x[::-1])],
    "and": [lambda x: (x > 0.5) & (x[::-1] > 0.5), lambda x: (x > 0.5) & (Z > 0), lambda x: whole(x) & whole(x[::-1]) & 6],
    "or": [lambda x: (x > 0.5) | (x[::-1] > 0.5), lambda x: (x > 0.5) | (Z > 0), lambda x: whole(x) | 4],
    "xor": [lambda x: whole(x) ^ whole(x[::-1])], "not": [lambda x: ~(x > 0.5)],
    "shift_left": [lambda x: lax.shift_left(whole(x), whole(x[::-1]))], "shift_right_logical": [lambda x: lax.shift_right_logical(whole(x), whole(x[::-1]))],
    "shift_right_arithmetic": [lambda x: lax.shift_right_arithmetic(whole(x), whole(x[::-1]))],
    "clamp": [lambda x: lax.clamp(0.3, x, 0.6), lambda x: lax.clamp(x * 0.5, x[::-1], x)],
    "population_count": [lambda x: lax.population_count(whole(x))], "clz": [lambda x: lax.clz(whole(x))],
    "complex": [cplx], "real": [lambda x: lax.real(cplx(x) * cplx(x))], "imag": [lambda x: lax.imag(cplx(x) * 2)], "conj": [lambda x: lax.conj(cplx(x))],
    "igamma": [lambda x: lax.igamma(x, x[::-1])], "igammac": [lambda x: lax.igammac(x, x[::-1])], "igamma_grad_a": [lambda x: lax.igamma_grad_a(x, x[::-1])],
    "regularized_incomplete_beta": [lambda x: lax.betainc(x + 1, x[::-1] + 1, x)], "polygamma": [lambda x: lax.polygamma(1.0 + 0 * x, x)], "zeta": [lambda x: lax.zeta(x + 2, x[::-1])],
    "reduce_precision": [lambda x: lax.reduce_precision(x, 5, 3)],
    "select_n": [lambda x: jnp.where(x > 0.5, x, x[::-1]), lambda x: jnp.where(Z > 0, x, x[::-1]), lambda x: lax.select_n(whole(x) % 3, x, x[::-1], 2 * x), lambda x: jnp.where(x > 0.5, 0.0, x * 0.0)],
    "convert_element_type": [whole, lambda x: x.astype(jnp.bfloat16), lambda x: (x > 0.5).astype(jnp.float32), lambda x: jnp.where(MASK, x @ x.T, -jnp.inf).astype(jnp.bfloat16)],
    "bitcast_convert_type": [lambda x: lax.bitcast_convert_type(x, jnp.int32), lambda x: lax.bitcast_convert_type(x, jnp.uint8), lambda x: lax.bitcast_convert_type((x - 0.5) * 0.0, jnp.int32), lambda x: lax.bitcast_convert_type(x.reshape(5, 3, 1).repeat(2, 2).astype(jnp.float16), jnp.float32)],
    "copy": [lambda x: jnp.copy(x)], "stop_gradient": [lax.stop_gradient], "optimization_barrier": [lambda x: lax.optimization_barrier((x, x[::-1]))], "sharding_constraint": [lambda x: lax.with_sharding_constraint(x, jax.sharding.SingleDeviceSharding(jax.devices()[0]))], "name": [lambda x: checkpoint_name(x * 2, "a")],
}  # fmt: skip
MOVEMENT = {
    "broadcast_in_dim": [lambda x: jnp.broadcast_to(x[:, None], (N, 4, D)), lambda x: x[:, :, None] + jnp.zeros((N, D, 2))],
    "reshape": [lambda x: x.reshape(-1), lambda x: x.reshape(D, N), lambda x: lax.reshape(x, (D, N), (1, 0))],
    "squeeze": [lambda x: x[2:3].squeeze(0)], "transpose": [lambda x: x.T], "slice": [lambda x: x[1::2], lambda x: (x * Z)[::-1][1:4]],
    "rev": [lambda x: lax.rev(x, (0,)), lambda x: lax.rev(x, (0, 1))], "split": [lambda x: lax.split(x, (2, 3)), lambda x: lax.split(x, (1, 2), 1)], "unstack": [lambda x: jnp.unstack(x)],
    "concatenate": [lambda x: jnp.concatenate([x, x[::-1]]), lambda x: jnp.concatenate([jnp.zeros((2, D)), x, x[:1]])],
    "stack": [lambda x: jnp.stack([x, x[::-1]], 1)], "tile": [lambda x: jnp.tile(x, (2, 2))],
    "pad": [lambda x: lax.pad(x, x[0, 0], ((1, 2, 0), (0, 0, 1))), lambda x: lax.pad(x, 0.0, ((2, -2, 0), (0, 0, 0))), lambda x: lax.pad(x, 0.0, ((-1, 1, 1), (0, 0, 0))), lambda x: lax.pad(x, 0.0, ((-3, -1, 1), (0, 1, 2)))],
}  # fmt: skip
GATHER = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
SCATTER = lax.ScatterDimensionNumbers(
    update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
)
PLACES = np.array([[0], [3], [3], [7], [-1]])  # twice, and outside
INDEXING = {
    "gather": [
        lambda x: x[jnp.array([3, 1, 1])], lambda x: x[whole(x)[:, 0] % N], lambda x: jnp.take_along_axis(x, jnp.argsort(x, 0), 0), lambda x: x[:, whole(x)[2] % D],
        lambda x: lax.gather(x * Z, PLACES, GATHER, (1, D), mode="clip"), lambda x: lax.gather(x, PLACES, GATHER, (1, D), mode="fill", fill_value=2), lambda x: lax.gather(x, PLACES, GATHER, (1, D), mode="fill", fill_value=0),
        lambda x: jax.vmap(lambda v, i: v[i])(x, whole(x)[::-1, 0] % D), lambda x: jax.vmap(lambda v, i: v[i])(x, jnp.array([0, 1, 2, 1, 0])), lambda x: x[jnp.array([0, 2]), jnp.array([1, 1])], lambda x: jnp.asarray(W)[whole(x)[:, 1] % D],
    ],
    "dynamic_slice": [lambda x: lax.dynamic_slice(x, (3, 0), (4, D)), lambda x: lax.dynamic_slice(x, (whole(x)[2, 0] % 3, 0), (2, D)), lambda x: lax.dynamic_slice(x, (1, whole(x)[4, 0] % 2), (3, 2)), lambda x: lax.dynamic_slice(jnp.asarray(W), (whole(x)[1, 0], 1), (1, 2))],
    "dynamic_update_slice": [lambda x: lax.dynamic_update_slice(x, x[:2] * 2, (4, 0)), lambda x: lax.dynamic_update_slice(x, x[:2], (whole(x)[2, 0] % 3, 0)), lambda x: lax.dynamic_update_slice(x, jnp.zeros((2, 2)), (1, 2))],
    "scatter": [
        lambda x: x.at[1:4].set(x[:3]), lambda x: x.at[jnp.array([1, 1])].set(x[2:4]), lambda x: x.at[whole(x)[:, 0] % N].set(x[::-1]), lambda x: x.at[2].set(0.0), lambda x: x.at[whole(x)[1, 0] % N].apply(jnp.sin), lambda x: x.at[2].apply(jnp.sin),
        lambda x: lax.scatter(x, PLACES, x[::-1], SCATTER, mode="clip"), lambda x: lax.scatter(x, PLACES, x[::-1], SCATTER, mode="drop"), lambda x: jax.vmap(lambda v, i: v.at[i].set(9.0))(x, jnp.array([0, 1, 2, 1, 0])),
    ],
    "scatter-add": [lambda x: x.at[jnp.array([1, 1, 3])].add(x[:3]), lambda x: jnp.zeros((N, D)).at[whole(x)[:, 0] % N].add(x), lambda x: lax.scatter_add(x, PLACES, x[::-1], SCATTER, mode="clip"), lambda x: jnp.zeros((N, D)).at[1].add(x[0])],
    "scatter-sub": [lambda x: x.at[jnp.array([1, 1])].subtract(x[2:4])], "scatter-mul": [lambda x: x.at[jnp.array([1, 3])].mul(x[:2])],
    "scatter-min": [lambda x: x.at[jnp.array([1, 3])].min(x[:2])], "scatter-max": [lambda x: x.at[jnp.array([1, 3])].max(x[:2])],
}  # fmt: skip
CONTRACTIONS = {
    "dot_general": [lambda x: x @ W, lambda x: x @ x.T, lambda x: (x @ x.T * MASK) @ x, lambda x: MASK.astype(np.float32) @ x, lambda x: jnp.einsum("ia,ib->iab", x, x[::-1]), lambda x: jnp.einsum("iab,ibc->iac", square(x), square(x)[::-1]), lambda x: jnp.einsum("ab,iac,ibd->dic", W, square(x), square(x[::-1])), lambda x: jnp.tensordot(x, x, 2), lambda x: x[:, :0] @ W[:0], lambda x: whole(x) @ whole(x).T],
    "triangular_solve": [lambda x: lax.linalg.triangular_solve(jnp.tril(x @ x.T) + jnp.eye(N), x, left_side=True, lower=True), lambda x: lax.linalg.triangular_solve(jnp.triu(x @ x.T) + jnp.eye(N), x, left_side=True, lower=False), lambda x: lax.linalg.triangular_solve(jnp.tril(x @ x.T) + jnp.eye(N), x, left_side=True, lower=True, transpose_a=True), lambda x: lax.linalg.triangular_solve(jnp.tril(x @ x.T) + jnp.eye(N), x.T, lower=True)],
    "cholesky": [lambda x: lax.linalg.cholesky(square(x)), lambda x: lax.linalg.cholesky(x @ x.T + 2 * jnp.eye(N))], "eigh": [lambda x: lax.linalg.eigh(square(x))], "eig": [lambda x: lax.linalg.eig(square(x))], "lu": [lambda x: lax.linalg.lu(square(x))],
    "lu_pivots_to_permutation": [lambda x: lax.linalg.lu_pivots_to_permutation(lax.linalg.lu(square(x))[1], D)], "svd": [lambda x: lax.linalg.svd(square(x))], "qr": [lambda x: jnp.linalg.qr(square(x))], "householder_product": [lambda x: lax.linalg.householder_product(square(x), x)],
    "schur": [lambda x: lax.linalg.schur(square(x))], "hessenberg": [lambda x: lax.linalg.hessenberg(square(x))], "tridiagonal": [lambda x: lax.linalg.tridiagonal(square(x))], "tridiagonal_solve": [lambda x: lax.linalg.tridiagonal_solve(x[:, 0], x[:, 1] + 2, x[:, 2], x)],
    "ragged_dot_general": [lambda x: lax.ragged_dot(x, jnp.stack([W, 2 * W]), jnp.array([2, 3])), lambda x: lax.ragged_dot(x, jnp.stack([W, 2 * W]), jnp.stack([whole(x)[0, 0] % 3, 3]))],
    "conv_general_dilated": [
        lambda x: lax.conv_general_dilated(x.T[None], np.ones((4, D, 3), np.float32), (1,), [(2, 0)]), lambda x: lax.conv_general_dilated(x.T[None], np.ones((D, 1, 2), np.float32), (1,), [(2, 0)], rhs_dilation=(2,), feature_group_count=D),
        lambda x: lax.conv_general_dilated(x.T[None], np.ones((4, D, 3), np.float32), (2,), [(1, 1)], lhs_dilation=(2,)), lambda x: lax.conv_general_dilated(x[None], np.ones((2, D, 4), np.float32), (1,), [(-1, 2)], dimension_numbers=("NHC", "HIO", "NHC")),
        lambda x: lax.conv_general_dilated(x.T[:, None], x[None, None, :3, 0], (1,), [(0, 0)]), lambda x: lax.conv_general_dilated(x[None, None], np.ones((2, 1, 3, 3), np.float32), (1, 1), "SAME"), lambda x: lax.conv_general_dilated(x.T[None].repeat(2, 0), np.ones((4, D, 3), np.float32), (1,), [(2, 0)], batch_group_count=2),
    ],
}  # fmt: skip
REDUCTIONS = {
    "reduce_sum": [lambda x: x.sum(1), lambda x: x.sum(0), lambda x: (x * Z).sum(1), lambda x: (x * 0).sum()], "reduce_max": [lambda x: x.max(1), lambda x: jnp.where(MASK, x @ x.T, -jnp.inf).max(1)],
    "reduce_min": [lambda x: x.min(0)], "reduce_prod": [lambda x: x.prod(1), lambda x: (x * Z).prod(1)], "reduce_and": [lambda x: (x > 0.5).all(1)], "reduce_or": [lambda x: (x > 0.5).any(0)], "reduce_xor": [lambda x: lax.reduce_xor(whole(x), (1,))],
    "argmax": [lambda x: x.argmax(1), lambda x: x.argmax(0)], "argmin": [lambda x: x.argmin(0)], "reduce": [lambda x: lax.reduce(x, 1.0, lambda a, b: a * b + a, (1,)), lambda x: lax.reduce((x, x[::-1]), (1.0, 0.0), lambda a, b: (a[0] * b[1], a[1] + b[1]), (1,))],
    "cumsum": [lambda x: jnp.cumsum(x, 0), lambda x: jnp.cumsum(x * Z, 0), lambda x: lax.cumsum(jnp.exp(x), 0, reverse=True)], "cumprod": [lambda x: lax.cumprod(x, 0), lambda x: lax.cumprod(x * Z, 0)], "cummax": [lambda x: lax.cummax(x, 0, reverse=True)], "cummin": [lambda x: lax.cummin(x, 1)], "cumlogsumexp": [lambda x: lax.cumlogsumexp(x, 0)],
    "reduce_window_sum": [lambda x: lax.reduce_window(x, 0.0, lax.add, (3, 1), (1, 1), [(2, 0), (0, 0)]), lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (2, 1), "SAME", (1, 2), (2, 1))],
    "reduce_window_max": [lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 3), (2, 1), "VALID")], "reduce_window_min": [lambda x: lax.reduce_window(x, jnp.inf, lax.min, (2, 1), (1, 1), "SAME")],
    "reduce_window": [lambda x: lax.reduce_window(x, 1.0, lambda a, b: a * b + a, (2, 1), (1, 1), "VALID")],
    "select_and_gather_add": [lambda x: jax.jvp(lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (2, 1), (1, 1), "VALID"), (x,), (x[::-1],))[1]], "select_and_scatter_add": [lambda x: jax.grad(lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (2, 1), (1, 1), "VALID").sum())(x)],
    "sort": [lambda x: jnp.sort(x, 0), lambda x: jnp.sort(x, 1), lambda x: lax.sort((x, x[::-1]), num_keys=1, dimension=1), lambda x: jnp.argsort(x, 0)], "top_k": [lambda x: lax.top_k(x, 2), lambda x: lax.top_k(x.T, 2)], "approx_top_k": [lambda x: lax.approx_max_k(x, 2)],
    "fft": [lambda x: jnp.fft.fft(x, axis=1), lambda x: jnp.fft.rfft(x.T), lambda x: jnp.fft.irfft(jnp.fft.rfft(x, axis=0), axis=0, n=N)],
}  # fmt: skip
RANDOM = {
    "random_bits": [lambda x: jax.random.uniform(jax.random.key(0), (N, D)) + x, lambda x: jax.random.bits(jax.random.key(whole(x)[2, 0]), (N,))], "random_seed": [lambda x: jax.random.bits(jax.random.key(whole(x)[2, 0]), (N,))],
    "random_wrap": [lambda x: jax.random.bits(jax.random.wrap_key_data(jnp.stack([whole(x)[1, 0], 3]).astype(jnp.uint32)), (N,))], "random_unwrap": [lambda x: jax.random.key_data(jax.random.key(whole(x)[2, 0]))],
    "random_split": [lambda x: jax.random.key_data(jax.random.split(jax.random.key(whole(x)[3, 0]), N))], "random_fold_in": [lambda x: jax.vmap(lambda i: jax.random.bits(jax.random.fold_in(jax.random.key(1), i)))(whole(x)[:, 0])],
    "random_clone": [lambda x: jax.random.bits(jax.random.clone(jax.random.key(whole(x)[2, 0])), (N,))], "random_gamma": [lambda x: jax.random.gamma(jax.random.key(0), x)], "rng_bit_generator": [lambda x: lax.rng_bit_generator(jnp.stack([whole(x)[0, 0]] * 4).astype(jnp.uint32), (N,))[1]],
    "threefry2x32": [lambda x: jax.extend.random.threefry2x32_p.bind(*(whole(x)[:, 0].astype(jnp.uint32) for _ in range(4)))], "iota": [lambda x: jnp.arange(N)[:, None] * x],
}  # fmt: skip
CONTROL = {
    "cond": [lambda x: lax.cond(x[3, 0] > 0.5, lambda v: v, lambda v: v * 2, x), lambda x: lax.cond(jnp.array(True), lambda v: v, lambda v: v[::-1], x), lambda x: lax.switch(whole(x)[1, 0] % 3, [lambda v: v * 0, lambda v: v[::-1] * 0, lambda v: jnp.zeros_like(v)], x), lambda x: lax.switch(7, [lambda v: v, lambda v: v[::-1]], x)],
    "while": [lambda x: lax.while_loop(lambda c: c[0].sum() < 9, lambda c: (c[0] + 1, jnp.roll(c[1], 1, 0)), (x[2], x))[1], lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.roll(c[1], 1, 0)), (0, x))[1], lambda x: lax.while_loop(lambda c: c[0] < x[4, 0] * 5, lambda c: (c[0] + 1, c[1]), (0.0, x))],
    "scan": [
        lambda x: lax.scan(lambda c, a: (c + a, jnp.tanh(c + a)), jnp.zeros(D), x), lambda x: lax.scan(lambda c, a: (c * a, c), x[2], x, reverse=True), lambda x: lax.scan(lambda c, a: (jnp.roll(c, 1, 0), a), x, jnp.arange(7)),
        lambda x: lax.scan(lambda c, a: (c, a * (Z > 0)), 0.0, x), lambda x: lax.fori_loop(1, N, lambda i, v: v.at[i].set(v[i] + v[i - 1]), x), lambda x: lax.scan(lambda c, a: (c + 1, c), jnp.int32(0), None, length=4)[1] + whole(x)[:4, 0],
    ],
}  # fmt: skip
CASES = {**UNARY, **BINARY, **MOVEMENT, **INDEXING, **CONTRACTIONS, **REDUCTIONS, **RANDOM, **CONTROL}
