"""The verified checker of proofs/rocq/checker.v, run on small matrices: as an oracle, and as evidence for one matrix.

`kernel_decide` runs `support_safe` and `exact_safe`, extracted to OCaml, on batches; tests compare the Python checker
with it. `kernel_evidence` goes further: for one matrix it writes a theorem ("this head is prefix-safe", or "is not",
for every real field with an exponential) whose proof evaluates the checker, and has the Rocq kernel accept it.

Both need Rocq with MathComp; the extracted program also needs ocamlfind, which Debian's `coq` brings. The compiled
files go to a user cache folder named after a hash of their sources, never into the tree.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import lcm
from numbers import Rational
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..causal.boundary import Boundary
from ..causal.verdict import Evidence
from .rocq_build import LIBRARY, WARNINGS, Toolchain, clean_environment, compile_all, find_toolchain
from .rocq_cache import build_folder, cache_folder, digest_of, in_ci, kept, make_room

SOURCES = Path(__file__).parent / "rocq"
THEORIES = ("independence", "causal_head", "exact", "support", "rationals", "checker")
PACKAGES = "coq, libcoq-mathcomp-analysis"
MAX_SLOTS, MAX_POSITIONS, MAX_QUERIES = 16, 64, 64

Matrix = Sequence[Sequence[Fraction | int | float]]
Bits = Sequence[Sequence[bool]]


class KernelUnavailableError(RuntimeError):
    """Rocq or its libraries are missing, or a build of the verified checker failed; the message says what to do."""


class Case(NamedTuple):
    """One question: projections (r, n), and per query the visible slots (m, r) and the forbidden positions (m, n)."""

    E: Matrix
    F: Matrix
    visible: Bits
    forbidden: Bits


# -- building ---------------------------------------------------------------------------------------------------------


def run_program(command: Sequence[str | Path], cwd: Path, stdin: str | None = None, limit: float = 600) -> str:
    """What a program prints in a clean environment. Raises KernelUnavailableError when it fails or takes too long."""
    try:
        done = subprocess.run(
            [str(c) for c in command],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
            env=clean_environment(),
        )
    except subprocess.TimeoutExpired:
        raise KernelUnavailableError(
            f"{Path(command[0]).name} ran for more than {limit:g} s; ask about smaller matrices"
        ) from None
    if done.returncode != 0:
        raise _failure(Path(command[0]).name, str(command[-1]), done.stderr or done.stdout)
    return done.stdout


def _failure(program: str, file: str, output: str) -> KernelUnavailableError:
    said = output.strip().splitlines() or ["no output"]
    return KernelUnavailableError(f"{program} failed on {file} ({said[-1]}); check that {PACKAGES} are installed")


def toolchain() -> Toolchain:
    """The Rocq compiler, or KernelUnavailableError."""
    found = find_toolchain()
    if found is None or shutil.which("ocamlfind") is None:
        raise KernelUnavailableError(f"the verified checker needs Rocq, which is not here; install {PACKAGES}")
    return found


@cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes when this process ends."""
    return tempfile.TemporaryDirectory(prefix="attnproof-")


def _checker_cache() -> Path:
    """The cache; in CI, where nothing is kept, a folder of this process."""
    return Path(_own_folder().name) if in_ci() else cache_folder()


@cache
def built(rocq: Toolchain) -> Path:
    """The folder with the compiled theories and the extracted program `decide`, built on first use (about 15 s).

    Raises KernelUnavailableError when something does not compile.
    """
    files = [*(f"{t}.v" for t in THEORIES), "extraction.v", "decide.ml"]
    sources = {name: (SOURCES / name).read_text(encoding="utf-8") for name in files}
    home = _checker_cache() / f"checker-{digest_of(sources, rocq.digest)[:16]}"
    if kept(home):
        return home
    if not make_room(home):
        raise KernelUnavailableError(f"{home.parent} cannot be written; set XDG_CACHE_HOME to a folder that can")
    with build_folder(sources, home) as folder:
        for file, compiled in compile_all(rocq, folder, [f for f in files if f.endswith(".v")]).items():
            if not compiled.ok:
                raise _failure("coqc", file, compiled.output)
        command = ["ocamlfind", "ocamlopt", "-w", "-a", "-o", "decide", "extracted.mli", "extracted.ml", "decide.ml"]
        run_program(command, folder)
    return home


# -- deciding ---------------------------------------------------------------------------------------------------------


def kernel_decide_all(cases: Iterable[Case]) -> list[tuple[bool, bool]]:
    """(support_safe, exact_safe) of every case, by the extracted checker.

    Entries are taken exactly (a float is a dyadic rational). Raises ValueError for shapes that do not fit and
    KernelUnavailableError without Rocq.

    >>> half = [[Fraction(1, 2), Fraction(1, 2)], [0, 1]]
    >>> kernel_decide_all([Case(half, half, [[True, False]], [[False, True]])])  # doctest: +SKIP
    [(False, False)]
    """
    words = [_words(case) for case in cases]
    if not words:
        return []
    home = built(toolchain())
    answers = run_program([home / "decide"], home, stdin="\n".join(words)).split()
    return [(a == "1", b == "1") for a, b in zip(answers[::2], answers[1::2], strict=True)]


def kernel_decide(E: Matrix, F: Matrix, visible: Bits, forbidden: Bits) -> tuple[bool, bool]:
    """(support_safe, exact_safe) of one case: see `kernel_decide_all`."""
    return kernel_decide_all([Case(E, F, visible, forbidden)])[0]


def _exact(M: Matrix, name: str) -> tuple[list[list[int]], int]:
    """Numerators over one common denominator, which keeps the verified arithmetic short."""
    rows = [[_fraction(x, name) for x in row] for row in M]
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"{name} has rows of {sorted({len(row) for row in rows})} entries; pass a rectangular matrix")
    whole = lcm(*(x.denominator for row in rows for x in row))
    return [[int(x * whole) for x in row] for row in rows], whole


def _fraction(x: Any, name: str) -> Fraction:
    if isinstance(x, Rational):  # an int of any library, a Fraction
        return Fraction(int(x.numerator), int(x.denominator))
    try:
        return Fraction(float(x))
    except (ValueError, OverflowError):
        raise ValueError(f"{name} holds {x!r}, which is not a finite number; pass finite entries") from None


def _shape(case: Case) -> tuple[int, int, int]:
    r, n, m = len(case.E), len(case.E[0]) if len(case.E) else 0, len(case.visible)
    fits = {
        "F": (len(case.F) == r and all(len(row) == n for row in case.F), f"({r}, {n})"),
        "visible": (all(len(row) == r for row in case.visible), f"({m}, {r})"),
        "forbidden": (len(case.forbidden) == m and all(len(row) == n for row in case.forbidden), f"({m}, {n})"),
    }
    for name, (ok, wanted) in fits.items():
        if not ok:
            raise ValueError(f"{name} does not fit E of shape ({r}, {n}) and {m} queries; pass shape {wanted}")
    if not r or not n or not m:
        raise ValueError(f"E of shape ({r}, {n}) with {m} queries leaves nothing to decide; pass at least one of each")
    return r, n, m


def _words(case: Case) -> str:
    r, n, m = _shape(case)
    words = [f"{r} {n} {m}"]
    for name, matrix in (("E", case.E), ("F", case.F)):
        rows, whole = _exact(matrix, name)
        words.extend(f"{x:b}/{whole:b}" for row in rows for x in row)
    words.extend("".join("01"[not hidden] for hidden in row) for row in case.forbidden)
    words.extend("".join("01"[bool(seen)] for seen in row) for row in case.visible)
    return " ".join(words)


# -- one matrix, as a theorem -----------------------------------------------------------------------------------------


def kernel_evidence(E: Any, F: Any, visible: Any = None, boundary: Boundary | None = None) -> Evidence:
    """Have the Rocq kernel accept a theorem about this very matrix: prefix-safe, or not.

    `E`, `F` (r, n), slots first, taken exactly; `visible` a boolean (queries, r) array or None for every slot;
    `boundary` None for prefix. The detail begins with "safe by T10", "safe by T11" or "leaks"; `ok` is true when the
    kernel accepted the theorem without assumptions, and None, with the reason, when it was not asked: Rocq is missing,
    or the matrix exceeds 16 slots, 64 positions or 64 queries. Raises ValueError for shapes that do not fit.
    """
    boundary = Boundary.prefix(len(E[0])) if boundary is None else boundary
    seen = np.ones((boundary.queries, len(E)), bool) if visible is None else np.asarray(visible)
    if seen.dtype != bool:
        return Evidence("kernel", None, "not run: the verified checker takes a boolean mask, this one has biases")
    case = Case(_rows(E), _rows(F), seen.tolist(), (~boundary.to_array()).tolist())
    r, n, m = _shape(case)
    if r > MAX_SLOTS or n > MAX_POSITIONS or m > MAX_QUERIES:
        cap = f"{MAX_SLOTS} slots, {MAX_POSITIONS} positions and {MAX_QUERIES} queries"
        return Evidence("kernel", None, f"not run: {r} slots, {n} positions and {m} queries exceed {cap}")
    start = time.perf_counter()
    try:
        support, exact = kernel_decide(*case)
        said = _certify(case, support, exact)
    except KernelUnavailableError as error:
        return Evidence("kernel", None, f"not run: {error}")
    outcome = "safe by T10" if support else "safe by T11" if exact else "leaks"
    accepted = said.strip() == "Closed under the global context"
    verb = "accepts" if accepted else "does not accept"
    detail = f"{outcome}: the Rocq kernel {verb} the theorem for these {r} × {n} matrices"
    return Evidence("kernel", accepted, detail, time.perf_counter() - start)


def _rows(M: Any) -> list[list[Any]]:
    return [list(row) for row in (M.tolist() if hasattr(M, "tolist") else M)]


def _certify(case: Case, support: bool, exact: bool) -> str:
    """What coqc prints about the assumptions of the theorem for this case."""
    rocq = toolchain()
    home = built(rocq)
    with tempfile.TemporaryDirectory(prefix="attnproof-") as work:
        (Path(work) / "certificate.v").write_text(certificate(case, support, exact), encoding="utf-8")
        return run_program([rocq.coqc, "-q", *WARNINGS, "-R", home, LIBRARY, "certificate.v"], Path(work), limit=300)


def certificate(case: Case, support: bool, exact: bool) -> str:
    """A Rocq file whose theorem `verdict` says that the head of this case is prefix-safe, or that it is not.

    It speaks of every real field R, every exponential e, every scale ≠ 0 and all widths; the checker is evaluated by
    the kernel's virtual machine.
    """
    r, n, m = _shape(case)
    head = "prefix_safe e scale d dv (to_matrix R r n E) (to_matrix R r n F)"
    safe = f"{head} (to_relation allowed : 'I_m -> pred 'I_n) (to_relation visible)"
    names = "r n m E F allowed visible"
    criterion = "@exact_safeP _ e scale r n d dv m E F allowed visible exp_e scale0 d0 dv0"
    if support:
        decided, answer = "support_safe", "true"
        proof = "exact: (@support_safe_sound _ e scale r n d dv m E F allowed visible decided)."
    elif exact:
        decided, answer = "exact_safe", "true"
        proof = f"exact: ({criterion}).1 decided."
    else:
        decided, answer = "exact_safe", "false"
        proof = f"by move/({criterion}).2; rewrite decided."
    return f"""From Coq Require Import ZArith QArith List.
Definition r := {r}%nat.
Definition n := {n}%nat.
Definition m := {m}%nat.
Definition E : list (list Q) := {_rocq_matrix(case.E, "E")}.
Definition F : list (list Q) := {_rocq_matrix(case.F, "F")}.
Definition allowed : list (list bool) := {_rocq_bits([[not hidden for hidden in row] for row in case.forbidden])}.
Definition visible : list (list bool) := {_rocq_bits(case.visible)}.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head checker.
Local Open Scope ring_scope.
Lemma decided : {decided} {names} = {answer}.
Proof. vm_cast_no_check (erefl {answer}). Qed.
Theorem verdict (R : realFieldType) (e : R -> R) (scale : R) (d dv : nat) :
  exponential e -> scale != 0 -> (0 < d)%N -> (0 < dv)%N ->
  {"" if exact else "~ "}{safe}.
Proof. move=> exp_e scale0 d0 dv0; {proof} Qed.
Print Assumptions verdict.
"""


def _rocq_matrix(M: Matrix, name: str) -> str:
    """Whole numbers over one denominator; hexadecimal, which Rocq reads faster."""
    rows, whole = _exact(M, name)
    numerators = _rocq_list([_rocq_list([hex(x) for x in row]) for row in rows])
    return f"List.map (List.map (fun z => Qmake z {hex(whole)})) {numerators}%Z"


def _rocq_bits(bits: Bits) -> str:
    return _rocq_list([_rocq_list([str(bool(b)).lower() for b in row]) for row in bits])


def _rocq_list(items: Sequence[str]) -> str:
    return f"({' :: '.join([*items, 'nil'])})"
