"""Messages that were queued while the agent worked: said once, in whatever lines they stand."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.transcripts.builders import (
    OTHER_SESSION,
    Record,
    calls,
    prompt,
    queue,
    queued,
    read_records,
    result,
    user,
)

OLD = "2.1.40"
LAST_UNSAVED = "2.1.96"
FIRST_SAVED = "2.1.97"


@dataclass(frozen=True)
class Case:
    name: str
    version: str
    lines: tuple[Record, ...]
    words: tuple[str, ...] = ()
    """Beside the first prompt, which every file begins with."""


def took(content: str, at: int = 5, **fields: str) -> tuple[Record, Record]:
    """Enqueued and removed by a client before 2.1.197: the removal repeats nothing."""
    return queue("enqueue", at, content, **fields), queue("remove", at + 1, **fields)


CASES = [
    Case(
        "sent-next",
        OLD,
        (
            queue("enqueue", 5, "then hem it"),
            queue("dequeue", 6),
            user("u9", "then hem it", version=OLD),
        ),
        ("then hem it",),
    ),
    Case("absorbed-only-copy", OLD, took("no, the other side"), ("no, the other side",)),
    Case("absorbed-last-unsaved", LAST_UNSAVED, took("the other side"), ("the other side",)),
    Case("absorbed-first-version", "2.0.76", took("the other side"), ("the other side",)),
    Case(
        "absorbed-saved",
        FIRST_SAVED,
        (*took("the other side"), queued("u9", "the other side")),
        ("the other side",),
    ),
    Case("absorbed-saved-elsewhere", FIRST_SAVED, took("the other side")),
    Case(
        "absorbed-with-user-line",
        OLD,
        (*took("the other side"), user("u9", "the other side", version=OLD)),
        ("the other side",),
    ),
    Case(
        "absorbed-with-attachment",
        OLD,
        (*took("the other side"), queued("u9", "the other side")),
        ("the other side",),
    ),
    Case("pulled-back", OLD, (queue("enqueue", 5, "rip it"), queue("popAll", 6, "rip it"))),
    Case(
        "pulled-back-then-sent",
        OLD,
        (
            queue("enqueue", 5, "rip it"),
            queue("popAll", 6, "rip it"),
            user("u9", "rip it gently", version=OLD),
        ),
        ("rip it gently",),
    ),
    Case(
        "pulled-back-then-another-absorbed",
        OLD,
        (queue("enqueue", 5, "rip it"), queue("popAll", 6, "rip it"), *took("hem it", 7)),
        ("hem it",),
    ),
    Case("never-ended", OLD, (queue("enqueue", 5, "rip it"),)),
    Case("removed-without-enqueue", OLD, (queue("remove", 5),)),
    Case(
        "first-in-first-out",
        OLD,
        (
            queue("enqueue", 5, "one"),
            queue("enqueue", 6, "two"),
            queue("dequeue", 7),
            queue("remove", 8),
        ),
        ("two",),
    ),
    Case(
        "two-absorbed",
        OLD,
        (
            queue("enqueue", 5, "one"),
            queue("enqueue", 6, "two"),
            queue("remove", 7),
            queue("remove", 8),
        ),
        ("one", "two"),
    ),
    Case(
        "by-session",
        OLD,
        (
            queue("enqueue", 5, "here"),
            queue("enqueue", 6, "there", sessionId=OTHER_SESSION),
            queue("remove", 7, sessionId=OTHER_SESSION),
            queue("dequeue", 8),
        ),
        ("there",),
    ),
    Case(
        "by-content",
        "2.1.332",
        (
            queue("enqueue", 5, "one"),
            queue("enqueue", 6, "two"),
            queue("remove", 7, "two", reason="absorbed_mid_turn"),
            queued("u8", "two"),
            queue("dequeue", 9),
        ),
        ("two",),
    ),
    Case(
        "new-version-needs-attachment",
        "2.1.332",
        (queue("enqueue", 5, "one"), queue("remove", 7, "one", reason="absorbed_mid_turn")),
    ),
    Case("repeated-content-is-saved", OLD, (queue("enqueue", 5, "x"), queue("remove", 6, "x"))),
    *(
        Case(f"no-words-{at}", OLD, took(content))
        for at, content in enumerate(
            (
                "<task-notification>\n<task-id>b1</task-id>",
                "/mend the sleeve",
                "!spin --fast",
                '{"task_id":"b1"}',
                "  ",
                "",
            )
        )
    ),
    Case("not-a-string", OLD, (queue("enqueue", 5) | {"content": ["x"]}, queue("remove", 6))),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_queue(tmp_path: Path, case: Case) -> None:
    first = (
        prompt("u1", "weave on", version=case.version),
        calls("a2", "Bash", version=case.version),
    )
    for everything in (False, True):
        reading = read_records(tmp_path, *first, *case.lines, everything=everything)
        assert reading.words == ["weave on", *case.words]


def test_absorbed_words_have_an_identity_and_an_action(tmp_path: Path) -> None:
    """There is no uuid: the same file gives the same key every night."""
    lines = (
        prompt("u1", "weave on", version=OLD),
        calls("a2", "Bash", inputs={"command": "spin"}, version=OLD),
        *took("the other side"),
        result("u7", "toolu_a2", version=OLD),
    )
    first, again = (read_records(tmp_path / n, *lines) for n in ("a", "b"))
    turn = first.human[1]
    assert (turn.row, turn.kind.value, turn.number) == ("Q", "queued", 3)
    assert turn.key == again.human[1].key
    assert turn.key in first.seen
    action = first.action("the other side")
    assert action is not None and (action.tool, action.gist) == ("Bash", "spin")


def test_unknown_version_takes_nothing(tmp_path: Path) -> None:
    """Words are taken from the queue only where the version proves that no other copy exists."""
    reading = read_records(tmp_path, user("u1", "weave on", version=None), *took("the other side"))
    assert reading.words == ["weave on"]


def test_an_absorbed_message_belongs_to_the_folder_of_the_line_before(tmp_path: Path) -> None:
    """Its own lines name none, and the session may move on."""
    reading = read_records(
        tmp_path,
        prompt("u1", "sew the hem", version=OLD, cwd="/home/dev/loom"),
        *took("the other side"),
        prompt("u9", "now weave", version=OLD, cwd="/home/dev/reed"),
    )
    cwds = {turn.text: turn.cwd for turn in reading.human}
    assert cwds["the other side"] == "/home/dev/loom"
