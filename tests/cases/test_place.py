"""Where a store may lie: not on a network's disk, and not where there is no room (T18, T20).

Real mounts, in a mount namespace of the command's own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.config import Config
from tests.collect.homes import Done, environment

NAMESPACE = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
FULL = 'mount -t tmpfs -o size=10m none "$1"'
REMOTE = 'mount --bind "$2" /proc/$$/mountinfo'
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"'


def collected(config: Config, mount: str, *words: str) -> Done:
    """`collect` behind a mount."""
    line = f'{mount} || exit 99; exec "$0" -m pipeline collect'
    done = subprocess.run(
        [*NAMESPACE, line, sys.executable, str(config.home), *words],
        env=environment(config), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if os.getuid() or done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("mounting is for root")
    return done


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
    done = collected(config, REMOTE, str(table))
    assert (done.returncode, "network file system (nfs4)" in done.stderr) == (3, True)
    assert "--home" in done.stderr
    assert files(home) == ["lock"], "no half of a database"


def test_too_little_room_is_said_before_anything_is_read(config: Config, home: Path) -> None:
    done = collected(config, FULL)
    assert (done.returncode, "are needed" in done.stderr) == (3, True)
    assert "nothing was read or changed" in done.stderr


def test_a_read_only_disk(config: Config, home: Path) -> None:
    done = collected(config, READ_ONLY)
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)
    assert "next:" in done.stderr
    assert files(home) == []
