"""Sizes as keys: what a model looks up itself may be another thing at another length, what a cache keeps is not."""

from __future__ import annotations

import re
from dis import opname
from itertools import islice
from linecache import getline
from typing import TYPE_CHECKING

from ...ownership import is_own_file

if TYPE_CHECKING:
    from types import FrameType

GET = re.compile(r"\.(get|setdefault|pop)\(")


def looks_up(frame: FrameType) -> bool:
    """Whether the model itself is about to look something up, by `in`, `.get(…)` or `[…]`, rather than a cache.

    A symbol is equal to no number, so that nothing would be found at any length.
    """
    code = frame.f_code
    if not is_own_file(code.co_filename):
        return False
    instruction = frame.f_lasti
    if opname[code.co_code[instruction]] in ("CONTAINS_OP", "BINARY_SUBSCR"):
        return True
    first, last, start, end = next(islice(code.co_positions(), instruction // 2, None))
    if first is None or first != last:
        return False
    text = getline(code.co_filename, first).encode()[start:end].decode(errors="replace")
    return GET.search(text) is not None
