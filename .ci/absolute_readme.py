"""Make the README's links absolute, as PyPI needs them: `python .ci/absolute_readme.py https://HOST/OWNER/REPOSITORY`.

Rewrites README.md in place, in the checkout that a release is built from, and nowhere else.
"""

import re
import sys
from pathlib import Path

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")


def absolute(text: str, repository: str, branch: str = "main") -> str:
    """Links lead to the page on the host, pictures to the file itself."""

    def led(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}[{link[2]}]({repository.rstrip('/')}/{kind}/{branch}/{link[3]})"

    return LINK.sub(led, text)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].startswith("https://"):
        sys.exit("usage: python .ci/absolute_readme.py https://HOST/OWNER/REPOSITORY")
    readme = Path(__file__).parents[1] / "README.md"
    readme.write_text(absolute(readme.read_text(encoding="utf-8"), sys.argv[1]), encoding="utf-8")
