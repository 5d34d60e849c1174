"""The command line as a person calls it, in a made-up home."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline import cli
from tests.install.calls import Done, Run


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs one command in this process, where nobody can be asked."""

    def call(*words: str | Path) -> Done:
        capsys.readouterr()
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call


@pytest.fixture
def claude(own_home: Path) -> Path:
    folder = own_home / "claude"
    folder.mkdir()
    return folder


@pytest.fixture
def settings(claude: Path) -> Path:
    """The user's settings file; not there yet."""
    return claude / "settings.json"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository, and the current folder two levels below its top."""
    top = tmp_path / "repo"
    inner = top / "src" / "deep"
    inner.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    monkeypatch.chdir(inner)
    return top


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH: no real scheduler can be reached. Holds git and sh."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("git", "sh"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    return folder
