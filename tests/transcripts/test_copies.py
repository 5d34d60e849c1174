"""One turn that stands in several files, and sessions that a program ran: read over a folder."""

import os
from pathlib import Path
from typing import Any

import pytest

from pipeline.collect.turns import all_turns
from pipeline.transcripts.history import paste_displays
from pipeline.transcripts.lineage import FIRST, oldest_own
from tests.transcripts.builders import (
    DENIED,
    OTHER_SESSION,
    SESSION,
    Record,
    calls,
    compact,
    config,
    dump,
    prompt,
    queue,
    read_records,
    result,
    says,
    user,
    write,
)


def turns(root: Path, **settings: Any) -> list[tuple[str, str]]:
    return [(said.text, said.session) for said in all_turns(config(root, **settings))]


TALK = (prompt("u1", "weave"), says("a2", "ok", "u1"), prompt("u3", "no, linen", "a2"))


def forked(*records: Record, **fields: Any) -> list[Record]:
    """Copies as a fork writes them: uuids kept, session rewritten."""
    return [record | {"sessionId": OTHER_SESSION, **fields} for record in records]


def test_fork_keeps_the_original(tmp_path: Path) -> None:
    """By age of what only each file holds, not by name: the copy sorts first here."""
    write(tmp_path, *TALK, says("a9", "done", "u3"), name="z-original.jsonl")
    write(
        tmp_path,
        *forked(*TALK),
        prompt("u20", "now red", sessionId=OTHER_SESSION),
        name="a-fork.jsonl",
    )
    assert turns(tmp_path) == [
        ("weave", SESSION),
        ("no, linen", SESSION),
        ("now red", OTHER_SESSION),
    ]


def test_fork_of_everything(tmp_path: Path) -> None:
    """The original has no line of its own left; a fork always begins with one."""
    write(tmp_path, *TALK, name="z-original.jsonl")
    mine = {"type": "custom-title", "timestamp": "2026-03-02T10:00:00.000Z", "uuid": "t1"}
    write(tmp_path, mine, *forked(*TALK), name="a-fork.jsonl")
    assert turns(tmp_path) == [("weave", SESSION), ("no, linen", SESSION)]


def test_headless_fork_of_a_typed_session(tmp_path: Path) -> None:
    """`claude -p --resume --fork-session` rewrites the entry point of what a person typed."""
    write(tmp_path, *TALK, name="z.jsonl")
    write(
        tmp_path,
        *forked(*TALK, entrypoint="sdk-cli"),
        prompt("u9", "by script", sessionId=OTHER_SESSION, entrypoint="sdk-cli"),
        name="a.jsonl",
    )
    assert turns(tmp_path) == [("weave", SESSION), ("no, linen", SESSION)]


def test_best_copy_within_one_file(tmp_path: Path) -> None:
    """The same line again after a compaction, once with a headless entry point."""
    copy = TALK[0] | {"entrypoint": "sdk-cli"}
    reading = read_records(tmp_path, copy, TALK[0])
    assert reading.words == ["weave"]
    assert reading.counts.duplicates == 1


def test_session_of_the_line_not_of_the_file(tmp_path: Path) -> None:
    """Two terminals in one file."""
    write(tmp_path, prompt("u1", "one"), prompt("u2", "two", sessionId=OTHER_SESSION))
    assert turns(tmp_path) == [("one", SESSION), ("two", OTHER_SESSION)]


def test_lines_without_uuid(tmp_path: Path) -> None:
    """Their words and time are their identity: a copy in another file is the same turn."""
    line = {key: value for key, value in prompt("u1", "no").items() if key != "uuid"}
    write(tmp_path, line, line | {"timestamp": "2026-03-02T09:30:00.000Z"}, name="a.jsonl")
    write(tmp_path, line, name="b.jsonl")
    assert len(turns(tmp_path)) == 2


def test_unreadable_copy_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, *TALK, name="b.jsonl")
    (tmp_path / "projects" / "-home-dev-loom" / "a.jsonl").mkdir()
    assert len(turns(tmp_path)) == 2


# Lineage


def dated(uuid: str, at: str) -> Record:
    return {"type": "user", "uuid": uuid, "timestamp": at}


def test_oldest_own(tmp_path: Path) -> None:
    shared = dated("s1", "2026-03-01T08:00:00Z")
    files = {
        "own-first": (dated("a1", "2026-03-01T07:00:00Z"), shared),
        "own-later": (shared, dated("b1", "2026-03-01T09:00:00Z")),
        "nothing-own": (shared,),
        "undated-own": (shared, {"type": "user", "uuid": "c1"}),
        "no-uuid": (shared, {"type": "mode", "timestamp": "2026-03-01T10:00:00Z"}),
    }
    paths = [write(tmp_path, *records, name=f"{name}.jsonl") for name, records in files.items()]
    own = {path.stem: at for path, at in oldest_own(paths).items()}
    assert own["own-first"].hour == 7
    assert own["own-later"].hour == 9
    assert own["nothing-own"] == own["undated-own"] == FIRST
    assert own["no-uuid"].hour == 10


def test_oldest_own_of_odd_files(tmp_path: Path) -> None:
    """Torn lines still show their uuid; a file that is gone is left out."""
    torn = compact(dated("s1", "2026-03-01T08:00:00Z") | {"x": "y" * 50})[:-9]
    one = write(tmp_path, dump(torn, b"\n\xff\0[[[\n", b'"x"\n'), name="one.jsonl")
    two = write(tmp_path, dated("s1", "2026-03-01T08:00:00Z"), name="two.jsonl")
    own = oldest_own([one, two, tmp_path / "gone.jsonl"])
    assert own == {one: FIRST, two: FIRST}


# Sessions that a program ran, before the client marked them


UNMARKED = "2.0.50"
LONG = "Summarise the state of every loom in the hall and print a table"


def old(uuid: str, text: str, **fields: Any) -> Record:
    return user(uuid, text, version=UNMARKED, **fields)


START = (queue("enqueue", 0, LONG), queue("dequeue", 0))


def test_one_prompt_behind_the_queue_is_headless(tmp_path: Path) -> None:
    for everything in (False, True):
        reading = read_records(tmp_path, *START, old("u1", "hm"), everything=everything)
        assert reading.words == []
        assert reading.counts.human_lines == 0
        assert reading.counts.not_human["headless"] == 1
        wanted = read_records(tmp_path, *START, old("u1", "hm"), include_headless=True)
        assert wanted.counts.human_lines == 1


@pytest.mark.parametrize(
    "lines",
    [
        (*START, old("u1", "hm"), old("u2", "no")),
        (START[0], old("u1", "hm")),
        (old("u1", "hm"), *START),
        (queue("enqueue", 0, "hm"), queue("popAll", 0), old("u1", "hm")),
        (*START, prompt("u1", "hm")),
    ],
    ids=["two-prompts", "no-dequeue", "queue-later", "pulled-back", "marked"],
)
def test_that_is_no_proof(tmp_path: Path, lines: tuple[Record, ...]) -> None:
    assert "hm" in read_records(tmp_path, *lines).words


@pytest.mark.parametrize(
    ("sessions", "text", "kept"),
    [(4, LONG, 4), (5, LONG, 0), (5, "weave", 5)],
    ids=["four-times", "five-times", "five-times-short"],
)
def test_the_same_first_prompt_in_many_sessions(
    tmp_path: Path, sessions: int, text: str, kept: int
) -> None:
    """A script says the same long sentence, and all of its sessions are its own."""
    for n in range(sessions):
        write(
            tmp_path,
            old(f"u{n}", text, sessionId=f"s{n}"),
            old(f"v{n}", f"then {n}", sessionId=f"s{n}"),
            name=f"s{n}.jsonl",
        )
    found = [words for words, _ in turns(tmp_path)]
    assert found.count(text) == kept
    assert len([words for words in found if words.startswith("then")]) == kept


def test_marked_prompts_may_repeat(tmp_path: Path) -> None:
    for n in range(6):
        write(tmp_path, prompt(f"u{n}", LONG, sessionId=f"s{n}"), name=f"s{n}.jsonl")
    assert len(turns(tmp_path)) == 6


def test_headless_sessions_only_when_wanted(tmp_path: Path) -> None:
    write(tmp_path, prompt("u1", "no", entrypoint="sdk-cli"))
    assert turns(tmp_path) == []
    assert turns(tmp_path, include_headless=True) == [("no", SESSION)]


def test_excluded_folders_and_our_own_judge(tmp_path: Path) -> None:
    settings = config(tmp_path, exclude=("/home/dev/garden",))
    write(
        tmp_path,
        prompt("u1", "a", cwd="/home/dev/garden"),
        prompt("u2", "b", cwd="/home/dev/garden/bed"),
        prompt("u3", "c", cwd=str(settings.judge_folder)),
        prompt("u4", "d", cwd="/home/dev/gardens"),
    )
    assert [said.text for said in all_turns(settings)] == ["d"]


def test_a_subagent_gives_no_turns_but_its_refusals(tmp_path: Path) -> None:
    side = {"isSidechain": True, "agentId": "a"}
    write(tmp_path, prompt("u1", "review it"), name="s.jsonl")
    write(
        tmp_path,
        user("u2", "Review it.", **side),
        calls("a3", "Write", "u2", **side),
        result("u4", "toolu_a3", DENIED + "not here", True, parent="a3", **side),
        name="s/subagents/agent-a.jsonl",
    )
    assert [words for words, _ in turns(tmp_path)] == ["review it", "not here"]


# history.jsonl


def entry(display: str, session: Any = SESSION) -> Record:
    return {"display": display, "pastedContents": {}, "timestamp": 1, "sessionId": session}


def test_displays_with_a_paste(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    shown = "see [Pasted text #1 +2 lines]"
    path.write_bytes(
        dump(entry("plain"), entry(shown), entry(shown, 7), entry("x " + shown, OTHER_SESSION))
        + b'{"display":"[Pasted text #\n[[[[[Pasted text #\n["[Pasted text #"]\n'
        + b"[" * 90_000
        + b"[Pasted text #\n"
    )
    assert paste_displays(tmp_path) == {SESSION: [shown], OTHER_SESSION: ["x " + shown]}


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_no_history(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "history.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    assert paste_displays(tmp_path) == {}


def test_paste_of_an_old_client_is_cut_out(tmp_path: Path) -> None:
    """2.1.197 keeps no mark in the transcript; the input history tells what was typed."""
    write(tmp_path, prompt("u1", "why this? Traceback\nno thread", version="2.1.197"))
    (tmp_path / "history.jsonl").write_bytes(dump(entry("why this? [Pasted text #1 +1 lines]")))
    assert turns(tmp_path) == [("why this?", SESSION)]
