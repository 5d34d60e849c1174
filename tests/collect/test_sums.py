"""The figures of a run: both sums, what is counted where, and what a second run changes."""

import os
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline import clock
from pipeline.cases.store import open_reader
from pipeline.collect.run import Plan, collect, preview
from pipeline.commands.writing import writing
from pipeline.config import Config
from tests.collect.homes import (
    MISSED,
    PLAIN,
    SAMPLE,
    VIOLATED,
    cases,
    forked,
    live,
    put,
    run,
    state,
    tables,
    talk,
    texts,
)
from tests.transcripts.builders import (
    SAID,
    calls,
    result,
    says,
    system,
)


def mixed(root: Path) -> None:
    """Everything that a run counts apart: copies, other lines, state, bad lines, a torn tail."""
    first = talk("s1", PLAIN, MISSED, "thanks, go on")
    put(root, "s1", first)
    put(root, "s2", [*forked(first, "s2"), *talk("s2", VIOLATED, seconds=900, begin=3)])
    put(
        root,
        "s3",
        [
            {"type": "summary", "summary": "Weaving", "leafUuid": "x"},
            {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
            *talk("s3", PLAIN),
            calls("s3-c1", "Bash", "s3-a0", call="t1", sessionId="s3"),
            result("s3-r1", "t1", parent="s3-c1", sessionId="s3"),
            calls("s3-c2", "Bash", "s3-r1", call="t2", sessionId="s3"),
            result("s3-r2", "t2", SAID + VIOLATED, failed=True, parent="s3-c2", sessionId="s3"),
            says("s3-a9", "I leave it.", "s3-r2", sessionId="s3"),
            b"{broken\n",
            b"\n",
            system("s3-y", "turn_duration", "s3-a9"),
            b'{"type":"user","message":{"role":"user","content":"half a li',
        ],
    )


def test_both_sums_add_up_on_a_mixed_set(config: Config, root: Path) -> None:
    mixed(root)
    done = run(config).as_json()
    assert done["warnings"] == []
    assert done["lines"] == (
        done["human_lines"]
        + sum(done["not_human"].values())
        + done["state"]
        + sum(done["skipped"].values())
        + done["pending_tail"]
    )
    found = done["cases"]
    assert done["turns"] == found["by_source"]["human"] + done["no_case"] == 6
    assert found["new"] == sum(found["by_source"].values()) == sum(found["by_type"].values()) == 3
    assert done["duplicates"] == 3
    assert done["skipped"] == {"bad_json": 1}
    assert done["pending_tail"] == 1
    assert done["bytes_read"] == sum(p.stat().st_size for p in root.rglob("*.jsonl"))


def test_a_second_run_opens_nothing_and_changes_nothing(config: Config, root: Path) -> None:
    mixed(root)
    run(config)
    before = tables(config)
    again = run(config).as_json()
    assert again["files"] == {"seen": 3, "read": 0, "unchanged": 3}
    assert again["lines"] == again["turns"] == again["cases"]["new"] == again["bytes_read"] == 0
    assert tables(config) == before


def test_rebuild_reads_all_again_and_finds_only_known_cases(config: Config, root: Path) -> None:
    mixed(root)
    first = run(config)
    before = state(config)
    again = run(config, rebuild=True)
    assert (again.files["read"], again.new, again.known) == (3, 0, first.new)
    assert again.turns == first.turns
    assert state(config) == before


def test_without_transcripts_a_run_is_complete_and_empty(config: Config) -> None:
    assert run(config).as_json()["files"] == {"seen": 0, "read": 0, "unchanged": 0}
    assert state(config) == ([], Counter())


def test_the_sample_for_newcomers_gives_its_four_cases(tmp_path: Path, config: Config) -> None:
    done = run(replace(config, claude_dirs=(SAMPLE,)))
    assert (done.files["read"], done.new, done.by_source["human"]) == (3, 4, 4)


def test_preview_tells_what_would_be_read_and_writes_nothing(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED))
    assert preview(None, config, Plan()).files == {"seen": 1, "to_read": 1}
    assert not config.home.exists()
    run(config)
    put(root, "s2", talk("s2", MISSED))
    with open_reader(config.local_cases) as store:
        assert preview(store, config, Plan()).files == {"seen": 2, "unchanged": 1, "to_read": 1}
    assert [case.session for case in cases(config)] == ["s1"]


def test_the_window_chooses_files_by_mtime_and_reads_them_whole(config: Config, root: Path) -> None:
    """A file that changed lately is read to its beginning, so no wider window misses anything."""
    old, new = put(root, "s1", talk("s1", MISSED)), put(root, "s2", talk("s2", VIOLATED))
    now = clock.now()
    os.utime(old, (0, (now - timedelta(days=9)).timestamp()))
    done = run(config, start=now - timedelta(days=3))
    assert (done.files["outside"], done.files["read"]) == (1, 1)
    assert texts(config) == [VIOLATED]
    assert new.exists()
    run(config)
    assert texts(config) == sorted([MISSED, VIOLATED])


UNREADABLE = [
    ("barred", PermissionError(13, "Permission denied")),
    ("gone meanwhile", FileNotFoundError(2, "No such file or directory")),
    ("a broken disk", OSError(5, "Input/output error")),
]


@pytest.mark.parametrize("fault", [f for _, f in UNREADABLE], ids=[name for name, _ in UNREADABLE])
def test_a_file_that_cannot_be_read_does_not_stop_the_others(
    config: Config, root: Path, fault: OSError, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = put(root, "s1", talk("s1", MISSED))
    put(root, "s2", talk("s2", VIOLATED))
    opened = os.open

    def failing(path: Any, *rest: Any, **more: Any) -> int:
        if Path(os.fsdecode(path)) == bad:
            raise fault
        return opened(path, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", failing)
        done = run(config)
    assert (done.files["read"], done.files["failed"]) == (1, 1)
    assert len(done.warnings) == 1
    assert "could not be read" in done.warnings[0]
    assert MISSED not in str(done.as_json())
    assert texts(config) == [VIOLATED]
    assert run(config).files["read"] == 1, "it is tried again as soon as it can be read"
    assert texts(config) == sorted([MISSED, VIOLATED])


def test_links_and_folders_are_passed_over_and_counted(config: Config, root: Path) -> None:
    target = put(root, "s1", talk("s1", MISSED))
    (target.parent / "s2.jsonl").symlink_to(target)
    (target.parent / "s3.jsonl").mkdir()
    done = run(config).as_json()
    assert done["files"]["passed_over_link"] == done["files"]["passed_over_not_a_file"] == 1
    assert any("not followed" in warning for warning in done["warnings"])
    assert len(cases(config)) == 1


@pytest.mark.parametrize(("wanted", "sessions"), [(False, ["s1"]), (True, ["s1", "s2"])])
def test_headless_sessions_count_only_when_asked_for(
    config: Config, root: Path, wanted: bool, sessions: list[str]
) -> None:
    put(root, "s1", talk("s1", MISSED))
    put(root, "s2", talk("s2", MISSED, entrypoint="sdk-cli", promptSource="sdk"))
    chosen = replace(config, include_headless=wanted)
    assert run(chosen).turns == len(sessions)
    assert sorted(case.session for case in cases(chosen)) == sessions


def test_asking_for_headless_later_reads_the_old_files_again(config: Config, root: Path) -> None:
    put(root, "s2", talk("s2", MISSED, entrypoint="sdk-cli", promptSource="sdk"))
    run(config)
    assert not cases(config)
    run(replace(config, include_headless=True))
    assert texts(config) == [MISSED]
    run(config)
    assert not cases(config)


SCRIPT = "You forgot the tests; write the missing ones for every module in this folder, please."


@pytest.mark.parametrize(("sessions", "kept"), [(4, 4), (5, 0)])
def test_five_sessions_with_one_long_unmarked_first_prompt_are_a_script(
    config: Config, root: Path, sessions: int, kept: int
) -> None:
    """Before 2.1.167 nothing marks a prompt, so only the repetition tells a program from a person.
    One night after the other: the fifth session takes the first four along."""
    for number in range(sessions):
        put(root, f"s{number}", talk(f"s{number}", SCRIPT, MISSED, version="2.0.76"))
        run(config)
    assert live(config).total() == 2 * kept
    assert sum(case.text == MISSED for case in cases(config)) == kept
    put(root, "own", talk("own", MISSED, version="2.0.76"))
    run(config)
    assert [c.session for c in cases(config) if c.session == "own"] == ["own"]
    assert not sum(live(config)[f"s0-u{n}"] for n in range(2)) or kept


def test_two_processes_find_what_one_finds(config: Config, root: Path, tmp_path: Path) -> None:
    mixed(root)
    for number in range(20):
        put(root, f"x{number}", talk(f"x{number}", PLAIN, MISSED))
    run(config)
    other = replace(config, home=tmp_path / "other")
    done = run(other, jobs=2)
    assert done.files["read"] == 23
    assert state(other) == state(config)


GIT = """#!/bin/sh
echo x >> "$ASKED"
exit 1
"""


def test_a_run_that_stops_early_leaves_the_rest_unread(
    config: Config, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """^C once waited for the other processes to read everything. Each file asks git of a folder."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(GIT)
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    for number in range(300):
        cwd = tmp_path / "work" / str(number)
        cwd.mkdir(parents=True)
        put(root, f"s{number}", talk(f"s{number}", PLAIN, cwd=str(cwd)))

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), writing(config) as store:
        collect(store, config, Plan(jobs=2), stop)
    assert 1 <= len((tmp_path / "asked").read_text()) // 2 < 150


# Drift: a new client version must show up as a warning, never as a silent zero


def long_session(name: str, marked: bool = True) -> list[Any]:
    return [r for n in range(30) for r in talk(f"{name}{n}", *[PLAIN + f" {i}" for i in range(10)])]


def test_more_than_one_line_in_a_hundred_skipped_is_said(config: Config, root: Path) -> None:
    put(root, "s1", [*long_session("s"), *[b"{broken\n"] * 12])
    done = run(config)
    assert any("could not be read; see `skipped`" in warning for warning in done.warnings)


def test_one_in_a_hundred_is_not_said(config: Config, root: Path) -> None:
    put(root, "s1", [*long_session("s"), *[b"{broken\n"] * 3])
    assert run(config).warnings == []


def test_unknown_types_are_said(config: Config, root: Path) -> None:
    put(root, "s1", [*long_session("s"), *[{"type": "hologram", "data": "x"}] * 12])
    done = run(config)
    assert done.as_json()["unknown"] == {"hologram": 12}
    assert any("unknown types" in warning for warning in done.warnings)


RENAMED = {
    "type": lambda r: {("kind" if k == "type" else k): v for k, v in r.items()},
    "message": lambda r: {("payload" if k == "message" else k): v for k, v in r.items()},
    "origin": lambda r: {
        k: v for k, v in r.items() if k not in ("origin", "promptSource", "turnOrigin")
    },
}


@pytest.mark.parametrize("field", RENAMED)
def test_renamed_fields_are_no_silent_zero(config: Config, root: Path, field: str) -> None:
    put(root, "s1", long_session("s"))
    assert run(config).warnings == []
    put(root, "s2", [RENAMED[field](record) for record in long_session("t")])
    done = run(config)
    assert done.warnings, done.as_json()


def test_a_fall_of_turns_per_line_is_said(config: Config, root: Path) -> None:
    put(root, "s1", long_session("s"))
    run(config)
    fewer = [r for r in long_session("t") if r["type"] == "assistant"] * 2
    put(root, "s2", [*fewer, *talk("s2", *[PLAIN] * 5)])
    done = run(config)
    assert any("far fewer turns" in warning for warning in done.warnings)
