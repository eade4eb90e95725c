"""Whose code a file holds."""

from __future__ import annotations

import pytest
from attnproof.causal.ownership import is_own_file


@pytest.fixture
def folder(tmp_path):
    """What `pip install --target` leaves, and a file of the user's beside it."""
    record = tmp_path / "library-1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text('library/__init__.py,sha256=x,1\nlibrary/deep/model.py,sha256=x,1\n"single.py",,\n')
    return tmp_path


@pytest.mark.parametrize("file", ["library/__init__.py", "library/deep/model.py", "single.py"])
def test_what_was_installed_in_a_folder_of_any_name_is_a_librarys(folder, file):
    assert not is_own_file(str(folder / file))


@pytest.mark.parametrize("file", ["model.py", "mine/library/model.py", "other/single.py"])
def test_what_else_lies_there_is_the_users(folder, file):
    assert is_own_file(str(folder / file))


def test_a_record_that_cannot_be_read_makes_nothing_a_librarys(tmp_path):
    (tmp_path / "library-1.0.dist-info").mkdir()
    assert is_own_file(str(tmp_path / "library" / "model.py"))
