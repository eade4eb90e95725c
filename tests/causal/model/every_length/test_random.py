"""Random programs at every length against brute force; and faults planted in the prover, each of which shows."""

from __future__ import annotations

from by_path import benchmark
from needs import need

need("jax")
need("z3")
need("cvc5")

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attnproof.causal.model.every_length import elementwise, integers, movement, reductions, templates
from attnproof.causal.model.every_length.integers import Statements, index
from attnproof.causal.model.every_length.lengths import Lengths
from attnproof.causal.model.every_length.wrapping import MOST_POSITIONS, fits, span_of
from length_programs import WIDTH, reads

fuzz = benchmark("fuzz_lengths")


@pytest.fixture(autouse=True)
def compiled_quickly():
    """What compiling takes is most of the time."""
    before = jax.config.values["jax_disable_most_optimizations"]
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


def test_random_programs_read_nothing_later_than_their_bounds():
    followed = [fuzz.case(seed) for seed in range(2000, 2008)]
    assert [c.name for c in followed if c.wrong] == []
    assert sum(c.proof is not None for c in followed) >= 5
    assert sum(c.sharp for c in followed) >= 2


def wrong_lengths(run):
    """The lengths at which a bound is below what the program reads."""
    proof = fuzz.proof_of(run, Lengths())
    assert proof is not None
    return [n for n, truth in reads(run, (1, 2, 3, 5, 8, 9)).items() if (proof.latest(n) < truth).any()]


def attention(rule, low):
    def run(x):
        t = jnp.arange(x.shape[0])
        s = jnp.where(rule(t[:, None], t[None, :]), x @ x.T, low)
        return jax.nn.softmax(s, -1) @ x

    return run


def starved(x):
    """No block is complete for the first positions, and the mask is finite."""
    return attention(lambda i, j: j // 4 < i // 4, -1e30)(x)


def wrapped(x):
    """The place before the first is the last."""
    t = jnp.arange(x.shape[0])
    return jnp.take(x, jnp.where(t == 0, x.shape[0] - 1, t - 1), axis=0)


def windowed(x):
    return attention(lambda i, j: (j <= i + 1) & (j > i - 3), -jnp.inf)(x)


def narrow(x):
    """Places in eight bits: from the 128th on they start again below 0."""
    t = jnp.arange(x.shape[0]).astype(jnp.int8)
    return jnp.where(t[None, :] <= t[:, None], 1.0, 0.0) @ x


def unsigned(x):
    """Before the first place lies the largest number."""
    t = jnp.arange(x.shape[0], dtype=jnp.uint32)
    return jnp.where(t[None, :] <= t[:, None] - jnp.uint32(1), 1.0, 0.0) @ x


def test_whole_numbers_that_wrap_around_are_not_places():
    assert not fuzz.proof_of(narrow, Lengths()).closed
    assert not fuzz.proof_of(unsigned, Lengths()).closed
    assert wrong_lengths(unsigned) == []


def test_whole_numbers_that_are_multiplied_until_they_wrap_around():
    """4 · 2²⁹ is no number of 32 bits: the fifth position counts as the first of all."""

    def run(x):
        t = jnp.arange(x.shape[0]) * 2**29
        return jnp.where(t[None, :] <= t[:, None], 1.0, 0.0) @ x

    assert not fuzz.proof_of(run, Lengths()).closed
    assert wrong_lengths(run) == []


@pytest.mark.parametrize(("term", "span"), [
    (3 * index(0) - index(1) - 1, (-MOST_POSITIONS - 1, 3 * MOST_POSITIONS - 1)),
    (integers.solver.If(index(0) > 2, -index(0), 7), (-MOST_POSITIONS, 7)),
    ((index(0) - 5) / 4, (-2, (MOST_POSITIONS - 5) // 4)),
    ((index(0) - 5) % 4, (0, 4)),
    (index(0) * index(1), (0, MOST_POSITIONS**2)),
])  # fmt: skip
def test_between_which_numbers_a_term_lies(term, span):
    assert span_of(term) == span
    assert fits(term, 32) == (max(map(abs, span)) < 2**31)


def test_what_a_mask_says_is_not_said_of_one_that_was_scaled():
    def scaled(x):
        t = jnp.arange(x.shape[0])
        s = jnp.where(t[None, :] <= t[:, None], x @ x.T, -1e9) * 1e-9
        return jax.nn.softmax(s, -1) @ x

    (condition, *_) = [c for c in fuzz.proof_of(scaled, Lengths()).conditions if "reduce_max" in c.text]
    assert "every score lies within" not in condition.text


@pytest.mark.parametrize("largest", [
    lambda s: jax.lax.top_k(s, 1)[0],
    lambda s: jnp.sort(s, 1)[:, -1:],
    lambda s: jax.lax.cummax(s, axis=1)[:, -1:],
    lambda s: s.max(1, keepdims=True),
])  # fmt: skip
def test_whatever_finds_the_largest_of_a_row_that_sees_nothing(largest):
    """From the sixteenth row on all scores are lowered alike: their softmax reads everything."""

    def run(x):
        t = jnp.arange(x.shape[0])
        i, j = t[:, None], t[None, :]
        s = jnp.where((j <= i) & (i < 16), x @ x.T, -1e30)
        e = jnp.exp(s - largest(s))
        return e / e.sum(-1, keepdims=True) @ x

    assert not fuzz.proof_of(run, Lengths()).closed


def stacked(x):
    """Beside what comes before, taken apart again, and repeated along the width."""
    before = jnp.pad(x, ((1, 0), (0, 0)))[: x.shape[0]]
    both = jnp.stack([before, jnp.cumsum(x, 0)], 1)
    first, second = jnp.unstack(both, axis=1)
    return jnp.tile(first * second, (1, 2))[:, 2 : 2 + WIDTH]


PROGRAMS = {
    "starved": starved,
    "wrapped": wrapped,
    "windowed": windowed,
    "running": lambda x: jnp.cumsum(x[::-1], 0),
    "stacked": stacked,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_bound_is_too_early(name):
    assert wrong_lengths(PROGRAMS[name]) == []


def test_pieces_that_are_put_together_are_followed_exactly():
    proof = fuzz.proof_of(stacked, Lengths())
    assert not proof.unknown
    assert proof.latest(6).tolist() == [-1, 1, 2, 3, 4, 5]  # the first row is multiplied by 0


def test_a_template_that_nobody_proves_is_seen(monkeypatch):
    monkeypatch.setattr(Statements, "hold", lambda self, claim, *given: True)
    monkeypatch.setattr(templates.Sample, "excess", lambda self, *given: 0.0)
    assert wrong_lengths(windowed) != []


def test_a_missing_check_that_a_row_sees_something_is_seen(monkeypatch):
    monkeypatch.setattr(reductions, "visible", lambda x, axis: integers.TRUE)
    assert wrong_lengths(starved) != []


def test_a_wrong_guard_is_seen(monkeypatch):
    """Whatever lies in the padding counts as nothing, and so do the places just before it."""
    right = movement.padded

    def wrong(x, fill, before, shape):
        return right(x, fill, [b if isinstance(b, int) and b <= 0 else b + 1 for b in before], shape)

    monkeypatch.setattr("attnproof.causal.model.every_length.movement.padded", wrong)

    def early(x):
        n = x.shape[0]
        return jax.lax.slice(jnp.pad(x, ((1, 0), (0, 0))), (0, 0), (n, WIDTH))

    assert wrong_lengths(early) != []


def test_a_mask_that_counts_as_infinite_is_seen(monkeypatch):
    monkeypatch.setattr(elementwise, "BIG", -1e9)
    monkeypatch.setattr("attnproof.causal.model.every_length.run.BIG", -1e9)
    weak = attention(lambda i, j: j <= i, -1.0)
    assert wrong_lengths(weak) != []


def test_a_statement_that_one_solver_denies_is_not_taken(monkeypatch):
    monkeypatch.setattr(integers, "both", lambda text: ("unsat", "sat"))
    proof = fuzz.proof_of(windowed, Lengths())
    assert not proof.closed
    assert not proof.obligations
    assert np.array_equal(proof.latest(5), np.full(5, 4))


def test_lengths_in_words():
    assert Lengths().describe() == "every n ≥ 1"
    assert Lengths(4, 3, least=2).describe() == "every n = 4·m + 3 ≥ 11"
    assert Lengths(least=2, most=64).describe() == "every n ≥ 2 and n ≤ 64"
    assert [n for n in range(12) if Lengths(4, 1).holds(n)] == [5, 9]
