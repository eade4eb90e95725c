"""Fixtures for other projects' tests: `assert_prefix_safe`, `assert_causal`, `assert_no_lookahead`.

pytest loads this module in every run of an environment where attnproof is installed; it therefore imports nothing of
the kit, nor NumPy, until a fixture is called. PYTEST_DONT_REWRITE: there is no assert statement to rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

REMEDIES = {
    "projection": "show the slot only to later queries (visible='largest'), or clear what it reads ahead "
    "(nearest_safe_projection)",
    "model": "mask the positions after the query in the module that the witness names, before its softmax",
}
RECORDED = pytest.StashKey[list[dict[str, Any]]]()
RESULTS = pytest.StashKey[list[dict[str, Any]]]()
UNWRITTEN = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--attnproof-report=FILE.json`."""
    parser.getgroup("attnproof").addoption(
        "--attnproof-report",
        metavar="FILE.json",
        help="write every verdict that attnproof's fixtures reached to FILE.json",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; refuse a report that could not be written before any test runs."""
    config.addinivalue_line(
        "markers",
        "attnproof(accept=None, suppress=None): what attnproof's fixtures accept in this test, for instance "
        "accept=('PROVED', 'PROVED_IF'), or suppress='why a leak is acceptable here'",
    )
    config.stash[RESULTS] = []
    report = config.getoption("--attnproof-report")
    if report is None:
        return
    from pathlib import Path

    if not report.endswith(".json"):
        raise pytest.UsageError(f"--attnproof-report={report} is no .json file; name one")
    if not Path(report).absolute().parent.is_dir():
        raise pytest.UsageError(f"--attnproof-report={report} lies in a folder that does not exist; create it first")
    if Path(report).is_dir():
        raise pytest.UsageError(f"--attnproof-report={report} is a folder; name a file in it")


@pytest.fixture
def assert_prefix_safe(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`assert_prefix_safe(F, E=None, …)`: attnproof's assertion about a projection, recorded for the report."""
    return _recording(request, "assert_prefix_safe")


@pytest.fixture
def assert_causal(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`assert_causal(model, *inputs, …)`: attnproof's assertion about a model, recorded for the report."""
    return _recording(request, "assert_causal")


@pytest.fixture
def assert_no_lookahead(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`assert_no_lookahead(function, data, …)`: attnproof's assertion about a pipeline, recorded for the report."""
    return _recording(request, "assert_no_lookahead")


def _recording(request: pytest.FixtureRequest, name: str) -> Callable[..., Any]:
    """The assertion with the marker's options, which tells the pair, the values and the remedy when it fails."""
    marker = request.node.get_closest_marker("attnproof")
    chosen: dict[str, Any] = dict(marker.kwargs) if marker is not None else {}
    if marker is not None and (marker.args or set(chosen) - {"accept", "suppress"}):
        given = ", ".join([*map(repr, marker.args), *(f"{name}=" for name in chosen)])
        raise pytest.UsageError(f"@pytest.mark.attnproof({given}) is not known; use accept=, suppress=")

    def check(*arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        import attnproof

        try:
            verdict = getattr(attnproof, name)(*arguments, **{**chosen, **options})
        except attnproof.NotProvedError as error:
            _record(request.node, error.verdict, accepted=False)
            raise type(error)(error.verdict, with_remedy(error)) from None
        _record(request.node, verdict, accepted=True)
        return verdict

    return check


def with_remedy(error: Any) -> str:
    """What a failing test prints: the pair (t ← j) with both values, the remedy, and what the assertion itself says."""
    verdict, lines = error.verdict, []
    witness = verdict.witness
    if witness is not None:
        before, after = witness.outputs
        if verdict.subject == "pipeline":  # whose headline names column, row, reach and carrier
            lines.append(verdict.headline())
        lines.append(f"({witness.query} ← {witness.position}): {_short(before)} becomes {_short(after)}")
        lines.append(f"remedy: {_remedy(verdict.subject)}")
    else:
        lines.append("neither proved nor refuted; accept= names the statuses that pass, suppress= a reason")
    return "\n".join([*lines, "", str(error)])


def _remedy(subject: str) -> str:
    if subject == "pipeline":  # whose verdicts say the same themselves
        from attnproof.causal.pipeline.reasons import REMEDY

        return REMEDY
    return REMEDIES.get(subject, "see the witness")


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 100 else f"{text[:99]}…"


def _record(item: pytest.Item, verdict: Any, accepted: bool) -> None:
    item.stash.setdefault(RECORDED, []).append({"accepted": accepted, "verdict": verdict.to_dict()})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Hand the verdicts to the report, which pytest-xdist carries from its workers."""
    report = yield
    if report.when == "call" and RECORDED in item.stash:
        report.attnproof = item.stash[RECORDED]
    return report


class _Collector:
    """Gathers the verdicts of all tests, in whichever process they ran."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for found in getattr(report, "attnproof", ()):
            self.config.stash[RESULTS].append({"test": report.nodeid, "outcome": report.outcome, **found})


def pytest_sessionstart(session: pytest.Session) -> None:
    """Collect where results arrive: not in pytest-xdist's workers."""
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Collector(session.config), "attnproof-collector")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, whole or not at all."""
    report = session.config.getoption("--attnproof-report")
    if report is None or hasattr(session.config, "workerinput"):
        return
    import json
    import os
    from pathlib import Path

    from .. import __version__

    results = session.config.stash[RESULTS]
    text = json.dumps(
        {"schema_version": 1, "attnproof": __version__, "verdicts": results}, indent=1, ensure_ascii=False
    )
    part = Path(f"{report}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, report)
    except OSError as error:
        part.unlink(missing_ok=True)
        session.config.stash[UNWRITTEN] = error.strerror or str(error)
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line per status, and every suppression with its reason."""
    results = config.stash[RESULTS]
    if not results and UNWRITTEN not in config.stash:
        return
    counts: dict[str, int] = {}
    for found in results:
        status = found["verdict"]["status"]
        counts[status] = counts.get(status, 0) + 1
    terminalreporter.section("attnproof")
    terminalreporter.line(", ".join(f"{count} {status}" for status, count in counts.items()))
    for found in results:
        reason = found["verdict"]["suppressed"]
        if reason is not None:
            terminalreporter.line(f"accepted {found['verdict']['status']} in {found['test']}: {reason}")
    report = config.getoption("--attnproof-report")
    if report is not None and UNWRITTEN in config.stash:
        why = config.stash[UNWRITTEN]
        terminalreporter.line(f"--attnproof-report={report} cannot be written ({why}); name another file", red=True)
    elif report is not None:
        terminalreporter.line(f"verdicts written to {report}")
