"""Where an error goes that leaves an instruction: Python's table of exceptions, read as the interpreter does."""

from __future__ import annotations

import dis
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import NamedTuple


class Handler(NamedTuple):
    """A handler of the code: its instructions, to the end of the code, and the instructions before what it guards."""

    body: Sequence[dis.Instruction]
    before: Sequence[dis.Instruction]


@lru_cache(maxsize=4096)
def handlers(code: CodeType, at: int) -> tuple[Handler, ...]:
    """The handlers that an error at the offset `at` may reach, innermost first.

    The table names the innermost only. An error that leaves a handler goes where the table sends the handler itself.

    >>> def careful(x):
    ...     try:
    ...         with x:
    ...             return x + 1
    ...     except IndexError:
    ...         return 0
    >>> add = next(i.offset for i in dis.get_instructions(careful) if i.opname == "BINARY_OP")
    >>> [h.body[1].opname for h in handlers(careful.__code__, add)]
    ['WITH_EXCEPT_START', 'POP_EXCEPT', 'LOAD_GLOBAL', 'POP_EXCEPT']
    """
    listed = list(dis.get_instructions(code))
    place = {i.offset: k for k, i in enumerate(listed)}
    table = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    found: dict[int, Handler] = {}
    while True:
        target = next((e.target for e in table if e.start <= at < e.end), None)
        if target is None or target in found:
            return tuple(found.values())
        start = min(e.start for e in table if e.target == target)
        found[target] = Handler(listed[place[target] :], listed[: place[start]])
        at = target
