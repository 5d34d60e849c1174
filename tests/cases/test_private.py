"""Who may read the files, and what is refused in their place (T21)."""

import os
import stat
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from pipeline.cases.schema import MIGRATIONS
from pipeline.cases.store import open_reader, open_writer
from pipeline.config import Config
from pipeline.errors import Busy, StoreError
from pipeline.files import lock
from tests.collect.homes import MISSED, command, put, run, talk


def modes(top: Path) -> dict[str, str]:
    found = {".": stat.S_IMODE(top.stat().st_mode)}
    for path in top.rglob("*"):
        found[str(path.relative_to(top))] = stat.S_IMODE(path.lstat().st_mode)
    return {name: oct(mode) for name, mode in found.items()}


def test_everything_is_private_whatever_the_umask(config: Config, root: Path) -> None:
    """Also the home itself: who could write there could put another folder in its place."""
    put(root, "s1", talk("s1", MISSED))
    before = os.umask(0)
    try:
        home = config.home
        for words in (["nightly"], ["export", str(home / "mine.gz")], ["forget", "--all", "--yes"]):
            assert command(config, *words).returncode == 0
        with open_writer(config.local_cases) as store:
            store.rows("CREATE TABLE logged AS SELECT range AS n FROM range(10)")
            assert (config.local_cases / "cases.duckdb.wal").exists()
            found = modes(home)
    finally:
        os.umask(before)
    inside = ("exports", "runs", "seen", "snapshots")
    folders = {".", "local_cases", *(f"local_cases/{name}" for name in inside)}
    assert folders | {"local_cases/lock", "local_cases/cases.duckdb.wal", "mine.gz"} <= set(found)
    for name, mode in found.items():
        folder = name in folders or name == "local_cases/tmp"
        assert mode == ("0o700" if folder else "0o600"), name


def test_wider_modes_are_tightened(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED))
    run(config)
    for path in (config.local_cases, *config.local_cases.iterdir()):
        path.chmod(0o777)
    run(config)
    found = modes(config.local_cases)
    assert (found["."], found["cases.duckdb"], found["lock"]) == ("0o700", "0o600", "0o600")


def _link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def _dangling(path: Path, target: Path) -> None:
    path.symlink_to(target.with_name("not-there-yet"))


def _pipe(path: Path, target: Path) -> None:
    os.mkfifo(path)


def _foreign(path: Path, target: Path) -> None:
    path.write_bytes(b"")
    os.chown(path, 12345, 12345)


INTRUDERS = {"link": _link, "dangling link": _dangling, "pipe": _pipe, "foreign": _foreign}
PLACES = ("cases.duckdb", "cases.duckdb.wal", "lock")


@pytest.mark.parametrize("intruder", INTRUDERS)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_our_own_file_is_refused_and_untouched(
    config: Config, tmp_path: Path, place: str, intruder: str
) -> None:
    if intruder == "foreign" and os.geteuid():
        pytest.skip("only root can make a file of somebody else's")
    folder = config.local_cases
    folder.mkdir(parents=True, mode=0o700)
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    victim.chmod(0o644)
    INTRUDERS[intruder](folder / place, victim)
    with pytest.raises(StoreError) as refused, ExitStack() as held:
        held.enter_context(lock(folder / "lock", 0.1))
        held.enter_context(open_writer(folder))
    assert place in refused.value.message
    assert refused.value.hint
    assert victim.read_bytes() == b"precious"
    assert stat.S_IMODE(victim.stat().st_mode) == 0o644
    assert not victim.with_name("not-there-yet").exists()
    assert {path.name for path in folder.iterdir()} <= {place, "lock"}


@pytest.mark.parametrize("intruder", ["link", "file", "foreign"])
def test_what_is_not_our_own_folder_is_refused_and_untouched(
    config: Config, root: Path, tmp_path: Path, intruder: str
) -> None:
    if intruder == "foreign" and os.geteuid():
        pytest.skip("only root can make a folder of somebody else's")
    put(root, "s1", talk("s1", MISSED))
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o755)
    victim.chmod(0o755)
    config.home.mkdir()
    make: dict[str, Callable[[], object]] = {
        "link": lambda: config.local_cases.symlink_to(victim),
        "file": lambda: config.local_cases.write_bytes(b""),
        "foreign": lambda: (config.local_cases.mkdir(), os.chown(config.local_cases, 12345, 12345)),
    }
    make[intruder]()
    done = command(config, "collect")
    assert (done.returncode, done.stdout) == (3, "")
    assert "local_cases" in done.stderr
    assert "next: " in done.stderr
    assert list(victim.iterdir()) == []
    assert stat.S_IMODE(victim.stat().st_mode) == 0o755


def test_a_store_of_a_newer_version_is_refused_by_writer_and_reader(config: Config) -> None:
    with open_writer(config.local_cases) as store:
        store.rows("INSERT INTO migrations VALUES (?, 'm999_later')", [len(MIGRATIONS) + 1])
    for door in (open_writer, open_reader):
        with pytest.raises(StoreError, match="this version knows"), door(config.local_cases):
            pass
    done = command(config, "cases")
    assert (done.returncode, done.stdout) == (3, "")
    assert "newer version" in done.stderr


def test_a_migration_that_fails_leaves_nothing_behind(
    config: Config, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step and its record are one transaction; the next start begins at the same step."""
    put(root, "s1", talk("s1", MISSED))
    run(config)

    def m900_half(con: object) -> None:
        con.execute("CREATE TABLE half (n INTEGER)")  # type: ignore[attr-defined]
        con.execute("INSERT INTO half VALUES (1)")  # type: ignore[attr-defined]
        con.execute("SELECT error('no')")  # type: ignore[attr-defined]

    with monkeypatch.context() as patched:
        patched.setattr("pipeline.cases.schema.MIGRATIONS", (*MIGRATIONS, m900_half))
        with pytest.raises(StoreError), open_writer(config.local_cases):
            pass
    with open_reader(config.local_cases) as store:
        assert store is not None
        assert store.rows("SELECT count(*) FROM migrations") == [(len(MIGRATIONS),)]
        assert store.rows("SELECT 1 FROM duckdb_tables() WHERE table_name = 'half'") == []
        assert store.rows("SELECT count(*) FROM cases") == [(1,)]


def test_a_store_whose_first_writer_died_at_once_reads_as_none(config: Config) -> None:
    import duckdb

    config.local_cases.mkdir(parents=True)
    duckdb.connect(str(config.local_cases / "cases.duckdb")).close()
    with open_reader(config.local_cases) as store:
        assert store is None
    assert command(config, "show").returncode == 0
    assert command(config, "collect").returncode == 0


def test_the_store_reads_and_writes_no_file_but_its_own(config: Config, tmp_path: Path) -> None:
    """Statements cannot leave the file: no other database, no file, no extension, no setting."""
    import duckdb

    (tmp_path / "x.csv").write_text("a\n1\n")
    with open_writer(config.local_cases) as store:
        for statement in (
            f"SELECT * FROM read_csv('{tmp_path}/x.csv')",
            f"COPY (SELECT 1) TO '{tmp_path}/y.csv'",
            f"ATTACH '{tmp_path}/z.duckdb'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                store.rows(statement)
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix) == ["x.csv"]


def test_a_path_with_lock_in_its_name_is_no_held_lock(tmp_path: Path) -> None:
    """A damaged store is reported at once, not waited for (message and wait were wrong before)."""
    folder = tmp_path / "block-lock"
    folder.mkdir(mode=0o700)
    (folder / "cases.duckdb").write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreError) as refused, open_reader(folder):
        pass
    assert not isinstance(refused.value, Busy)
    assert "restore" in refused.value.hint


def test_a_path_that_is_no_text_is_refused_not_a_bug(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/h\xff"))
    try:
        folder.mkdir(mode=0o700)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    with pytest.raises(StoreError), open_writer(folder):
        pass
    assert list(folder.iterdir()) == []
