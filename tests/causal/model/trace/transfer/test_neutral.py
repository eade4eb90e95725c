"""Transfer functions know no tensor library, so that any front end can bind them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from attnproof.causal.model.trace import transfer

FILES = sorted(Path(transfer.__file__).parent.glob("*.py"))
FOREIGN = re.compile(r"torch|\baten\b|\.cpu\(", re.IGNORECASE)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_no_file_says_a_word_of_pytorch(file):
    assert FOREIGN.findall(file.read_text(encoding="utf-8")) == []


def test_every_file_imports_where_pytorch_is_missing():
    code = (
        "import sys, importlib, pkgutil; sys.modules['torch'] = None\n"
        "from attnproof.causal.model.trace import transfer\n"
        "for m in pkgutil.iter_modules(transfer.__path__): importlib.import_module(f'{transfer.__name__}.{m.name}')\n"
        "print(sum(n.startswith(transfer.__name__ + '.') for n in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, str(len(FILES) - 1)), run.stderr
