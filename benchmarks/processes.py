"""A judgement in a process of its own, so that one that dies, or takes too long, costs no other."""

from __future__ import annotations

import multiprocessing
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def isolated(judge: Callable[..., Row], *arguments: Any, timeout: float, verdict: str) -> Row:
    """What `judge` finds in a forked process, and after how many seconds.

    The field `verdict` is TIMEOUT where it took longer, and ERROR where it raised or died; `error` says more.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_judged, args=(theirs, verdict, judge, arguments))
    started = time.perf_counter()
    process.start()
    theirs.close()
    try:
        found = ours.recv() if ours.poll(timeout) else {verdict: "TIMEOUT", "error": f"over {timeout:.0f} s"}
    except EOFError:
        found = {verdict: "ERROR", "error": "the process died"}
    if process.is_alive():
        process.kill()
    process.join()
    return {"seconds": time.perf_counter() - started, **found}


def _judged(pipe: Any, verdict: str, judge: Callable[..., Row], arguments: tuple[Any, ...]) -> None:
    warnings.filterwarnings("ignore")
    try:
        pipe.send(judge(*arguments))
    except Exception as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]
        pipe.send({verdict: "ERROR", "error": said, "trace": traceback.format_exc()[-2000:]})
