"""Every test of a model starts from the same random numbers."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _seed():
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
