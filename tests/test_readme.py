"""What the README shows is what happens: its examples run, its two commands are two, its links lead somewhere."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


@pytest.mark.claim("T10", "T11", "T13")
def test_examples():
    failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert tried >= 10
    assert failed == 0


def test_two_commands():
    blocks = re.findall(r"^```bash\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 2
    assert "attnproof verify" in blocks[0]
    assert "pytest" in blocks[1]


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]), ids=lambda p: p.name)
def test_links(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert not missing, f"{page.name} links to {missing}"


def test_a_release_has_a_readme_without_relative_links():
    absolute = runpy.run_path(str(ROOT / ".ci" / "absolute_readme.py"))["absolute"]
    text = absolute(README.read_text(encoding="utf-8"), "https://host/owner/attnproof")
    assert not re.findall(r"\]\((?!https://)[^)]*\)", text)
    assert "](https://host/owner/attnproof/raw/main/docs/example.png)" in text
    assert "](https://host/owner/attnproof/blob/main/docs/theory.md)" in text
