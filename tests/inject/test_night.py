"""From a correction in a transcript to what the next session of that repository is shown."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipeline.cases import read
from pipeline.cases.store import open_reader
from pipeline.config import Config
from pipeline.inject.snapshots import document
from tests.collect.conftest import *  # noqa: F403
from tests.collect.homes import MISSED, PLAIN, VIOLATED, command, put, talk
from tests.hook.conftest import World, item


def today(records: list[dict[str, object]]) -> list[dict[str, object]]:
    """The same lines an hour ago: only recent corrections are shown."""
    now = datetime.now(UTC) - timedelta(hours=1)
    for number, record in enumerate(records):
        stamp = (now + timedelta(seconds=number)).isoformat(timespec="milliseconds")
        record["timestamp"] = stamp.replace("+00:00", "Z")
    return records


def repository(top: Path, name: str) -> Path:
    folder = top / name
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def test_one_correction_shows_in_its_repository_and_in_no_other(
    config: Config, root: Path, tmp_path: Path
) -> None:
    """S3.9-S3.11: shown at the next session's first prompt, there only, once."""
    here, there = repository(tmp_path, "here"), repository(tmp_path, "there")
    put(root, "s1", today(talk("s1", PLAIN, MISSED, cwd=str(here))))
    put(root, "s2", today(talk("s2", PLAIN, cwd=str(there))))
    assert command(config, "nightly").returncode == 0
    world = World(tmp_path / "world")
    world.home = config.home
    text = world.shown(cwd=str(here))
    assert MISSED.rstrip(".") in text
    assert world.shown(cwd=str(here)) == ""
    assert world.shown(cwd=str(there), session_id="n") == ""
    printed = json.loads(command(config, "inject", "--cwd", str(here), "--json").stdout)
    assert printed["text"] == text
    assert [set(item) for item in printed["items"]] == [{"id", "day", "type", "source", "text"}]
    assert printed["repo"] == "here"
    (shown,) = printed["items"]
    why = command(config, "inject", "--cwd", str(here)).stderr
    assert f"{shown['id']}: human, by rule (en.missed-item." in why
    assert ", names its object, until " in why


def test_inject_says_what_the_agent_is_shown_meanwhile(
    config: Config, root: Path, tmp_path: Path
) -> None:
    """Its own text is that of the next night; the hook's file may be gone, older or another."""
    here = repository(tmp_path, "here")
    put(root, "s1", today(talk("s1", MISSED, cwd=str(here))))
    assert command(config, "nightly").returncode == 0

    def inject(*words: str) -> "subprocess.CompletedProcess[str]":
        return command(config, "inject", "--cwd", str(here), *words)

    fresh = inject()
    assert (MISSED.rstrip(".") in fresh.stdout, "agent is shown" in fresh.stderr) == (True, False)
    (path,) = (config.local_cases / "snapshots").iterdir()
    whole = path.read_bytes()
    old = datetime.now(UTC) - timedelta(days=3, hours=1)
    path.write_bytes(document(path.stem, "here", [item(7)], old))
    for words in ((), ("--json",)):
        stale = inject(*words)
        assert stale.stdout == (inject(*words) if words else fresh).stdout
        assert "the agent is shown this instead:\n  Twice Told: " in stale.stderr
        assert "you forgot part 7" in stale.stderr
        assert "3 days ago" in stale.stderr
    for data in (b"", whole[:-3]):
        path.write_bytes(data)
        assert inject().stdout == fresh.stdout
        assert "the agent is shown nothing here" in inject().stderr
    path.unlink()
    assert "the agent is shown nothing here" in inject().stderr
    assert command(config, "nightly").returncode == 0
    assert inject().stderr == fresh.stderr


def test_what_is_taken_back_is_shown_no_more(config: Config, root: Path, tmp_path: Path) -> None:
    here = repository(tmp_path, "here")
    put(root, "s1", today(talk("s1", MISSED, VIOLATED, cwd=str(here))))
    assert command(config, "nightly").returncode == 0
    world = World(tmp_path / "world")
    world.home = config.home
    with open_reader(config.local_cases) as store:
        assert store is not None
        ids = {case.text: case.id for case in read.cases(store, read.Wanted())}
    assert command(config, "dismiss", ids[MISSED]).returncode == 0
    assert MISSED not in world.shown(cwd=str(here), session_id="a")
    assert VIOLATED.rstrip(".") in world.shown(cwd=str(here), session_id="b")
    assert command(config, "forget", ids[VIOLATED], "--yes").returncode == 0
    assert world.shown(cwd=str(here), session_id="c") == ""
    for path in (config.local_cases / "snapshots").iterdir():
        assert b"push to main" not in path.read_bytes()


def test_showings_are_counted_from_the_transcripts_rows(
    config: Config, root: Path, tmp_path: Path
) -> None:
    """Not from markers: another hook's block can throw our text away."""
    from pipeline.inject.text import frame
    from tests.transcripts.builders import attachment

    shown = attachment("u9", "hook_additional_context", content=[frame(["- x"])])
    other = attachment("u8", "hook_additional_context", content=["something else"])
    put(root, "s1", [*talk("s1", PLAIN), shown, other])
    put(root, "s2", [*talk("s2", PLAIN), {**shown, "sessionId": "fork"}])
    for _ in range(2):
        assert command(config, "collect", "--rebuild").returncode == 0
        stats = json.loads(command(config, "stats", "--json").stdout)
        assert stats["shown"]["times"] == 1
        assert stats["totals"]["turns"] == 2
