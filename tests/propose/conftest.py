"""A Claude folder, a home and a repository for each test; the current folder is the repository."""

import subprocess
from pathlib import Path

import pytest

from pipeline.config import Config
from tests.transcripts.builders import config as settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The Claude folder."""
    folder = tmp_path / "claude"
    folder.mkdir()
    return folder


@pytest.fixture
def config(tmp_path: Path, root: Path) -> Config:
    return settings(root, home=tmp_path / "home")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository; commands run in it."""
    top = tmp_path / "loom"
    top.mkdir()
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    monkeypatch.chdir(top)
    return top
