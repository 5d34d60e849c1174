"""A Claude folder and a home for each test."""

from pathlib import Path

import pytest

from pipeline.config import Config
from tests.transcripts.builders import config as settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The Claude folder."""
    return tmp_path / "claude"


@pytest.fixture
def config(tmp_path: Path, root: Path) -> Config:
    return settings(root, home=tmp_path / "home")
