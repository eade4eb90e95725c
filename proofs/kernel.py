"""The gate in front of the kernel-checked proofs: builds `proofs/rocq/` and passes a theorem only when Rocq does.

Exit codes of coqc and coqchk are no gate: a planted `Admitted` and an unguarded fixpoint both exit 0. So for every
statement pinned in `Claims.v` the gate compiles `Definition pin := (theorem : statement)` and reads what
`Print Assumptions pin` prints (`assumptions.py`). Three axioms are let through, and only in the files about the real
exponential; no source may hold a command that a proof does not need, or a word that switches a check off
(`rocq_source.py`); and no file may be called like a library's module. `docs/trust.md` says what is left to believe.

    python -m attnproof.proofs.kernel [--coqchk]

prints one row per theorem, ends with `N passed, N failed`, and exits 0 when all passed, 1 when one failed, 3 when Rocq
is not installed.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..causal.verdict import Evidence
from . import assumptions, rocq_build, rocq_cache, rocq_source
from .assumptions import PINNED_FILE, Answer, first_error
from .claim import claim_by_id
from .coqchk import read_coqchk, recheck
from .development import CLASSICAL_AXIOMS, REAL_FILES, Development
from .gate_report import GateReport, TheoremRow
from .rocq_build import NOT_RUN, Compiled, Progress, Toolchain
from .rocq_source import Finding, Pin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "CLASSICAL_AXIOMS",
    "REAL_FILES",
    "Development",
    "GateReport",
    "TheoremRow",
    "kernel_evidence",
    "main",
    "read_coqchk",
    "run_gate",
]
NO_THEOREM = "kernel: no theorem is stated for {} (docs/trust.md says why)"
# Their texts decide the outcome, so they are part of a verdict's digest.
OWN = ("assumptions", "coqchk", "development", "gate_report", "kernel", "rocq_build", "rocq_cache", "rocq_source")


def run_gate(
    *, coqchk: bool = False, progress: Progress | None = None, development: Development | None = None
) -> GateReport:
    """Build the development and judge every pinned theorem; answers are kept under a hash of the sources, except in CI.

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
    home = _home(toolchain, chosen)
    if rocq_cache.kept(home):
        report = GateReport.from_json((home / "report.json").read_text(encoding="utf-8"))
        if report.coqchk is not None or not coqchk:
            return report
        shutil.rmtree(home, ignore_errors=True)
    keep = not rocq_cache.in_ci() and rocq_cache.make_room(home)
    with rocq_cache.build_folder(chosen.sources, home if keep else None) as folder:
        report = _judge(toolchain, folder, chosen, progress)
        if coqchk:
            if progress is not None:
                progress(0, 1, "coqchk")
            accepted, detail = recheck(folder, _checked_files(chosen))
            report = replace(report, coqchk=accepted, coqchk_detail=detail)
        report = replace(report, rocq=toolchain.version, seconds=time.perf_counter() - start)
        (folder / "report.json").write_text(report.to_json(), encoding="utf-8")
    return report


def _home(toolchain: Toolchain, chosen: Development) -> Path:
    """The folder of the cache for this development, this Rocq with these libraries, and this gate."""
    own = [(Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8") for name in OWN]
    digest = rocq_cache.digest_of(chosen.sources, toolchain.digest, *sorted(chosen.real_files), *own)
    return rocq_cache.cache_folder() / f"kernel-{digest[:24]}"


def _checked_files(chosen: Development) -> list[str]:
    """The files that were compiled: those that are listed, with the pinned statements in the place of Claims.v."""
    listed, _ = rocq_source.project_files(chosen.sources.get("_CoqProject", ""))
    return [PINNED_FILE if name == "Claims.v" else name for name in listed]


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
    if report is None and not claim_by_id(claim_id).theorems:
        return Evidence("kernel", None, NO_THEOREM.format(claim_id))
    found = report or _packaged_report()
    if found.not_run is not None:
        return Evidence("kernel", None, f"kernel: {found.not_run}")
    rows = found.of_claim(claim_id)
    if not rows:
        return Evidence("kernel", None, NO_THEOREM.format(claim_id))
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
    listed, findings = rocq_source.project_files(chosen.sources.get("_CoqProject", ""))
    findings += _source_findings(chosen.sources, listed, toolchain.libraries)
    pins, wrong = rocq_source.pins(chosen.sources.get("Claims.v", ""))
    if not pins:
        wrong.append(Finding("Claims.v", 1, "no statement is pinned"))
    files = [name for name in listed if name in chosen.sources and name != "Claims.v"]
    built = rocq_build.compile_all(toolchain, folder, files, progress)
    findings += [
        Finding(name, 1, f"does not compile: {first_error(result.output)}")
        for name, result in built.items()
        if not result.ok
    ]
    answers, hidden = assumptions.ask(toolchain, folder, chosen, pins, files)
    findings += [
        Finding(name, 1, _named_like(modules))
        for name, modules in hidden.items()
        if modules and name.removesuffix(".v") not in toolchain.libraries
    ]
    rows = [_row(pin, answers.get(pin.theorem), built.get(pin.file), chosen) for pin in pins]
    return GateReport(tuple(rows), tuple(str(finding) for finding in (*findings, *wrong)))


def _source_findings(texts: Mapping[str, str], listed: Sequence[str], libraries: frozenset[str]) -> list[Finding]:
    """What the sources must not hold, files that are missing or that nothing checks, and names that libraries own."""
    found = []
    for name, text in texts.items():
        if name.endswith(".v"):
            found += rocq_source.scan(name, text)
            if name not in listed:
                found.append(Finding("_CoqProject", 1, f"{name} is not listed, so nothing checks it"))
            if name.removesuffix(".v") in libraries:
                found.append(Finding(name, 1, _named_like([name.removesuffix(".v")])))
    missing = [name for name in listed if name not in texts]
    return found + [Finding("_CoqProject", 1, f"{name} is listed but missing") for name in missing]


def _named_like(modules: Sequence[str]) -> str:
    return f"is named like a library's module ({', '.join(modules)}), whose place it would take; rename the file"


def _row(pin: Pin, answer: Answer | None, built: Compiled | None, chosen: Development) -> TheoremRow:
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


# -- the command ------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the gate and print it; see the module's first paragraph for the exit codes."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m attnproof.proofs.kernel", description=about)
    parser.add_argument("--coqchk", action="store_true", help="re-check all modules with coqchk as well (minutes)")
    chosen = parser.parse_args(arguments)
    shown = sys.stderr.isatty()

    def progress(done: int, total: int, what: str) -> None:
        sys.stderr.write(f"\r\033[K{done}/{total} {what}")
        sys.stderr.flush()

    report = run_gate(coqchk=chosen.coqchk, progress=progress if shown else None)
    if shown:
        sys.stderr.write("\r\033[K")
    sys.stdout.write(f"{report}\n")
    return 3 if report.not_run is not None else 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
