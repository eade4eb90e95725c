"""Build the site into a folder: `python docs/site/make.py FOLDER`.

Sphinx reads a copy, laid out as the checkout is, so that the links of a page lead where they lead on GitHub; nothing is
written into the checkout. Every warning is an error: a link or a heading that does not exist fails the build.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import reference

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
FOLDERS = ("docs", "notebooks")


def lay_out(source: Path) -> None:
    """Copy what the site is made of; links to files that are no pages become plain names."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__"))
    for name in PAGES:
        shutil.copy(ROOT / name, source / name)
    (source / "index.md").write_text(with_every_page((ROOT / "docs/site/index.md").read_text("utf-8")), "utf-8")
    shutil.copy(ROOT / "docs/site/conf.py", source / "conf.py")
    reference.write(source / "docs/reference")
    for page in source.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(without_sources(text, page.parent), encoding="utf-8")


def with_every_page(index: str) -> str:
    """The list of pages, and before the changelog whichever page of docs it does not name."""
    listed = set(index.split())
    rest = [name for page in sorted(ROOT.glob("docs/*.md")) if (name := f"docs/{page.stem}") not in listed]
    return index.replace("CHANGELOG\n", "\n".join([*rest, "CHANGELOG"]) + "\n")


def without_sources(text: str, folder: Path) -> str:
    """A link to a file of the checkout that the site does not hold keeps its words and loses its target."""

    def kept(link: re.Match[str]) -> str:
        target = link[2].partition("#")[0]
        held = (folder / target).is_file() or (folder / f"{target}.md").is_file()
        return link[0] if not target or held or "://" in target else link[1]

    return re.sub(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)", kept, text)


def main() -> int:
    """Build; the status is Sphinx's."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python docs/site/make.py FOLDER")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        lay_out(source)
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", str(source), sys.argv[1]]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
