"""How Sphinx makes the site; `docs/site/make.py` lays out what it reads."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from attnproof.version import __version__

project = "attnproof"
author = "attnproof maintainers"
copyright = "attnproof maintainers, MIT licence"
release = version = __version__

extensions = [
    "myst_nb",  # pages of Markdown, and notebooks with the outputs that they were committed with
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
]
nb_execution_mode = "off"  # CI runs the notebooks in a step of its own
nb_merge_streams = True
nb_render_markdown_format = "myst"  # derivations show themselves as Markdown with mathematics
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure", "mystnb.unknown_mime_type"]

default_role = "literal"  # docstrings quote code with one backtick
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "attnproof"
MATHJAX = find_spec("sphinx-mathjax-offline").submodule_search_locations[0] + "/static/mathjax/tex-svg.js"
html_static_path = ["docs/site/static", MATHJAX]  # MathJax lies beside the pages, as one file: no network
mathjax_path = "tex-svg.js"
html_css_files = ["site.css"]
html_favicon = "docs/site/static/icon.svg"
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
html_show_sphinx = False
exclude_patterns = ["docs/site/**", "**/.ipynb_checkpoints"]


def separate(_app: object, _kind: str, _name: str, _value: object, _options: object, lines: list[str]) -> None:
    """`Rule`s is code and an s in a docstring; reStructuredText wants to be told."""
    lines[:] = [re.sub(r"(?<![`\w])(`[^`\n]+`)(?=\w)", r"\1\\ ", line) for line in lines]


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", separate)
