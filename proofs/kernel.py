"""The gate in front of the kernel-checked proofs: builds `proofs/rocq/` and passes a theorem only when Rocq does.

Exit codes of coqc and coqchk are no gate: a planted `Admitted` and an unguarded fixpoint both exit 0. So for every
statement pinned in `Claims.v` the gate compiles `Definition pin := (theorem : statement)` and reads what
`Print Assumptions pin` prints. Three axioms are let through, and only in the files about the real exponential; and no
source may hold a word that switches a check off. `docs/trust.md` says what is left to believe.

    python -m attnproof.proofs.kernel [--coqchk]

prints one row per theorem, ends with `N passed, N failed`, and exits 0 when all passed, 1 when one failed, 3 when Rocq
is not installed.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path

from ..causal.verdict import Evidence
from . import rocq_build, rocq_source
from .claim import claim_by_id
from .rocq_build import NOT_RUN, Compiled, Progress, Toolchain
from .rocq_source import Pin

# What MathComp-Analysis assumes of the real numbers; Debian's version 0.6 names them so.
CLASSICAL_AXIOMS = frozenset(
    f"mathcomp.classical.boolp.{name}"
    for name in (
        "functional_extensionality_dep",
        "propositional_extensionality",
        "constructive_indefinite_description",
    )
)
# The files that speak of the real exponential. Every other theorem must be closed under the global context.
REAL_FILES = frozenset(
    {
        "exact_reals.v",
        "example.v",
        "example_decimals.v",
        "exponential_sums.v",
        "jensen.v",
        "mixing_softmax.v",
        "softmax_det.v",
    }
)
PINNED_FILE = "Pinned.v"  # Claims.v with a definition in place of each check; compiled instead of it
# Sources that are no part of the development: they prove nothing.
NOT_BUILT = frozenset({"extraction.v"})
COQCHK_LIMIT = 3600.0  # seconds; it re-checks all of MathComp-Analysis as well (220 s on an idle core)


@dataclass(frozen=True)
class TheoremRow:
    """One pinned theorem: its claim, name (`file.name`), pinned statement, axioms used, and whether it passes and why.

    `axioms` are those that the theorem uses, alone or together with the others about the reals. `seconds` is the time
    that Rocq took for the file that proves it.
    """

    claim: str
    theorem: str
    statement: str
    axioms: tuple[str, ...]
    seconds: float
    ok: bool
    detail: str

    @property
    def name(self) -> str:
        """The theorem's name without its file."""
        return self.theorem.rpartition(".")[2]


@dataclass(frozen=True)
class GateReport:
    """What the gate found: a row per theorem, and findings about the sources that no single theorem answers for.

    Attributes: `rows`; `findings`, each a failure; `rocq`, the compiler's own words; `seconds`; `cached`, true when the
    same sources were judged before; `coqchk`, true or false when the second checker ran and None when it did not;
    `not_run`, a reason, when Rocq is missing.
    """

    rows: tuple[TheoremRow, ...] = ()
    findings: tuple[str, ...] = ()
    rocq: str = ""
    seconds: float = 0.0
    cached: bool = False
    coqchk: bool | None = None
    coqchk_detail: str = ""
    not_run: str | None = None

    @property
    def passed(self) -> int:
        """How many theorems passed."""
        return sum(row.ok for row in self.rows)

    @property
    def failed(self) -> int:
        """How many theorems failed, and findings, and coqchk where it refused."""
        return len(self.rows) - self.passed + len(self.findings) + (self.coqchk is False)

    @property
    def ok(self) -> bool:
        """True only when the gate ran, let every theorem through, and found nothing."""
        return self.not_run is None and self.passed > 0 and self.failed == 0

    def of_claim(self, claim_id: str) -> tuple[TheoremRow, ...]:
        """The rows of one claim."""
        return tuple(row for row in self.rows if row.claim == claim_id)

    def __str__(self) -> str:
        if self.not_run is not None:
            return f"kernel: {self.not_run}"
        wide = max((len(row.theorem) for row in self.rows), default=0)
        lines = [
            f"{'pass' if row.ok else 'FAIL'}  {row.claim:<4} {row.theorem:<{wide}}  {row.seconds:6.1f} s  {row.detail}"
            for row in self.rows
        ]
        lines += [f"FAIL  {finding}" for finding in self.findings]
        if self.coqchk is not None:
            lines.append(f"{'pass' if self.coqchk else 'FAIL'}  coqchk: {self.coqchk_detail}")
        return "\n".join([*lines, f"{self.passed} passed, {self.failed} failed"])


@dataclass(frozen=True)
class Development:
    """Sources to judge: texts by name (`_CoqProject` and `*.v`), and the files that may use the classical axioms."""

    sources: Mapping[str, str]
    real_files: frozenset[str] = field(default=REAL_FILES)

    def allowed(self, pin: Pin) -> frozenset[str]:
        """The axioms that this theorem may use, by full name."""
        return CLASSICAL_AXIOMS if pin.file in self.real_files else frozenset()

    @classmethod
    def packaged(cls) -> Development:
        """The development that ships with attnproof."""
        folder = resources.files(__package__) / "rocq"
        names = sorted(e.name for e in folder.iterdir() if e.name.endswith(".v") and e.name not in NOT_BUILT)
        return cls({name: (folder / name).read_text(encoding="utf-8") for name in ["_CoqProject", *names]})


def run_gate(
    *, coqchk: bool = False, progress: Progress | None = None, development: Development | None = None
) -> GateReport:
    """Build the development and judge every pinned theorem; answers are cached by a hash of the sources.

    `coqchk=True` has the independent checker go over all modules as well (minutes, since it re-checks MathComp too).
    `progress(done, total, what)` is called as files finish. Without Rocq the report says so in `not_run`.

    >>> report = run_gate()                                          # doctest: +SKIP
    >>> report.passed > 50, report.failed                            # doctest: +SKIP
    (True, 0)
    """
    start = time.perf_counter()
    toolchain = rocq_build.find_toolchain()
    if toolchain is None:
        return GateReport(not_run=NOT_RUN)
    chosen = development or Development.packaged()
    own = [Path(m.__file__ or "").read_text(encoding="utf-8") for m in (rocq_build, rocq_source, sys.modules[__name__])]
    digest = rocq_build.digest_of(chosen.sources, toolchain.version, *sorted(chosen.real_files), *own)
    home = rocq_build.cache_folder() / f"kernel-{digest[:24]}"
    cached = _cached(home, coqchk)
    if cached is not None:
        return cached
    shutil.rmtree(home, ignore_errors=True)
    with rocq_build.build_folder(chosen.sources, home if rocq_build.make_room(home) else None) as folder:
        report = _judge(toolchain, folder, chosen, progress)
        if coqchk:
            if progress is not None:
                progress(0, 1, "coqchk")
            accepted, detail = _coqchk(folder, chosen)
            report = _with(report, coqchk=accepted, coqchk_detail=detail)
        report = _with(report, rocq=toolchain.version, seconds=time.perf_counter() - start)
        (folder / "report.json").write_text(json.dumps(asdict(report)), encoding="utf-8")
    return report


def _with(report: GateReport, **changes: object) -> GateReport:
    return GateReport(**{**report.__dict__, **changes})  # type: ignore[arg-type]


def _cached(home: Path, coqchk: bool) -> GateReport | None:
    try:
        data = json.loads((home / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    rows = tuple(TheoremRow(**{**row, "axioms": tuple(row["axioms"])}) for row in data.pop("rows"))
    report = GateReport(**{**data, "rows": rows, "findings": tuple(data["findings"]), "cached": True})
    return None if coqchk and report.coqchk is None else report


@functools.cache
def _packaged_report() -> GateReport:
    return run_gate()


def kernel_evidence(claim_id: str, report: GateReport | None = None) -> Evidence:
    """What the kernel says of one claim, as evidence: true only when the whole gate is clean.

    `report` defaults to that of the packaged development, built once; then the theorems that the claim's module names
    must all be among those pinned. A claim without a pinned theorem has no kernel evidence either way (`ok` is None),
    and neither has one where Rocq is missing.

    >>> kernel_evidence("T17", GateReport(not_run=NOT_RUN)).detail
    'kernel: not run (install coq, libcoq-mathcomp-analysis)'
    """
    found = report or _packaged_report()
    if found.not_run is not None:
        return Evidence("kernel", None, f"kernel: {found.not_run}")
    rows = found.of_claim(claim_id)
    if not rows:
        return Evidence("kernel", None, f"kernel: no theorem is stated for {claim_id} (docs/trust.md says why)")
    seconds = sum({row.theorem.partition(".")[0]: row.seconds for row in rows}.values())
    failing = [row for row in rows if not row.ok]
    unpinned = [] if report else sorted(set(claim_by_id(claim_id).theorems) - {row.name for row in rows})
    if unpinned:
        return Evidence("kernel", False, f"Claims.v pins no theorem {', '.join(unpinned)} under {claim_id}", seconds)
    if failing:
        return Evidence("kernel", False, f"{failing[0].theorem}: {failing[0].detail}", seconds)
    if not found.ok:
        return Evidence("kernel", False, f"the gate found: {(*found.findings, found.coqchk_detail)[0]}", seconds)
    axioms = {axiom for row in rows for axiom in row.axioms}
    used = f"{len(axioms)} classical axioms" if axioms else "no axioms"
    return Evidence("kernel", True, f"{len(rows)} theorems, {used}: {', '.join(row.name for row in rows)}", seconds)


# -- judging ----------------------------------------------------------------------------------------------------------


def _judge(toolchain: Toolchain, folder: Path, chosen: Development, progress: Progress | None) -> GateReport:
    claims = chosen.sources.get("Claims.v", "")
    listed, findings = rocq_source.project_files(chosen.sources.get("_CoqProject", ""))
    for name, text in chosen.sources.items():
        if name.endswith(".v"):
            findings += rocq_source.scan(name, text)
            if name not in listed:
                findings.append(rocq_source.Finding("_CoqProject", 1, f"{name} is not listed, so nothing checks it"))
    missing = [name for name in listed if name not in chosen.sources]
    findings += [rocq_source.Finding("_CoqProject", 1, f"{name} is listed but missing") for name in missing]
    pins, wrong = rocq_source.pins(claims)
    if not pins:
        wrong.append(rocq_source.Finding("Claims.v", 1, "no statement is pinned"))
    files = [name for name in listed if name in chosen.sources and name != "Claims.v"]
    built = rocq_build.compile_all(toolchain, folder, files, progress)
    findings += [
        rocq_source.Finding(name, 1, f"does not compile: {_error(result.output)}")
        for name, result in built.items()
        if not result.ok
    ]
    answers = _ask(toolchain, folder, chosen, pins)
    rows = [_row(pin, answers.get(pin.theorem), built.get(pin.file), chosen) for pin in pins]
    return GateReport(tuple(rows), tuple(str(finding) for finding in (*findings, *wrong)))


def _error(output: str) -> str:
    """The first error in what Rocq printed, in one line."""
    found = re.search(r"^Error:?\s*(.*?)(?:\n\s*\n|\Z)", output, re.MULTILINE | re.DOTALL)
    return " ".join((found[1] if found else output).split())[:300] or "no reason was printed"


@dataclass(frozen=True)
class _Answer:
    """What Rocq said of one pin: the axioms by full name, or the error."""

    axioms: tuple[str, ...] = ()
    error: str | None = None


def _ask(toolchain: Toolchain, folder: Path, chosen: Development, pins: Sequence[Pin]) -> dict[str, _Answer]:
    """Compile Claims.v with each `Check (name : statement)` turned into a definition, and print what these assume.

    A pin that Rocq refuses is noted and left out. The rest is asked about in two groups, since `Print Assumptions`
    takes seconds over the reals; a group that assumes more than it may is asked about one by one.
    """
    claims = chosen.sources.get("Claims.v", "")
    answers: dict[str, _Answer] = {}
    left = list(pins)
    groups = [group for real in (True, False) if (group := [p for p in pins if (p.file in chosen.real_files) is real])]
    while groups:
        text = _instrumented(claims, pins, left, groups)
        (folder / PINNED_FILE).write_text(text, encoding="utf-8")
        result = rocq_build.compile_file(toolchain, folder, PINNED_FILE)
        if not result.ok:
            refused = _refused(result.output, left)
            if refused is None:
                failed = _Answer(error=f"Claims.v cannot be checked: {_error(result.output)}")
                return answers | {pin.theorem: failed for pin in left}
            answers[refused.theorem] = _Answer(error=f"does not prove the pinned statement: {_error(result.output)}")
            left.remove(refused)
            groups = [rest for group in groups if (rest := [pin for pin in group if pin is not refused])]
            continue
        again = []
        for group, answer in zip(groups, _assumptions(result.output, len(groups)), strict=True):
            if len(group) > 1 and (answer.error or not chosen.allowed(group[0]).issuperset(answer.axioms)):
                again += [[pin] for pin in group]
            else:
                answers |= {pin.theorem: answer for pin in group}
        groups = again
    return answers


def _instrumented(claims: str, pins: Sequence[Pin], left: Sequence[Pin], groups: Sequence[Sequence[Pin]]) -> str:
    """Claims.v with definitions in place of the checks that are left, on the same lines, and without the others.

    At the end it prints the assumptions of each group, and where the short names of the classical axioms lead, since a
    module of the development could be called like MathComp's.
    """
    pieces, at = [], 0
    for number, pin in enumerate(pins):
        sentence = claims[pin.start : pin.end]
        body = re.sub(r"\ACheck\b", f"Definition pin_{number} :=", sentence)
        pieces += [claims[at : pin.start], body if pin in left else "\n" * sentence.count("\n")]
        at = pin.end
    lines = ["".join(pieces) + claims[at:]]
    for number, group in enumerate(groups):
        together = functools.reduce(lambda rest, pin: f"(pair (@pin_{pins.index(pin)}) {rest})", group, "tt")
        lines += [f"Definition group_{number} := {together}."]
        lines += [_mark(str(number)), f"Print Assumptions group_{number}.", _mark("end")]
    lines += [f"{_mark(name)}\nLocate Term {name}." for name in sorted(map(_short, CLASSICAL_AXIOMS))]
    return "\n".join([*lines, ""])


def _mark(what: str) -> str:
    return f'Goal True. idtac "@@ {what}". Abort.'


def _short(name: str) -> str:
    """The name that Rocq prints when no other module is called the same."""
    return ".".join(name.split(".")[-2:])


def _refused(output: str, asked: Sequence[Pin]) -> Pin | None:
    """The pin at the line of the first error, if the error lies in one."""
    where = re.search(r"line (\d+), characters [\d-]+:\s*\nError", output)
    line = int(where[1]) if where else 0
    return next((pin for pin in asked if pin.line <= line <= pin.last_line), None)


def _assumptions(output: str, groups: int) -> list[_Answer]:
    """Read the answers of `Print Assumptions`, axioms by full name; anything unforeseen is an error, never a pass."""
    said = dict(re.findall(r"^@@ (\d+)\n(.*?)^@@ end$", output, re.MULTILINE | re.DOTALL))
    full = dict(re.findall(r"^@@ ([\w.]+)\nConstant (\S+)$", output, re.MULTILINE))
    return [_read_assumptions(said.get(str(number), "").strip(), full) for number in range(groups)]


def _read_assumptions(answer: str, full: Mapping[str, str]) -> _Answer:
    if answer == "Closed under the global context":
        return _Answer()
    lines = [line for line in answer.splitlines()[1:] if line.strip() and not line[0].isspace()]
    names = [re.fullmatch(r"([\w.']+)(?:\s*:.*)?", line) for line in lines]
    if not answer.startswith("Axioms:\n") or not lines or not all(names):
        return _Answer(error=f"Print Assumptions said {' '.join(answer.split())[:200]!r}")
    return _Answer(axioms=tuple(sorted(full.get(m[1], m[1]) for m in names if m)))


def _row(pin: Pin, answer: _Answer | None, built: Compiled | None, chosen: Development) -> TheoremRow:
    axioms = answer.axioms if answer else ()
    beyond = [axiom for axiom in axioms if axiom not in chosen.allowed(pin)]
    if built is None or not built.ok:
        detail = f"{pin.file} does not compile" if built else f"there is no file {pin.file}"
    elif answer is None or answer.error is not None:
        detail = answer.error if answer and answer.error else "Rocq gave no answer"
    elif beyond:
        detail = f"assumes {', '.join(beyond)}"
    else:
        detail = f"{len(axioms)} classical axioms" if axioms else "closed under the global context"
    good = built is not None and built.ok and answer is not None and answer.error is None and not beyond
    return TheoremRow(pin.claim, pin.theorem, pin.statement, axioms, built.seconds if built else 0.0, good, detail)


# -- the independent checker ------------------------------------------------------------------------------------------


def _coqchk(folder: Path, chosen: Development) -> tuple[bool, str]:
    """Have coqchk re-check all modules in one call; accepted only when its summary names nothing of ours."""
    program = shutil.which("coqchk")
    if program is None:
        return False, "coqchk is not on the PATH; install coq"
    listed, _ = rocq_source.project_files(chosen.sources.get("_CoqProject", ""))
    files = [PINNED_FILE if name == "Claims.v" else name for name in listed]
    modules = [f"{rocq_build.LIBRARY}.{name.removesuffix('.v')}" for name in files]
    try:
        done = subprocess.run(
            [program, "-silent", "-o", "-R", ".", rocq_build.LIBRARY, *modules],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=COQCHK_LIMIT,
            env=rocq_build.clean_environment(),
        )
    except subprocess.TimeoutExpired:
        return False, f"did not finish within {COQCHK_LIMIT:g} s"
    return read_coqchk(done.stdout + done.stderr, done.returncode)


def read_coqchk(output: str, returncode: int) -> tuple[bool, str]:
    """What coqchk's summary says: accepted, and one line of reasons.

    Its context holds the axioms of everything that is loaded, so those of Rocq's own library are expected there; none
    may come from the development, and nothing may rest on a check that was switched off.

    >>> read_coqchk("Fatal Error: file x.vo is damaged", 1)
    (False, 'Fatal Error: file x.vo is damaged')
    """
    sections = dict(re.findall(r"^\* ([^:\n]+):(.*?)(?=^\* |\Z)", output, re.MULTILINE | re.DOTALL))
    if returncode != 0 or "CONTEXT SUMMARY" not in output or "Axioms" not in sections:
        return False, " ".join(output.split())[-300:] or "it printed nothing"
    axioms = [] if sections["Axioms"].strip() == "<none>" else sections["Axioms"].split()
    strange = [a for a in axioms if not (a in CLASSICAL_AXIOMS or a.startswith("Coq."))]
    unsafe = [
        f"{title}: {' '.join(body.split())}"
        for title, body in sections.items()
        if title not in {"Axioms", "Theory"} and body.strip() != "<none>"
    ]
    if strange or unsafe:
        return False, "; ".join([*(f"axiom {a}" for a in strange), *unsafe])[:300]
    return True, f"accepts all modules; {len(CLASSICAL_AXIOMS.intersection(axioms))} classical axioms, none of ours"


# -- the command ------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the gate and print it; see the module's first paragraph for the exit codes."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m attnproof.proofs.kernel", description=about)
    parser.add_argument("--coqchk", action="store_true", help="re-check all modules with coqchk as well (minutes)")
    chosen = parser.parse_args(arguments)
    shown = sys.stderr.isatty()

    def progress(done: int, total: int, what: str) -> None:
        print(f"\r\033[K{done}/{total} {what}", end="", file=sys.stderr, flush=True)

    report = run_gate(coqchk=chosen.coqchk, progress=progress if shown else None)
    if shown:
        print("\r\033[K", end="", file=sys.stderr)
    print(report)
    return 3 if report.not_run is not None else 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
