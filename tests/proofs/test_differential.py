"""The verified checker (Rocq, extracted) against T10 and T11 read literally, exact runs, and the Python checker."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from attnproof.causal.boundary import Boundary
from attnproof.causal.projection.check import check_projection
from attnproof.causal.projection.columns import Columns
from attnproof.causal.projection.entries import read
from attnproof.causal.projection.exact import keys_leak, open_thresholds, questions, values_leak
from attnproof.proofs import differential
from attnproof.proofs.differential import (
    Case,
    KernelUnavailableError,
    certificate,
    kernel_decide,
    kernel_decide_all,
    kernel_evidence,
)
from needs import need_rocq

pytestmark = pytest.mark.claim("T10", "T11")

Rows = list[list[Fraction]]
HALF: Rows = [[Fraction(1, 2), Fraction(1, 2), Fraction(0)], [Fraction(0), Fraction(0), Fraction(1)]]
PREFIX = [[False, True, True], [False, False, True], [False, False, False]]


# -- three other ways to decide ---------------------------------------------------------------------------------------


def per_query(case: Case, safe: Callable[[list[int], list[int], list[int]], bool]) -> bool:
    """Whether `safe(slots, forbidden, permitted)` holds at every query."""
    n = len(case.E[0])
    return all(
        safe(
            [s for s, seen in enumerate(visible) if seen],
            [j for j in range(n) if forbidden[j]],
            [i for i in range(n) if not forbidden[i]],
        )
        for visible, forbidden in zip(case.visible, case.forbidden, strict=True)
    )


def literal_support(case: Case) -> bool:
    return per_query(case, lambda S, J, _: all(case.E[s][j] == 0 == case.F[s][j] for s in S for j in J))


def literal_exact(case: Case) -> bool:
    """(1) and (2') of T11, word for word: no code in common with either checker, which decide (2)."""
    E, F = [[[Fraction(x) for x in row] for row in M] for M in (case.E, case.F)]

    def safe(S: list[int], J: list[int], permitted: list[int]) -> bool:
        rows: dict[tuple[Fraction, ...], list[int]] = defaultdict(list)
        for s in S:
            rows[tuple(E[s])].append(s)
        if any(sum(F[s][j] for s in cls) for cls in rows.values() for j in J):
            return False
        for j, i in product(J, permitted):
            steps: dict[object, Fraction] = defaultdict(Fraction)
            for s, u in product(S, S):
                steps[tuple(a + b for a, b in zip(E[s], E[u], strict=True)), E[u][j]] += F[s][i] - F[u][i]
            if any(steps.values()):
                return False
        return True

    return per_query(case, safe)


def found_leak(case: Case, rng: random.Random) -> bool:
    """Whether some exact run of a head with the exponential 2^x (integer scores) tells two permitted inputs apart."""
    r, n = len(case.E), len(case.E[0])
    for visible, forbidden in zip(case.visible, case.forbidden, strict=True):
        slots = [s for s in range(r) if visible[s]]
        if not slots:
            continue
        for _ in range(6):
            # d = 1, q = 1: keys are the scores of the positions.
            keys = [rng.randint(-4, 4) for _ in range(n)]
            values = [Fraction(rng.randint(-9, 9)) for _ in range(n)]
            other = [
                (rng.randint(-4, 4), Fraction(rng.randint(-9, 9))) if f else (k, v)
                for k, v, f in zip(keys, values, forbidden, strict=True)
            ]
            if head(case, slots, keys, values) != head(case, slots, [k for k, _ in other], [v for _, v in other]):
                return True
    return False


def head(case: Case, slots: list[int], keys: list[int], values: list[Fraction]) -> Fraction:
    weights = [Fraction(2) ** int(sum(e * k for e, k in zip(case.E[s], keys, strict=True))) for s in slots]
    mixed = [sum((Fraction(f) * v for f, v in zip(case.F[s], values, strict=True)), Fraction(0)) for s in slots]
    return sum((w * x for w, x in zip(weights, mixed, strict=True)), Fraction(0)) / sum(weights)


def python_exact(case: Case) -> bool:
    """The Python checker's T11, query by query."""
    E, F = read(case.E, "E", "slots-first"), read(case.F, "F", "slots-first")
    boundary = Boundary.relation(~np.array(case.forbidden, bool))
    for t, visible in enumerate(case.visible):
        slots = np.flatnonzero(np.array(visible, bool))
        if not len(slots):
            continue
        for question in questions(boundary, slots, None, np.array([t])):
            e, f = Columns(E, slots), Columns(F, slots)
            if values_leak(question, e, f) is not None:
                return False
            if keys_leak(question, e, f, open_thresholds(question, e, f)) is not None:
                return False
    return True


# -- cases ------------------------------------------------------------------------------------------------------------

SMALL = [Fraction(x) for x in (-1, 0, 0, 0, 1, 1, 2)]
FLOATS = [0.1, 0.2, 0.3, 0.1 + 0.2, -0.1, 0.5, 0.7, 1e-9, 3.0, 0.0]
FRACTIONS = [Fraction(a, b) for a in range(-2, 3) for b in (1, 2, 3)]


def bits(rng: random.Random, rows: int, columns: int, share: float) -> list[list[bool]]:
    return [[rng.random() < share for _ in range(columns)] for _ in range(rows)]


def matrix(rng: random.Random, r: int, n: int, of: list) -> list[list]:
    return [[rng.choice(of) for _ in range(n)] for _ in range(r)]


def anything(rng: random.Random, of: list) -> Case:
    r, n, m = rng.randint(1, 5), rng.randint(1, 4), rng.randint(1, 3)
    return Case(matrix(rng, r, n, of), matrix(rng, r, n, of), bits(rng, m, r, 0.7), bits(rng, m, n, 0.4))


def supported(rng: random.Random, of: list) -> Case:
    """T10 holds, or misses one entry."""
    E, F, visible, forbidden = anything(rng, of)
    for seen, hidden in zip(visible, forbidden, strict=True):
        for s, j in product(range(len(E)), range(len(E[0]))):
            if seen[s] and hidden[j]:
                E[s][j] = F[s][j] = of[1] * 0
    return perturbed(rng, Case(E, F, visible, forbidden), of)


def perturbed(rng: random.Random, case: Case, of: list) -> Case:
    if rng.random() < 0.4:
        M = rng.choice((case.E, case.F))
        M[rng.randrange(len(M))][rng.randrange(len(M[0]))] = rng.choice(of)  # type: ignore[index]
    return case


def grid(rng: random.Random, of: list) -> Case:
    """Product structure: E = a_i + b_j, F depends on i only, the b part lives on the forbidden columns."""
    a, b, n = rng.randint(1, 3), rng.randint(2, 3), rng.randint(2, 4)
    hidden = [j > 0 and rng.random() < 0.5 for j in range(n)]
    zero = of[1] * 0
    A = [[zero if hidden[j] else rng.choice(of) for j in range(n)] for _ in range(a)]
    B = [[rng.choice(of) if hidden[j] else zero for j in range(n)] for _ in range(b)]
    G = [[zero if hidden[j] else rng.choice(of) for j in range(n)] for _ in range(a)]
    E = [[x + y for x, y in zip(A[i], B[k], strict=True)] for i in range(a) for k in range(b)]
    F = [list(G[i]) for i in range(a) for _ in range(b)]
    return perturbed(rng, Case(E, F, [[rng.random() < 0.97 for _ in range(a * b)]], [hidden]), of)


def equal_rows(rng: random.Random, of: list) -> Case:
    """Classes of equal rows of E over which the forbidden columns of F sum to zero."""
    n, E, F = rng.randint(1, 3), [], []
    hidden = [rng.random() < 0.5 for _ in range(n)]
    for _ in range(rng.randint(1, 2)):
        row, shared = [rng.choice(of) for _ in range(n)], [rng.choice(of) for _ in range(n)]
        if rng.random() < 0.7 and E:
            row = [x if not h else E[0][j] for j, (x, h) in enumerate(zip(row, hidden, strict=True))]
        part = [rng.choice(of) for _ in range(n)]
        E += [list(row), list(row)]
        F += [
            [p if h else x for p, h, x in zip(part, hidden, shared, strict=True)],
            [-p if h else x for p, h, x in zip(part, hidden, shared, strict=True)],
        ]
    return perturbed(rng, Case(E, F, [[True] * len(E)], [hidden]), of)


def constant_columns(rng: random.Random, of: list) -> Case:
    """Forbidden columns of E constant over the slots, forbidden columns of F zero: shift invariance makes it safe."""
    E, F, visible, forbidden = anything(rng, of)
    for j in range(len(E[0])):
        if any(row[j] for row in forbidden):
            value = rng.choice(of)
            for s in range(len(E)):
                E[s][j], F[s][j] = value, of[1] * 0
    return perturbed(rng, Case(E, F, visible, forbidden), of)


def equal_sums(rng: random.Random, of: list) -> Case:
    """Rows of E symmetric about a centre, so that many pairs have the same sum."""
    n, k = rng.randint(1, 3), rng.randint(1, 2)
    centre, half = [rng.choice(of) for _ in range(n)], matrix(rng, k, n, of)
    E = [[c + x for c, x in zip(centre, h, strict=True)] for h in half] + [
        [c - x for c, x in zip(centre, h, strict=True)] for h in half
    ]
    F = matrix(rng, 2 * k, n, of)
    hidden = bits(rng, 1, n, 0.5)
    for j in range(n):
        if hidden[0][j]:
            for s in range(2 * k):
                F[s][j] = of[1] * 0
    if rng.random() < 0.5:
        F[k:] = [list(row) for row in F[:k]]
    return perturbed(rng, Case(E, F, bits(rng, 1, 2 * k, 0.9), hidden), of)


PLANTED = (anything, supported, grid, equal_rows, constant_columns, equal_sums)


def cases(numbers: list, count: int, seed: int) -> list[Case]:
    rng = random.Random(seed)
    return [rng.choice(PLANTED)(rng, numbers) for _ in range(count)]


def show(case: Case) -> str:
    return "\n".join(f"{name} = {value!r}" for name, value in case._asdict().items())


# -- tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "count"), [(SMALL, 2500), (FRACTIONS, 1000), (FLOATS, 1500)], ids=["small", "fractions", "floats"]
)
def test_the_three_checkers_agree(numbers: list, count: int) -> None:
    need_rocq()
    questions = cases(numbers, count, seed=count)
    answers = kernel_decide_all(questions)
    for case, (support, exact) in zip(questions, answers, strict=True):
        assert support == literal_support(case), f"T10: Rocq says {support}\n{show(case)}"
        assert exact == literal_exact(case), f"T11: Rocq says {exact}, its text says otherwise\n{show(case)}"
        assert exact == python_exact(case), f"T11: Rocq says {exact}, the Python checker says otherwise\n{show(case)}"
    outcomes = {(a, b): sum(x == (a, b) for x in answers) for a, b in answers}
    assert min(outcomes[x] for x in [(True, True), (False, True), (False, False)]) > count // 50, outcomes


@pytest.mark.parametrize("numbers", [SMALL, FLOATS], ids=["small", "floats"])
def test_the_public_checker_agrees(numbers: list) -> None:
    """`check_projection` on whole cases: safe by T10, by T11 only, where PROVED needs more, or REFUTED."""
    need_rocq()
    questions = cases(numbers, 250, seed=11)
    for case, (support, exact) in zip(questions, kernel_decide_all(questions), strict=True):
        boundary = Boundary.relation(~np.array(case.forbidden))
        verdict = check_projection(
            case.F, case.E, layout="slots-first", visible=np.array(case.visible), boundary=boundary
        )
        found = "leaks" if verdict.status.name == "REFUTED" else "T11" if "T11" in verdict.claims else "T10"
        expected = "T10" if support else "T11" if exact else "leaks"
        assert found == expected, f"Rocq says {expected}: {verdict}\n{show(case)}"
        assert (verdict.status.name == "PROVED") >= support
        assert (verdict.status.name == "REFUTED") == (not exact)


def test_exact_runs_of_a_head_agree() -> None:
    need_rocq()
    rng = random.Random(7)
    questions = cases([Fraction(x) for x in (-1, 0, 1, 2)], 400, seed=5)
    answers = kernel_decide_all(questions)
    for case, (_, exact) in zip(questions, answers, strict=True):
        assert found_leak(case, rng) == (not exact), f"Rocq says {exact}, runs of the head say otherwise\n{show(case)}"


def test_the_article_and_the_grid() -> None:
    need_rocq()
    assert kernel_decide(HALF, HALF, [[True, True]] * 3, PREFIX) == (False, False)
    assert kernel_decide(HALF, HALF, [[False, False], [True, False], [True, True]], PREFIX) == (True, True)
    corners = [[a, b] for a, b in product((0, 1), repeat=2)]
    F = [[a, 0] for a, _ in corners]
    assert kernel_decide(corners, F, [[True] * 4], [[False, True]]) == (False, True)
    diagonal = [[True, False, False, True]]
    assert kernel_decide(corners, F, diagonal, [[False, True]]) == (False, False)


def test_floats_are_taken_exactly() -> None:
    """0.1 + 0.2 is not the float 0.3, so two pair sums of the grid differ and it leaks."""
    need_rocq()
    F = [[0, 0], [1, 0], [0, 0], [1, 0]]
    for corner, safe in ((0.3, True), (0.1 + 0.2, False)):
        case = Case([[0, 0], [0.3, 0], [0, 1], [corner, 1]], F, [[True] * 4], [[False, True]])
        assert kernel_decide(*case) == (False, safe)
        assert python_exact(case) == literal_exact(case) == safe


def test_the_kernel_accepts_a_theorem_about_one_matrix() -> None:
    need_rocq()
    seen = np.array([[False, False], [True, False], [True, True]])
    cancel = ([[1, 2, 3], [1, 2, 3]], [[1, 1, 0], [1, -1, 0]], Boundary.relation([[True, False, True]]))
    for E, F, visible, boundary, outcome in (
        (HALF, HALF, None, None, "leaks"),
        (HALF, HALF, seen, None, "safe by T10"),
        (cancel[0], cancel[1], None, cancel[2], "safe by T11"),
    ):
        evidence = kernel_evidence(E, np.array(F, object), visible, boundary)
        assert evidence.kind == "kernel"
        assert evidence.ok is True, evidence
        assert evidence.detail.startswith(outcome)


def test_the_kernel_rejects_a_false_theorem(tmp_path: Path) -> None:
    """Ask for the certificate of the wrong answer: coqc must refuse it."""
    need_rocq()
    case = Case(HALF, HALF, [[True, True]] * 3, PREFIX)
    for support, exact in ((True, True), (False, True)):
        (tmp_path / "certificate.v").write_text(certificate(case, support, exact), encoding="utf-8")
        rocq = differential.toolchain()
        command = [rocq.coqc, "-q", "-R", differential.built(rocq), "AttnProof", "certificate.v"]
        with pytest.raises(KernelUnavailableError, match=r"^coqc failed on certificate\.v .*; check that coq, "):
            differential.run_program(command, tmp_path)


def test_what_is_not_asked_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    big = np.zeros((17, 20))
    assert kernel_evidence(big, big).detail == (
        "not run: 17 slots, 20 positions and 20 queries exceed 16 slots, 64 positions and 64 queries"
    )
    biases = np.zeros((3, 2))
    assert kernel_evidence(HALF, HALF, biases).ok is None
    monkeypatch.setenv("PATH", "")
    evidence = kernel_evidence(HALF, HALF)
    assert evidence.ok is None
    missing = "the verified checker needs Rocq, which is not here; install coq, libcoq-mathcomp-analysis"
    assert evidence.detail == f"not run: {missing}"
    with pytest.raises(KernelUnavailableError, match=f"^{missing}$"):
        kernel_decide(HALF, HALF, [[True, True]], [[False, True, True]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"F": [[0, 1, 2]]}, r"^F does not fit E of shape \(2, 3\) and 3 queries; pass shape \(2, 3\)$"),
        ({"visible": [[True]] * 3}, r"^visible does not fit E of shape \(2, 3\) and 3 queries; pass shape \(3, 2\)$"),
        ({"forbidden": PREFIX[:1]}, r"^forbidden does not fit E of shape \(2, 3\) and 3 queries; pass shape \(3, 3\)$"),
        ({"E": [[0, 1, 2], [0, 1]]}, r"^E has rows of \[2, 3\] entries; pass a rectangular matrix$"),
        ({"F": [[0, 1, 2], [0, 1, float("nan")]]}, r"^F holds nan, which is not a finite number; pass finite entries$"),
        ({"E": [], "F": [], "visible": [], "forbidden": []}, r"leaves nothing to decide; pass at least one of each$"),
    ],
)
def test_errors_name_the_argument(change: dict, message: str) -> None:
    case = Case(HALF, HALF, [[True, True]] * 3, PREFIX)._replace(**change)
    with pytest.raises(ValueError, match=message):
        kernel_decide_all([case])


def test_whole_numbers_of_any_library_are_exact() -> None:
    """2^62 + 1 is not a float: as an int64 it must not become 2^62."""
    need_rocq()
    E = np.array([[0, 2**62], [0, 2**62 + 1]])
    F = [[1, 0], [2, 0]]
    assert kernel_decide(E, F, [[True, True]], [[False, True]]) == (False, False)
    assert kernel_decide(E.astype(float), F, [[True, True]], [[False, True]]) == (False, True)


def test_a_development_that_does_not_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_rocq()
    broken = tmp_path / "rocq"
    shutil.copytree(differential.SOURCES, broken)
    (broken / "independence.v").write_text("Lemma false : False. Proof. exact I. Qed.\n", encoding="utf-8")
    monkeypatch.setattr(differential, "SOURCES", broken)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CI", raising=False)
    differential.built.cache_clear()
    try:
        with pytest.raises(KernelUnavailableError, match=r"^coqc failed on independence\.v \(.*\); check that coq, "):
            kernel_decide(HALF, HALF, [[True, True]] * 3, PREFIX)
    finally:
        differential.built.cache_clear()
    assert list((tmp_path / "cache" / "attnproof").iterdir()) == []


@pytest.mark.parametrize("named", ["a folder in the cache", "its seal as well"])
def test_a_checker_that_somebody_put_in_the_cache_is_not_run(
    named: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "rocq"
    shutil.copytree(differential.SOURCES, broken)
    (broken / "independence.v").write_text("Lemma false : False. Proof. exact I. Qed.\n", encoding="utf-8")
    monkeypatch.setattr(differential, "SOURCES", broken)
    monkeypatch.setattr(differential, "digest_of", lambda sources, *more: "0" * 64)
    planted = cache / "attnproof" / f"checker-{'0' * 16}"
    planted.mkdir(parents=True)
    (planted / "decide").write_text("#!/bin/sh\necho 1 1\n", encoding="utf-8")
    (planted / "decide").chmod(0o755)
    if named == "its seal as well":
        (planted / "seal").write_text("0" * 64, encoding="utf-8")
    differential.built.cache_clear()
    try:
        with pytest.raises(KernelUnavailableError, match="coqc failed on independence"):
            kernel_decide(HALF, HALF, [[True, True]] * 3, PREFIX)
    finally:
        differential.built.cache_clear()
    assert not planted.exists()


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_rocq()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.delenv("CI", raising=False)
    differential.built.cache_clear()
    with pytest.raises(
        KernelUnavailableError, match=r"file/attnproof cannot be written; set XDG_CACHE_HOME to a folder"
    ):
        kernel_decide(HALF, HALF, [[True, True]] * 3, PREFIX)
    differential.built.cache_clear()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ([], 1, "leaks: the Rocq kernel accepts"),
        (["--visible", "largest"], 0, "safe by T10: the Rocq kernel accepts"),
        (["--tolerance", "2"], 3, "leaks: the Rocq kernel accepts"),
    ],
    ids=["refuted", "proved", "up to a tolerance"],
)
def test_check_with_kernel(options: list[str], code: int, said: str, tmp_path: Path) -> None:
    need_rocq()
    np.save(tmp_path / "F.npy", np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    command = [sys.executable, "-m", "attnproof.cli", "check", str(tmp_path / "F.npy"), "--kernel", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout


def test_nothing_asked_nothing_answered() -> None:
    assert kernel_decide_all([]) == []
