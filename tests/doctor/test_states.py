"""Each bad state, made for real, is seen by its check; and nothing else is said of it."""

import hashlib
import json
import marshal
import opcode
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from pipeline.doctor.wired import PARTS
from pipeline.inject import answer
from pipeline.install import line
from pipeline.ledger.book import NAME, append
from pipeline.ledger.event import Happening
from tests.collect.homes import MISSED, PLAIN, put, talk
from tests.doctor.conftest import Person, ago
from tests.ledger.made import event
from tests.transcripts.builders import attachment


def test_all_is_well(well: Person) -> None:
    assert well.ill() == {}
    code, out, err = well.call("doctor")
    assert code == 0
    assert len(out.splitlines()) == len(well.doctor()) < 24, "one screen, one line a check"
    assert err.startswith("22 fine, 0 ")


def test_looking_makes_nothing(bare: Person) -> None:
    """Not even a home; and a person who never ran anything is told where to begin."""
    found = bare.doctor()
    assert not bare.home.exists()
    assert found["logs"]["state"] == found["last run"]["state"] == found["hook"]["state"] == "red"
    assert found["last run"]["next"] == "twice-told nightly"
    assert found["hook"]["next"] == "twice-told install hook"
    assert found["schedule"]["next"] == "twice-told install schedule"
    assert found["store"]["next"] == "twice-told nightly"


def test_looking_changes_nothing(well: Person, tmp_path: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        both = (*well.home.rglob("*"), *well.claude.rglob("*"))
        return {str(p): (p.lstat().st_mtime_ns, p.lstat().st_mode) for p in both}

    before = state()
    well.doctor()
    assert state() == before


def test_every_line_of_a_pipe_says_its_state_and_next_step(bare: Person) -> None:
    code, out, err = bare.call("doctor")
    rows = [row.split("\t") for row in out.splitlines()]
    assert code == 1
    assert all(bool(row[3]) == (row[0] != "ok") for row in rows)
    assert err.rstrip().endswith("red")


# What feeds us


def test_logs_elsewhere(well: Person, own_home: Path) -> None:
    """CLAUDE_CONFIG_DIR names an empty folder; the usual one has transcripts."""
    (well.claude / "projects").rename(own_home / "projects")
    (own_home / ".claude").mkdir()
    (own_home / "projects").rename(own_home / ".claude" / "projects")
    found = well.doctor()["logs"]
    assert found["state"] == "red"
    assert f"twice-told nightly --claude-dir {own_home}/.claude" in found["next"]


def test_other_logs_beside_ours_are_named(well: Person, own_home: Path) -> None:
    put(own_home / ".claude", "s9", talk("s9", PLAIN))
    found = well.doctor()["logs"]
    assert found["state"] == "ok"
    assert ".claude has some too" in found["detail"]


def aged(person: Person, **age: float) -> None:
    """The last run was so long ago."""
    at = (datetime.now(UTC) - timedelta(**age)).isoformat(timespec="seconds")
    person.change(person.record, lambda record: record.update(at=at))


@pytest.mark.parametrize(
    ("period", "days", "state", "next_"),
    [
        (1, 0, "red", "cleanupPeriodDays"),
        (2, 0, "ok", ""),
        (3, 1.4, "ok", ""),
        (3, 1.6, "red", "twice-told nightly"),
        (None, 14, "ok", ""),
        (None, 16, "red", "twice-told nightly"),
        (0, 0, "red", "1 or more"),
        ("30", 0, "red", "1 or more"),
        (True, 0, "red", "1 or more"),
    ],
)
def test_retention(well: Person, period: object, days: float, state: str, next_: str) -> None:
    """Twice the gap since the last run, and twice a night, must fit in."""
    if period is not None:
        well.change(well.settings, lambda value: value.update(cleanupPeriodDays=period))
    aged(well, days=days)
    found = well.doctor()["retention"]
    assert found["state"] == state
    assert next_ in found["next"]


def damage(path: Path) -> None:
    path.write_bytes(b"\xff{")


def make_old(person: Person) -> None:
    aged(person, hours=49)


def make_night_fail(person: Person) -> None:
    at = f"{datetime.now(UTC) + timedelta(seconds=2):%Y-%m-%dT%H:%M:%SZ}"
    log = person.local_cases / "runs" / "nightly.log"
    log.write_text(f"{at} the night begins\n{MISSED}\n{at} the night ended with 3\n")
    log.chmod(0o600)


def make_crash(person: Person) -> None:
    path = person.local_cases / "runs" / "crash-20990101T000000000000.log"
    path.write_text("ZeroDivisionError\n")
    path.chmod(0o600)
    os.utime(path, (time.time() + 60,) * 2)


RUNS: list[tuple[str, Callable[[Person], object], str, str]] = [
    ("no record", lambda p: p.record.unlink(), "last run", "nightly"),
    ("a damaged record", lambda p: damage(p.record), "last run", "nightly"),
    ("an old run", make_old, "last run", "nightly"),
    ("a failed night", make_night_fail, "last run", "tail -n 20"),
    ("a bug", make_crash, "last run", "cat "),
    (
        "lines that do not add up",
        lambda p: p.change(p.record, lambda r: r.update(lines=r["lines"] + 1)),
        "sums",
        "--rebuild",
    ),
    (
        "turns that do not add up",
        lambda p: p.change(p.record, lambda r: r.update(no_case=r["no_case"] + 1)),
        "sums",
        "--rebuild",
    ),
    (
        "a warning",
        lambda p: p.change(p.record, lambda r: r["warnings"].append("drift")),
        "sums",
        "status --json",
    ),
    (
        "a run of the future",
        lambda p: p.change(p.record, lambda r: r.update(at="2099-01-01T00:00:00+00:00")),
        "clock",
        "date -u",
    ),
]


@pytest.mark.parametrize(
    ("make", "check", "next_"), [r[1:] for r in RUNS], ids=[r[0] for r in RUNS]
)
def test_runs(well: Person, make: Callable[[Person], object], check: str, next_: str) -> None:
    make(well)
    assert {name: s for name, s in well.ill().items() if name != "retention"} == {check: "red"}
    assert next_ in well.doctor()[check]["next"]


def test_a_failed_night_that_a_good_one_followed_is_past(well: Person) -> None:
    make_night_fail(well)
    log = well.local_cases / "runs" / "nightly.log"
    log.write_text(log.read_text() + "2026-01-01T00:00:00Z the night ended well\n")
    assert well.ill() == {}


def test_no_schedule(well: Person) -> None:
    (well.programs / "table").unlink()
    assert well.ill() == {"schedule": "warn"}


def test_a_crontab_that_cannot_be_read(well: Person) -> None:
    (well.programs / "table").chmod(0o600)
    (well.programs / "table").unlink()
    (well.programs / "table").mkdir()
    assert well.ill() == {"schedule": "red"}


def test_a_schedule_that_is_switched_off(well: Person, own_home: Path) -> None:
    """A timer whose unit is there while systemd does not answer."""
    units = own_home / ".config" / "systemd" / "user"
    units.mkdir(parents=True)
    (units / "twice-told-nightly.timer").write_text("")
    assert well.ill() == {"schedule": "red"}


def test_the_time_zone_is_named(well: Person) -> None:
    assert "Europe/Berlin" in well.doctor()["time zone"]["detail"]


def test_a_broken_rule_pack(well: Person) -> None:
    pack = well.home / "rules" / "en" / "missed-item.toml"
    pack.parent.mkdir(parents=True)
    pack.write_text("format = 1\n[[rule]]\n")
    assert well.ill() == {"rules": "red"}
    assert well.doctor()["rules"]["next"] == "twice-told rules check"


# What we keep


def test_a_missing_store_comes_back_from_an_export(well: Person) -> None:
    (well.local_cases / "cases.duckdb").unlink()
    assert well.ill() == {"store": "red"}
    step = well.doctor()["store"]["next"].split()
    assert step[:2] == ["twice-told", "restore"]
    well.do(*step[1:], "--yes")
    assert well.ill() == {}


def test_a_damaged_store(well: Person) -> None:
    damage(well.local_cases / "cases.duckdb")
    assert well.ill() == {"store": "red"}
    assert "twice-told restore" in well.doctor()["store"]["next"]
    for export in (well.local_cases / "exports").iterdir():
        export.unlink()
    assert well.doctor()["store"]["next"].startswith("mv ")


def test_a_damaged_block_deep_in_the_store(well: Person) -> None:
    """Opening does not see it: only who reads the block does."""
    path = well.local_cases / "cases.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("INSERT INTO shadow_hits SELECT md5(range::VARCHAR), DATE '2026-01-01',"
                    " md5((range + 1)::VARCHAR), 1, 1 FROM range(200000)")  # fmt: skip
        con.execute("CHECKPOINT")
    assert well.doctor()["store"]["state"] == "ok"
    data = bytearray(path.read_bytes())
    rows = range(len(data) // 8, len(data) // 3, 1 << 18)  # one place a block; indexes lie behind
    for place in rows:
        data[place] ^= 0xFF
    path.write_bytes(data)
    with duckdb.connect(str(path), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM shadow_hits").fetchall() == [(200000,)]
    assert well.ill() == {"store": "red"}


def test_a_store_of_a_newer_version(well: Person) -> None:
    with duckdb.connect(str(well.local_cases / "cases.duckdb")) as con:
        con.execute("INSERT INTO migrations VALUES (999, 'm999')")
    assert well.ill() == {"store": "red"}
    assert "twice-told --version" in well.doctor()["store"]["next"]


def test_a_store_of_an_older_version_is_no_fault(well: Person) -> None:
    with duckdb.connect(str(well.local_cases / "cases.duckdb")) as con:
        con.execute("DELETE FROM migrations WHERE number > 1")
    assert well.ill() == {"store": "warn"}
    code, out, err = well.call("cases")
    assert (code, out) == (3, "")
    assert "`twice-told collect` brings it up to date" in err


def test_a_store_behind_a_link(well: Person, tmp_path: Path) -> None:
    store = well.local_cases / "cases.duckdb"
    store.rename(tmp_path / "elsewhere")
    store.symlink_to(tmp_path / "elsewhere")
    assert well.ill() == {"store": "red", "privacy": "red"}
    assert well.doctor()["store"]["next"].startswith("ls -l ")


def test_a_held_store_is_a_warning(well: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from pipeline.cases import store

    monkeypatch.setattr(store, "READ_WAIT_SECONDS", 0.1)
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    path = str(well.local_cases / "cases.duckdb")
    holder = subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout
    assert holder.stdout.readline()
    try:
        assert well.ill() == {"store": "warn"}
    finally:
        holder.communicate(b"\n", timeout=30)


def test_a_network_file_system(well: Person, tmp_path: Path) -> None:
    """By a table of mounts as Linux writes it."""
    from dataclasses import replace

    from pipeline import clock, config
    from pipeline.doctor import home
    from pipeline.doctor.scene import look

    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 0:1 / {well.home} rw - nfs4 server:/x rw\n")
    scene = look(config.load(), well.repo, tmp_path, clock.now())
    assert home.disk(scene).state == "ok"
    found = home.disk(replace(scene, mounts=mounts))
    assert (found.state, "nfs4" in found.detail, "--home" in found.next) == ("red", True, True)
    assert home.private(scene, me=os.geteuid() + 1).state == "red"
    assert "belongs to another user" in home.private(scene, me=os.geteuid() + 1).detail


WIDE = [
    ("the folder", ".", 0o755),
    ("the store", "cases.duckdb", 0o640),
    ("exports", "exports", 0o750),
    ("an export", "exports/*.gz", 0o604),
    ("a hook file", "snapshots/*.json", 0o644),
]


@pytest.mark.parametrize(("name", "mode"), [w[1:] for w in WIDE], ids=[w[0] for w in WIDE])
def test_open_to_others(well: Person, name: str, mode: int) -> None:
    top = well.local_cases
    path = top if name == "." else next(iter(top.glob(name)))
    path.chmod(mode)
    assert well.ill() == {"privacy": "red"}
    step = well.doctor()["privacy"]["next"]
    assert os.system(f"PATH=/usr/bin:/bin; {step}") == 0
    assert well.ill() == {}


@pytest.mark.parametrize("mode", [0o757, 0o775, 0o720, 0o702, 0o1777], ids=oct)
def test_a_home_that_others_write(well: Person, mode: int) -> None:
    shared = os.getegid() if os.getegid() != os.geteuid() else 1
    try:
        os.chown(well.home, -1, shared)
    except PermissionError:
        pytest.skip("needs a group that is shared")
    well.home.chmod(mode)
    assert well.ill() == {"privacy": "red"}
    step = well.doctor()["privacy"]["next"]
    assert os.system(f"PATH=/usr/bin:/bin; {step}") == 0
    assert well.ill() == {}


@pytest.mark.parametrize("mode", [0o755, 0o775], ids=oct)
def test_a_home_that_others_read(well: Person, mode: int) -> None:
    """A checkout, say; under Debian's umask the user's own group may write into it."""
    os.chown(well.home, -1, os.geteuid())
    well.home.chmod(mode)
    assert well.ill() == {}


# The hook


def test_no_hook(well: Person) -> None:
    well.do("uninstall", "hook", "--yes")
    assert well.ill() == {"hook": "red"}


def test_settings_that_are_no_json(well: Person) -> None:
    damage(well.settings)
    assert well.doctor()["hook"]["state"] == "red"
    well.settings.write_text('{"hooks": ')
    found = well.doctor()["hook"]
    assert (found["state"], str(well.settings) in found["next"]) == ("red", True)


def rewrite(person: Person, old: str, new: str) -> None:
    text = person.settings.read_text()
    assert old in text
    person.settings.write_text(text.replace(old, new))


CHANGED = [
    ("a byte of the line", lambda p: rewrite(p, "exit 0", "exit 1"), "line was changed"),
    ("the home", lambda p: rewrite(p, str(p.home), f"{p.home}x"), "another home"),
    ("the time limit", lambda p: rewrite(p, '"timeout": 5', '"timeout": 50'), "around the line"),
    ("one event of two", lambda p: rewrite(p, "SessionStart", "Stop"), "around the line"),
]


@pytest.mark.parametrize(("make", "words"), [c[1:] for c in CHANGED], ids=[c[0] for c in CHANGED])
def test_changed_entries(well: Person, make: Callable[[Person], object], words: str) -> None:
    make(well)
    assert well.ill() == {"hook": "red"}
    found = well.doctor()["hook"]
    assert words in found["detail"]
    well.do(*found["next"].split()[1:], "--yes")
    assert well.ill() == {}


@pytest.mark.parametrize("part", PARTS)
def test_a_changed_script(well: Person, tmp_path: Path, part: str) -> None:
    """One byte more, in a copy that the line names (T50)."""
    for name in PARTS:
        shutil.copy(line.HOOK.with_name(name), tmp_path / name)
    rewrite(well, str(line.HOOK), str(tmp_path / line.HOOK.name))
    assert well.ill() == {"hook": "red"}
    assert "another script" in well.doctor()["hook"]["detail"]
    with (tmp_path / part).open("ab") as file:
        file.write(b"\n")
    assert well.ill() == {"hook": "red", "hook script": "red"}
    (tmp_path / part).unlink()
    assert well.ill() == {"hook": "red", "hook script": "red"}
    well.do(*well.doctor()["hook script"]["next"].split()[1:], "--yes")
    assert well.ill() == {}


def edit_word(data: bytes) -> bytes:
    return data.replace(b"End of Twice", b"End of twice")


def edit_code(data: bytes) -> bytes:
    at = data.index(bytes([opcode.opmap["RESUME"], 0]), 200)  # with which each function begins
    return data[: at + 2] + bytes([data[at + 2] ^ 1]) + data[at + 3 :]


def other_program(data: bytes) -> bytes:
    """Behind a header that asks nothing of the source (PEP 552)."""
    return data[:4] + b"\1\0\0\0" + b"\0" * 8 + marshal.dumps(compile("x = 1", "hook.py", "exec"))


@pytest.fixture
def compiled(well: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The compiled file of a hook that was installed elsewhere and has been called."""
    folder = tmp_path / "it's installed"
    folder.mkdir()
    for name in PARTS:
        shutil.copy(line.HOOK.with_name(name), folder / name)
    monkeypatch.setattr(line, "HOOK", folder / line.HOOK.name)
    well.do("install", "hook", "--yes")
    (path,) = (folder / "__pycache__").iterdir()
    assert well.ill() == {}
    return path


@pytest.mark.parametrize(
    "change", [edit_word, edit_code, other_program, lambda data: data[:-100], lambda d: d[:16]]
)
def test_a_changed_compiled_hook(
    well: Person, compiled: Path, change: Callable[[bytes], bytes]
) -> None:
    """It is what a prompt really runs (T50)."""
    before = compiled.read_bytes()
    compiled.write_bytes(change(before))
    assert compiled.read_bytes() != before
    assert well.ill() == {"hook script": "red"}
    assert os.system(f"PATH=/usr/bin:/bin; {well.doctor()['hook script']['next']}") == 0
    assert well.ill() == {}


def test_a_compiled_hook_of_an_older_source(well: Person, compiled: Path) -> None:
    """The next prompt compiles it again."""
    compiled.write_bytes(edit_word(compiled.read_bytes()))
    source = line.HOOK.with_name("hook.py")
    os.utime(source, (source.stat().st_mtime + 10,) * 2)
    assert well.ill() == {}


def test_an_interpreter_that_is_gone(well: Person) -> None:
    rewrite(well, line.interpreter(), "/nowhere/python3")
    assert well.ill() == {"hook": "red", "interpreter": "red"}


def test_wired_twice(well: Person) -> None:
    well.do("install", "hook", "--project", "--yes")
    assert well.ill() == {"hook copies": "warn"}
    well.do(*well.doctor()["hook copies"]["next"].split()[1:], "--yes")
    assert well.ill() == {}
    well.change(well.settings, lambda v: v.update(enabledPlugins={"twice-told@twice-told": True}))
    assert well.ill() == {"hook copies": "warn"}
    well.do(*well.doctor()["hook copies"]["next"].split()[1:], "--yes")
    assert well.ill() == {}, "the plugin alone is enough"


def shared_line(person: Person, command: str) -> Path:
    """A line of ours that came with the repository."""
    hooks = [{"hooks": [{"type": "command", "command": command}]}]
    path = person.repo / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"hooks": {"UserPromptSubmit": hooks}}, indent=1))
    return path


@pytest.mark.parametrize(
    ("names", "check"),
    [
        (("/nowhere/python3", "", ""), "interpreter"),
        (("", "/nowhere/run_hook.py", ""), "hook script"),
        (("", "", "/nowhere/home"), "hook"),
    ],
    ids=["interpreter", "script", "home"],
)
def test_a_line_that_came_with_the_repository(
    well: Person, names: tuple[str, str, str], check: str
) -> None:
    """No command of ours writes there, so each step says which line of which file is to go."""
    real = (line.interpreter(), str(line.HOOK), str(well.home))
    command = line.guarded(*(name or own for name, own in zip(names, real, strict=True)))
    path = shared_line(well, command)
    numbers = [n for n, text in enumerate(path.read_text().split("\n"), 1) if '"type"' in text]
    found = well.doctor()
    for name in {check, "hook", "hook copies"}:
        assert found[name]["state"] != "ok"
        assert str(path) in found[name]["next"]
        assert f"line {numbers[0] - 1}" in found[name]["next"]
    path.unlink()
    assert well.ill() == {}


def test_in_this_repository_alone(well: Person) -> None:
    well.do("uninstall", "hook", "--yes")
    well.do("install", "hook", "--project", "--yes")
    assert well.ill() == {}


@pytest.mark.parametrize(
    ("user", "shared", "local", "state"),
    [
        (True, None, None, "red"),
        (None, True, None, "red"),
        (None, None, True, "red"),
        (True, False, None, "ok"),
        (None, True, False, "ok"),
        (False, None, None, "ok"),
    ],
)
def test_all_hooks_switched_off(
    well: Person, user: bool | None, shared: bool | None, local: bool | None, state: str
) -> None:
    folder = well.repo / ".claude"
    places = (well.settings, folder / "settings.json", folder / "settings.local.json")
    for path, value in zip(places, (user, shared, local), strict=True):
        if value is not None:
            well.change(path, lambda v, value=value: v.update(disableAllHooks=value))
    assert well.doctor()["hooks on"]["state"] == state


def test_a_folder_without_trust(well: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    state = well.claude / ".claude.json"
    state.write_text(json.dumps({"projects": {str(well.repo): {"hasTrustDialogAccepted": False}}}))
    assert well.ill() == {"trust": "warn"}
    assert "waits for trust" in well.doctor()["trust"]["detail"]
    state.write_text("[")
    assert well.ill() == {"trust": "warn"}
    above = {"projects": {str(well.repo.parent): {"hasTrustDialogAccepted": True}}}
    state.write_text(json.dumps(above))
    assert well.ill() == {}


def test_a_deleted_folder(well: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert well.ill() == {"trust": "red"}


def backdate_install(person: Person, days: float) -> None:
    for path in (person.local_cases / "install").iterdir():
        os.utime(path, (time.time() - days * 86400,) * 2)


def sessions(person: Person, number: int) -> None:
    """A correction of nine days ago, and sessions after the install that were to show it: one of
    an hour ago is there, and these."""
    cwd = str(person.repo)
    put(person.claude, "old", ago(talk("old", PLAIN, MISSED, cwd=cwd), days=9))
    for n in range(number):
        put(person.claude, f"n{n}", ago(talk(f"n{n}", f"{PLAIN} {n}", cwd=cwd), days=1 + n))
    backdate_install(person, 6)
    person.do("nightly")


@pytest.mark.parametrize(("number", "state"), [(0, "warn"), (1, "warn"), (2, "red")])
def test_never_fired(well: Person, number: int, state: str) -> None:
    from pipeline.inject.text import frame

    assert well.doctor()["hook fires"]["state"] == "ok", "there was nothing to be shown"
    sessions(well, number)
    assert well.ill() == {"hook fires": state}
    shown = attachment("u9", "hook_additional_context", content=[frame(["- x"])])
    put(well.claude, "n9", ago([*talk("n9", f"{PLAIN} 9", cwd=str(well.repo)), shown], days=1))
    well.do("nightly")
    assert well.ill() == {}


def test_a_hook_of_one_repository_answers_for_no_other(
    well: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    well.do("uninstall", "hook", "--yes")
    well.do("install", "hook", "--project", "--yes")
    sessions(well, 2)
    assert well.ill() == {"hook fires": "red"}
    other = tmp_path / "other"
    shutil.copytree(well.repo, other)
    monkeypatch.chdir(other)
    found = well.doctor()["hook fires"]
    assert (found["state"], "not seen yet" in found["detail"]) == ("ok", True)


# The hook's files


def rendered(person: Person, at: datetime) -> None:
    """The same file with another time, and the right digest."""
    path = person.hook_file
    header, _, items = path.read_bytes().partition(b"\n")[2].partition(b"\n")
    values = json.loads(header) | {"rendered_at": int(at.timestamp())}
    rest = json.dumps(values, separators=(",", ":")).encode() + b"\n" + items
    digest = hashlib.sha256(rest).hexdigest().encode()
    path.write_bytes(b'{"digest":"' + digest + b'"}\n' + rest)


def test_stale_hook_files(well: Person) -> None:
    rendered(well, datetime.now(UTC) - timedelta(hours=47))
    assert well.ill() == {}
    rendered(well, datetime.now(UTC) - timedelta(hours=49))
    assert well.ill() == {"hook files": "red"}
    well.do("nightly")
    assert well.ill() == {}


def test_a_hook_file_of_the_future(well: Person) -> None:
    rendered(well, datetime.now(UTC) + timedelta(days=1))
    assert well.ill() == {"clock": "red"}


@pytest.mark.parametrize("change", [lambda data: data[:-9], lambda data: b"", lambda d: d + b"x"])
def test_a_damaged_hook_file(well: Person, change: Callable[[bytes], bytes]) -> None:
    well.hook_file.write_bytes(change(well.hook_file.read_bytes()))
    assert well.ill() == {"hook files": "red"}


def test_a_hook_file_under_another_name(well: Person) -> None:
    well.hook_file.rename(well.hook_file.with_name("0" * 64 + ".json"))
    assert well.ill() == {"hook files": "red", "this folder": "red"}


def test_no_hook_file(well: Person) -> None:
    well.hook_file.unlink()
    assert well.ill() == {"hook files": "red", "this folder": "red"}
    well.do("nightly")
    assert well.ill() == {}


def test_a_repository_that_nobody_worked_in(
    well: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    assert well.ill() == {}


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *name, *words], check=True, capture_output=True)


def test_the_doctor_takes_the_files_that_the_hook_takes(
    bare: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A linked worktree stands for its main one, never for a sister."""
    git(bare.repo, "commit", "-q", "--allow-empty", "-m", "x")
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        git(bare.repo, "worktree", "add", "-q", str(folder))
    heard: list[Path] = []
    for session in (first, bare.repo):
        put(bare.claude, session.name, ago(talk(session.name, MISSED, cwd=str(session)), hours=1))
        heard.append(session)
        bare.do("nightly")
        for folder in (first, second, bare.repo):
            monkeypatch.chdir(folder)
            found = bare.doctor()["this folder"]
            takes = folder in heard or (bare.repo in heard and folder is second)
            assert bool(answer.text(folder, bare.home)) == takes
            assert (found["state"] == "ok") == takes, folder
            assert takes or found["state"] == "warn"


# The ledger


@pytest.fixture
def raised(well: Person) -> Path:
    """A ledger that was verified."""
    path = well.home / "ledger" / NAME
    append(path, [event(Happening.RAISED), event(Happening.ACCEPTED, 1)])
    well.do("ledger", "verify")
    assert well.ill() == {}
    return path


def swapped(path: Path) -> None:
    """An event that cannot follow."""
    append(path, [event(Happening.RETIRED, 2, repo="never")])


LEDGERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no event": (lambda path: path.write_bytes(path.read_bytes() + b"said\n"), "red"),
    "edited": (lambda path: path.write_bytes(path.read_bytes().replace(b"shop", b"flop")), "red"),
    "out of order": (swapped, "red"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "red"),
    "a link": (lambda path: (path.rename(path.with_name("x")), path.symlink_to("x")), "red"),
    "from the future": (
        lambda path: append(path, [event(Happening.HELD, 10**8, repo="other")]),
        "warn",
    ),
    "a line gone": (lambda path: path.write_bytes(path.read_bytes().splitlines(True)[0]), "warn"),
    "all gone": (lambda path: path.unlink(), "warn"),
}


@pytest.mark.parametrize(("change", "state"), LEDGERS.values(), ids=LEDGERS)
def test_a_ledger_that_is_not_sound(
    well: Person, raised: Path, change: Callable[[Path], object], state: str
) -> None:
    change(raised)
    found = well.doctor()["ledger"]
    assert well.ill() == {"ledger": state}
    assert found["next"] == "twice-told ledger verify"
    assert "said" not in found["detail"]


def test_a_damaged_memory_of_the_ledger(well: Person, raised: Path) -> None:
    (memory,) = (well.local_cases / "ledger").iterdir()
    memory.write_bytes(memory.read_bytes()[:-9])
    assert well.ill() == {"ledger": "red"}
    memory.unlink()
    assert well.ill() == {}


def test_repositories_for_a_teams_ledger_that_is_not_named(well: Person) -> None:
    (well.home / "config.toml").write_text('[ledger]\nrepos = ["loom"]\n')
    assert well.ill() == {"ledger": "warn"}
    found = well.doctor()["ledger"]
    assert "and not where it is" in found["detail"]
    assert found["next"].startswith("twice-told init DIR")


def test_a_teams_ledger_that_is_gone(well: Person) -> None:
    well.do("init", str(well.repo / "ledger"))
    assert well.ill() == {}
    shutil.rmtree(well.repo / "ledger")
    assert well.ill() == {"ledger": "red"}
    assert well.doctor()["ledger"]["next"].startswith("twice-told init ")


# A check that fails


def test_a_fault_in_a_check_is_its_red_line(well: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline.doctor import checks

    def broken(scene: object) -> None:
        raise ZeroDivisionError(MISSED)

    monkeypatch.setattr(checks, "CHECKS", (("broken", broken), *checks.CHECKS))
    assert well.ill() == {"broken": "red"}
    assert "ZeroDivisionError at test_states.py" in well.doctor()["broken"]["detail"]


def test_a_barred_home(well: Person) -> None:
    """Nothing can be seen, and every check still has its line."""
    if os.geteuid() == 0:
        pytest.skip("root may enter everywhere")
    well.local_cases.chmod(0)
    try:
        assert len(well.doctor()) == 22
    finally:
        well.local_cases.chmod(0o700)
