"""Properties that hold for any file: no exception, sums that add up, one result on both paths."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.transcripts.clean import clean
from pipeline.transcripts.decode import clean_surrogates
from tests.transcripts.builders import (
    MARKS,
    SAID,
    STOP,
    Reading,
    Record,
    assistant,
    attachment,
    calls,
    compact,
    dump,
    image_block,
    prompt,
    queue,
    queued,
    read,
    result,
    says,
    system,
    text_block,
    user,
    write,
)

ADMISSIONS = (b"mistake", b"sorry")
VERSIONS = ("1.0.60", "2.0.76", "2.1.52", "2.1.96", "2.1.170", *MARKS)
SESSIONS = ("s-one", "s-two")


def read_bytes(data: bytes, name: str = "s.jsonl", everything: bool = False) -> Reading:
    """A folder for each example: the test's own would be shared by all of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), data, name=name)
        return read(path, everything=everything, admissions=ADMISSIONS)


# Bytes

WHOLE = [
    compact(record)
    for record in (
        prompt("u1", "no, linen"),
        says("a2", "sorry, my mistake"),
        calls("a3", "Bash"),
        result("u4", "toolu_a3", SAID + "no", True),
        queue("enqueue", 5, "no"),
        queued("u6", "no"),
        {"type": "mode", "mode": "plan"},
    )
]
PIECE = st.one_of(
    st.sampled_from(WHOLE),
    st.builds(lambda data, cut: data[:cut], st.sampled_from(WHOLE), st.integers(0, 300)),
    st.builds(lambda data, cut: data[cut:], st.sampled_from(WHOLE), st.integers(0, 300)),
    st.binary(max_size=20),
    st.sampled_from(
        [
            b"\0" * 40,
            b"\xef\xbb\xbf",
            b"\r",
            b"}{",
            b"[[[[",
            b'{"type":"user"}',
            b"\xe2\x80\xa8",
            b'{"type":"',
            b'{"parentUuid":',
            b'"',
            b"\\",
            b"1" * 5000,
        ]
    ),
)
END = st.sampled_from([b"\n", b"\n", b"\n", b"", b"\r\n"])
ANY_FILE = st.lists(st.tuples(PIECE, END).map(b"".join), max_size=12).map(b"".join)


@settings(max_examples=250)
@given(ANY_FILE, st.booleans(), st.booleans())
def test_any_bytes(data: bytes, everything: bool, subagent: bool) -> None:
    """`read` compares the accounts; nothing may raise, and no turn is empty."""
    reading = read_bytes(data, "agent-1.jsonl" if subagent else "s.jsonl", everything)
    assert all(turn.text.strip() for turn in reading.turns)
    assert len({turn.key for turn in reading.turns}) == len(reading.turns)


@settings(max_examples=150)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "message",
                        "content",
                        "attachment",
                        "origin",
                        "uuid",
                        "version",
                        "toolUseResult",
                        "questions",
                        "answers",
                        "prompt",
                        "operation",
                        "cwd",
                        "text",
                        "input",
                        "name",
                        "id",
                        "role",
                        "timestamp",
                        "sessionId",
                    ]
                ),
                inner,
                max_size=6,
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from(["user", "assistant", "attachment", "queue-operation", "system", "x"]),
)
def test_any_shape(value: Any, kind: str) -> None:
    """Every field of a record may hold anything."""
    record = value | {"type": kind} if isinstance(value, dict) else {"type": kind, "message": value}
    line = json.dumps(record).encode() + b"\n"
    before = dump(calls("a1", "AskUserQuestion"), says("a2", "ok", "a1"))
    for everything in (False, True):
        reading = read_bytes(before + line, everything=everything)
        assert reading.counts.lines == 3


# Both paths

WORDS = st.sampled_from(
    [
        "no, linen",
        "again",
        "again, please",
        "<system-reminder>x</system-reminder>",
        "<bash-input>l",
        "[Request interrupted by user]",
        "<task-notification>\n<task-id>b</task-id>\n<result>bad</result>",
        "sorry, my mistake",
        "Stop hook feedback:\n[c]: no",
        'say "type":"user" aloud',
        '{"parentUuid":',
        '},"uuid":"',
        SAID + "quoted",
        "\u2028",
        "纱线",
    ]
)
RESULTS = st.sampled_from(
    [
        SAID + "no",
        STOP,
        "done",
        "PreToolUse:Bash hook error: [c]: no",
        '},"uuid":"x',
        "The user",
        "Permission for this",
        "[Request interrupted by user for tool use]",
        "",
    ]
)


@st.composite
def lines(draw: st.DrawFn) -> list[Record]:
    """A conversation of mixed lines, each with a uuid of its own, mostly chained."""
    made: list[Record] = []
    for n in range(draw(st.integers(0, 14))):
        before = [record["uuid"] for record in made if "uuid" in record]
        parent = draw(st.sampled_from(before)) if before and draw(st.booleans()) else None
        fields: dict[str, Any] = {
            "version": draw(st.sampled_from(VERSIONS)),
            "sessionId": draw(st.sampled_from(SESSIONS)),
        }
        if draw(st.integers(0, 5)) == 0:
            fields["isSidechain"] = True
        if draw(st.integers(0, 7)) == 0:
            fields["entrypoint"] = "sdk-cli"
        call = f"toolu_a{draw(st.integers(0, 14))}"
        words = draw(WORDS)
        made.append(
            draw(
                st.sampled_from(
                    [
                        prompt(f"u{n}", words, parent, **fields),
                        prompt(f"u{n}", [image_block(), text_block(words)], parent, **fields),
                        user(f"u{n}", words, parent, isMeta=True, **fields),
                        says(f"a{n}", words, parent, **fields),
                        calls(f"a{n}", "Bash", parent, inputs={"command": words}, **fields),
                        assistant(
                            f"a{n}",
                            text_block(words),
                            {"type": "tool_use", "id": f"toolu_a{n}", "name": "Edit", "input": {}},
                            parent=parent,
                            **fields,
                        ),
                        result(
                            f"u{n}",
                            call,
                            draw(RESULTS),
                            draw(st.booleans()),
                            parent=parent,
                            **fields,
                        ),
                        result(
                            f"u{n}",
                            call,
                            [text_block(draw(RESULTS))],
                            True,
                            parent=parent,
                            **fields,
                        ),
                        result(f"u{n}", call, draw(RESULTS), beside=(text_block(words),), **fields),
                        result(
                            f"u{n}",
                            call,
                            words,
                            True,
                            userFeedback=words,
                            toolDenialKind="user-rejected",
                            **fields,
                        ),
                        result(
                            f"u{n}",
                            call,
                            words,
                            toolUseResult={
                                "status": "completed",
                                "agentId": "x",
                                "content": [text_block(words)],
                            },
                            **fields,
                        ),
                        attachment(f"u{n}", "hook_success", parent, content=words, line=fields),
                        queued(f"u{n}", words, parent, line=fields),
                        system(f"u{n}", "informational", parent, content=words, **fields),
                        queue("enqueue", n, words, sessionId=fields["sessionId"]),
                        queue("remove", n, sessionId=fields["sessionId"]),
                        queue("dequeue", n, sessionId=fields["sessionId"]),
                        {"type": "last-prompt", "lastPrompt": words},
                        {"type": "summary", "summary": words},
                        {"type": "progress", "data": {"message": prompt("p", words)}},
                        {"type": "quantum", "message": {"role": "user", "content": words}},
                    ]
                )
            )
        )
    return made


@settings(max_examples=300)
@given(lines(), st.sampled_from(["s.jsonl", "agent-1.jsonl"]))
def test_fast_path_agrees_with_parsing_everything(made: list[Record], name: str) -> None:
    data = dump(*made)
    fast, whole = read_bytes(data, name), read_bytes(data, name, everything=True)
    assert fast.turns == whole.turns
    assert fast.counts == whole.counts
    assert fast.actions == whole.actions
    assert fast.said == whole.said


@settings(max_examples=150)
@given(lines(), st.data())
def test_cut_anywhere(made: list[Record], data: st.DataObject) -> None:
    """A file that is being written: what was found early is found again, and nothing is skipped."""
    whole = dump(*made)
    cut = data.draw(st.integers(0, len(whole)))
    early, late = read_bytes(whole[:cut]), read_bytes(whole)
    assert early.counts.skipped.total() == late.counts.skipped.total() == 0
    assert early.counts.pending_tail <= 1
    assert late.counts.pending_tail == 0
    assert early.seen <= late.seen
    assert early.counts.lines <= late.counts.lines + 1


# Words

PLAIN = st.text(st.characters(exclude_characters="<[", exclude_categories=()), max_size=60)


@settings(max_examples=200)
@example("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg")
@example("\ud83e\uddf5 \ud800 \udfff")
@given(PLAIN)
def test_any_words_come_out_as_they_went_in(text: str) -> None:
    """Written with and without escapes; line separators of Unicode end no line."""
    escaped = json.dumps(prompt("u1", text)).encode() + b"\n"
    forms = [escaped]
    if clean_surrogates(text) == text:
        forms.append(dump(prompt("u1", text)))
    for data in forms:
        for everything in (False, True):
            reading = read_bytes(data, everything=everything)
            assert reading.words == ([clean(text)] if clean(text) else [])
            assert reading.counts.lines == 1


@given(st.text(st.characters(exclude_categories=())))
def test_surrogates_never_stay(text: str) -> None:
    cleaned = clean_surrogates(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean_surrogates(cleaned) == cleaned
