"""Every function in floats at both ends of its type: right, or refused in a sentence."""

import warnings

import numpy as np
import pytest
from attnproof import numeric
from attnproof.numeric import range as ends
from attnproof.numeric.rank import exact_rows
from attnproof.numeric.retention import exact_leverage
from needs import need

B, F = np.array([[1.0, 2], [3, -4], [0, 1], [2, 2]]), np.array([[1.0, 2, -3, 0], [4, 5, 7, 1]])
TYPES = [(np.float64, 1e300, 1e-300, 1.5e307, 2.0**-1070), (np.float32, 1e37, 1e-37, 1e37, 2.0**-145)]
SIZES = [(dtype, size) for dtype, *sizes in TYPES for size in sizes]
HEADS = {
    "slot_weights": "QKE",
    "compressed_attention": "QKVEF",
    "full_attention": "QKV",
    "compression_error": "QKVEF",
    "projection_error": "QKEF",
    "compression_gap": "QKEF",
}


def parts(found):
    return [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "size"), SIZES)
def test_what_does_not_depend_on_size_is_the_same_at_every_size(dtype, size):
    f = (F * size).astype(dtype)
    near = 1e-12 if dtype is np.float64 else 1e-5
    exact = [float(x) for x in exact_leverage(f)]
    np.testing.assert_allclose(numeric.leverage(f).values, exact, atol=near)
    np.testing.assert_allclose(np.sum(numeric.span_retention(f, 0, 2).values ** 2), sum(exact[:2]), atol=near)
    for b in (B, B / max(size, 1e-300), B * size):
        with np.errstate(over="ignore"):
            b = b.astype(dtype)
        if np.isfinite(b).all() and b.any():
            assert int(numeric.mixing_rank(b, f)) == 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "size"), SIZES)
def test_products_are_scaled_and_go_to_infinity_only_beyond_their_type(dtype, size):
    plain = [numeric.mixing_spectrum(B, F).values, numeric.mixing_row_sums(B, F), parts(most(B, F))[0]]
    for one, other in ((1.0, size), (size, 1.0), (size, 1 / max(size, float(np.finfo(dtype).tiny)))):
        with np.errstate(over="ignore"):
            b, f = (B * one).astype(dtype), (F * other).astype(dtype)
        if not (np.isfinite(f).all() and np.isfinite(b).all() and np.finfo(dtype).tiny < size):
            continue
        scaled = [numeric.mixing_spectrum(b, f).values, numeric.mixing_row_sums(b, f), parts(most(b, f))[0]]
        for found, expected in zip(scaled, plain, strict=True):
            with np.errstate(over="ignore"):
                expected = (expected * (one * other)).astype(dtype)
            np.testing.assert_allclose(found, expected, rtol=1e-5)


def most(b, f):
    return numeric.most_negative_coefficient(b, f)


@pytest.mark.filterwarnings("error")
def test_products_beyond_the_type_say_so_and_keep_their_sign_and_place():
    """They used to be NaN, or 0 where a negative coefficient was too small: as if there were none."""
    found = most(B * 1e-300, F * 1e-300)
    assert found.value == -(2.0**-1074)
    assert [int(x) for x in found[1:]] == [int(x) for x in most(B, F)[1:]]
    huge = most(B * 1e300, F * 1e300)
    assert [float(x) for x in huge] == [-np.inf, *map(float, most(B, F)[1:])]
    assert np.array_equal(np.isneginf(numeric.mixing_row_sums(B * 1e300, F * 1e300)), numeric.mixing_row_sums(B, F) < 0)
    spectrum = numeric.mixing_spectrum(B * 1e300, F * 1e300)
    assert np.isinf(spectrum).all()
    tiny = numeric.mixing_spectrum(B * 1e-300, F * 1e-300)
    assert not tiny.values.any()
    assert (tiny.error > 0).all()


@pytest.mark.filterwarnings("error")
def test_a_sum_that_overflows_on_the_way_only_is_right():
    rows = np.array([[1.5e308, 1.5e308, -1.5e308]])
    assert numeric.mixing_row_sums(np.array([[1e-300]]), rows)[0] == pytest.approx(1.5e8)


@pytest.mark.filterwarnings("error")
def test_sums_beside_one_beyond_the_type_are_right():
    """The factors together are brought back by more than any power of two that the type has."""
    sums = numeric.mixing_row_sums(np.array([[1e300], [1e-10], [0.0]]), np.array([[1e300]]))
    np.testing.assert_allclose(sums, [np.inf, 1e290, 0.0])


@pytest.mark.filterwarnings("error")
def test_each_matrix_of_a_batch_is_scaled_by_itself():
    both = np.stack([F * 1e-305, F * 1e300])
    np.testing.assert_allclose(numeric.leverage(both).values, [numeric.leverage(F).values] * 2)
    np.testing.assert_allclose(
        numeric.mixing_spectrum(B, both).values, [numeric.mixing_spectrum(B, x).values for x in both]
    )


def test_other_libraries_are_scaled_alike():
    torch = need("torch")
    found = numeric.leverage(torch.tensor(F * 1e-305, requires_grad=True)).values
    np.testing.assert_allclose(found.detach().numpy(), numeric.leverage(F).values)


@pytest.mark.parametrize("function", HEADS)
@pytest.mark.parametrize(("dtype", "big", "small", "top", "least"), TYPES)
def test_heads_are_right_or_refused_in_a_sentence(function, dtype, big, small, top, least):
    rng = np.random.default_rng(1)
    shapes = {"Q": (5, 3), "K": (6, 3), "V": (6, 2), "E": (2, 6), "F": (2, 6)}
    drawn = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    for size in (big, small, top, least):
        for scaled in (*"QKVEF", "QK", "VF", "EF", "QKVEF"):
            inputs = {name: x * size if name in scaled else x for name, x in drawn.items() if name in HEADS[function]}
            inputs = {name: x.astype(dtype) for name, x in inputs.items()}
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    found = getattr(numeric, function)(**inputs)
                except ValueError as error:
                    said = str(error)
                    assert ("overflows in float" in said, "; scale" in said, size > 1) == (True,) * 3
                    continue
            finite = parts(found)[:5] if function == "compression_gap" else parts(found)  # a ratio to 0 is infinite
            assert all(np.isfinite(part).all() for part in finite), (size, scaled)


def test_scores_that_overflow_downwards_are_no_starved_query():
    """A row of −∞ used to count as one in which every slot is hidden, with output 0."""
    with pytest.raises(ValueError, match="a score q · k / √d overflows in float64"):
        numeric.slot_weights(np.full((1, 1), -1e300), np.full((2, 1), 1e300), np.eye(2))
    with pytest.raises(ValueError, match="a score q · k / √d overflows in float64"):
        numeric.full_attention(np.full((1, 1), -1e300), np.full((2, 1), 1e300), np.ones((2, 1)))


@pytest.mark.parametrize("size", [2.0**-1074, 1e-300, 1.0, 1.7e308])
def test_bringing_near_one_rounds_nothing(size):
    X = np.array([[size, size * 0.5, 0]])
    Y, power = ends.near_one(X)
    back = (
        [[x * 2 ** int(power or 0) for x in row] for row in exact_rows(Y)]
        if power is None or power >= 0
        else [[x / 2 ** int(-power) for x in row] for row in exact_rows(Y)]
    )
    assert back == exact_rows(X)
    assert np.array_equal(ends.restored(Y, power, 2), X)
