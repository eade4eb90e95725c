"""Witnesses (T12): replayed without the checker, exact and in balls, through JSON, and spoiled on purpose."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import oracle
import pytest
from attnproof import Boundary, Verdict, Witness, check_projection
from attnproof.causal.projection.counterexample import Head, telling_columns
from attnproof.causal.projection.entries import Entries
from attnproof.causal.projection.witness import ProjectionWitness, Ratio, format_number
from heads import cases, fractions, grids, heads, one_query
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.claim("T12")


def value(output):
    """A Fraction or Ratio as a 60-digit number."""
    if isinstance(output, Fraction):
        return mpmath.mpf(output.numerator) / output.denominator
    above, below = (
        mpmath.fsum(
            mpmath.mpf(c.numerator) / c.denominator * mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            for x, c in terms
        )
        for terms in (output.above, output.below)
    )
    return above / below


@given(heads())
@settings(max_examples=200, deadline=None)
def test_every_witness_is_two_runs_of_the_head_itself(head):
    """Evaluated from the original matrices, to 60 digits, the two inputs give the two outputs of the witness."""
    E, F, cut = head
    n = E.shape[1]
    verdict = check_projection(F, E, layout="slots-first", boundary=one_query(n, cut))
    witness = verdict.witness
    if witness is None:
        return
    assert witness.replay()
    assert witness.position >= cut
    outputs = []
    for side in witness.inputs:
        keys, values = ([side[name].get(j, Fraction(0)) for j in range(n)] for name in ("keys", "values"))
        outputs.append((keys, values))
    (keys, values), (other_keys, other_values) = outputs
    for j in range(n):
        assert (keys[j], values[j]) == (other_keys[j], other_values[j]) or j == witness.position
    zero = [Fraction(0)] * len(E)
    with mpmath.workdps(60):
        for (k, v), claimed in zip(outputs, witness.outputs, strict=True):
            run = oracle.evaluate(fractions(E), fractions(F), zero, k, v)
            assert abs(run - value(claimed)) <= mpmath.mpf(10) ** -45 * (1 + abs(run))


@given(cases())
@settings(max_examples=100, deadline=None)
def test_witnesses_replay_from_json_alone(case):
    E, F, boundary, sees = case
    verdict = check_projection(F, E, layout="slots-first", visible=sees, boundary=boundary)
    again = Verdict.from_json(verdict.to_json())
    for one, other in [(verdict.witness, again.witness)] + [
        (c.counterexample, d.counterexample) for c, d in zip(verdict.conditions, again.conditions, strict=True)
    ]:
        assert one == other
        if other is not None:
            assert other.replay()
            assert not boundary.allowed(other.query, other.position)
            assert other.describe() == one.describe()


def article():
    verdict = check_projection([[Fraction(1, 2), Fraction(1, 2), 0], [0, 0, 1]])
    assert isinstance(verdict.witness, ProjectionWitness)
    return verdict.witness


def test_a_spoiled_witness_does_not_replay():
    witness = article()
    assert witness.replay()
    same = {1: (Fraction(1), Fraction(1))}
    assert not replace(witness, values=same).replay()  # nothing changes
    assert not replace(witness, position=2).replay()  # something else changes than is claimed
    moved = {**witness.values, 2: (Fraction(0), Fraction(3))}
    assert not replace(witness, values=moved, F={**witness.F, 2: (Fraction(0), Fraction(1))}).replay()  # two change
    assert not replace(witness, F={1: (Fraction(0), Fraction(0))}).replay()  # the head does not read it
    data = witness.to_dict()
    data["F"]["1"] = ["1/2", "-1/2"]
    assert not Witness.from_dict(data).replay()  # it cancels


def test_exponents_that_cancel_are_seen_exactly():
    """e^{1/3} and e^{1/3} are one exponent, e^{1/3} and e^{0.3333333333333333} are two."""
    third, near = Fraction(1, 3), Fraction(0.3333333333333333)
    base = {
        "query": 0, "position": 1, "slot": 0, "slots": (0, 1), "bias": None, "arithmetic": "exact",
        "values": {1: (Fraction(0), Fraction(1))}, "F": {1: (Fraction(1), Fraction(-1))},
    }  # fmt: skip
    keys = {0: (Fraction(1), Fraction(1))}
    assert not ProjectionWitness(keys=keys, E={0: (third, third)}, **base).replay()
    close = ProjectionWitness(keys=keys, E={0: (third, near)}, **base)
    assert close.replay()  # needs more than 64 bits, and finds them
    before, after = close.outputs
    assert before == 0
    assert isinstance(after, Ratio)
    assert after.rational is None
    assert abs(float(after)) < 1e-16


def test_balls_that_cannot_be_told_apart_raise():
    huge = Fraction(10) ** 60000
    witness = ProjectionWitness(
        query=0, position=1, slot=0, slots=(0, 1), bias=None, keys={0: (Fraction(1), Fraction(1))},
        values={1: (Fraction(0), Fraction(1))}, E={0: (Fraction(0), 1 / huge)}, F={1: (Fraction(1), Fraction(-1))},
    )  # fmt: skip
    with pytest.raises(ArithmeticError, match="the outputs differ exactly, but 131072 bits do not show it"):
        witness.replay()


def test_words():
    assert article().describe() == "output 0 changes from 0 to 1/4 when value 1 changes from 0 to 1"
    E = [[0, 0], [0, 1]]
    F = [[1, 0], [2, 0]]
    verdict = check_projection(F, E, layout="slots-first")
    assert verdict.witness.slot == 1
    assert verdict.witness.describe().endswith("when key 1 changes from 0 to 1, with value 0 = 1 and 0 elsewhere")
    assert "1.5 to 1.7310585786" in verdict.witness.describe().replace("3/2", "1.5")
    assert format_number(Fraction(1, 3)) == "1/3"
    assert format_number(Fraction(10) ** 400) == "1E+400"
    assert format_number(Fraction(10**15 + 1, 7**9)).startswith("≈ 2.47")
    json.dumps(verdict.witness.to_dict())


def test_exact_outputs_are_ratios_of_exponentials():
    verdict = check_projection([[1, 0], [2, 0]], [[0, 0], [0, 1]], layout="slots-first")
    before, after = verdict.witness.outputs
    assert before == Fraction(3, 2)
    assert after.below == ((Fraction(-1), Fraction(1)), (Fraction(0), Fraction(1)))
    assert after.above == ((Fraction(-1), Fraction(1)), (Fraction(0), Fraction(2)))
    assert str(after).startswith("1.73105857863")
    assert Ratio((), after.below).rational == 0


@given(grids(5, 4), st.lists(st.sampled_from([0.0, 1.0]), min_size=5, max_size=5))
@settings(max_examples=100, deadline=None)
def test_telling_columns_tell_what_can_be_told(E, bias):
    for b in (None, np.array(bias)):
        columns = telling_columns(E, b)
        extra = np.zeros(5) if b is None else b
        full = {(tuple(row), x) for row, x in zip(E.tolist(), extra, strict=True)}
        part = {(tuple(row), x) for row, x in zip(E[:, columns].tolist(), extra, strict=True)}
        assert len(full) == len(part)
        assert len(columns) <= 4


def test_units_bring_entries_near_one():
    from attnproof.causal.projection.entries import read

    E = read(np.array([[5e-324, 3e300], [0, -1.0]]), layout="slots-first")
    head = Head(E, E, np.arange(2), None)
    for m in (0, 1):
        scaled = max(abs(x) for x in head.column("E", m)) * head.unit(m)
        assert Fraction(1, 2) <= scaled <= 2
        assert head.unit(m).numerator & (head.unit(m).numerator - 1) == 0
    assert head.column("E", 0)[1] == 0


def test_the_witness_names_a_slot_that_reads_the_position():
    verdict = check_projection([[1, 0, 0], [0, 0, 2], [0, 3, 0]], layout="slots-first", boundary=Boundary.prefix(3))
    assert (verdict.witness.position, verdict.witness.slot) == (1, 2)


@pytest.mark.parametrize("kind", ["dense", "blocks", "past"])
def test_a_witness_and_its_replay_touch_only_what_they_need(monkeypatch, kind):
    """Beyond the one pass of T10: a few columns of the slots, whatever the number of positions."""
    r, n, asked = 8, 200_000, []
    E = np.random.default_rng(0).standard_normal((r, n), np.float32)
    F = {"dense": E, "blocks": np.kron(np.eye(r, dtype=np.float32), np.ones(n // r, np.float32)), "past": E.copy()}[
        kind
    ]
    if kind == "past":
        F[:, 1 + n // 2 :] = 0
    block = Entries.block

    def counted(self, slots=slice(None), positions=slice(None)):
        found = block(self, slots, positions)
        asked.append(found.size)
        return found

    monkeypatch.setattr(Entries, "block", counted)
    verdict = check_projection(F, E, boundary="strict")
    assert verdict.status.name == "REFUTED"
    touched = sum(asked)
    assert 0 < touched <= r * 100
    alone = ProjectionWitness.from_dict(verdict.witness.to_dict())
    E[:], F[:] = np.nan, np.nan
    assert alone.replay()
    assert sum(asked) == touched


def test_a_leak_far_out_is_looked_for_in_one_row(monkeypatch):
    """The columns of all slots are read as far as a strip reaches, and from there on the first slot's alone."""
    monkeypatch.setattr("attnproof.causal.projection.leak.per_strip", lambda size: 100)
    asked, block = [], Entries.block

    def counted(self, slots=slice(None), positions=slice(None)):
        found = block(self, slots, positions)
        asked.append(found.size)
        return found

    monkeypatch.setattr(Entries, "block", counted)
    F = np.zeros((8, 20_000))  # too many for the picture, which would read them all
    F[:, 4000:] = np.arange(8)[:, None] + 1.0
    verdict = check_projection(F, boundary="strict")
    assert verdict.witness.position == 4000
    assert sum(asked) < 8 * 100 + 20_000 + 100
