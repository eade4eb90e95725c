"""The pages about functions, from what each package exports: a name that is added is on its page."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

FACES = {
    "projections": ("Projections", "attnproof.causal.projection"),
    "models": ("Models", "attnproof.causal.model"),
    "pipelines": ("Pipelines", "attnproof.causal.pipeline"),
    "designs": ("Designs", "attnproof.causal.design"),
    "verdicts": ("Verdicts and boundaries", "attnproof"),
    "arrays": ("Arrays", "attnproof.numeric"),
    "claims": ("Claims", "attnproof.proofs"),
    "errors": ("Errors", "attnproof.errors"),
    "exact-rank": ("Exact rank", "attnproof.symbolic.rank"),
    "exact-attention": ("Exact attention", "attnproof.symbolic.attention"),
    "cost": ("Cost", "attnproof.symbolic.cost"),
    "roofline": ("Predicted times", "attnproof.numeric.roofline"),
}
DIRECTIVES = (
    (inspect.isclass, "autoclass", ("members", "show-inheritance")),
    (callable, "autofunction", ()),
)


def exported(module: ModuleType) -> list[str]:
    """What a package exports, or what a file defines: public and with a docstring."""
    named = getattr(module, "__all__", None) or getattr(module, "_HOME", None)
    if named:
        return list(named)
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return [name for name in own if not name.startswith("_") and vars(module)[name].__doc__]


def page(title: str, name: str, shown: set[int]) -> str:
    """One page: what the package says of itself, then each name that no page has shown yet."""
    module = import_module(name)
    lines = [f".. automodule:: {name}", "   :no-members:", ""]
    for attribute in exported(module):
        value = getattr(module, attribute)
        kind = next(((word, options) for test, word, options in DIRECTIVES if test(value)), None)
        if kind is None or id(value) in shown:
            continue
        shown.add(id(value))
        lines += [f".. {kind[0]}:: {name}.{attribute}", *(f"   :{option}:" for option in kind[1]), ""]
    body = "\n".join(lines)
    return f"# {title}\n\n```{{eval-rst}}\n{body}\n```\n"


def write(folder: Path) -> None:
    """The pages and their list."""
    folder.mkdir(parents=True)
    shown: set[int] = set()
    for stem, (title, name) in FACES.items():
        (folder / f"{stem}.md").write_text(page(title, name, shown), encoding="utf-8")
    listed = "\n".join(FACES)
    words = "What other projects import, from the docstrings; the tests run every example in them."
    (folder / "index.md").write_text(f"# Functions\n\n{words}\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n")
