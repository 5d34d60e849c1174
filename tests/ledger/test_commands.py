"""`ledger verify`, `ledger log` and `init`, end to end."""

import json
import os
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.cases.store import open_reader
from pipeline.config import Config, load
from pipeline.errors import ConfigError, LedgerError, PipelineError
from pipeline.files import lock
from pipeline.ledger.book import ATTRIBUTES, NAME, append, read
from pipeline.ledger.event import Happening
from pipeline.propose.books import books
from pipeline.propose.folder import check
from pipeline.propose.setting import with_ledger
from pipeline.records import CaseType
from tests.collect.homes import MISSED, Done, command, driver, put, run, talk
from tests.ledger.made import event
from tests.ledger.repos import Clone
from tests.ledger.waiting import has_open
from tests.mounts import READ_ONLY, behind
from tests.transcripts.builders import config as made_config

H = Happening


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "claude").mkdir()
    return replace(
        made_config(tmp_path), home=tmp_path / "home", claude_dirs=(tmp_path / "claude",)
    )


@pytest.fixture
def team(config: Config, tmp_path: Path) -> Clone:
    """A repository of a team and one of somebody else, both with cases and events at home."""
    for name in ("webshop", "acme-secret"):
        Clone(tmp_path / name).top.mkdir()
        Clone(tmp_path / name).git("init", "-q", "-b", "main")
        put(config.claude_dirs[0], name, talk(name, MISSED, cwd=str(tmp_path / name)), name)
    run(config)
    append(config.home / "ledger" / NAME, [
        event(H.RAISED, 0), event(H.RAISED, 1, repo="acme-secret", number=2), event(H.ACCEPTED, 2),
    ])  # fmt: skip
    return Clone(tmp_path / "webshop")


def started(config: Config, team: Clone, *words: str) -> Done:
    """As a later call reads the settings that an earlier one has written."""
    done = command(config, "init", str(team.ledger.parent), *words)
    assert done.returncode == 0, done.stderr
    return done


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_other_repositorys_name_never_reaches_the_team(config: Config, team: Clone) -> None:
    done = started(config, team)
    assert "it takes webshop; all others stay" in done.stderr
    assert "2 events copied from the home" in done.stdout
    assert [e.repo for e in read(team.ledger).events] == ["webshop", "webshop"]
    settings = load(config.home, environ={"HOME": str(config.home)})
    assert settings.ledger_folder == team.ledger.parent
    with open_reader(config.local_cases) as store:
        found = books(settings, store)
    for at, repo in enumerate(("fourth", "acme-secret", "quokka", "webshop")):
        kind = CaseType.WRONG_RESULT
        append(found.file_of(repo), [event(H.RAISED, 9 + at, repo=repo, type=kind, number=3 + at)])
    assert len(read(team.ledger).events) == 3
    team.git("add", ".")
    team.commit()
    inside = b"".join(everything(team.top).values())
    assert b"webshop" in inside
    assert b"acme" not in inside
    assert b"quokka" not in inside
    assert command(config, "ledger", "verify").returncode == 0


def test_verify_tells_what_is_odd_and_no_fault(config: Config, team: Clone) -> None:
    """Lines that git's union left twice (it may repeat any), and a clock that was wrong."""
    file = config.home / "ledger" / NAME
    append(file, [event(H.HELD, 10**8, repo="other")])
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines(keepends=True)[0])
    done = command(config, "ledger", "verify")
    assert done.returncode == 0
    assert "1 doubled" in done.stdout
    assert "1 from the future" in done.stdout


def test_the_settings_can_name_other_repositories(config: Config, team: Clone) -> None:
    (config.home / "config.toml").write_text('[ledger]\nrepos = ["webshop", "third"]\n')
    started(config, team)
    settings = load(config.home, environ={"HOME": str(config.home)})
    with open_reader(config.local_cases) as store:
        assert books(settings, store).team_repos == {"webshop", "third"}


def test_it_makes_three_files_and_commits_nothing(config: Config, team: Clone) -> None:
    (config.home / "config.toml").write_bytes(b'# mine\r\ntimezone = "UTC"')
    (config.home / "config.toml").chmod(0o640)
    team.ledger.parent.mkdir()
    attributes = team.ledger.parent / ".gitattributes"
    attributes.write_bytes(b"* text=auto")
    done = started(config, team)
    assert attributes.read_bytes() == b"* text=auto\n" + ATTRIBUTES.encode()
    value = json.dumps(str(team.ledger.parent)).encode()
    assert (config.home / "config.toml").read_bytes() == (
        b'# mine\r\ntimezone = "UTC"\r\n\r\n[ledger]\r\npath = ' + value + b"\r\n"
    )
    assert (config.home / "config.toml").stat().st_mode & 0o777 == 0o640
    assert done.stdout.count(": written") == 3
    assert "nothing is committed: git -C" in done.stderr
    assert team.tried("rev-parse", "HEAD").returncode
    before = everything(team.top) | everything(config.home / "ledger")
    again = started(config, team)
    assert "everything is there already" in again.stdout
    assert everything(team.top) | everything(config.home / "ledger") == before


def test_the_settings_file_that_is_named_is_the_one_that_is_written(
    config: Config, team: Clone, tmp_path: Path
) -> None:
    other = tmp_path / "other.toml"
    other.write_text('timezone = "UTC"\n')
    done = started(config, team, "--config", str(other))
    assert f"{other}: written" in done.stdout
    assert tomllib.loads(other.read_text())["ledger"]["path"] == str(team.ledger.parent)
    assert not (config.home / "config.toml").exists()


def test_what_is_raised_while_it_waits_for_the_lock_is_copied_too(
    config: Config, team: Clone
) -> None:
    code = "import sys; from pipeline.cli import main; sys.exit(main(sys.argv[1:]))"
    file = config.local_cases / "lock"
    with lock(file):
        waiting = driver(config, code, "init", str(team.ledger.parent))
        has_open(waiting.pid, file)
        late = event(H.RETIRED, 9)
        append(config.home / "ledger" / NAME, [late])
    out, err = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, err
    assert "3 events copied" in out
    assert late in read(team.ledger).events


def test_before_anything_was_heard_it_takes_its_repository(config: Config, tmp_path: Path) -> None:
    top = tmp_path / "quiet"
    top.mkdir()
    Clone(top).git("init", "-q")
    done = command(config, "init", str(top / "ledger"))
    assert done.returncode == 0, done.stderr
    assert "it takes quiet; all others stay" in done.stderr


def test_a_ledger_that_is_there_is_left(config: Config, team: Clone) -> None:
    theirs = event(H.RAISED, 5, 2, repo="docs-site", number=1)
    append(team.ledger, [theirs])
    started(config, team)
    assert read(team.ledger).events[0] == theirs
    assert len(read(team.ledger).events) == 3


def test_a_dry_run_says_the_same_and_writes_nothing(config: Config, team: Clone) -> None:
    before = everything(team.top) | everything(config.home)
    dry = started(config, team, "--dry-run")
    assert everything(team.top) | everything(config.home) == before
    wet = started(config, team)
    assert dry.stdout.replace("would be ", "") == wet.stdout
    answer = json.loads(started(config, team, "--dry-run", "--json").stdout)
    assert answer == {"ledger": str(team.ledger), "repos": ["webshop"], "copied": 0, "written": [],
                      "dry_run": True}  # fmt: skip


def test_another_ledger_in_the_settings_is_not_replaced(config: Config, team: Clone) -> None:
    started(config, team)
    before = everything(team.top) | everything(config.home)
    done = command(config, "init", str(team.top / "second"))
    assert done.returncode == 3
    assert f"name the ledger in {team.ledger.parent} already" in done.stderr
    assert everything(team.top) | everything(config.home) == before


def test_what_is_no_fit_folder(config: Config, team: Clone, tmp_path: Path) -> None:
    Clone(config.home).git("init", "-q")
    (team.top / "link").symlink_to(tmp_path / "acme-secret")
    (team.top / "file").write_text("")
    (team.top / ".gitignore").write_text("ignored/\n")
    (tmp_path / "plain").mkdir()
    for folder, why in (
        (config.local_cases / "x", "private folder"),
        (config.home / "ledger", "private folder"),
        (team.top / "link" / "x", "is a link"),
        (team.top / "link", "is a link"),
        (team.top / "file", "no folder"),
        (team.top / "ignored", "git ignores"),
        (team.top / ".git" / "x", "git does not answer"),
        (tmp_path / "plain" / "x", "no git repository"),
    ):
        done = command(config, "init", str(folder))
        assert (done.returncode, done.stdout) == (3, ""), folder
        assert why in done.stderr
        assert "  next: " in done.stderr
    with pytest.raises(LedgerError, match="another user"):
        check(team.ledger.parent, config, os.geteuid() + 1)
    assert not (config.home / "config.toml").exists()


@pytest.mark.parametrize("name", [NAME, ".gitattributes"])
def test_a_link_in_the_place_of_a_file_is_refused(config: Config, team: Clone, name: str) -> None:
    team.ledger.parent.mkdir()
    target = team.top / "target"
    target.write_text("x\n")
    (team.ledger.parent / name).symlink_to(target)
    done = command(config, "init", str(team.ledger.parent))
    assert done.returncode == 3
    assert target.read_text() == "x\n"


SETTINGS = {
    "none": b"",
    "others": b'timezone = "UTC"\n',
    "a table after it": b"[raise]\nmin_days = 3\n",
    "its table": b'[ledger]\nrepos = ["a"]\n',
    "its table, spaced": b"  [ ledger ]  # mine\n\n[raise]\nmin_days = 3\n",
    "its table at the end": b"[ledger]",
    "a string that looks like it": b'exclude = ["""\n[ledger]\n"""]\n[ledger]\nrepos = []\n',
    "windows": b'timezone = "UTC"\r\n[ledger]\r\nrepos = []\r\n',
    "no end": b'timezone = "UTC"',
    "other writing": "# 내 설정\n".encode(),
}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("folder", ["/home/jane/ledger", '/a "b"\\c/한글'])
def test_one_setting_is_added_and_every_other_byte_stays(text: bytes, folder: str) -> None:
    changed = with_ledger(text, folder, "config.toml")
    before, after = tomllib.loads(text.decode()), tomllib.loads(changed.decode())
    assert after["ledger"].pop("path") == folder
    assert after == before | {"ledger": before.get("ledger", {})}
    kept = iter(changed)
    assert all(byte in kept for byte in text), "nothing is taken out or moved"
    assert with_ledger(changed, folder, "config.toml") == changed
    with pytest.raises(ConfigError, match=r"^mine\.toml "):
        with_ledger(changed, "/elsewhere", "mine.toml")


@pytest.mark.parametrize("text", [b"ledger = {repos = []}\n", b"\xff", b"[", b"ledger.repos = []"])
def test_an_unusual_form_is_left_to_its_writer(text: bytes) -> None:
    with pytest.raises(PipelineError) as caught:
        with_ledger(text, "/home/jane/ledger", "config.toml")
    assert '[ledger] path = "/home/jane/ledger"' in caught.value.hint


# verify and log


def test_verify_speaks_of_both_ledgers(config: Config, team: Clone) -> None:
    started(config, team)
    done = command(config, "ledger", "verify")
    assert done.returncode == 0
    assert [row.partition(": ")[0] for row in done.stdout.splitlines()] == [
        str(team.ledger), str(config.home / "ledger" / NAME),
    ]  # fmt: skip
    assert "outside git" in done.stdout
    with team.ledger.open("ab") as file:
        file.write(b"You forgot the tests.\n")
    done = command(config, "ledger", "verify")
    assert done.returncode == 1
    assert f"{team.ledger}:3: no event: no JSON" in done.stdout
    assert "  next: " in done.stdout
    assert "forgot" not in done.stdout + done.stderr
    (first, second) = json.loads(command(config, "ledger", "verify", "--json").stdout)
    assert (len(first["problems"]), second["problems"]) == (1, [])
    assert first.keys() == {"ledger", "events", "versions", "problems", "notes"}


def test_verify_answers_where_nothing_can_be_remembered(config: Config, team: Clone) -> None:
    done = behind(READ_ONLY, config, "ledger verify")
    assert (done.returncode, "sound" in done.stdout) == (0, True), done.stderr
    assert "the next check will not know of this one" in done.stdout


def test_log_prints_the_events_of_a_proposal(config: Config, team: Clone) -> None:
    done = command(config, "ledger", "log")
    rows = [row.split("\t") for row in done.stdout.splitlines()]
    assert [row[1:4] for row in rows] == [
        ["1", "raised", "webshop"], ["2", "raised", "acme-secret"], ["1", "accepted", "webshop"],
    ]  # fmt: skip
    assert rows[0][6] == "3 cases, 2 sessions, 2 days, 2026-02-01 to 2026-02-27"
    assert rows[2][6].startswith("rule ")
    assert command(config, "ledger", "log", "1").stdout.count("\n") == 2
    found = json.loads(command(config, "ledger", "log", "2", "--json").stdout)
    assert [(e["number"], e["event"], e["repo"]) for e in found] == [(2, "raised", "acme-secret")]


def test_log_tells_a_proposal_from_the_one_that_came_back(config: Config) -> None:
    append(config.home / "ledger" / NAME, [
        event(H.HELD, 0), event(H.RAISED, 1), event(H.REJECTED, 2), event(H.COUNTED, 3),
        event(H.REOPENED, 4, number=2), event(H.ACCEPTED, 5, number=2),
    ])  # fmt: skip
    rows = json.loads(command(config, "ledger", "log", "--json").stdout)
    assert [row["number"] for row in rows] == [1, 1, 1, 1, 2, 2]
    assert command(config, "ledger", "log", "2").stdout.count("\n") == 2


def test_an_empty_home_has_an_empty_ledger(config: Config) -> None:
    assert command(config, "ledger", "verify").returncode == 0
    done = command(config, "ledger", "log")
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads(command(config, "ledger", "log", "--json").stdout) == []
    assert not config.home.exists()


def test_verify_remembers_in_private_and_not_in_a_dry_run(config: Config, team: Clone) -> None:
    state = config.local_cases / "ledger"
    command(config, "ledger", "verify", "--dry-run")
    assert not state.exists()
    command(config, "ledger", "verify")
    assert [p.stat().st_mode & 0o777 for p in state.iterdir()] == [0o600]
    shutil.rmtree(config.home / "ledger")
    assert command(config, "ledger", "verify").returncode == 1
