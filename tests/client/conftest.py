"""The real client, where somebody asked for it: `run` installs and names it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.desk import Desk


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "client: drives the real Claude Code (make client)")


@pytest.fixture(scope="session")
def client() -> Path:
    """The binary, or the reason why there is none."""
    named = os.environ.get("TWICE_TOLD_CLIENT")
    if not named:
        pytest.skip("nobody asked for the real client; `make client` installs and drives it")
    path = Path(named)
    if not path.is_file():
        pytest.skip(f"there is no Claude Code at {path}: npm could not give it")
    return path


@pytest.fixture
def desk(client: Path, tmp_path: Path) -> Iterator[Desk]:
    """A fresh desk for each test."""
    desk = Desk(client, tmp_path)
    yield desk
    desk.close()


@pytest.fixture
def tmux() -> None:
    if not shutil.which("tmux"):
        pytest.skip("there is no tmux to type into")
