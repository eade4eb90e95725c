"""docs/pipeline-recipes.md: each snippet runs, where its library is there, and prints the status that it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from needs import need

pytestmark = pytest.mark.claim("T17")
PAGE = Path(__file__).parents[1] / "docs" / "pipeline-recipes.md"
if not PAGE.is_file():
    pytest.skip("docs is not part of this installation", allow_module_level=True)
FIRST, *BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split()[1])
def test_a_snippet_says_what_it_prints(block, capsys):
    for name in ("pandas", *re.findall(r"^from (\w+)", block, re.MULTILINE)):
        need(name)
    names: dict[str, object] = {}
    for code in (FIRST, block):
        exec(compile(code, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.split() == re.findall(r"# (REFUTED|UNDECIDED)$", block, re.MULTILINE)
