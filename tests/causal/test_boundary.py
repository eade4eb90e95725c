"""Boundaries against their definitions, and every sentence that a wrong one gets."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from attnproof import Boundary
from attnproof.causal.boundary import Misfit
from attnproof.errors import ArgumentError, ArgumentTypeError
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.claim("T10", "T15")


@st.composite
def boundaries(draw, most=6):
    """Any boundary, beside its matrix by definition."""
    n = draw(st.integers(0, most))
    kind = draw(st.sampled_from(["prefix", "strict", "lagged", "documents", "bidirectional", "times", "relation"]))
    if kind == "documents":
        lengths = draw(st.lists(st.integers(1, 3), max_size=3))
        doc = np.repeat(np.arange(len(lengths)), lengths)
        matrix = [[bool(doc[t] == doc[j] and j <= t) for j in range(len(doc))] for t in range(len(doc))]
        return Boundary.documents(lengths), np.array(matrix, bool).reshape(len(doc), len(doc))
    m = draw(st.integers(0, n))
    if kind == "bidirectional":
        return Boundary.bidirectional(n, queries=m), np.ones((m, n), bool)
    if kind == "times":
        a, d = draw(st.lists(st.integers(0, 3), max_size=most)), draw(st.lists(st.integers(0, 3), max_size=most))
        matrix = [[x <= y for x in a] for y in d]
        return Boundary.from_times(a, d), np.array(matrix, bool).reshape(len(d), len(a))
    if kind == "relation":
        bits = draw(st.lists(st.booleans(), min_size=m * n, max_size=m * n))
        matrix = np.array(bits, bool).reshape(m, n)
        return Boundary.relation(matrix), matrix
    k = {"prefix": 0, "strict": 1}.get(kind, draw(st.integers(0, 3)))
    align = draw(st.sampled_from(["start", "end"]))
    stands = [t + (n - m if align == "end" else 0) for t in range(m)]
    matrix = np.array([[j <= stand - k for j in range(n)] for stand in stands], bool).reshape(m, n)
    return Boundary.lagged(n, k, queries=m, align=align), matrix


@given(boundaries())
@settings(max_examples=150, deadline=None)
def test_every_boundary_is_its_definition(case):
    boundary, matrix = case
    assert boundary.to_array().shape == matrix.shape
    assert np.array_equal(boundary.to_array(), matrix)
    for t in range(boundary.queries):
        assert np.array_equal(boundary.allowed_row(t), matrix[t])
        assert all(bool(boundary.allowed(t, j)) == matrix[t, j] for j in range(boundary.n))


@given(boundaries())
@settings(max_examples=100, deadline=None)
def test_json_brings_the_same_relation_back(case):
    boundary, matrix = case
    again = Boundary.from_dict(json.loads(json.dumps(boundary.to_dict())))
    assert again == boundary
    assert np.array_equal(again.to_array(), matrix)
    assert again.describe() == boundary.describe()


@given(boundaries(), boundaries())
@settings(max_examples=150, deadline=None)
def test_equality_is_equality_of_relations(one, other):
    same = one[1].shape == other[1].shape and bool(np.array_equal(one[1], other[1]))
    assert (one[0] == other[0]) == same
    assert one[0] == Boundary.relation(one[1])
    assert one[0] != "prefix"


@given(boundaries())
@settings(max_examples=150, deadline=None)
def test_reflexive_and_transitive_by_brute_force(case):
    boundary, matrix = case
    if boundary.stands is not None:
        own = [matrix[t, j] for t, j in enumerate(boundary.stands)]
        assert boundary.forbids_own_position == (not all(own))
    if boundary.stands is None or boundary.queries != boundary.n:
        assert not boundary.is_transitive
        assert not boundary.is_reflexive
        return
    n = boundary.n
    steps = [(t, j, i) for t in range(n) for j in range(n) for i in range(n) if matrix[t, j] and matrix[j, i]]
    assert boundary.is_transitive == all(matrix[t, i] for t, _, i in steps)
    assert boundary.is_reflexive == all(matrix[t, t] for t in range(n))


def test_times_take_dates_and_say_what_is_no_time():
    days = np.array(["2024-01-02", "2024-01-01"], "datetime64[D]")
    assert Boundary.from_times(days, days).to_array().tolist() == [[True, True], [False, True]]
    missing = np.array(["2024-01-02", "NaT"], "datetime64[D]")
    with pytest.raises(ValueError, match=r"available\[1\] is not a time \(NaT\); drop or fill it"):
        Boundary.from_times(missing, days)
    with pytest.raises(ValueError, match=r"decision has shape \(1, 1\); pass one time per entry"):
        Boundary.from_times([1], [[1]])


def test_two_layers_that_are_safe_by_time_can_stack_to_a_leak():
    boundary = Boundary.from_times([1, 1, 5], [2, 5, 5])
    assert not boundary.is_transitive
    assert Boundary.prefix(4).is_transitive
    assert Boundary.documents([2, 2]).is_transitive
    assert not Boundary.strict(3).is_reflexive


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prefix", Boundary.prefix(8)),
        ("strict", Boundary.strict(8)),
        ("lag:3", Boundary.lagged(8, 3)),
        ("documents:3,5", Boundary.documents([3, 5])),
        ("documents-of:3", Boundary.documents([3, 3, 2])),
        ("documents-of:9", Boundary.documents([8])),
        ("blocks:3", Boundary.from_times(np.arange(8) // 3, np.arange(8) // 3)),
        ("bidirectional", Boundary.bidirectional(8)),
    ],
)
def test_the_notation_of_the_command_line(text, expected):
    assert Boundary.parse(text, 8) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "causal",
            r"boundary 'causal' is unknown; "
            r"use prefix, strict, lag:K, documents:a,b,…, documents-of:B, blocks:B or bidirectional",
        ),
        ("prefix:3", r"boundary 'prefix:3' is unknown"),
        ("lag:x", r"boundary 'lag:x' does not fit"),
        ("lag:-1", r"boundary 'lag:-1' does not fit"),
        ("blocks:0", r"boundary 'blocks:0' does not fit .*; write it like blocks:4"),
        ("documents:3,4", r"lengths sum to 7, not to the 8 positions"),
    ],
)
def test_a_wrong_notation_is_named(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        Boundary.parse(text, 8)


@pytest.mark.parametrize(
    ("build", "error", "sentence"),
    [
        (lambda: Boundary.prefix(2.5), TypeError, "n must be a whole number, not 2.5; pass an int"),
        (lambda: Boundary.prefix(True), TypeError, "n must be a whole number, not True"),
        (lambda: Boundary.prefix(-1), ValueError, "n = -1 is too small; pass at least 0"),
        (lambda: Boundary.prefix(3, queries=4), ValueError, "queries = 4 exceeds the n = 3 positions"),
        (lambda: Boundary.prefix(3, align="middle"), ValueError, "align = 'middle' is unknown; pass 'start' or 'end'"),
        (lambda: Boundary.lagged(3, -1), ValueError, "k = -1 is too small"),
        (lambda: Boundary.documents([3, 0]), ValueError, "lengths = 0 is too small; pass at least 1"),
        (
            lambda: Boundary.relation([[1, 0]]),
            ValueError,
            r"shape \(1, 2\) and dtype int64; pass a \(queries, n\) array",
        ),
        (lambda: Boundary.from_dict({"kind": "x", "n": 1, "queries": 1}), ValueError, "kind = 'x' is not a boundary"),
        (lambda: Boundary.resolve(7, 3), TypeError, "boundary must be a Boundary, not int; build one"),
        (lambda: Boundary.resolve(Boundary.prefix(3), 4), ValueError, "n = 3 positions, the projection has n = 4"),
        (
            lambda: Boundary.resolve(Boundary.prefix(4), 4, 2),
            ValueError,
            "has 4 queries, visible has 2; make them agree",
        ),
    ],
)
def test_wrong_sizes_get_one_sentence(build, error, sentence):
    with pytest.raises(error, match=sentence):
        build()


@pytest.mark.parametrize("text", [None, "prefix", "strict", "lag:2"])
@pytest.mark.parametrize("align", ["start", "end"])
def test_fewer_queries_than_positions_stand_where_the_alignment_says(text, align):
    resolved = Boundary.resolve(text, 6, 2, align)
    assert resolved.stands.tolist() == ([0, 1] if align == "start" else [4, 5])
    assert resolved.parameters["k"] == {"strict": 1, "lag:2": 2}.get(text, 0)


def test_an_argument_s_error_is_a_sentence_of_its_fields():
    with pytest.raises(Misfit) as stop:
        Boundary.resolve(Boundary.prefix(4), 5)
    assert (stop.value.name, stop.value.n, stop.value.queries) == ("boundary", 4, 4)
    for error in (
        stop.value,
        ArgumentError("axis", "is no axis; x", "pass axis=1 or layout=2", value=9, mentions=("layout",)),
        ArgumentTypeError("axis", "is no number", "pass an int"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    named = ArgumentError("axis", "is no axis of laxis.axis", "pass axis=1 or layout=2", value=9, mentions=("layout",))
    assert str(named) == "axis = 9 is no axis of laxis.axis; pass axis=1 or layout=2"
    told = named.told({"axis": "--axis", "layout": "--layout", "pass": "--pass"})
    assert told == "--axis 9 is no axis of laxis.axis; pass --axis 1 or --layout 2"
    assert ArgumentError("f[0, 1]", "= nan is no bias", "x").told({"f": "--f"}) == "--f[0, 1] = nan is no bias; x"
    assert ArgumentError("f", "is lost", "x", value=None).told({"f": "--f"}) == "--f is missing and is lost; x"


def test_descriptions_name_kind_and_sizes():
    assert Boundary.prefix(8).describe() == "prefix boundary over 8 positions"
    assert Boundary.lagged(8, 3).describe() == "lagged boundary by 3 over 8 positions"
    assert Boundary.documents([3, 5]).describe() == "packed-documents boundary of lengths 3, 5 over 8 positions"
    assert Boundary.prefix(8, queries=2).describe() == "prefix boundary over 8 positions, 2 queries"
    assert "… (9)" in Boundary.documents([1] * 9).describe()
    with pytest.raises(TypeError):
        hash(Boundary.prefix(2))


FAR = np.array(["9999-12-31"], "M8[s]")  # "never available", as tables of data write it


@pytest.mark.parametrize(
    ("available", "decision", "allowed"),
    [
        (np.array([2**53 + 1]), np.array([2.0**53]), False),
        (np.array([2**60 + 1], np.uint64), np.array([2**60]), False),
        (np.array([2**60], np.uint64), np.array([2**60 + 1]), True),
        ([2**53 + 1, 0.5], [2**53], False),
        (FAR, np.array(["2020-01-01"], "M8[ns]"), False),
        (FAR.astype("M8[D]"), np.array(["2020-01-01"], "M8[ns]"), False),
        (FAR.astype("M8[Y]"), np.array(["2020-01-01"], "M8[ns]"), False),
        (np.array(["2020-02"], "M8[M]"), np.array(["2020-02-01T00:00:00.000000001"], "M8[ns]"), True),
        (np.array([1], "m8[D]"), np.array([24 * 3600 - 1], "m8[s]"), False),
        (np.array([13], "m8[M]"), np.array([1], "m8[Y]"), False),
        (np.array([0.1]), np.array([0.1], np.float32), True),  # 0.1 in single precision is larger
        (np.array([0.1], np.float32), np.array([0.1]), False),
    ],
)
def test_times_of_two_types_are_compared_exactly(available, decision, allowed):
    """Rounding to a common type, or its overflow, would let a query use what comes later."""
    boundary = Boundary.from_times(available, decision)
    assert bool(boundary.allowed(0, 0)) is allowed
    assert Boundary.from_dict(json.loads(json.dumps(boundary.to_dict()))) == boundary


@pytest.mark.parametrize("pair", [(["a"], [5]), ([1j], [1]), (FAR, [5]), (np.ones(1, "m8[M]"), np.ones(1, "m8[D]"))])
def test_times_without_a_common_order_are_refused(pair):
    with pytest.raises(TypeError, match="available and decision cannot be compared"):
        Boundary.from_times(*pair)


def test_a_lag_of_any_size_allows_nothing():
    assert not Boundary.lagged(3, 10**30).to_array().any()
    assert Boundary.lagged(3, 3) == Boundary.lagged(3, 10**30)
