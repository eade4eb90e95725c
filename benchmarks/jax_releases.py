"""The rules for primitives under other releases of JAX, whose equations differ: each beside the one that is installed.

    python -m benchmarks.jax_releases 0.6.2 0.8.3 0.9.2
    python -m benchmarks.jax_releases 0.6.2 0.8.3 --first

Every release is installed into a folder of its own and put before the others; the tests of primitives run with it, or
with --first the first program of each primitive. The exit status is 1 when one of them fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = "tests/causal/model/trace/jaxpr/test_primitives.py"
FIRST = "run_the_primitive or (moves_an_element and 0)"  # the number in the name is that of the program


def started(release: str, folder: Path, first: bool) -> subprocess.Popen[str]:
    """The tests under a release, which is installed first."""
    wanted = [f"jax=={release}", f"jaxlib=={release}"]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), *wanted]
    subprocess.run(pip, check=True)
    around = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    version = [sys.executable, "-c", "import jax; print(jax.__version__)"]
    found = subprocess.run(version, env=around, capture_output=True, text=True, check=True).stdout.strip()
    assert found == release, f"{found} was found in place of {release}"
    which = ["-k", FIRST] if first else []
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS, *which]
    return subprocess.Popen(tests, cwd=ROOT, env=around, text=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("releases", nargs="+")
    options.add_argument("--first", action="store_true")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as away:
        runs = {r: started(r, Path(away) / r, asked.first) for r in asked.releases}
        failed = {r: run.wait() for r, run in runs.items()}
    for release, status in failed.items():
        print(f"jax {release}: {'passed' if not status else 'FAILED'}")
    sys.exit(any(failed.values()))


if __name__ == "__main__":
    main()
