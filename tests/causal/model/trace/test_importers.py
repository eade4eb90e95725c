"""Which modules are told to be the user's own, when others are loaded meanwhile."""

from __future__ import annotations

import sys
from types import ModuleType

from needs import need

torch = need("torch")
from attnproof.causal.model.trace.importers import importers


def loaded(name, file):
    module = ModuleType(name)
    module.__file__ = file
    return module


def test_what_is_loaded_later_is_found_and_what_takes_its_place(monkeypatch):
    model = torch.nn.Linear(2, 2)
    before = importers(model, [model])
    assert importers(model, [model]) == before
    mine, other = (loaded("mine_for_a_test", "/home/me/mine.py") for _ in range(2))
    monkeypatch.setitem(sys.modules, "mine_for_a_test", mine)
    assert any(m is mine for m in importers(model, [model]))
    monkeypatch.setitem(sys.modules, "mine_for_a_test", other)
    found = importers(model, [model])
    assert any(m is other for m in found)
    assert not any(m is mine for m in found)
    monkeypatch.setitem(sys.modules, "mine_for_a_test", loaded("mine_for_a_test", torch.__file__))
    assert importers(model, [model]) == before


def test_a_library_is_one_where_the_model_is_its_own(monkeypatch):
    library = loaded("library_for_a_test", torch.__file__)
    monkeypatch.setitem(sys.modules, "library_for_a_test", library)
    model = type("Model", (torch.nn.Module,), {"__module__": "library_for_a_test"})()
    assert any(m is library for m in importers(model, [model]))
    assert not any(m is library for m in importers(torch.nn.Linear(2, 2), []))
