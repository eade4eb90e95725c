"""`attnproof schema`: every command's JSON is what its schema says, and the schema says no less."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from attnproof.cli import main
from attnproof.cli.schema import SCHEMAS, schema_of
from needs import need

HALF = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


@pytest.fixture
def printed(monkeypatch, capsys, tmp_path):
    """What `attnproof … --format json` prints, as data."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["attnproof", *map(str, arguments)])
        with pytest.raises(SystemExit):
            main()
        captured = capsys.readouterr()
        assert captured.out, captured.err
        return json.loads(captured.out)

    return call


def cases():
    yield "check", ("check", "F.npy")
    yield "check", ("check", "F.npy", "--visible", "largest")
    yield "check", ("check", "F.npy", "--tolerance", "9")
    yield "design show", ("design", "show", "dyadic")
    yield "design list", ("design", "list")
    yield "cost", ("cost", "--n", "128", "--r", "8", "--d", "4")
    yield "error", ("error", "head.npz")
    yield "retention", ("retention", "F.npy", "--span", "0:2")
    yield "verify", ("verify", "T3")
    yield "explain", ("explain", "T3")
    yield "doctor", ("doctor",)


@pytest.mark.parametrize(("command", "arguments"), list(cases()))
def test_what_a_command_prints_is_what_its_schema_says(printed, tmp_path, command, arguments):
    jsonschema = need("jsonschema")
    np.save(tmp_path / "F.npy", HALF)
    K = np.array([[1.0], [2.0], [3.0]])
    np.savez(tmp_path / "head.npz", Q=np.ones((1, 1)), K=K, V=10 * K, E=HALF, F=HALF)
    data = printed(*arguments, "--format", "json")
    jsonschema.Draft202012Validator.check_schema(schema_of(command))
    jsonschema.validate(data, schema_of(command))
    for field in schema_of(command)["required"]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({k: v for k, v in data.items() if k != field}, schema_of(command))


def test_the_command_prints_each_schema(printed):
    for command in SCHEMAS:
        assert printed("schema", *command.split()) == schema_of(command)


def test_an_unknown_command_is_told():
    with pytest.raises(KeyError, match="prints no JSON of its own; did you mean check"):
        schema_of("chek")
