"""Mistakes that a hook, a review agent or the agent itself pointed out, told apart by source."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.records import Source
from tests.transcripts.builders import (
    SAID,
    Record,
    attachment,
    calls,
    compact,
    prompt,
    queued,
    read,
    read_records,
    result,
    says,
    text_block,
    user,
    write,
)

FINDINGS = "1) The hem is open. 2) The colour is wrong."
AGENT = "0123456789abcdef0"


def notification(task: str = "bg1", words: str = FINDINGS, call: str = "toolu_a1") -> str:
    return (
        f"<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>{call}</tool-use-id>\n"
        f"<status>completed</status>\n<result>{words}</result>\n</task-notification>"
    )


def report(words: str = FINDINGS, **fields: object) -> Record:
    """toolUseResult of an agent that ran in the foreground."""
    content = [text_block(words), text_block("agentId: 0123 (for resuming)")]
    return {
        "status": "completed",
        "agentId": AGENT,
        "agentType": "reviewer",
        "prompt": "Review the cloth",
        "content": content,
        **fields,
    }


def blocked(text: str, **attached: object) -> Record:
    error = {"blockingError": text, "command": "check.sh"}
    fields = {
        "hookName": "PostToolUse:Write",
        "hookEvent": "PostToolUse",
        "toolUseID": "toolu_a1",
        "blockingError": error,
    }
    return attachment("u2", "hook_blocking_error", "a1", **{**fields, **attached})


@dataclass(frozen=True)
class Case:
    name: str
    line: Record
    source: Source | None
    words: str = ""
    tool: str = "Bash"


HOOK = "PreToolUse:Bash hook error: "
CASES = [
    Case(
        "pre-tool-use",
        result("u2", "toolu_a1", HOOK + "[check.sh]: No, use the wheel", True),
        Source.GUARD,
        "No, use the wheel",
    ),
    Case(
        "pre-tool-use-no-command",
        result("u2", "toolu_a1", HOOK + "No, use the wheel", True),
        Source.GUARD,
        "No, use the wheel",
    ),
    Case(
        "pre-tool-use-mcp",
        result("u2", "toolu_a1", "PreToolUse:mcp__loom__spin hook error: [c]: no", True),
        Source.GUARD,
        "no",
    ),
    Case(
        "pre-tool-use-decision",
        result(
            "u2",
            "toolu_a1",
            "Use the wheel instead",
            True,
            permissionDecision={"decision": "reject", "source": "hook"},
        ),
        Source.GUARD,
        "Use the wheel instead",
    ),
    Case("pre-tool-use-quoted", result("u2", "toolu_a1", HOOK + "[c]: no", False), None),
    Case(
        "policy-is-no-fault",
        result(
            "u2",
            "toolu_a1",
            "Permission to use Bash has been denied.",
            True,
            permissionDecision={"decision": "reject", "source": "config"},
        ),
        None,
    ),
    Case("plain-failure", result("u2", "toolu_a1", "Exit code 1\nwrong thread", True), None),
    Case("post-tool-use", blocked("Lint: the hem is open"), Source.GUARD, "Lint: the hem is open"),
    Case(
        "post-tool-use-name-only", blocked("Lint: open", hookEvent=None), Source.GUARD, "Lint: open"
    ),
    Case("other-event-blocks", blocked("no", hookEvent="UserPromptSubmit", hookName="x"), None),
    Case(
        "stop",
        user("u2", "Stop hook feedback:\n[check.sh]: You forgot the fringe", isMeta=True),
        Source.GUARD,
        "You forgot the fringe",
        "",
    ),
    Case(
        "stop-332",
        user(
            "u2",
            "Stop hook feedback:\n[check.sh]: You forgot the fringe",
            isMeta=True,
            rowSource="hook",
            hookText="You forgot",
        ),
        Source.GUARD,
        "You forgot the fringe",
        "",
    ),
    Case(
        "agent",
        result("u2", "toolu_a1", FINDINGS, toolUseResult=report()),
        Source.REVIEW,
        FINDINGS,
        "Agent",
    ),
    Case(
        "agent-content-list",
        result("u2", "toolu_a1", [text_block(FINDINGS)], toolUseResult=report()),
        Source.REVIEW,
        FINDINGS,
        "Agent",
    ),
    Case(
        "agent-only-launched",
        result("u2", "toolu_a1", "Launched", toolUseResult=report(status="async_launched")),
        None,
    ),
    Case(
        "background",
        user("u2", notification(), origin={"kind": "task-notification"}),
        Source.REVIEW,
        FINDINGS,
        "Agent",
    ),
    Case(
        "background-queued",
        queued("u2", notification(), commandMode="task-notification"),
        Source.REVIEW,
        FINDINGS,
        "Agent",
    ),
    Case(
        "background-without-result",
        user("u2", "<task-notification>\n<task-id>b</task-id>\n</task-notification>"),
        None,
    ),
    Case("rejection-is-not-noticed", result("u2", "toolu_a1", SAID + "no", True), None),
    Case(
        "agent-admits",
        says("a2", "You are right, I made a mistake."),
        Source.SELF,
        "You are right, I made a mistake.",
        "Bash",
    ),
    Case("client-text-admits-nothing", says("a2", "my mistake", model="<synthetic>"), None),
    Case("sidechain-admits-nothing", says("a2", "my mistake", isSidechain=True), None),
    Case(
        "guard-of-a-sidechain",
        result("u2", "toolu_a1", HOOK + "[c]: no", True, isSidechain=True),
        None,
    ),
]
ADMISSIONS = (b"mistake",)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_noticed(tmp_path: Path, case: Case) -> None:
    before = calls("a1", "Bash", inputs={"command": "spin"})
    for everything in (False, True):
        reading = read_records(
            tmp_path, before, case.line, everything=everything, admissions=ADMISSIONS
        )
        found = [(turn.source, turn.text) for turn in reading.noticed]
        assert found == ([(case.source, case.words)] if case.source else [])
        assert all(turn.kind.value == "noticed" and turn.row == "N" for turn in reading.noticed)
        if case.source:
            action = reading.actions[reading.noticed[0].key]
            assert (action.tool if action else "") == case.tool or case.tool == ""


@pytest.mark.parametrize("case", [case for case in CASES if case.source], ids=lambda c: c.name)
def test_switched_off(tmp_path: Path, case: Case) -> None:
    reading = read_records(tmp_path, case.line, noticed=False, admissions=ADMISSIONS)
    assert reading.noticed == []


def test_excluded_folders_tell_nothing(tmp_path: Path) -> None:
    line = result("u2", "t", HOOK + "[c]: no", True)
    assert read_records(tmp_path, line, excluded=lambda cwd: True).noticed == []


def test_findings_in_three_places_are_one(tmp_path: Path) -> None:
    """Tool result, notification and the subagent's own file: one key."""
    main = write(
        tmp_path,
        calls("a1", "Agent", inputs={"subagent_type": "reviewer"}),
        result("u2", "toolu_a1", FINDINGS, toolUseResult=report()),
        user("u3", notification(AGENT), origin={"kind": "task-notification"}),
    )
    side = write(
        tmp_path,
        user("u1", "Review the cloth", isSidechain=True, agentId=AGENT),
        says("a2", FINDINGS, "u1", isSidechain=True, agentId=AGENT),
        name=f"5e551011/subagents/agent-{AGENT}.jsonl",
    )
    keys = {turn.key for path in (main, side) for turn in read(path).noticed}
    assert len(keys) == 1


def test_one_task_may_notify_twice(tmp_path: Path) -> None:
    lines = (
        user("u1", notification(words="The hem is open.")),
        user("u2", notification(words="Now the colour is wrong.")),
        user("u3", notification(words="Now the colour is wrong.")),
    )
    assert len(read_records(tmp_path, *lines).noticed) == 2


@pytest.mark.parametrize("everything", [False, True])
def test_last_report_of_a_subagent(tmp_path: Path, everything: bool) -> None:
    """Its own file may be the only one that holds the words."""
    name = f"5e551011/subagents/agent-{AGENT}.jsonl"
    path = write(
        tmp_path,
        user("u1", "Review", isSidechain=True, agentId=AGENT),
        says("a2", "I look.", "u1", isSidechain=True, agentId=AGENT),
        calls("a3", "Read", "a2", isSidechain=True, agentId=AGENT),
        says("a4", FINDINGS, "a3", isSidechain=True, agentId=AGENT),
        name=name,
    )
    meta = path.with_suffix(".meta.json")
    meta.write_bytes(compact({"agentType": "reviewer", "description": "Look at the cloth"}))
    reading = read(path, everything=everything)
    assert [(turn.source, turn.text) for turn in reading.noticed] == [(Source.REVIEW, FINDINGS)]
    action = reading.actions[reading.noticed[0].key]
    assert action is not None and action.gist == "reviewer Look at the cloth"


def test_a_subagent_that_ended_with_a_call_reports_nothing(tmp_path: Path) -> None:
    side = {"isSidechain": True, "agentId": AGENT}
    path = write(
        tmp_path,
        says("a1", FINDINGS, **side),
        calls("a2", "Read", "a1", **side),
        name=f"5e551011/subagents/agent-{AGENT}.jsonl",
    )
    for everything in (False, True):
        assert read(path, everything=everything).noticed == []


@pytest.mark.parametrize(
    "meta",
    ["[]", "{", '{"agentType": 7}', "x" * 70_000, "[" * 5000],
    ids=["list", "torn", "number", "big", "deep"],
)
def test_odd_meta(tmp_path: Path, meta: str) -> None:
    path = write(
        tmp_path,
        says("a1", FINDINGS, isSidechain=True, agentId=AGENT),
        name=f"5e551011/subagents/agent-{AGENT}.jsonl",
    )
    path.with_suffix(".meta.json").write_text(meta, encoding="utf-8")
    assert [turn.text for turn in read(path).noticed] == [FINDINGS]


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_meta_that_is_no_file(tmp_path: Path, kind: str) -> None:
    """A pipe would hold the night for ever."""
    path = write(
        tmp_path,
        says("a1", FINDINGS, isSidechain=True, agentId=AGENT),
        name=f"5e551011/subagents/agent-{AGENT}.jsonl",
    )
    meta = path.with_suffix(".meta.json")
    if kind == "pipe":
        os.mkfifo(meta)
    elif kind == "folder":
        meta.mkdir()
    else:
        secret = tmp_path / "secret.json"
        secret.write_text(json.dumps({"agentType": "taken from elsewhere"}), encoding="utf-8")
        meta.symlink_to(secret)
    reading = read(path)
    action = reading.actions[reading.noticed[0].key]
    assert action is not None and action.gist == ""


def test_an_admission_belongs_to_the_words_it_answers(tmp_path: Path) -> None:
    lines = (prompt("u1", "the hem is open"), says("a2", "my mistake", "u1"))
    for everything in (False, True):
        reading = read_records(tmp_path, *lines, admissions=ADMISSIONS, everything=everything)
        assert [turn.answers for turn in reading.noticed] == ["u1"]


def test_headless_sessions_are_marked(tmp_path: Path) -> None:
    line = result("u2", "t", HOOK + "[c]: no", True, entrypoint="sdk-cli")
    assert [turn.headless for turn in read_records(tmp_path, line).noticed] == [True]
