"""Files of our own: private, whole or not at all, one writer."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import pipeline
from pipeline import files
from pipeline.errors import Busy, StoreError

CODE = Path(pipeline.__file__).resolve().parents[1]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        folder = files.private_dir(tmp_path / "a" / "b")
        files.write_private(folder / "x", b"secret")
    finally:
        os.umask(before)
    assert (mode(folder), mode(folder / "x")) == (0o700, 0o600)


def test_a_wide_folder_is_tightened(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert mode(files.private_dir(tmp_path)) == 0o700


@pytest.mark.parametrize("kind", ["file", "below-a-file", "dangling"])
def test_folders_that_cannot_be_made(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "dangling":
        path.symlink_to(tmp_path / "gone" / "deep")
    else:
        path.write_bytes(b"")
    with pytest.raises(StoreError) as failed:
        files.private_dir(path / "y" if kind == "below-a-file" else path)
    assert failed.value.hint
    assert failed.value.exit_code == 3


def test_is_folder(tmp_path: Path) -> None:
    assert files.is_folder(tmp_path)
    assert not files.is_folder(tmp_path / "gone")
    assert not files.is_folder(Path("/\0"))
    assert not files.is_folder(Path("/" + "x" * 5000))


def test_replacing(tmp_path: Path) -> None:
    path = tmp_path / "x"
    files.write_private(path, b"one")
    files.write_private(path, b"two" * 1_000_000)
    assert path.read_bytes() == b"two" * 1_000_000
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


def test_a_wide_file_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o666)
    files.write_private(path, b"new")
    assert mode(path) == 0o600


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"keep")
    link = tmp_path / "x"
    link.symlink_to(target)
    files.write_private(link, b"new")
    assert target.read_bytes() == b"keep"
    assert not link.is_symlink()


def test_a_failed_write_leaves_the_old_and_no_rest(tmp_path: Path) -> None:
    """The name is taken by a folder: the rename cannot succeed."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "inside").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot write"):
        files.write_private(tmp_path / "x", b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


def test_no_folder_to_write_in(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        files.write_private(tmp_path / "gone" / "x", b"new")


FULL = """
import resource, sys
from pathlib import Path
from pipeline.errors import StoreError
from pipeline.files import write_private
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_private(Path(sys.argv[1]), b"n" * 5000)
except StoreError:
    sys.exit(7)
"""


def test_a_full_disk_gives_no_short_file(tmp_path: Path) -> None:
    """A limit on the size of files stands for it: the first write is short, the second fails."""
    path = tmp_path / "x"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], cwd=CODE, check=False)
    assert done.returncode == 7
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


# The lock

HOLD = """
import sys
from pathlib import Path
from pipeline.files import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        cwd=CODE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stdout.readline() == "held\n"
    return child


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    child = holder(path)
    with pytest.raises(Busy) as busy, files.lock(path, wait_seconds=0):
        pass
    assert str(child.pid) in busy.value.message
    assert busy.value.exit_code == 75
    child.communicate("", timeout=20)
    with files.lock(path, wait_seconds=0):
        assert path.read_text(encoding="ascii") == str(os.getpid())
    assert mode(path) == 0o600


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    child = holder(tmp_path / "lock")
    child.kill()
    child.communicate(timeout=20)
    with files.lock(tmp_path / "lock", wait_seconds=5):
        assert (tmp_path / "lock").exists()


def test_waiting_for_the_lock(tmp_path: Path) -> None:
    """The holder ends while another run waits."""
    child = holder(tmp_path / "lock")
    assert child.stdin is not None
    child.stdin.close()
    with files.lock(tmp_path / "lock", wait_seconds=20):
        assert child.wait(timeout=20) == 0


@pytest.mark.parametrize("kind", ["link", "folder", "missing"])
def test_locks_that_cannot_be_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lock"
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    else:
        path = tmp_path / "gone" / "lock"
    with pytest.raises(StoreError), files.lock(path, wait_seconds=0):
        pass
    assert not (tmp_path / "elsewhere").exists()
