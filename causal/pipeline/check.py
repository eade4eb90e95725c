"""Look-ahead in a feature pipeline: does a row already written change when the rows after it come, or change? (T17)

Two replays per cut, because each misses what the other finds. *Truncation* runs the function on the rows up to the cut
and finds leaks of the length as well; *perturbation* replaces the later rows and keeps the length, and finds what only
other values trigger. A function that is a black box is never proved: without a finding the verdict is UNDECIDED and
says what was run.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ..verdict import NotProvedError, Status, Verdict, accept_or_raise
from .cuts import all_cuts
from .decide import decide
from .inputs import read_tables
from .outputs import SET_OF_COLUMNS
from .runner import Runner
from .search import Search
from .state import State
from .words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..boundary import Boundary


def check_pipeline(
    function: Any,
    data: Any,
    *,
    time: Any = None,
    group: Any = None,
    labels: Sequence[str] = (),
    boundary: Boundary | str | None = None,
    startup: int = 0,
    signals: Sequence[str] = (),
    cuts: int | str | Iterable[int] | None = None,
    exact: bool = False,
    workers: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Whether `function(data)` writes rows that later input rewrites; one verdict per output column.

    `function`: a callable, or an object with `fit_transform` (fitted anew on every prefix) or `transform`. `data`: rows
    by columns; a pandas or Polars frame or series, or a NumPy array; or several of these, as a tuple for
    `function(*tables)` or a mapping for `function(**tables)`, the first being the one whose rows the function returns.
    Several tables are cut at one time, and later rows are replaced in all of them and in each alone. `time`: a column,
    index level or one value per row by which rows are ordered and aligned (None: a pandas datetime index, otherwise the
    order of rows): the time at which a row became known, such as its day of publication. Equal times are one instant.
    For several tables: a column that they share, or a mapping of tables to such, with None for a table that was known
    from the start. `group`: a column or one value per row; rows must be in order of time within each group, and without
    `time` each group counts its own rows. `labels`: output columns that may look ahead. `boundary`: None or prefix (a
    row may use itself), strict, lagged (in instants), or from_times. `startup`: how many rows come first, of each
    group, that are not compared, such as those in which windows are not full. `signals`: output columns that decide
    something, such as entries and exits; the verdict counts the decisions that change, as it does for truth values and
    text. `cuts`: how many, "all", or which ranks of time;
    None: all of a short series, otherwise so that the function is called at most 250,000 / rows times, at least 60.
    `exact`: also try every earlier cut, so that the first leaking row named is the first there is. `workers`:
    processes. `seed`: of the values that replace others. `progress(done, of)` is called after every replay.

    REFUTED with a `PipelineWitness` when a column that is no label looks ahead and does so again when the function is
    run twice more on both inputs, otherwise UNDECIDED: a column that differs between runs on equal input (a clock,
    random numbers, memory of earlier calls) is never refuted, and trials that find nothing prove nothing. Raises
    TypeError or ValueError, one sentence each, for data that cannot be cut and results that cannot be aligned.

    >>> import numpy as np
    >>> def centred(x):
    ...     return np.convolve(x, np.ones(3) / 3, mode="same")
    >>> verdict = check_pipeline(centred, np.arange(10.0))
    >>> verdict.status.name, verdict.columns[0].reach
    ('REFUTED', 1)
    >>> check_pipeline(np.cumsum, np.arange(10.0)).status.name
    'UNDECIDED'
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArgumentError("seed", "is no seed", "pass a whole number of at least 0", seed)
    tables = read_tables(function, data, time, group, boundary, startup)
    if not len(all_cuts(tables.clocks[0])):
        raise ArgumentError("data", "has one instant only", "a look-ahead check needs at least 2")
    with State(function) as state:
        runner = Runner(function, tables, seed, state)
        allowed, decisive = _declared(runner, "labels", labels), _declared(runner, "signals", signals)
        return decide(runner, Search(cuts, exact, workers, progress), allowed, decisive)


def assert_no_lookahead(
    function: Any,
    data: Any,
    *,
    accept: Sequence[str] = ("PROVED", "UNDECIDED"),
    suppress: str | None = None,
    **options: Any,
) -> Verdict:
    """`check_pipeline` as an assertion: the verdict, or an AssertionError that shows it.

    Raises PrefixLeakError when refuted, and NotProvedError for another status that is not in `accept`, or where a
    column that is no label is not deterministic, so that no leak in it can be told. `options` are those of
    `check_pipeline`; `suppress` accepts the verdict all the same for a stated reason. A warning says what the function
    has from outside, such as fitted objects, which no replay touches.

    >>> import numpy as np
    >>> assert_no_lookahead(np.cumsum, np.arange(8.0)).status.name
    'UNDECIDED'
    """
    verdict = accept_or_raise(check_pipeline(function, data, **options), accept, suppress)
    for note in verdict.details["outside"] if not verdict.suppressed else ():
        warnings.warn(note, stacklevel=2)
    if not verdict.details["untold"] or verdict.suppressed or verdict.status is Status.REFUTED:
        return verdict
    if suppress is not None:
        return verdict.suppress(suppress)
    columns = listed(verdict.details["untold"])
    remedy = "fix the seed, declare labels, or pass suppress= with a reason"
    raise NotProvedError(verdict, f"no leak can be told in {columns}, where equal runs differ; {remedy}\n{verdict}")


class NoSuchColumn(ArgumentError):
    """Declared columns that the function does not return; `columns` are all of them."""

    def __init__(self, role: str, columns: Sequence[str], remedy: str) -> None:
        super().__init__(role, f"names {columns[0]!r}, which is no output column", remedy)
        self.columns = tuple(columns)


def _declared(runner: Runner, role: str, columns: Sequence[str]) -> frozenset[str]:
    """The columns declared as labels or signals, each of which must be an output column."""
    declared = [columns] if isinstance(columns, str) else list(map(str, columns))
    named = [name for name in runner.base.names if name != SET_OF_COLUMNS]
    unknown = [column for column in declared if column not in named]
    if unknown:
        raise NoSuchColumn(role, unknown, f"they are {', '.join(named)}")
    return frozenset(declared)
