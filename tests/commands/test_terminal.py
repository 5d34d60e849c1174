"""Nothing that a terminal obeys or an eye misses comes out of any command (T45, b66)."""

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.config import Config
from pipeline.masking.inert import inert
from tests.collect.homes import answer, cases, command, environment, put, talk
from tests.transcripts.builders import calls, compact, prompt, says

EVIL = (
    "You forgot \x1b[2J\x1b]52;c;aGk=\x07 the \x9b31m tests\x1b]0;title\x07 \x08\x7f \u202elast"
    "\u202c \u2066x\u2069 \u200bzero \U000e0041\U000e007f tag \ufeff end\r\x00 \u2028 here."
)
COLOURS = re.compile(rb"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]|\r")
"""What rich writes: styles, the cursor of a progress bar, the ends of lines on a terminal."""


@pytest.fixture
def evil(config: Config, root: Path) -> Config:
    """The same signs in every field that a command may print."""
    name = "s\x1b[31m\u202e1"
    fields = {"sessionId": name, "cwd": "/home/dev/lo\x1b]0;x\x07om\u202e"}
    records = [
        *talk("a", "Start here", **{}),
        prompt("e\x9bvil-1", EVIL, **fields),
        says("e2", "Done \x1b[2J\x07", "e\x9bvil-1", **fields),
        calls(
            "e3", "Ba\x1bsh\u202e", "e2", inputs={"command": "echo \x1b[2J\x9b \u202e"}, **fields
        ),
        prompt("e4", "You forgot it\ud83d \x1b[5m again", "e3", **fields),
        says("e5", "ok", "e4", **fields),
        {"type": "ho\x9blo\u202egram\x1b"},
    ]
    put(root, "s1", [compact(r).replace(b"\xed\xa0\xbd", b"\\ud83d") + b"\n" for r in records])
    assert command(config, "collect").returncode == 0
    assert len(cases(config)) == 2
    return config


COMMANDS = [
    ["collect", "--rebuild"],
    ["nightly"],
    ["show"],
    ["show", "REPO", "--full"],
    ["cases"],
    ["turns"],
    ["turns", "--all"],
    ["explain", "--case", "ID"],
    ["explain", EVIL.replace("\x00", "")],
    ["stats"],
    ["status"],
    ["rules", "list"],
    ["dismiss", "ID"],
]


def unsafe(data: bytes) -> str:
    """What is left of the output that text must not hold."""
    text = COLOURS.sub(b"", data).decode("utf-8", "surrogateescape")
    return "".join(sorted({c for c in text if inert(c) != c and c not in "\n\t"}))


def words_of(evil: Config, words: list[str]) -> list[str]:
    case = cases(evil)[0]
    return [{"ID": case.id, "REPO": case.repo}.get(word, word) for word in words]


@pytest.mark.parametrize("words", COMMANDS, ids=[ascii(" ".join(w))[:30] for w in COMMANDS])
@pytest.mark.parametrize("json_", [False, True], ids=["text", "json"])
def test_in_a_pipe(evil: Config, words: list[str], json_: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *words_of(evil, words), *["--json"][: int(json_)]],
        env=environment(evil),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    for stream in (done.stdout, done.stderr):
        assert unsafe(stream) == ""
        assert b"\x1b" not in stream
        assert b"\r" not in stream
    if json_:
        assert json.loads(done.stdout)


def on_terminal(config: Config, *words: str, **more: str) -> tuple[int, bytes]:
    """Runs a command on a pseudo-terminal of 80 columns."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", *words],
        env=environment(config, TERM="xterm-256color", COLUMNS="80", **more),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    data = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    os.close(ours)
    return process.wait(30), data


@pytest.mark.parametrize("words", COMMANDS, ids=[ascii(" ".join(w))[:30] for w in COMMANDS])
def test_on_a_terminal(evil: Config, words: list[str]) -> None:
    code, data = on_terminal(evil, *words_of(evil, words))
    assert code == 0, data
    assert data
    assert unsafe(data) == ""


def test_colours_only_where_they_are_wanted(evil: Config) -> None:
    colour = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])m")
    _, plain = on_terminal(evil, "show", words_of(evil, ["REPO"])[0])
    assert colour.search(plain)
    assert not colour.search(on_terminal(evil, "show", NO_COLOR="1")[1])
    assert not colour.search(on_terminal(evil, "show", "--no-color")[1])
    assert not colour.search(
        on_terminal(evil, "show", words_of(evil, ["REPO"])[0], NO_COLOR="1")[1]
    )


def test_a_person_at_a_terminal_is_asked_before_forgetting(evil: Config) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "forget", "--all"],
        env=environment(evil),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while b"[y/N]" not in seen and select.select([ours], [], [], 30)[0]:
        seen += os.read(ours, 1024)
    os.write(ours, b"n\n")
    assert process.wait(30) == 0
    os.close(ours)
    assert len(cases(evil)) == 2


def test_filters_give_a_callers_ids_back_and_stay_harmless(config: Config) -> None:
    ids = ["\u202e", "\x9b31m", "\x1b[2J", "plain", 7, None, {"a": "\u200b"}, "윈도우", "\ud800"]
    lines = "".join(json.dumps({"id": i, "text": "You forgot it"}) + "\n" for i in ids)
    done = command(config, "classify", stdin=lines)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ids
    assert unsafe(done.stdout.encode()) == ""
    masked = command(config, "mask", "--jsonl", stdin=json.dumps({"text": EVIL}) + "\n").stdout
    assert unsafe(masked.encode()) == ""
    assert unsafe(command(config, "mask", stdin=EVIL).stdout.encode()) == ""


def test_the_words_that_a_person_needs_are_still_there(evil: Config) -> None:
    text = " ".join(case["text"] for case in answer(evil, "cases"))
    for word in ("You forgot", "tests", "zero", "tag", "end", "again"):
        assert word in text
