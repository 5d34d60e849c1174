"""`--dry-run` of every command leaves every byte where it was; the same without it does not."""

from pathlib import Path

import pytest

from pipeline.commands.table import COMMANDS
from pipeline.config import Config
from pipeline.records import CaseType
from tests.collect.homes import PLAIN, VIOLATED, cases, command, put, talk
from tests.install.calls import program
from tests.install.conftest import programs  # noqa: F401
from tests.install.test_schedule import CRONTAB
from tests.propose.conftest import repo  # noqa: F401
from tests.propose.raised import SENTENCE, exchange, raise_, told_twice

SAID = "You forgot the quokka paragraph."
DAY = 86_400
WRITES = [
    ("collect",),
    ("collect", "--rebuild"),
    ("nightly",),
    ("dismiss", "ID"),
    ("retype", "ID", "wrong-result"),
    ("forget", "ID"),
    ("forget", "--all"),
    ("accept", "1", "--text", SENTENCE),
    ("accept", "1", "--as", "hook"),
    ("reject", "1", "--reason", "one-off"),
    ("retire", "2"),
    ("init", "loom"),
    ("install", "hook"),
    ("install", "schedule"),
    ("uninstall", "hook", "--project"),
    ("export", "cases.gz"),
    ("restore", "OLD"),
    ("ledger", "verify"),
]
READS = [
    ("show",),
    ("show", "1"),
    ("cases",),
    ("turns",),
    ("status",),
    ("explain", SAID),
    ("classify",),
    ("mask",),
    ("proposals",),
    ("stats",),
    ("rules", "list"),
    ("inject",),
    ("schedule", "status"),
    ("judge", "cost"),
    ("doctor",),
    ("ledger", "log"),
]
ELSEWHERE = {"review"}  # asks at a terminal: tests/propose/test_review.py


@pytest.fixture
def world(
    config: Config,
    root: Path,
    repo: Path,  # noqa: F811
    tmp_path: Path,
    programs: Path,  # noqa: F811
) -> Config:
    """Two proposals, the second accepted; an export, a hook, and a session not yet collected."""
    root.mkdir(exist_ok=True)
    told_twice(config, root, repo, SAID, SAID)
    put(root, "v", exchange("v", repo, VIOLATED, seconds=3 * DAY), project=repo.name)
    raise_(config)
    raise_(config, 2, kind=CaseType.VIOLATED_INSTRUCTION)
    for words in (
        ("collect",),
        ("accept", "2", "--text", "Ask before a push.", "--yes"),
        ("export", str(tmp_path / "old.gz")),
        ("retype", cases(config)[0].id, "wrong-result"),
        ("install", "hook", "--project", "--yes"),
    ):
        done = command(config, *words)
        assert done.returncode == 0, (words, done.stderr)
    put(root, "late", talk("late", PLAIN, SAID, cwd=str(repo)), project=repo.name)
    program(programs, "crontab", CRONTAB)
    return config


def everything(*tops: Path) -> dict[Path, tuple[int, bytes]]:
    """Mode and bytes of all files and links under some folders, and the folders."""
    found = {}
    for top in tops:
        for path in [top, *top.rglob("*")]:
            data = b"" if path.is_dir() else path.read_bytes()
            found[path] = (path.lstat().st_mode, data)
    return found


def said(words: tuple[str, ...], config: Config, tmp_path: Path) -> list[str]:
    stands = {"ID": cases(config)[0].id, "OLD": str(tmp_path / "old.gz")}
    return [stands.get(word, word) for word in words]


@pytest.mark.parametrize("words", WRITES, ids=" ".join)
def test_only_without_it_is_anything_written(
    words: tuple[str, ...], world: Config, tmp_path: Path, own_home: Path
) -> None:
    before = everything(tmp_path, own_home)
    called = said(words, world, tmp_path)
    done = command(world, *called, "--dry-run", "--yes")
    assert done.returncode == 0, done.stderr
    assert everything(tmp_path, own_home) == before
    done = command(world, *called, "--yes")
    assert done.returncode == 0, done.stderr
    assert everything(tmp_path, own_home) != before


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_what_reads_never_writes(
    words: tuple[str, ...], world: Config, tmp_path: Path, own_home: Path
) -> None:
    before = everything(tmp_path, own_home)
    done = command(world, *said(words, world, tmp_path))
    assert done.returncode in {0, 1}, done.stderr
    assert everything(tmp_path, own_home) == before


def test_every_command_is_in_a_table() -> None:
    built = {command.name for command in COMMANDS.values() if command.module}
    assert {words[0] for words in WRITES + READS} | ELSEWHERE == built
