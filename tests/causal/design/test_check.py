"""T16: families decided for every n, counterexamples of the smallest size, and what the rules may not do."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from attnproof.causal.design import family
from attnproof.causal.design.check import check_family, smtlib
from attnproof.causal.design.family import RESERVED, Family, first_positions
from attnproof.causal.design.presburger import choose
from attnproof.causal.design.witness import FamilyWitness
from attnproof.causal.verdict import Status, Verdict, Witness
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T16")
need("z3")
need("cvc5")


def blocks(p):
    return lambda s, j, n: j // p == s


def _smallest_by_brute_force(reads, sees, slots, largest):
    for n in range(1, largest + 1):
        for t in range(n):
            for j in range(t + 1, n):
                for s in range(slots(n)):
                    if reads(s, j, n) and sees(t, s, n):
                        return n
    return None


@settings(max_examples=40, deadline=None)
@given(p=st.integers(1, 5), a=st.integers(1, 3), b=st.integers(-3, 8), c=st.integers(1, 4), q=st.integers(1, 3))
def test_verdict_and_smallest_size_match_brute_force(p, a, b, c, q):
    def reads(s, j, n):
        return (j // p == s) & (j % q == 0)

    def sees(t, s, n):
        return a * p * s + b <= c * t

    verdict = check_family(reads, sees, slots=lambda n: n // p + 1)
    smallest = _smallest_by_brute_force(reads, sees, lambda n: n // p + 1, 26)
    if verdict.status is Status.REFUTED:
        assert verdict.witness.replay()
        assert verdict.witness.n == smallest or smallest is None
    else:
        assert verdict.status is Status.PROVED
        assert smallest is None


def test_proof_carries_both_solvers_and_its_text():
    verdict = check_family(blocks(4), lambda t, s, n: s * 4 + 3 <= t, slots=lambda n: n // 4, name="blocks")
    assert verdict.status is Status.PROVED
    assert verdict.claims == ("T10", "T16")
    assert [e.detail.split(":")[0] for e in verdict.evidence if e.kind == "solver"] == ["Z3", "cvc5"]
    assert all(e.ok for e in verdict.evidence)
    text = verdict.details["smtlib"]["safety"]
    assert "(set-logic QF_LIA)" in text
    assert text.endswith("(check-sat)\n")
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_counterexample_reads_back_and_replays():
    verdict = check_family(blocks(3), lambda t, s, n: s * 3 + 1 <= t, name="early blocks")
    assert verdict.status is Status.REFUTED
    assert verdict.witness.n == 3
    assert not verdict.witness.n < 3
    assert (verdict.witness.query, verdict.witness.position, verdict.witness.slot) == (1, 2, 0)
    again = Witness.from_dict(verdict.witness.to_dict())
    assert isinstance(again, FamilyWitness)
    assert again == verdict.witness
    assert again.replay()
    assert "at n = 3, slot 0 shows position 2 to query 1" in again.describe()
    assert any(e.detail == "no smaller n than 3" and e.ok for e in verdict.evidence)


def test_a_witness_that_was_tampered_with_does_not_replay():
    witness = check_family(blocks(3), lambda t, s, n: s * 3 + 1 <= t).witness
    hidden = FamilyWitness(0, 0, 0, 1, {}, np.ones((1, 1), bool), np.ones((1, 1), bool), None)
    assert witness.replay()
    assert not hidden.replay()  # the slot does show the position


def test_covers_that_leave_a_position_out_are_refuted():
    def covers(t, j, n):
        return j // 4

    verdict = check_family(blocks(4), lambda t, s, n: s * 4 + 3 <= t, slots=lambda n: n // 4, covers=covers)
    assert verdict.status is Status.REFUTED
    assert verdict.witness.projection is None
    assert verdict.witness.replay()
    assert (verdict.witness.n, verdict.witness.query, verdict.witness.position) == (1, 0, 0)
    assert "does not show position 0 to query 0 (no slot does)" in verdict.witness.describe()
    assert verdict.reasons == ("every visible slot is safe, but covers names a slot that does not show the position",)
    assert Witness.from_dict(verdict.witness.to_dict()).replay()


def test_covers_that_name_the_wrong_slot_say_that_another_shows_it():
    verdict = check_family(
        lambda s, j, n: j == s,
        lambda t, s, n: s <= t,
        slots=lambda n: n,
        covers=lambda t, j, n: choose(j > 0, j - 1, 0),
    )
    assert verdict.status is Status.REFUTED
    assert "(another slot does)" in verdict.witness.describe()
    assert (verdict.witness.n, verdict.witness.position) == (2, 1)


def test_due_restricts_what_covers_claims():
    def due(t, j, n):
        return j // 4 * 4 + 3 <= t

    rules = {"slots": lambda n: n // 4, "covers": lambda t, j, n: j // 4, "due": due}
    assert check_family(blocks(4), lambda t, s, n: s * 4 + 3 <= t, **rules)


def test_other_boundaries():
    def same(s, j, n):
        return j == s

    def sees(t, s, n):
        return s <= t

    assert check_family(same, sees)
    strict = check_family(same, sees, boundary=lambda t, j, n: j < t)
    assert strict.status is Status.REFUTED
    assert strict.witness.n == 1
    assert strict.witness.replay()
    assert check_family(same, lambda t, s, n: s + 2 <= t, boundary=lambda t, j, n: j + 2 <= t)


def test_symbolic_parameters_hold_for_all_values():
    def reads(s, j, n, p):
        return j // p == s

    rules = {"slots": lambda n, p: n // p, "parameters": {"p": 1}}
    assert check_family(reads, lambda t, s, n, p: (s + 1) * p <= t + 1, **rules)
    early = check_family(reads, lambda t, s, n, p: (s + 1) * p <= t + 2, **rules)
    assert early.status is Status.REFUTED
    assert early.witness.replay()
    assert (early.witness.n, early.witness.parameters) == (2, {"p": 1})


def test_documents_that_leak_into_the_next_are_found():
    def reads(s, j, n):
        return j == s

    verdict = check_family(
        reads,
        lambda t, s, n: s <= t,
        slots=lambda n: n,
        boundary=lambda t, j, n, start: (j <= t) & (start(j) == start(t)),
        parameters={"start": "documents"},
    )
    assert verdict.status is Status.REFUTED
    assert verdict.witness.parameters == {"start": [1, 1]}
    assert verdict.witness.replay()


def test_rules_that_depend_on_the_type_of_their_arguments_are_refused():
    def sees(t, s, n):
        return s <= t if isinstance(t, np.ndarray) else s < t

    with pytest.raises(ValueError, match="they must not depend on the type of their arguments"):
        check_family(lambda s, j, n: j == s, sees)


def test_python_division_of_negatives_is_kept():
    """(j - 5) // 3 is −2 for j = 0 in Python; rounding towards 0 would change the verdict, as would dividing by −3."""

    def reads(s, j, n):
        return (j - 5) // 3 + 2 == s

    def reads_negative(s, j, n):
        return (5 - j) // -3 + 2 == s

    for rule in (reads, reads_negative):
        verdict = check_family(rule, lambda t, s, n: 3 * s + 1 <= t, slots=lambda n: n)
        smallest = _smallest_by_brute_force(rule, lambda t, s, n: 3 * s + 1 <= t, lambda n: n, 12)
        assert (verdict.status is Status.PROVED) == (smallest is None)
        if smallest is not None:
            assert verdict.witness.n == smallest


@st.composite
def rules(draw, names, depth=2):
    """A random rule over some of t, s, j with a symbolic parameter p: comparisons of terms with //, % and products."""

    def number(deep):
        kind = draw(st.integers(0, 6 if deep else 0))
        if kind == 0:
            factors, constant = {v: draw(st.sampled_from([-2, -1, 0, 1, 2])) for v in names}, draw(st.integers(-3, 3))
            return lambda **e: sum((k * e[v] for v, k in factors.items()), constant)
        a, b, c = number(deep - 1), number(deep - 1), draw(st.sampled_from([2, 3, -2]))
        return {
            1: lambda **e: a(**e) // c,
            2: lambda **e: a(**e) % c,
            3: lambda **e: a(**e) // e["p"],
            4: lambda **e: a(**e) % e["p"],
            5: lambda **e: a(**e) * e["p"],
            6: lambda **e: choose(a(**e) < b(**e), a(**e), b(**e)),
        }[kind]

    a, b, c = number(depth), number(depth), number(0)
    return draw(
        st.sampled_from(
            [
                lambda **e: a(**e) <= b(**e),
                lambda **e: a(**e) == b(**e),
                lambda **e: (a(**e) <= b(**e)) & ~(c(**e) == 0),
                lambda **e: (a(**e) == b(**e)) | (c(**e) > 2),
            ]
        )
    )


@settings(max_examples=15, deadline=None)
@given(rules(["s", "j"]), rules(["t", "s"]))
def test_random_rules_with_a_symbolic_parameter_against_brute_force(reading, seeing):
    from attnproof.causal import solvers

    def reads(s, j, n, p):
        return reading(s=s, j=j, p=p)

    def sees(t, s, n, p):
        return seeing(t=t, s=s, p=p)

    family = Family(reads, sees, None, None, None, None, {"p": 1})
    sizes = [(n, p) for n in range(1, 7) for p in range(1, 5)]
    members = ((n, p, family.matrices(n, slots=n + 3, p=p)) for n, p in sizes)
    smallest = next((n for n, p, m in members if (m.shown & ~np.tri(n, dtype=bool)).any()), None)
    patience, solvers.TIMEOUT_MS = solvers.TIMEOUT_MS, 1000
    try:
        verdict = check_family(reads, sees, slots=lambda n, p: n + 3, parameters={"p": 1})
    finally:
        solvers.TIMEOUT_MS = patience
    if verdict.status is Status.PROVED:
        assert smallest is None
    if verdict.status is Status.REFUTED:
        assert verdict.witness.replay()
        confirmed = next(e.ok for e in verdict.evidence if e.detail.startswith("no smaller n"))
        assert smallest is None or verdict.witness.n <= smallest or not confirmed  # the solvers have one second each


ERRORS = [
    (
        {"reads": lambda s, j, n: j // 2, "sees": lambda t, s, n: s <= t},
        TypeError,
        r"reads returned .*; return a comparison",
    ),
    (
        {"reads": lambda s, j, n: j == s, "sees": lambda t, s, n: s <= t and True},
        TypeError,
        r"truth value of a comparison",
    ),
    (
        {"reads": lambda s, j, n: j == s, "sees": lambda t, s, n: s <= t, "parameters": {"n": 1}},
        ValueError,
        r"parameters names 'n'; use an ASCII identifier other than n, t, j, s, start_…",
    ),
    *(
        (
            {"reads": lambda s, j, n: j == s, "sees": lambda t, s, n: s <= t, "parameters": {name: 1}},
            ValueError,
            message,
        )
        for name, message in [
            ("größe", "parameters names 'größe'; use an ASCII identifier"),
            ("start_0", "parameters names 'start_0'; use an ASCII identifier"),
            *((word, f"parameters names '{word}', a word that SMT-LIB has taken") for word in ("div", "times", "let")),
        ]
    ),
    (
        {"reads": lambda s, j, n: j == s, "sees": lambda t, s, n: s <= t, "parameters": {"p": "one"}},
        TypeError,
        r"parameters\['p'\] = 'one'; give its least value, a whole number, or 'documents'",
    ),
]


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_the_words_refused_are_those_that_the_solvers_do_not_take(word, monkeypatch):
    """A name that is refused without need would be a nuisance; each of these breaks the text for some solver."""
    monkeypatch.setattr(family, "RESERVED", frozenset())

    def breaks(reads, least):
        try:
            check_family(reads, lambda t, s, n: s <= t, parameters={word: least})
        except Exception:  # of whatever kind the solver raises
            return True
        return False

    as_number = breaks(lambda s, j, n, **given: j // given[word] == s, 1)
    assert as_number or breaks(lambda s, j, n, **given: given[word](j) == s, "documents")


def test_a_name_that_no_solver_has_taken_is_a_parameter():
    widths = {"parameters": {"implies": 1}}
    assert check_family(lambda s, j, n, implies: j // implies == s, lambda t, s, n, implies: s < t // implies, **widths)
    documents = {"parameters": {"first": "documents"}}
    assert check_family(lambda s, j, n, first: first(j) == s, lambda t, s, n, first: s < first(t), **documents)


def test_negation_on_integers_is_that_of_formulas():
    """`~True` is −2 in Python, which counts as true; the rules are called with NumPy's integers, `choose` is strict."""
    odd = Family(
        lambda s, j, n, w: ~(w > s) & (j == s), lambda t, s, n, w: s <= t, lambda n: n, None, None, None, {"w": 1}
    )
    assert odd.matrices(4, w=2).support.tolist() == [[False] * 4] * 2 + np.eye(4, dtype=bool)[2:].tolist()
    verdict = check_family(
        lambda s, j, n: j == s, lambda t, s, n: s <= t, covers=lambda t, j, n: choose(~(t > j + 2), j, j + 1)
    )
    assert verdict.status is Status.REFUTED
    assert verdict.witness.describe() == "at n = 4, slot 1 does not show position 0 to query 3 (another slot does)"
    with pytest.raises(TypeError, match=r"choose\(-2, …\) is not supported .*; give it a comparison"):
        choose(~(3 > 2), 1, 2)


def test_divisions_on_which_one_strategy_of_cvc5_runs_in_circles():
    """Z3 says unsat at once; cvc5 with its own settings was still at it after 20 seconds."""
    verdict = check_family(
        lambda s, j, n: (j + 1) // 5 == s,
        lambda t, s, n: (s + 1) * 5 <= t + 4,
        boundary=lambda t, j, n: j // 5 <= t // 5,
        slots=lambda n: n // 5,
    )
    assert verdict.status is Status.PROVED


def _documents_of(n):
    """All ways to cut n positions into documents, as lengths."""
    return [[]] if n == 0 else [[k, *rest] for k in range(1, n + 1) for rest in _documents_of(n - k)]


OUTSIDE = [
    ("start(j) == s", "(start(t) == s) & (start(t - 1) == s - 1)", "j <= t"),
    ("s == j", "(start(t) + 2 <= t - 2) & (t >= start(s + 1))", "start(j) == start(t)"),
    ("start(s + 2) < s", "start(start(t) - 1) <= s", "start(j) <= start(t)"),
    ("start(j + 1) > j", "(start(t) == s) & (start(s - 1) == s)", "start(j) == start(t)"),
    ("(start(j) == s) & (start(j + 1) == s)", "(start(t) == s) & (start(t + 1) == s + 1)", "j <= t"),
]


@pytest.mark.parametrize("texts", OUTSIDE)
def test_documents_are_looked_up_outside_the_positions_too(texts):
    """`start` of −1 or n is that of the nearest position, for the solvers as for the matrices: never undecided."""
    reads, sees, allowed = (
        eval(f"lambda {names}, n, start: {text}") for names, text in zip(("s, j", "t, s", "t, j"), texts, strict=True)
    )
    using = {"boundary": allowed, "parameters": {"start": "documents"}}
    verdict = check_family(reads, sees, slots=lambda n: n + 1, **using)
    family = Family(reads, sees, lambda n: n + 1, None, None, allowed, {"start": "documents"})
    members = ((n, lengths) for n in range(1, 8) for lengths in _documents_of(n))
    leaking = (
        n
        for n, lengths in members
        if (family.matrices(n, start=lengths).shown & ~family.relation(n, start=lengths).to_array()).any()
    )
    smallest = next(leaking, None)
    assert verdict.status is (Status.PROVED if smallest is None else Status.REFUTED)
    assert smallest is None or verdict.witness.n == smallest


def test_a_counterexample_too_large_to_replay_is_named():
    verdict = check_family(lambda s, j, n: j == s + 3000, lambda t, s, n: s <= t)
    assert verdict.status is Status.UNDECIDED
    assert verdict.reasons[0].endswith("that replays: the smallest found has n = 3,001, too large to replay")


@pytest.mark.parametrize(("rules", "error", "message"), ERRORS)
def test_bad_rules_get_one_sentence(rules, error, message):
    with pytest.raises(error, match=message):
        check_family(**rules)


def test_bad_members_get_one_sentence():
    family = Family(lambda s, j, n, p: j // p == s, lambda t, s, n: s <= t, None, None, None, None, {"p": 2})
    with pytest.raises(ValueError, match=r"n = 0 is no size; pass a whole number of at least 1"):
        family.matrices(0, p=2)
    with pytest.raises(ValueError, match=r"parameter p has no value; pass p=…"):
        family.matrices(3)
    with pytest.raises(ValueError, match=r"p = 1 is below its least value 2; pass at least that"):
        family.matrices(3, p=1)
    with pytest.raises(ValueError, match=r"slots is unknown for this family; pass slots=…"):
        family.matrices(3, p=2)
    with pytest.raises(ValueError, match=r"lengths \[2, 2\] are no documents over n = 3 positions"):
        first_positions([2, 2], 3)


@pytest.mark.parametrize("module", ["z3", "cvc5"])
def test_a_missing_solver_names_the_extra(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'attnproof\[smt\]'"):
        check_family(lambda s, j, n: j == s, lambda t, s, n: s <= t)


def test_solvers_that_disagree_prove_nothing(monkeypatch):
    from attnproof.causal import solvers

    monkeypatch.setattr(solvers, "cvc5_says", lambda text: ("sat", 0.0))
    verdict = check_family(lambda s, j, n: j == s, lambda t, s, n: s <= t)
    assert verdict.status is Status.UNDECIDED
    assert any(e.ok is False for e in verdict.evidence)


def test_the_text_alone_needs_no_solver(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    monkeypatch.setitem(sys.modules, "cvc5", None)
    texts = smtlib(lambda s, j, n, p: j // p == s, lambda t, s, n, p: s * p <= t, parameters={"p": 1})
    assert "(define-fun times" in texts["safety"]
