"""A made-up person for whom everything is well, and the doctor as that person calls it."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline import cli
from pipeline.doctor import wired
from pipeline.install import line
from tests.collect.homes import MISSED, PLAIN, put, talk
from tests.install.calls import program
from tests.transcripts.builders import Record

CRONTAB = """
import sys
from pathlib import Path
table = Path(__file__).with_name("table")
if sys.argv[1:] == ["-l"]:
    if not table.exists():
        sys.exit("no crontab for jane")
    sys.stdout.buffer.write(table.read_bytes())
else:
    table.write_bytes(sys.stdin.buffer.read())
"""


def ago(records: list[Record], **age: float) -> list[Record]:
    """The same lines so long ago, a second apart."""
    begin = datetime.now(UTC) - timedelta(**age)
    for number, record in enumerate(records):
        stamp = (begin + timedelta(seconds=number)).isoformat(timespec="milliseconds")
        record["timestamp"] = stamp.replace("+00:00", "Z")
    return records


@dataclass
class Person:
    """Folders, and a command line."""

    claude: Path
    home: Path
    repo: Path
    programs: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def local_cases(self) -> Path:
        return self.home / "local_cases"

    @property
    def settings(self) -> Path:
        return self.claude / "settings.json"

    @property
    def record(self) -> Path:
        return self.local_cases / "runs" / "last_run.json"

    @property
    def hook_file(self) -> Path:
        (path,) = (self.local_cases / "snapshots").glob("*.json")
        return path

    def call(self, *words: str) -> tuple[int, str, str]:
        """Code and both streams."""
        self.capsys.readouterr()
        code = cli.main(list(words))
        return code, *self.capsys.readouterr()

    def do(self, *words: str) -> None:
        """A command that must succeed."""
        code, _, err = self.call(*words)
        assert code == 0, err

    def doctor(self) -> dict[str, dict[str, str]]:
        """The findings by check; codes, keys and next steps hold whatever was found."""
        code, out, err = self.call("doctor", "--json")
        assert code in (0, 1), err
        found = json.loads(out)
        assert err == ""
        assert all(item.keys() == {"check", "state", "detail", "next"} for item in found)
        assert all(bool(item["next"]) == (item["state"] != "ok") for item in found), found
        assert code == any(item["state"] == "red" for item in found)
        by_name = {item["check"]: item for item in found}
        assert len(by_name) == len(found)
        assert MISSED not in out
        return by_name

    def ill(self) -> dict[str, str]:
        """State of the checks that are not fine."""
        return {n: f["state"] for n, f in self.doctor().items() if f["state"] != "ok"}

    def change(self, path: Path, change: Callable[[Any], object]) -> None:
        """Edits a JSON file in place."""
        value = json.loads(path.read_bytes()) if path.exists() else {}
        change(value)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))


@pytest.fixture
def bare(
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Person:
    """Has a Claude folder and a repository, and never ran anything of ours."""
    repo, programs, claude = tmp_path / "repo", tmp_path / "programs", own_home / "claude"
    for folder in (repo, programs, claude):
        folder.mkdir()
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    for name in ("git", "sh"):
        found = shutil.which(name)
        assert found
        (programs / name).symlink_to(found)
    program(programs, "crontab", CRONTAB)
    # A digest that lags behind fails in test_digest alone.
    monkeypatch.setattr(wired, "HOOK_SHA256", wired.digest(line.HOOK.parent))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.chdir(repo)
    return Person(claude, own_home / "twice-told", repo, programs, capsys)


@pytest.fixture
def well(bare: Person) -> Person:
    """Everything is set up, and the night has run."""
    put(bare.claude, "s1", ago(talk("s1", PLAIN, MISSED, cwd=str(bare.repo)), hours=1))
    trusted = {str(bare.repo): {"hasTrustDialogAccepted": True}}
    (bare.claude / ".claude.json").write_text(json.dumps({"projects": trusted}))
    bare.do("install", "--yes")
    bare.do("nightly")
    return bare
