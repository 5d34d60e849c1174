"""The file: whole lines or none, from many writers, on a full disk, behind a torn tail (T34)."""

import fcntl
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.errors import LedgerError
from pipeline.ledger.book import (
    ATTRIBUTES,
    NAME,
    BadLine,
    Books,
    after,
    append,
    read,
    read_bytes,
    time_for,
)
from pipeline.ledger.event import LAST, Happening, line
from tests.collect.homes import TOP
from tests.ledger.made import BEGIN, event
from tests.ledger.waiting import has_open

H = Happening
MANY = [event(H.COUNTED, at) for at in range(400)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger" / NAME


def test_a_new_ledger_comes_with_its_attributes(file: Path) -> None:
    append(file, [])
    assert not file.parent.exists(), "nothing to say makes nothing"
    append(file, MANY[:2])
    assert (file.parent / ".gitattributes").read_text() == ATTRIBUTES
    assert read(file).events == tuple(MANY[:2])
    assert file.stat().st_mode & 0o777 == 0o600


def test_other_attributes_stay(file: Path) -> None:
    file.parent.mkdir()
    (file.parent / ".gitattributes").write_text("* text\n")
    append(file, MANY[:1])
    assert (file.parent / ".gitattributes").read_text() == "* text\n"


def test_attributes_that_a_full_disk_has_left_empty_are_written_again(file: Path) -> None:
    file.parent.mkdir()
    (file.parent / ".gitattributes").touch()
    append(file, MANY[:1])
    assert (file.parent / ".gitattributes").read_text() == ATTRIBUTES


@pytest.mark.parametrize("at", range(len(line(MANY[1]))))
def test_behind_a_torn_tail_every_next_line_parses(file: Path, at: int) -> None:
    """As a kill in the middle of a write leaves it."""
    append(file, MANY[:1])
    whole = line(MANY[1])
    with file.open("ab") as handle:
        handle.write(whole[:at])
    append(file, MANY[2:4])
    found = read(file)
    complete = MANY[1:2] if at >= len(whole) - 1 else []
    assert list(found.events) == [MANY[0], *complete, *MANY[2:4]]
    assert [bad.number for bad in found.bad] == ([2] if at and not complete else [])


WRITER = """
import resource, sys
from pathlib import Path
from pipeline.errors import LedgerError
from pipeline.ledger.book import append
from tests.ledger.test_book import MANY
size, file = int(sys.argv[1]), Path(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    append(file, MANY[2:])
except LedgerError as error:
    print(error.message)
"""


@pytest.mark.parametrize("room", [0, 1, 5000, 90_000])
@pytest.mark.parametrize("tail", [b"", b'{"at":'], ids=["whole", "torn"])
def test_a_short_write_leaves_every_byte_as_it_was(file: Path, room: int, tail: bytes) -> None:
    append(file, MANY[:2])
    with file.open("ab") as handle:
        handle.write(tail)
    before = file.read_bytes()
    assert len(b"".join(map(line, MANY[2:]))) > 90_000
    done = python(WRITER, str(len(before) + room), str(file))
    assert f"cannot write the ledger {file}" in done.stdout
    assert file.read_bytes() == before
    append(file, MANY[2:3])
    assert read(file).events[-1] == MANY[2]


SYNCED = """
import os, sys
from pathlib import Path
told = []
for name in ("write", "fsync", "replace", "rename"):
    def call(*words, real=getattr(os, name), name=name, **more):
        told.append(name)
        return real(*words, **more)
    setattr(os, name, call)
from pipeline.files import write_private
from pipeline.ledger.book import append
from tests.ledger.test_book import MANY
path = Path(sys.argv[1])
append(path, MANY)
told.clear()
append(path, MANY[:1])
print(*told)
told.clear()
write_private(path.with_name("private"), b"x")
print(*told)
"""


def test_what_is_written_is_on_the_disk_before_anybody_relies_on_it(file: Path) -> None:
    done = python(SYNCED, str(file))
    appended, replaced = done.stdout.splitlines()
    assert appended.split() == ["write", "fsync"], done.stderr
    assert replaced.split() in (
        ["write", "fsync", "replace", "fsync"], ["write", "fsync", "rename", "fsync"],
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_device_is_no_ledger(file: Path) -> None:
    file.parent.mkdir()
    file.symlink_to("/dev/full")
    for do in (lambda: append(file, MANY[:1]), lambda: read(file)):
        with pytest.raises(LedgerError):
            do()


RACER = """
import sys
from pathlib import Path
from pipeline.ledger.book import append
from tests.ledger.made import event
from pipeline.ledger.event import Happening
machine, file = int(sys.argv[1]), Path(sys.argv[2])
sys.stdin.readline()
for night in range(40):
    append(file, [event(Happening.COUNTED, night * 50 + k, machine) for k in range(50)])
"""


def test_eight_writers_at_once_lose_and_glue_nothing(file: Path) -> None:
    file.parent.mkdir()
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(machine), str(file)], cwd=TOP, env=environment(),
            stdin=subprocess.PIPE, text=True,
        )
        for machine in range(8)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.close()
    assert [writer.wait(timeout=120) for writer in writers] == [0] * 8
    found = read(file)
    assert found.bad == ()
    assert len(found.events) == len(file.read_bytes().splitlines()) == 8 * 40 * 50


REPLACER = """
import fcntl, os, sys
from pathlib import Path
file = Path(sys.argv[1])
handle = os.open(file, os.O_RDWR)
fcntl.flock(handle, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
new = file.with_name("new")
new.write_bytes(file.read_bytes())
os.replace(new, file)
"""


def test_an_append_that_waited_goes_into_the_file_that_stands_there(file: Path) -> None:
    """git replaces the file while the append waits for its lock."""
    append(file, MANY[:1])
    holder = subprocess.Popen(
        [sys.executable, "-c", REPLACER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert holder.stdin and holder.stdout
    assert holder.stdout.readline() == "held\n"
    code = APPENDER.replace("FILE", repr(str(file)))
    waiting = subprocess.Popen([sys.executable, "-c", code], cwd=TOP, env=environment())
    has_open(waiting.pid, file)
    holder.stdin.write("go\n")
    holder.stdin.close()
    assert (holder.wait(timeout=30), waiting.wait(timeout=30)) == (0, 0)
    assert read(file).events == tuple(MANY[:2])


APPENDER = """
from pathlib import Path
from pipeline.ledger.book import append
from tests.ledger.test_book import MANY
append(Path(FILE), MANY[1:2])
"""


def test_a_run_that_was_stopped_in_its_write_stops_no_other(file: Path) -> None:
    append(file, MANY[:1])
    with file.open("rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(LedgerError, match="another run holds the ledger"):
            append(file, MANY[1:2], wait_seconds=0)
    append(file, MANY[1:2], wait_seconds=0)
    assert read(file).events == tuple(MANY[:2])


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "dangling link"])
def test_what_is_no_file_is_neither_read_nor_written(file: Path, kind: str) -> None:
    """A repository could put it there; a pipe must not hang the night."""
    file.parent.mkdir()
    other = file.with_name("other")
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        if kind == "link":
            other.write_text("")
        file.symlink_to(other)
    with pytest.raises(LedgerError):
        read(file)
    with pytest.raises(LedgerError):
        append(file, MANY[:1])
    assert not other.exists() or other.read_text() == ""


def test_what_cannot_be_opened_is_a_known_error(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("a file")
    with pytest.raises(LedgerError) as caught:
        append(tmp_path / "ledger" / NAME, MANY[:1])
    assert caught.value.hint
    assert read(tmp_path / "nowhere" / NAME).events == ()


def test_bad_lines_are_kept_and_counted_doubles_are_none() -> None:
    one, two = line(MANY[0]), line(MANY[1])
    found = read_bytes(one + b"<<<<<<< HEAD\n" + two + b"\n" + one + b"{}\n" + two[:-1])
    assert found.events == (MANY[0], MANY[1])
    assert found.bad == (BadLine(2, "no JSON"), BadLine(6, "fields or values that no event has"))


def test_time_goes_on_whatever_the_clock_says() -> None:
    assert after([], BEGIN) == BEGIN
    assert after(MANY[:3], BEGIN) == BEGIN + timedelta(minutes=2, microseconds=1)
    last = event(H.RAISED, at=LAST)
    line(event(H.COUNTED, at=after([last], BEGIN)))


def test_a_machines_times_are_its_own_and_late_on_one_bundle_alone() -> None:
    """Its clock was years ahead, and is right again."""
    ahead, bundle = event(H.RAISED, at=datetime(2099, 1, 1, tzinfo=UTC)), ("x", MANY[0].type)
    assert time_for(ahead.bundle, ahead.machine, [ahead], BEGIN) == after([ahead], BEGIN)
    assert time_for(bundle, ahead.machine, [ahead], BEGIN) == BEGIN
    taken = event(H.RAISED, at=BEGIN)
    assert time_for(bundle, taken.machine, [ahead, taken], BEGIN) == after([taken], BEGIN)
    assert time_for(bundle, "f" * 16, [ahead, taken], BEGIN) == BEGIN


def test_a_teams_ledger_comes_first_and_takes_its_repositories_alone(tmp_path: Path) -> None:
    books = Books(tmp_path / "home" / NAME, tmp_path / "team" / NAME, frozenset({"webshop"}))
    assert (books.file_of("webshop"), books.file_of("other")) == (books.team, books.home)
    alone = Books(books.home)
    assert alone.file_of("webshop") == books.home
    own = [event(H.RAISED), event(H.RAISED, 1, repo="other", number=2), event(H.ACCEPTED, 2)]
    team = [event(H.RAISED, 5, 2, repo="third")]
    assert books.team is not None
    append(books.home, own)
    append(books.team, team)
    assert books.events() == (tuple(team), tuple(own))
    assert alone.events() == (tuple(own),)
    assert books.owed() == (own[0], own[2])
    append(books.team, books.owed())
    assert (books.owed(), alone.owed()) == ((), ())
    assert b"other" not in books.team.read_bytes()


def python(code: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code, *words], cwd=TOP, env=environment(), capture_output=True,
        text=True, check=True, timeout=60,
    )  # fmt: skip


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(TOP)}
