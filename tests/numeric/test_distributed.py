"""The layer on two real worker processes: results equal NumPy's, survive a killed worker, and fit in little memory."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from attnproof import Boundary, check_projection
from attnproof.numeric.attention import compressed_attention
from attnproof.numeric.blocks import from_npy
from attnproof.numeric.optimum import projection_error, truncation_error
from attnproof.numeric.rank import mixing_rank
from attnproof.numeric.retention import leverage, span_retention
from attnproof.numeric.spectrum import mixing_row_sums, mixing_spectrum, most_negative_coefficient
from needs import need

MIB = 1 << 20
LIMIT = 350 * MIB  # of each worker; the file below is larger than both together


@pytest.fixture(scope="module")
def client():
    distributed = need("distributed")
    dask = need("dask")
    calm = {"distributed.comm.timeouts.connect": "30s", "distributed.worker.memory.terminate": 0.95}
    with (
        dask.config.set(calm),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, memory_limit=LIMIT, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def head():
    rng = np.random.default_rng(3)
    n, r, d = 4000, 6, 5
    return {
        "Q": rng.standard_normal((200, d)),
        "K": rng.standard_normal((n, d)),
        "V": rng.standard_normal((n, 2)),
        "E": rng.standard_normal((r, n)) / n,
        "F": rng.standard_normal((r, n)),
        "B": rng.standard_normal((n, r)),
    }


def along_positions(name, values):
    da = need("dask.array")
    chunks = {"E": (-1, 1000), "F": (-1, 1000), "Q": (80, -1)}.get(name, (1000, -1))
    return da.from_array(values, chunks=chunks)


CALLS = {
    "spectrum": lambda h: mixing_spectrum(h["B"], h["F"]),
    "rank": lambda h: mixing_rank(h["B"], h["F"]),
    "row sums": lambda h: mixing_row_sums(h["B"], h["F"]),
    "most negative": lambda h: most_negative_coefficient(h["B"], h["F"]),
    "leverage": lambda h: leverage(h["F"]),
    "span": lambda h: span_retention(h["F"], 1990, 2010),
    "compressed": lambda h: compressed_attention(h["Q"], h["K"], h["V"], h["E"], h["F"]),
    "achieved": lambda h: projection_error(h["Q"], h["K"], h["E"], h["F"], iterations=2),
    "optimum": lambda h: truncation_error(h["Q"], h["K"], 4, iterations=1),
}


def test_two_processes_agree_with_numpy(client, head):
    """All nine functions in one compute, floats within their own error or the rounding of a sum."""
    lazy = {name: along_positions(name, values) for name, values in head.items()}
    found = need("dask").compute(*(CALLS[name](lazy) for name in CALLS))  # the client is the default scheduler
    assert len({w["pid"] for w in _workers(client)}) == 2
    for name, result in zip(CALLS, found, strict=True):
        expected = CALLS[name](head)
        parts = zip(result, expected, strict=True) if isinstance(expected, tuple) else [(result, expected)]
        for k, (a, b) in enumerate(parts):
            if hasattr(expected, "error") and k == len(expected) - 1:
                assert np.all(a < 1e-9), name  # the estimates differ, as the factorisations do
            elif np.asarray(b).dtype.kind in "iu":
                assert np.array_equal(a, b), name
            else:
                np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-11, err_msg=name)
    spectrum, exact = found[0], CALLS["spectrum"](head)
    assert (np.abs(spectrum.values - exact.values) <= spectrum.error + exact.error).all()


def _workers(client):
    return client.run(lambda: {"pid": os.getpid()}).values()


@pytest.mark.claim("T10")
def test_verdicts_are_the_same(client, rng):
    da = need("dask.array")
    F = np.zeros((4, 400))
    for s in range(4):
        F[s, 100 * s : 100 * (s + 1)] = rng.standard_normal(100)
    visible = np.arange(400)[:, None] >= 100 * np.arange(1, 5) - 1
    leaking = F.copy()
    leaking[0, 250] = 1e-9
    for values, mask in ((F, visible), (F, "largest"), (leaking, visible)):
        here = check_projection(values, visible=mask, boundary=Boundary.prefix(400))
        there = check_projection(da.from_array(values, chunks=(2, 170)), visible=mask, boundary=Boundary.prefix(400))
        assert (there.status, tuple(there.starved)) == (here.status, tuple(here.starved))
        if here.witness is not None:
            assert (there.witness.query, there.witness.position) == (here.witness.query, here.witness.position)
            assert there.witness.replay()
    assert here.status.name == "REFUTED"


@pytest.mark.claim("T8")
def test_an_entry_that_is_not_finite_is_named_from_a_worker(client):
    da = need("dask.array")
    F = np.ones((2, 4000))
    F[1, 3123] = np.nan
    with pytest.raises(ValueError, match=r"F\[1, 3123\] = nan in F of shape \(2, 4000\) is not finite"):
        client.compute(leverage(da.from_array(F, chunks=(-1, 1000))).values, sync=True)


@pytest.mark.claim("T3", "T8", "T10")
def test_a_file_larger_than_the_memory_of_the_workers(client, tmp_path):
    """16 slots over 6,000,000 positions, 768 MB on paper (the file is sparse), two workers of 350 MiB each."""
    r, n, path = 16, 6_000_000, str(tmp_path / "F.npy")
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(r, n))
    where = (np.arange(r) + 1) * (n // r) - 1
    file[np.arange(r), where] = np.arange(1, r + 1)
    file.flush()
    del file
    assert os.path.getsize(path) > 2 * LIMIT
    F = from_npy(path, n // 30)
    verdict = check_projection(F, visible="largest")
    assert verdict.status.name == "PROVED"
    assert verdict.details.get("release", where)[0] == where[0]
    assert len(verdict.starved) == where[0]
    found = leverage(F)
    total, rank, first = need("dask").compute(found.values.sum(), found.rank, found.values[where[0]])
    assert total == pytest.approx(r, rel=1e-12)
    assert (rank, first) == (r, pytest.approx(1, rel=1e-12))
    peaks = client.run(_peak)
    assert max(peaks.values()) < LIMIT


@pytest.mark.claim("T8")
def test_a_worker_killed_in_mid_run(client, head):
    """SIGKILL while tasks run: the scheduler gives them to the other worker, and the result is what NumPy finds."""
    lazy = along_positions("F", head["F"])
    started = threading.Event()
    slow = lazy.map_blocks(_slowly, dtype=float)
    future = client.compute(leverage(slow).values)
    victim = client.submit(os.getpid, pure=False, priority=10).result()

    def kill():
        started.wait(10)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    time.sleep(0.3)
    assert future.status == "pending"
    started.set()
    killer.join()
    np.testing.assert_allclose(future.result(timeout=60), leverage(head["F"]).values, rtol=1e-10)
    assert victim not in {w["pid"] for w in _workers(client)}


def _peak():
    """Peak resident bytes; on Linux from /proc, since ru_maxrss starts at that of the process forked from."""
    import pathlib
    import resource
    import sys

    status = pathlib.Path("/proc/self/status")
    if status.exists():
        line = next(s for s in status.read_text().splitlines() if s.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _slowly(block):
    time.sleep(0.4)
    return block


def test_files_that_hold_no_array_of_that_shape(tmp_path):
    need("dask")
    scalar, empty, several = tmp_path / "scalar.npy", tmp_path / "empty.npy", tmp_path / "several.npz"
    np.save(scalar, np.float64(3))
    np.save(empty, np.zeros((0, 3)))
    np.savez(several, np.ones(2))
    with pytest.raises(ValueError, match=r"axis = -1 is not one of the 0 axes of .*scalar.npy"):
        from_npy(str(scalar), 4)
    with pytest.raises(ValueError, match=r"axis = 2 is not one of the 2 axes of .*empty.npy', of shape \(0, 3\)"):
        from_npy(str(empty), 4, axis=2)
    with pytest.raises(ValueError, match=r"several.npz' holds several arrays; save one of them as .npy"):
        from_npy(str(several), 4)
    assert from_npy(str(empty), 4, axis=0).compute().shape == (0, 3)
