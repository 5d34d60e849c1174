"""Where a store may lie: not on a network's disk, and not where there is no room (T18, T20)."""

from pathlib import Path

import pytest

from pipeline.config import Config
from tests.mounts import FULL, READ_ONLY, REMOTE, behind


@pytest.fixture
def home(config: Config) -> Path:
    config.home.mkdir(mode=0o700)
    return config.home


def files(home: Path) -> list[str]:
    return [path.name for path in home.rglob("*") if path.is_file()]


def test_a_network_disk_is_refused(config: Config, home: Path, tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(
        f"1 0 0:1 / / rw - ext4 /dev/x rw\n2 1 0:2 / {home} rw - nfs4 server:/x rw\n",
        encoding="utf-8",
    )
    done = behind(REMOTE, config, "collect", str(table))
    assert (done.returncode, "network file system (nfs4)" in done.stderr) == (3, True)
    assert "--home" in done.stderr
    assert files(home) == ["lock"], "no half of a database"


def test_too_little_room_is_said_before_anything_is_read(config: Config, home: Path) -> None:
    done = behind(FULL, config, "collect")
    assert (done.returncode, "are needed" in done.stderr) == (3, True)
    assert "nothing was read or changed" in done.stderr


def test_a_read_only_disk(config: Config, home: Path) -> None:
    done = behind(READ_ONLY, config, "collect")
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)
    assert "next:" in done.stderr
    assert files(home) == []
