"""The action before a turn: what the correction is about."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.transcripts.builders import (
    NEWEST,
    OTHER_SESSION,
    SAID,
    STOP,
    Record,
    assistant,
    attachment,
    calls,
    prompt,
    queue,
    queued,
    read_records,
    result,
    says,
    system,
    text_block,
    user,
)

BASH = {"command": "spin  --fast\n--twice"}


def call_block(call: str, name: str, **inputs: object) -> Record:
    return {"type": "tool_use", "id": call, "name": name, "input": inputs}


@dataclass(frozen=True)
class Case:
    """`tool`, `gist` and `said` of the action before the turn that says "no"."""

    name: str
    lines: tuple[Record, ...]
    tool: str | None
    gist: str = ""
    said: str = ""


def ask(uuid: str, parent: str | None, *questions: str) -> Record:
    return calls(
        uuid,
        "AskUserQuestion",
        parent,
        inputs={"questions": [{"question": q, "options": []} for q in questions]},
    )


def answered(uuid: str, call: str, answer: str = "no") -> Record:
    questions = [{"question": "Wide?", "options": [{"label": "yes"}]}]
    shape = {"questions": questions, "answers": {"Wide?": answer}, "annotations": {}}
    return result(uuid, call, "The user answered", toolUseResult=shape)


CASES = [
    Case("nothing-before", (prompt("u1", "no"),), None),
    Case("only-talk", (says("a1", "I am done."), prompt("u2", "no", "a1")), "", "", "I am done."),
    Case(
        "last-call",
        (
            says("a1", "Spinning."),
            calls("a2", "Bash", "a1", inputs=BASH),
            result("u3", "toolu_a2", parent="a2"),
            says("a4", "Spun.", "u3"),
            prompt("u5", "no", "a4"),
        ),
        "Bash",
        "spin --fast --twice",
        "Spun.",
    ),
    Case(
        "one-message-in-two-lines",
        (
            assistant("a1", text_block("Writing it."), message="m1"),
            calls(
                "a2",
                "Write",
                "a1",
                inputs={"file_path": "/x/loom.py", "content": "y"},
                message="m1",
            ),
            prompt("u3", "no", "a2"),
        ),
        "Write",
        "/x/loom.py",
        "Writing it.",
    ),
    Case(
        "old-message-with-both",
        (
            assistant("a1", text_block("Writing."), call_block("t1", "Edit", file_path="a.py")),
            prompt("u2", "no", "a1"),
        ),
        "Edit",
        "a.py",
        "Writing.",
    ),
    Case(
        "reading-is-a-poor-action",
        (
            calls("a1", "Edit", inputs={"file_path": "a.py"}),
            calls("a2", "Read", "a1"),
            calls("a3", "TodoWrite", "a2"),
            prompt("u4", "no", "a3"),
        ),
        "Edit",
        "a.py",
    ),
    Case(
        "reading-when-there-is-nothing-else",
        (calls("a1", "Grep", inputs={"pattern": "weft"}), prompt("u2", "no", "a1")),
        "Grep",
        "weft",
    ),
    Case(
        "not-beyond-the-turn",
        (
            calls("a1", "Bash", inputs=BASH),
            prompt("u2", "next", "a1"),
            says("a3", "Hm.", "u2"),
            prompt("u4", "no", "a3"),
        ),
        "",
        "",
        "Hm.",
    ),
    Case(
        "through-hook-and-system-lines",
        (
            calls("a1", "Bash", inputs=BASH),
            attachment("u2", "hook_success", "a1"),
            system("u3", "stop_hook_summary", "u2"),
            user("u4", "x", "u3", isMeta=True),
            prompt("u5", "no", "u4"),
        ),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "through-an-interrupt",
        (
            calls("a1", "Bash", inputs=BASH),
            user("u2", [text_block("[Request interrupted by user]")], "a1"),
            prompt("u3", "no", "u2"),
        ),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "client-error-is-not-the-agent",
        (
            calls("a1", "Bash", inputs=BASH),
            says("a2", "API Error", "a1", model="<synthetic>"),
            prompt("u3", "no", "a2"),
        ),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "chain-not-file-order-after-a-rewind",
        (
            calls("a1", "Write", inputs={"file_path": "old.py"}),
            prompt("u2", "more", "a1"),
            calls("a3", "Write", "u2", inputs={"file_path": "dead.py"}),
            says("a4", "k", "a3"),
            prompt("u5", "no", "a1"),
        ),
        "Write",
        "old.py",
    ),
    Case(
        "broken-chain-file-order",
        (calls("a1", "Bash", inputs=BASH), prompt("u2", "no", "gone")),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "root-file-order",
        (calls("a1", "Bash", inputs=BASH), prompt("u2", "no")),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "cycle",
        (calls("a1", "Bash", "u2", inputs=BASH), prompt("u2", "no", "a1")),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "own-parent",
        (calls("a1", "Bash", "a1", inputs=BASH), prompt("u2", "no", "u2")),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "other-session-in-the-file",
        (
            calls("a1", "Bash", inputs=BASH),
            calls("a2", "Write", sessionId=OTHER_SESSION, inputs={"file_path": "b.py"}),
            prompt("u3", "no"),
        ),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "over-a-compaction",
        (
            calls("a1", "Bash", inputs=BASH),
            calls("a9", "Write", inputs={"file_path": "dead.py"}),
            system("u2", "compact_boundary", None, logicalParentUuid="a1"),
            user("u3", "summary", "u2", isCompactSummary=True),
            prompt("u4", "no", "u3"),
        ),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "refused-call",
        (
            says("a1", "Deleting."),
            calls("a2", "Bash", "a1", "t1", {"command": "rm loom"}),
            calls("a3", "Read", "a2", "t2"),
            result("u4", "t1", SAID + "no", True, parent="a2"),
        ),
        "Bash",
        "rm loom",
    ),
    Case(
        "refused-call-with-its-words",
        (
            assistant("a1", text_block("Deleting."), message="m1"),
            calls("a2", "Bash", "a1", "t1", {"command": "rm loom"}, message="m1"),
            result("u3", "t1", SAID + "no", True, parent="a2"),
        ),
        "Bash",
        "rm loom",
        "Deleting.",
    ),
    Case(
        "approval-comment",
        (
            calls("a1", "Edit", call="t1", inputs={"file_path": "a.py"}),
            calls("a2", "Read", "a1", "t2"),
            result("u3", "t1", "ok", beside=(text_block("no"),)),
        ),
        "Edit",
        "a.py",
    ),
    Case(
        "refused-without-its-call",
        (calls("a1", "Bash", inputs=BASH), result("u2", "gone", SAID + "no", True, parent="a1")),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "question",
        (calls("a1", "Bash", inputs=BASH), ask("a2", "a1", "Wide?"), answered("u3", "toolu_a2")),
        "Bash",
        "spin --fast --twice",
        "Wide?",
    ),
    Case(
        "question-without-a-call-before",
        (ask("a1", None, "Wide?", "Red?"), answered("u2", "toolu_a1")),
        "AskUserQuestion",
        "Wide? Red?",
        "Wide? Red?",
    ),
    Case(
        "queued",
        (
            calls("a1", "Bash", call="t1", inputs=BASH),
            queue("enqueue", 2, "no"),
            queue("remove", 3, "no"),
            result("u4", "t1", parent="a1"),
            queued("u5", "no", "u4"),
        ),
        "Bash",
        "spin --fast --twice",
    ),
    Case(
        "plan",
        (
            calls("a1", "ExitPlanMode", call="t1", inputs={"plan": "# Weave\nfirst"}),
            result("u2", "t1", SAID + "no", True),
        ),
        "ExitPlanMode",
        "# Weave first",
    ),
    Case(
        "inputs-without-a-telling-field",
        (calls("a1", "mcp__loom__set", inputs={"width": 4, "red": True}), prompt("u2", "no", "a1")),
        "mcp__loom__set",
        '{"width": 4, "red": true}',
    ),
    Case(
        "no-inputs", (calls("a1", "mcp__loom__stop"), prompt("u2", "no", "a1")), "mcp__loom__stop"
    ),
    Case("odd-inputs", (calls("a1", "Bash", inputs=["spin"]), prompt("u2", "no", "a1")), "Bash"),
    Case(
        "odd-name", (assistant("a1", {"type": "tool_use", "name": 7}), prompt("u2", "no", "a1")), ""
    ),
    Case(
        "last-message-wins",
        (
            calls("a1", "Bash", inputs={"command": "first"}, message="m"),
            calls("a1", "Bash", inputs={"command": "last"}, message="m"),
            prompt("u2", "no", "a1"),
        ),
        "Bash",
        "last",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_action(tmp_path: Path, case: Case) -> None:
    for everything in (False, True):
        action = read_records(tmp_path, *case.lines, everything=everything).action("no")
        if case.tool is None:
            assert action is None
            continue
        assert action is not None
        assert (action.tool, action.gist, action.said) == (case.tool, case.gist, case.said)


def test_lengths(tmp_path: Path) -> None:
    lines = (
        says("a1", "x" * 9000),
        calls("a2", "B" * 300, "a1", inputs={"command": "y" * 9000}),
        prompt("u3", "no", "a2"),
    )
    action = read_records(tmp_path, *lines).action("no")
    assert action is not None
    assert (len(action.tool), len(action.gist), len(action.said)) == (80, 200, 500)


def test_a_walk_is_bounded(tmp_path: Path) -> None:
    """A call thousands of lines above is none of this prompt's, and costs nothing."""
    between = [system(f"s{n}", "turn_duration", f"s{n - 1}" if n else "a1") for n in range(3000)]
    lines = (calls("a1", "Bash", inputs=BASH), *between, prompt("u2", "no", "s2999"))
    assert read_records(tmp_path, *lines).action("no") is None


@pytest.mark.parametrize("depth", range(880, 1000, 4))
def test_deep_inputs_never_raise(tmp_path: Path, depth: int) -> None:
    """Nesting that the decoder just takes must not break the one who writes it out again."""
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    line = (
        b'{"parentUuid":null,"message":{"id":"m","role":"assistant","content":[{"type":"tool_use",'
        b'"id":"t1","name":"X","input":' + deep + b'}]},"type":"assistant","uuid":"a1"}\n'
    )
    reading = read_records(tmp_path, line, prompt("u2", "no", "a1"))
    assert reading.words == ["no"]


# What else the classifier is told of a turn


def test_context(tmp_path: Path) -> None:
    """Stops, calls and words before, each within its session."""
    stop = user("u4", [text_block("[Request interrupted by user]")], "a3")
    lines = (
        prompt("u1", "first"),
        says("a2", "ok", "u1"),
        calls("a3", "Bash", "a2"),
        stop,
        prompt("u5", "second", "u4"),
        says("a6", "so", "u5"),
        prompt("u7", "third", "a6"),
        prompt("u8", "elsewhere", sessionId=OTHER_SESSION),
    )
    for everything in (False, True):
        turns = read_records(tmp_path, *lines, everything=everything).human
        assert [t.previous for t in turns] == ["", "first", "second", ""]
        assert [t.interrupted for t in turns] == [False, True, False, False]
        assert [t.acted for t in turns[:3]] == [False, True, False]
        assert [t.worked for t in turns] == [True, False, False, False]


def test_said(tmp_path: Path) -> None:
    """The agent's last words since the person's: "" when it has said nothing."""
    lines = (
        prompt("u1", "one"),
        says("a2", "I wove it.", "u1"),
        prompt("u3", "two", "a2"),
        prompt("u4", "three", "u3"),
    )
    for everything in (False, True):
        reading = read_records(tmp_path, *lines, everything=everything)
        assert list(reading.said.values()) == ["", "I wove it.", ""]


def test_a_bare_refusal_counts_as_a_stop(tmp_path: Path) -> None:
    lines = (
        calls("a1", "Bash", call="t1"),
        result("u2", "t1", STOP, True, parent="a1"),
        prompt("u3", "use twine", "u2"),
    )
    assert read_records(tmp_path, *lines).human[0].interrupted


def test_versions_before_the_marks_have_actions_too(tmp_path: Path) -> None:
    lines = (
        calls("a1", "Bash", inputs=BASH, version="1.0.60"),
        user("u2", "no", "a1", version="1.0.60"),
    )
    reading = read_records(tmp_path, *lines)
    action = reading.action("no")
    assert action is not None and action.tool == "Bash"
    assert reading.human[0].row == "U12" and NEWEST != "1.0.60"
