"""The decision procedure, row by row: which line holds a person's words, and which only looks so.

Each line is read twice, by the fast path and with every line parsed; both must say the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pipeline.records import Source
from tests.transcripts.builders import (
    CWD,
    DENIED,
    REFUSED,
    SAID,
    STOP,
    Reading,
    Record,
    attachment,
    calls,
    image_block,
    prompt,
    queued,
    read,
    result,
    text_block,
    user,
    write,
)

EXCLUDED = "/home/dev/secret-garden"
CALL = "toolu_a1"


@dataclass(frozen=True)
class Row:
    """One line and what must come of it: (row, kind, words) for each turn, else the reason."""

    name: str
    record: Record
    turns: tuple[tuple[str, str, str], ...] = ()
    reason: str = ""
    headless: bool = False
    file: str = field(default="")
    """Name below the project folder, where it matters."""
    tool: str = "Bash"
    """The tool of the call before the line."""


def typed(name: str, record: Record, row: str, words: str, **more: Any) -> Row:
    return Row(name, record, ((row, "typed", words),), **more)


SUBAGENT = "5e551011/subagents/agent-0123456789abcdef0.jsonl"
SIDE = {"isSidechain": True, "agentId": "0123456789abcdef0"}
FORK = (
    "<fork-boilerplate>\nYou are a worker.\n</fork-boilerplate>\n\nYour directive: weave it in red"
)
FENCE = "Twice Told: recent corrections in this repository\n- [wrong-result] not linen"

GATES = [
    Row("G1-prompt", user("u1", "Review the weave.", **SIDE), reason="subagent", file=SUBAGENT),
    Row("G1-without-flags", user("u1", "Review it."), reason="subagent", file=SUBAGENT),
    Row("G1-old-layout", user("u1", "Review it."), reason="subagent", file="agent-12345678.jsonl"),
    Row(
        "G1-rejection",
        result("u1", CALL, DENIED + "no wool here", True, **SIDE),
        (("T6", "rejection", "no wool here"),),
        file=SUBAGENT,
    ),
    Row(
        "G1-rejection-T2",
        result("u1", CALL, SAID + "no wool there", True, **SIDE),
        (("T2", "rejection", "no wool there"),),
        file=SUBAGENT,
    ),
    Row(
        "G1-fork",
        user("u1", [text_block(FORK)], version="2.1.197", **SIDE),
        (("G1", "command-args", "weave it in red"),),
        file=SUBAGENT,
    ),
    Row(
        "G1-beside",
        result("u1", CALL, "ok", beside=(text_block("fine"),), **SIDE),
        reason="tool_result",
        file=SUBAGENT,
    ),
    Row("G1-queued", queued("u1", "faster", line=SIDE), reason="subagent", file=SUBAGENT),
    Row("G2-sidechain", prompt("u1", "Check the loom", isSidechain=True), reason="subagent"),
    Row("G2-agent", prompt("u1", "Check the loom", agentId="abc"), reason="subagent"),
    Row(
        "G2-rejection",
        result("u1", CALL, SAID + "not this shuttle", True, isSidechain=True),
        (("T2", "rejection", "not this shuttle"),),
    ),
    Row("G3-excluded", prompt("u1", "no, silk", cwd=EXCLUDED), reason="excluded"),
    Row("G3-below", prompt("u1", "no, silk", cwd=EXCLUDED + "/bed"), reason="excluded"),
    typed("G3-neighbour", prompt("u1", "no, silk", cwd=EXCLUDED + "2"), "U7", "no, silk"),
    Row("G3-rejection", result("u1", CALL, SAID + "x", True, cwd=EXCLUDED), reason="excluded"),
    Row("G3-queued", queued("u1", "no, silk", line={"cwd": EXCLUDED}), reason="excluded"),
    *(
        Row(f"G3-observer-{at}", prompt("u1", text), reason="own_text")
        for at, text in enumerate(
            (
                "<observed_from_primary_session> the user wants silk",
                "Hello memory agent, you are continuing to observe",
                "You are a Claude-Mem, a plug-in that watches",
            )
        )
    ),
    Row("G4-fence", prompt("u1", FENCE), reason="own_text"),
    Row("G4-fence-inside", prompt("u1", "look:\n" + FENCE), reason="own_text"),
    Row("G4-queued", queued("u1", FENCE), reason="own_text"),
]

ATTACHMENTS = [
    Row("A1", queued("u1", "use the red one"), (("A1", "queued", "use the red one"),)),
    Row(
        "A1-blocks",
        queued("u1", [image_block(), text_block("use the blue one")]),
        (("A1", "queued", "use the blue one"),),
    ),
    Row(
        "A1-197",
        queued("u1", "no red", origin=None, humanTurn=None, line={"version": "2.1.197"}),
        (("A1", "queued", "no red"),),
    ),
    Row(
        "A1-no-mode",
        attachment("u1", "queued_command", prompt="thinner"),
        (("A1", "queued", "thinner"),),
    ),
    Row(
        "A1-typed-tag",
        queued("u1", "<task-notification> must not be in the export"),
        (("A1", "queued", "<task-notification> must not be in the export"),),
    ),
    Row(
        "A1-skill",
        queued(
            "u1",
            "<command-message>tidy</command-message>\n<command-name>/tidy</command-name>\n"
            "<command-args>leave the fringe</command-args>",
        ),
        (("A1", "command-args", "leave the fringe"),),
    ),
    Row(
        "A1-untrusted-tag",
        queued("u1", "<task-notification>done</task-notification>", origin=None),
        reason="client_text",
    ),
    Row(
        "A1-sdk",
        queued("u1", "no", line={"entrypoint": "sdk-ts"}),
        (("A1", "queued", "no"),),
        headless=True,
    ),
    Row(
        "A2-notification",
        queued("u1", "x", commandMode="task-notification"),
        reason="queued_command",
    ),
    Row("A2-peer", queued("u1", "x", origin={"kind": "peer"}), reason="queued_command"),
    Row("A2-peer-string", queued("u1", "x", origin="peer"), reason="queued_command"),
    Row("A2-meta", queued("u1", "x", isMeta=True), reason="queued_command"),
    Row("A3-hook", attachment("u1", "hook_success", content="no, silk"), reason="attachment"),
    Row("A3-blocking", attachment("u1", "hook_blocking_error", content="x"), reason="attachment"),
    Row("A3-file", attachment("u1", "edited_text_file", snippet="x"), reason="attachment"),
    Row("A3-new-kind", attachment("u1", "quantum_loom", prompt="x"), reason="attachment"),
    Row(
        "A3-no-object", {"type": "attachment", "uuid": "u1", "attachment": "x"}, reason="attachment"
    ),
    Row("X-no-text", prompt("u1", []), reason="no_text"),
    Row("X-image-only", prompt("u1", [image_block()]), reason="no_text"),
    Row("X-message-string", {"type": "user", "uuid": "u1", "message": "x"}, reason="no_text"),
    Row(
        "X-system",
        {"type": "system", "subtype": "informational", "content": "Original prompt: no"},
        reason="system",
    ),
]

OLD = {"version": "2.0.76"}
FLAGS = (
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "turnCompanion",
    "isVirtual",
    "hookText",
    "repeatsCompactSummary",
)
PLAN = "Implement the following plan:\n\n# Warp\n1. thread it"

PROMPTS = [
    Row("U1", user("u1", "[Request interrupted by user]"), reason="interrupt"),
    Row(
        "U1-tool-harness",
        user("u1", [text_block("[Request interrupted by user for tool use]")], rowSource="harness"),
        reason="interrupt",
    ),
    typed(
        "U1-only-beginning",
        prompt("u1", "[Request interrupted by user] is what I see, why?"),
        "U7",
        "[Request interrupted by user] is what I see, why?",
    ),
    *(
        Row(f"U2-{flag}", prompt("u1", "no", **{flag: True}), reason="client_text")
        for flag in FLAGS
    ),
    *(typed(f"U2-{flag}-false", prompt("u1", "no", **{flag: False}), "U7", "no") for flag in FLAGS),
    *(
        Row(f"U2-{source}", prompt("u1", "no", rowSource=source), reason="client_text")
        for source in ("harness", "hook")
    ),
    typed("U2-local-is-none", prompt("u1", "no", rowSource="local"), "U7", "no"),
    Row("U3-content", prompt("u1", "# Warp", planContent="# Warp"), reason="plan"),
    Row("U3-beginning", user("u1", PLAN, **OLD), reason="plan"),
    Row(
        "U3-feedback",
        user(
            "u1",
            PLAN + "\n\nUser feedback on this plan: with a selvedge",
            origin={"kind": "auto-continuation"},
            planContent="# Warp",
        ),
        (("U3", "approval-comment", "with a selvedge"),),
    ),
    Row("U3-blank", user("u1", PLAN + "\n\nUser feedback on this plan:  ", **OLD), reason="plan"),
    *(
        Row(f"U4-{kind}", prompt("u1", "no", origin={"kind": kind}), reason="origin_" + reason)
        for kind, reason in (
            ("task-notification", "task_notification"),
            ("peer", "peer"),
            ("coordinator", "coordinator"),
            ("channel", "channel"),
            ("auto-continuation", "auto_continuation"),
            ("scheduled-trigger", "scheduled_trigger"),
            ("observer", "observer"),
            ("something-new-2031", "something_new_"),
        )
    ),
    Row("U4-string", prompt("u1", "no", origin="peer"), reason="origin_peer"),
    Row(
        "U4-before-source",
        prompt("u1", "no", promptSource="sdk", origin={"kind": "task-notification"}),
        reason="origin_task_notification",
    ),
    *(
        Row(f"U5-{origin}", prompt("u1", "no", turnOrigin=origin), reason="turn_origin")
        for origin in ("scheduled", "task_notification", "peer", "brand-new")
    ),
    typed("U7", prompt("u1", "no, linen"), "U7", "no, linen"),
    typed("U7-197", prompt("u1", "no, linen", version="2.1.197"), "U7", "no, linen"),
    typed(
        "U7-path-without-origin",
        prompt("u1", "/home/dev/x.csv is stale", version="2.1.197", origin=None),
        "U7",
        "/home/dev/x.csv is stale",
    ),
    typed(
        "U7-blocks",
        prompt("u1", [text_block("[Image #1] too dark"), image_block()]),
        "U7",
        "too dark",
    ),
    typed("U7-bare-block", prompt("u1", ["no, hemp"]), "U7", "no, hemp"),
    Row(
        "U7-queued",
        prompt("u1", "then hem it", promptSource="queued"),
        (("U7", "queued", "then hem it"),),
    ),
    Row(
        "U7-two-blocks",
        prompt("u1", [text_block("first this"), text_block("then that")]),
        (("U7", "typed", "first this"), ("U7", "typed", "then that")),
    ),
    typed("U7-sdk-entry", prompt("u1", "no", entrypoint="sdk-cli"), "U7", "no", headless=True),
    Row("U8", prompt("u1", "commit it", promptSource="suggestion_accepted"), reason="suggestion"),
    Row("U9", prompt("u1", "tick", promptSource="system"), reason="prompt_source"),
    typed(
        "U10-mobile",
        prompt("u1", "from the bus: no", promptSource="sdk", entrypoint="remote_mobile"),
        "U10",
        "from the bus: no",
    ),
    typed("U10-no-source", prompt("u1", "no", promptSource=None), "U10", "no"),
    typed(
        "U11-source",
        user("u1", "no", promptSource="sdk", entrypoint="x"),
        "U11",
        "no",
        headless=True,
    ),
    typed(
        "U11-turn", user("u1", "no", turnOrigin="sdk", entrypoint="x"), "U11", "no", headless=True
    ),
    *(
        typed(f"U11-{entry}", user("u1", "no", entrypoint=entry), "U11", "no", headless=True)
        for entry in ("sdk-cli", "sdk-ts", "sdk-py")
    ),
    *(
        typed(f"U12-{version}", user("u1", "no, oak", version=version), "U12", "no, oak")
        for version in ("1.0.0", "1.0.128", "2.0.28", "2.0.76", "2.1.52", "2.1.78", "2.1.166")
    ),
    typed("U12-unreadable", user("u1", "no, oak", version="dev-build"), "U12", "no, oak"),
    typed("U12-absent", user("u1", "no, oak", version=None), "U12", "no, oak"),
    *(
        Row(f"U13-{version}", user("u1", "no", version=version), reason="unmarked")
        for version in ("2.1.167", "2.1.332", "3.0.0")
    ),
    typed(
        "U14",
        user("u1", "no", version="2.1.200", entrypoint="claude-vscode"),
        "U14",
        "no",
        headless=True,
    ),
]

CLIENT_TEXTS = (
    "<bash-stdout>no such loom</bash-stdout><bash-stderr></bash-stderr>",
    "<bash-stderr>no such loom</bash-stderr>",
    "<local-command-stdout>Set model to loom</local-command-stdout>",
    "<local-command-stderr>bad</local-command-stderr>",
    "<local-command-caveat>Caveat: do not answer</local-command-caveat>",
    "Caveat: The messages below were generated by the user while running local commands.",
    "<task-notification>\n<task-id>b1</task-id>\n</task-notification>",
    '<teammate-message teammate_id="weft">no, wrong thread</teammate-message>',
    "Another Claude session sent a message: stop that",
    "<cross-session-message from='x'>no</cross-session-message>",
    "<channel source='x'>no</channel>",
    "<scheduled-task name='x'>check it</scheduled-task>",
    "This session is being continued from a previous conversation that ran out of context. no",
    "Stop hook feedback:\nno",
    "Base directory for this skill: /home/dev/skills/tidy",
    "[Image: source: /home/dev/a.png]",
    "[Image: original 10x10, displayed at 5x5]",
    "Continue from where you left off.",
    "Your previous response had no visible output. Say it again.",
    "Your claude.ai usage limit has reset. Go on.",
    "API Error: 500 no thread",
    "Goal set: finish the cloth",
)
SKILL = (
    "<command-message>mend is running…</command-message>\n<command-name>/mend</command-name>\n"
    "<command-args>only the left sleeve</command-args>"
)


def builtin(name: str, arguments: str) -> str:
    indent = "\n" + " " * 12
    return (
        f"<command-name>/{name}</command-name>{indent}<command-message>{name}</command-message>"
        f"{indent}<command-args>{arguments}</command-args>"
    )


def slash(text: Any, version: str = "2.1.332", **fields: Any) -> Record:
    """A slash command carries origin human, but no promptSource."""
    return user("u1", text, version=version, origin={"kind": "human"}, **fields)


TAGS = [
    *(
        Row(f"U6-client-{at}", user("u1", text, **OLD), reason="client_text")
        for at, text in enumerate(CLIENT_TEXTS)
    ),
    *(
        Row(f"U6-client-human-{at}", user("u1", text, turnOrigin="human"), reason="client_text")
        for at, text in enumerate(CLIENT_TEXTS)
    ),
    *(
        typed(f"U6-typed-{at}", prompt("u1", text), "U7", text)
        for at, text in enumerate(CLIENT_TEXTS)
        if not text.startswith(("<command", "<bash-input"))
    ),
    Row("U6-skill", slash(SKILL), (("U6", "command-args", "only the left sleeve"),)),
    Row(
        "U6-skill-old", user("u1", SKILL, **OLD), (("U6", "command-args", "only the left sleeve"),)
    ),
    Row(
        "U6-skill-queued",
        prompt("u1", SKILL, promptSource="queued"),
        (("U6", "command-args", "only the left sleeve"),),
    ),
    Row(
        "U6-skill-bare",
        slash("<command-message>mend</command-message>\n<command-name>/mend</command-name>"),
        reason="command",
    ),
    Row(
        "U6-compact",
        slash(builtin("compact", "keep the pattern names")),
        (("U6", "command-args", "keep the pattern names"),),
    ),
    Row("U6-compact-bare", slash(builtin("compact", "")), reason="command"),
    Row("U6-model", slash(builtin("model", "loom-large")), reason="command"),
    Row("U6-clear", user("u1", builtin("clear", ""), **OLD), reason="command"),
    typed(
        "U6-command-typed",
        prompt("u1", "<command-name> stays literal here"),
        "U7",
        "<command-name> stays literal here",
    ),
    Row(
        "U6-bash",
        user("u1", "<bash-input>ls loom</bash-input>", turnOrigin="human"),
        reason="shell_command",
    ),
    typed(
        "U6-bash-typed",
        prompt("u1", "<bash-input> is not closed"),
        "U7",
        "<bash-input> is not closed",
    ),
    *(
        Row(f"U6-injected-{tag}", user("u1", f"<{tag}>no, silk</{tag}>", **OLD), reason="injected")
        for tag in (
            "system-reminder",
            "user-prompt-submit-hook",
            "session-start-hook",
            "ide_opened_file",
            "ide_selection",
        )
    ),
    Row(
        "U6-injected-typed", prompt("u1", "<system-reminder>x</system-reminder>"), reason="injected"
    ),
    typed(
        "U6-injected-then-words",
        prompt("u1", "<ide_selection>a = 1</ide_selection>\nno, two"),
        "U7",
        "no, two",
    ),
    typed(
        "U6-injected-block",
        prompt(
            "u1",
            [text_block("<ide_opened_file>a.py</ide_opened_file>"), text_block("not that file")],
        ),
        "U7",
        "not that file",
    ),
    Row("U6-open-untrusted", user("u1", "<system-reminder> no end", **OLD), reason="injected"),
    typed(
        "U6-open-typed",
        prompt("u1", "<system-reminder> has no end, mend it"),
        "U7",
        "<system-reminder> has no end, mend it",
    ),
    typed("U6-blank-before", user("u1", "\n  no, hemp", **OLD), "U12", "no, hemp"),
    Row(
        "U6-blank-before-tag",
        user("u1", "\n  <bash-stdout>x</bash-stdout>", **OLD),
        reason="client_text",
    ),
    Row(
        "U6-pasted",
        prompt("u1", '<pasted_content id="a1">no, wrong</pasted_content id="a1">'),
        reason="no_words",
    ),
    typed(
        "U6-pasted-and-words",
        prompt("u1", '<pasted_content id="a1">log line</pasted_content id="a1"> still broken'),
        "U7",
        "still broken",
    ),
]

CLARIFY = "The user wants to clarify these questions.\nQuestions asked:\n- which thread?"


def feedback(words: str, kind: str = "user-rejected", content: str = "") -> Record:
    """A rejection as 2.1.332 writes it: the words stand three times in one line."""
    return result(
        "u1",
        CALL,
        content or SAID + words,
        True,
        toolUseResult=f"Error: {SAID}{words}",
        toolDenialKind=kind,
        userFeedback=words,
        holdsPersonsWords=True,
    )


def rejection(name: str, record: Record, row: str, words: str) -> Row:
    return Row(name, record, ((row, "rejection", words),))


REJECTIONS = [
    Row("T0-feedback", feedback(CLARIFY), reason="clarify"),
    Row("T0-text", result("u1", CALL, SAID + CLARIFY, True), reason="clarify"),
    rejection("T1", feedback("no, by hand"), "T1", "no, by hand"),
    rejection("T1-other-text", feedback("no, by hand", content="Refused."), "T1", "no, by hand"),
    rejection("T1-cr", feedback("two things:\r- a\r- b"), "T1", "two things:\n- a\n- b"),
    Row("T1-not-rejected", feedback("no", "cancelled", "x"), reason="tool_result"),
    Row("T1-blank", feedback("  ", content=STOP), reason="refused"),
    rejection("T2", result("u1", CALL, SAID + "use twine", True), "T2", "use twine"),
    rejection("T2-lines", result("u1", CALL, SAID + "a\rb\r\nc\n", True), "T2", "a\nb\nc"),
    rejection(
        "T2-list", result("u1", CALL, [text_block(SAID + "use twine")], True), "T2", "use twine"
    ),
    *(
        rejection(
            f"T2-{version}",
            result("u1", CALL, SAID + "use twine", True, version=version),
            "T2",
            "use twine",
        )
        for version in ("2.0.76", "2.1.52", "2.1.197")
    ),
    Row("T2-no-error", result("u1", CALL, SAID + "use twine"), reason="tool_result"),
    Row(
        "T2-quoted",
        result("u1", CALL, "Exit code 1\n" + SAID + "use twine", True),
        reason="tool_result",
    ),
    rejection(
        "T3",
        result(
            "u1",
            CALL,
            REFUSED + " The user provided the following reason for the rejection:  too coarse",
            True,
        ),
        "T3",
        "too coarse",
    ),
    Row(
        "T4",
        result("u1", CALL, STOP, True, toolUseResult="User rejected tool use"),
        reason="refused",
    ),
    Row(
        "T4-kind-alone",
        result("u1", CALL, STOP, True, toolDenialKind="user-rejected"),
        reason="refused",
    ),
    Row(
        "T5",
        result(
            "u1",
            CALL,
            "The user doesn't want to take this action right now. STOP what"
            " you are doing and wait.",
            True,
        ),
        reason="refused",
    ),
    rejection(
        "T6", result("u1", CALL, DENIED + "not in the attic", True), "T6", "not in the attic"
    ),
    Row(
        "T6-no-words",
        result("u1", CALL, DENIED.partition(" The user said")[0], True),
        reason="tool_result",
    ),
    *(
        Row(f"T7-{at}", result("u1", CALL, text, True, **more), reason="tool_result")
        for at, (text, more) in enumerate(
            (
                ("Permission to use Bash with command spin has been denied.", {}),
                (
                    "Permission for this action was denied by the Claude Code auto mode"
                    " classifier.",
                    {},
                ),
                (
                    "Claude requested permissions to write to x, but you haven't granted it yet.",
                    {
                        "toolDenialKind": "user-rejected",
                        "permissionDecision": {"decision": "reject", "source": "config"},
                    },
                ),
                ("PreToolUse:Bash hook error: [spin]: no, use the wheel", {}),
                ("<tool_use_error>File has not been read yet.</tool_use_error>", {}),
            )
        )
    ),
    Row(
        "T7-interrupt",
        result(
            "u1",
            CALL,
            "[Request interrupted by user for tool use]",
            True,
            toolDenialKind="interrupted",
        ),
        reason="interrupt",
    ),
    Row(
        "T10-approved",
        result(
            "u1",
            CALL,
            "User has approved your plan. You can now start.",
            toolUseResult={"plan": "no, wrong", "isAgent": False},
        ),
        reason="tool_result",
        tool="ExitPlanMode",
    ),
    Row(
        "T11",
        result("u1", CALL, "saved", beside=(text_block("but keep the knots"),)),
        (("T11", "approval-comment", "but keep the knots"),),
    ),
    *(
        Row(
            f"T11-{version}",
            result("u1", CALL, "saved", beside=(text_block("keep it"),), version=version),
            (("T11", "approval-comment", "keep it"),),
        )
        for version in ("2.1.19", "2.1.37", "2.1.197")
    ),
    Row(
        "T11-bare-string",
        result("u1", CALL, "saved", beside=("keep it",)),
        (("T11", "approval-comment", "keep it"),),
    ),
    Row(
        "T11-loaded",
        result("u1", CALL, "saved", beside=(text_block("Tool loaded."),)),
        reason="tool_result",
    ),
    Row(
        "T11-tag",
        result("u1", CALL, "saved", beside=(text_block("<system-reminder>x</system-reminder>"),)),
        reason="tool_result",
    ),
    Row(
        "T11-stop",
        result(
            "u1", CALL, "cut", beside=(text_block("[Request interrupted by user for tool use]"),)
        ),
        reason="tool_result",
    ),
    Row(
        "T11-meta",
        result("u1", CALL, "saved", beside=(text_block("no"),), isMeta=True),
        reason="tool_result",
    ),
    Row(
        "T11-two",
        result("u1", CALL, "saved", beside=(text_block("one"), text_block("two"))),
        (("T11", "approval-comment", "one"), ("T11", "approval-comment", "two")),
    ),
    Row("T11-image", result("u1", CALL, "saved", beside=(image_block(),)), reason="tool_result"),
    Row("T12", result("u1", CALL, "no, use 6 instead"), reason="tool_result"),
    Row("T12-list", result("u1", CALL, [text_block("no, use 6 instead")]), reason="tool_result"),
    Row(
        "T12-old-order",
        user("u1", [{"tool_use_id": CALL, "type": "tool_result", "content": "no, six"}], **OLD),
        reason="tool_result",
    ),
    Row("T12-empty", user("u1", [{"type": "tool_result"}]), reason="tool_result"),
    Row(
        "T12-modified",
        result("u1", CALL, "ok", toolUseResult={"userModified": True}),
        reason="tool_result",
    ),
]


def asked(
    answers: Any, notes: Any = None, many: bool = False, labels: tuple[str, ...] = ("Wool", "Silk")
) -> Record:
    """An answered AskUserQuestion: every key of `answers` is a question."""
    options = [{"label": label, "description": "a thread"} for label in labels]
    names = list(answers) if isinstance(answers, dict) else ["Which?"]
    questions = [{"question": q, "options": options, "multiSelect": many} for q in names]
    return result(
        "u1",
        CALL,
        "The user answered: see there",
        toolUseResult={"questions": questions, "answers": answers, "annotations": notes or {}},
    )


def answer(name: str, record: Record, *words: str) -> Row:
    turns = tuple(("T8", "answer", text) for text in words)
    return Row(name, record, turns, "" if turns else "picked_answer", tool="AskUserQuestion")


ANSWERS = [
    answer("T8-label", asked({"Which?": "Wool"})),
    answer("T8-free", asked({"Which?": "neither, use hemp"}), "neither, use hemp"),
    answer("T8-quotes", asked({"Which?": '"Wool"'}), '"Wool"'),
    answer("T8-note", asked({"Which?": "Silk"}, {"Which?": {"notes": "undyed"}}), "undyed"),
    answer(
        "T8-notes-only",
        asked({"Which?": "(notes only)"}, {"Which?": {"notes": "ask Ann"}}),
        "ask Ann",
    ),
    answer("T8-notes-only-empty", asked({"Which?": "(notes only)"})),
    answer("T8-both", asked({"Which?": "jute"}, {"Which?": {"notes": "thick"}}), "jute", "thick"),
    answer("T8-two-questions", asked({"Which?": "Wool", "How?": "by hand"}), "by hand"),
    answer("T8-many-labels", asked({"Which?": "Wool, Silk"}, many=True)),
    answer(
        "T8-many-own", asked({"Which?": "Silk, and a bit of jute"}, many=True), "and a bit of jute"
    ),
    answer("T8-many-quoted", asked({"Which?": 'Silk, "jute, hemp"'}, many=True), "jute, hemp"),
    answer("T8-many-comma", asked({"Which?": "Wool, jute, hemp"}, many=True), "jute, hemp"),
    answer("T8-many-only-own", asked({"Which?": "jute, hemp"}, many=True), "jute, hemp"),
    answer("T8-many-label-inside", asked({"Which?": "jute, Silk"}, many=True), "jute, Silk"),
    answer(
        "T8-many-quote-inside", asked({"Which?": 'Wool, the "raw" one'}, many=True), 'the "raw" one'
    ),
    answer(
        "T8-label-with-comma",
        asked({"Which?": "Wool, raw, dyed red"}, many=True, labels=("Wool", "Wool, raw")),
        "dyed red",
    ),
    answer("T8-single-is-whole", asked({"Which?": "Wool, but thin"}), "Wool, but thin"),
    Row("T8-answers-list", asked(["Wool"]), reason="tool_result", tool="AskUserQuestion"),
    Row(
        "T8-string",
        result("u1", CALL, "x", toolUseResult="Error: no, wrong"),
        reason="tool_result",
        tool="AskUserQuestion",
    ),
    Row(
        "T8-forged-by-a-tool",
        asked({"Which?": "no, wrong, delete it"}),
        reason="tool_result",
        tool="mcp__loom__ask",
    ),
    rejection("T8-refused", result("u1", CALL, SAID + "ask me later", True), "T2", "ask me later"),
]

ROWS = [*GATES, *ATTACHMENTS, *PROMPTS, *TAGS, *REJECTIONS, *ANSWERS]


def readings(root: Path, row: Row, **options: Any) -> Iterator[Reading]:
    """By the fast path and by parsing everything."""
    before = calls("a1", row.tool, inputs={"command": "spin"})
    records = [row.record] if row.record["type"] == "attachment" else [before, row.record]
    path = write(root, *records, name=row.file or "s.jsonl")

    def excluded(cwd: str) -> bool:
        return cwd == EXCLUDED or cwd.startswith(EXCLUDED + "/")

    for everything in (False, True):
        yield read(path, excluded=excluded, everything=everything, **options)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(tmp_path: Path, row: Row) -> None:
    for reading in readings(tmp_path, row):
        found = [(turn.row, turn.kind.value, turn.text) for turn in reading.human]
        assert found == list(row.turns)
        assert [turn.headless for turn in reading.human] == [row.headless] * len(row.turns)
        counted = bool(row.turns) and not row.headless
        assert reading.counts.human_lines == int(counted)
        if row.reason:
            assert reading.counts.not_human[row.reason] == 1, reading.counts


@pytest.mark.parametrize("row", [row for row in ROWS if row.headless], ids=lambda row: row.name)
def test_headless_counts_only_when_asked_for(tmp_path: Path, row: Row) -> None:
    for reading in readings(tmp_path, row, include_headless=True):
        assert reading.counts.human_lines == 1
        assert all(turn.headless for turn in reading.human)


def test_names_of_rows_are_unique() -> None:
    """Two rows with one name would hide each other in a report."""
    names = [row.name for row in ROWS]
    assert sorted(set(names)) == sorted(names)


def test_everything_tells_why_a_line_has_no_words(tmp_path: Path) -> None:
    path = write(tmp_path, calls("a1", "Bash"), result("u2", CALL, "no, six"), prompt("u3", "hm"))
    reading = read(path, everything=True)
    told = [(o.uuid, o.kind, o.text, o.reason) for o in reading.others]
    assert told == [
        ("a1", "assistant", "", "assistant"),
        ("u2", "user", "no, six", "tool_result"),
    ]


def test_a_turn_knows_where_it_stands(tmp_path: Path) -> None:
    """Fields of the line, not of the file."""
    reading = read(write(tmp_path, prompt("u7", "no, two"), name="elsewhere.jsonl"))
    turn = reading.human[0]
    assert (turn.uuid, turn.key, turn.session_id, turn.cwd, turn.number, turn.source) == (
        "u7",
        "u7:0",
        "5e551011-0000-4000-8000-00000000000a",
        CWD,
        1,
        Source.HUMAN,
    )
    assert turn.at.isoformat() == "2026-03-02T09:00:07+00:00"
    assert not turn.inferred_at
