"""What disks, crashes and other processes do to a file: bounded memory, nothing lost beside it."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import pipeline
from pipeline.errors import SourceError
from pipeline.transcripts.oversize import _shorten
from pipeline.transcripts.scan import BLOCK_BYTES, LINE_MAX_BYTES
from tests.transcripts.builders import (
    SAID,
    calls,
    compact,
    dump,
    found,
    image_block,
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

CODE = Path(pipeline.__file__).resolve().parents[1]
FIRST, LAST = prompt("u1", "before"), prompt("u9", "after")
NEXT = compact(prompt("u2", "no, linen"))


PIECES = {
    "nul-before": (b"\0" * 700 + NEXT + b"\n", ["no, linen"], {}),
    "nul-after": (NEXT + b"\0" * 700 + b"\n", ["no, linen"], {}),
    "nul-alone": (b"\0" * 700 + b"\n", [], {}),
    "nul-between-two": (
        NEXT + b"\0" * 20 + compact(prompt("u3", "silk")) + b"\n",
        ["no, linen", "silk"],
        {},
    ),
    "nul-in-a-cut-line": (NEXT[:90] + b"\0" * 50 + NEXT + b"\n", ["no, linen"], {"bad_json": 1}),
    "nul-in-a-string": (NEXT.replace(b"linen", b"li\0nen") + b"\n", [], {"bad_json": 1}),
    "nul-in-a-result": (
        compact(result("u3", "t1", "x@y")).replace(b"@", b"\0") + b"\n",
        [],
        {"bad_json": 1},
    ),
    "bom": (b"\xef\xbb\xbf" + NEXT + b"\n", ["no, linen"], {}),
    "crlf": (NEXT + b"\r\n", ["no, linen"], {}),
    "only-cr": (NEXT + b"\r" + compact(prompt("u3", "silk")) + b"\n", ["no, linen", "silk"], {}),
    "blanks": (b"  \t" + NEXT + b"  \n", ["no, linen"], {}),
    "two-on-a-line": (NEXT + compact(prompt("u3", "silk")) + b"\n", ["no, linen", "silk"], {}),
    "state-then-prompt": (b'{"type":"mode","mode":"plan"}' + NEXT + b"\n", ["no, linen"], {}),
    "answer-then-prompt": (compact(says("a3", "ok")) + NEXT + b"\n", ["no, linen"], {}),
    "result-then-prompt": (compact(result("u3", "t1", "x" * 50)) + NEXT + b"\n", ["no, linen"], {}),
    "prompt-then-state": (NEXT + b'{"type":"mode"}\n', ["no, linen"], {}),
    "stub-then-prompt": (
        compact(result("u3", "t1", "x" * 50))[:200] + NEXT + b"\n",
        ["no, linen"],
        {"bad_json": 1},
    ),
    "state-stub-then-prompt": (
        b'{"type":"last-prompt","lastPr' + NEXT + b"\n",
        ["no, linen"],
        {"bad_json": 1},
    ),
    "state-stub-then-foreign-prompt": (
        b'{"type":"last-prompt","lastPr{"type":"user","uuid":"u3","version":"2.0.1",'
        b'"message":{"role":"user","content":"hemp"}}\n',
        ["hemp"],
        {"bad_json": 1},
    ),
    "state-then-foreign-prompt": (
        b'{"type":"mode","mode":"plan"}{"type":"user","uuid":"u3","version":"2.0.1",'
        b'"message":{"role":"user","content":"hemp"}}\n',
        ["hemp"],
        {},
    ),
    "stub-of-an-answer-then-prompt": (
        compact(says("a3", "ok"))[:-9] + NEXT + b"\n",
        ["no, linen"],
        {"bad_json": 1},
    ),
    "two-stubs": (NEXT[:80] + NEXT[:90] + NEXT + b"\n", ["no, linen"], {"bad_json": 2}),
    "nested-prompt-in-a-cut-line": (
        b'{"type":"progress","data":{"message":' + NEXT + b',"normal\n',
        [],
        {"bad_json": 1},
    ),
    "nested-prompt-in-a-cut-list": (
        b'{"type":"progress","data":[' + NEXT + b"]\n",
        [],
        {"bad_json": 1},
    ),
    "nested-prompt-cut-in-itself": (
        b'{"type":"progress","data":{"message":' + NEXT[:150] + b"\n",
        [],
        {"bad_json": 1},
    ),
    "nested-prompt-then-a-real-one": (
        b'{"type":"progress","data":{"message":' + NEXT + b',"norm' + NEXT + b"\n",
        ["no, linen"],
        {"bad_json": 1},
    ),
    "stub-cut-behind-a-colon": (
        b'{"type":"last-prompt","lastPrompt":' + NEXT + b"\n",
        ["no, linen"],
        {"bad_json": 1},
    ),
    "input-of-a-call-in-a-cut-line": (
        compact(
            calls(
                "a3",
                "Send",
                inputs={
                    "message": {
                        "type": "user",
                        "message": {"role": "user", "content": "no, delete all"},
                    }
                },
            )
        )[:-60]
        + b"\n",
        [],
        {"bad_json": 1},
    ),
    "stub-alone": (NEXT[:80] + b"\n", [], {"bad_json": 1}),
    "garbage": (b"\x80\xff\x00\x01}{][\n", [], {"bad_json": 1}),
    "brackets": (b"[" * 50_000 + b"\n", [], {"too_deep": 1}),
    "number": (b"17\n", [], {"not_an_object": 1}),
    "giant-number": (b'{"n":' + b"1" * 9000 + b"}\n", [], {"bad_json": 1}),
    "infinity": (b'{"type":"mode","n":-Infinity}\n', [], {}),
    "bad-utf-8-in-a-key": (b'{"typ\xff":"user"}\n', [], {}),
    "overlong-utf-8": (
        NEXT.replace(b"linen", b"\xc0\xaf\xed\xa0\x80") + b"\n",
        ["no, " + "\ufffd" * 5],
        {},
    ),
    "no-type": (b'{"message":{"role":"user","content":"no"}}\n', [], {}),
    "type-is-a-list": (b'{"type":["user"],"message":{"role":"user","content":"no"}}\n', [], {}),
}


@pytest.mark.parametrize("everything", [False, True], ids=["fast", "everything"])
@pytest.mark.parametrize(("piece", "words", "skipped"), PIECES.values(), ids=PIECES.keys())
def test_piece(
    tmp_path: Path, piece: bytes, words: list[str], skipped: dict[str, int], everything: bool
) -> None:
    """Neighbours are never lost, and what is lost is named."""
    reading = read_records(tmp_path, FIRST, piece, LAST, everything=everything)
    assert reading.words == ["before", *words, "after"]
    assert reading.counts.skipped == skipped


TAILS = {
    "nothing": (0, b"", 0),
    "one-byte": (0, NEXT[:1], 1),
    "half": (0, NEXT[:80], 1),
    "all-but-a-brace": (0, NEXT[:-1], 1),
    "complete": (1, NEXT, 0),
    "complete-with-cr": (1, NEXT + b"\r", 0),
    "nul": (0, b"\0" * 30, 0),
    "nested-prompt": (0, b'{"type":"progress","data":{"message":' + NEXT, 1),
    "nested-half": (0, b'{"type":"progress","data":{"message":' + NEXT[:99], 1),
    "stub-then-half": (0, NEXT[:80] + NEXT[:90], 1),
    "state": (0, b'{"type":"mode"}', 0),
    "half-a-character": (0, compact(prompt("u2", "纱"))[:-40], 1),
}


@pytest.mark.parametrize("everything", [False, True], ids=["fast", "everything"])
@pytest.mark.parametrize(("more", "tail", "pending"), TAILS.values(), ids=TAILS.keys())
def test_tail(tmp_path: Path, more: int, tail: bytes, pending: int, everything: bool) -> None:
    """The last line counts when it is complete, newline or not; else it is being written."""
    reading = read_records(tmp_path, FIRST, tail, everything=everything)
    assert len(reading.words) == 1 + more
    assert reading.counts.pending_tail == pending


SIZES = [
    *(BLOCK_BYTES + step for step in (-2, -1, 0, 1, 2)),
    *(LINE_MAX_BYTES + step for step in (-2, -1, 0, 1, 2)),
    LINE_MAX_BYTES + BLOCK_BYTES,
    2 * LINE_MAX_BYTES + 7,
]


@pytest.mark.parametrize("everything", [False, True], ids=["fast", "everything"])
@pytest.mark.parametrize("size", sorted(set(SIZES)))
def test_lines_at_the_edges_of_the_buffer(tmp_path: Path, size: int, everything: bool) -> None:
    """A prompt with an image, filled up to exactly so many bytes, with and without a newline."""
    empty = len(compact(prompt("u5", [text_block("too dark"), image_block("")])))
    line = prompt("u5", [text_block("too dark"), image_block("A" * (size - empty))])
    assert len(compact(line)) == size
    assert read_records(tmp_path, FIRST, line, LAST, everything=everything).words == [
        "before",
        "too dark",
        "after",
    ]
    assert read_records(tmp_path, line, compact(line), everything=everything).words == ["too dark"]


BIG = "y" * (LINE_MAX_BYTES + BLOCK_BYTES + 1000)
OVERSIZE = {
    "prompt-cut-to-64-kib": (prompt("u5", "no " + BIG), 1, ""),
    "image-before-the-words": (prompt("u5", [image_block(BIG), text_block("too dark")]), 1, ""),
    "big-result-with-a-small-text": (result("u5", "t1", "ok", more=BIG), 0, "tool_result"),
    "rejection-with-a-big-result": (
        result("u5", "t1", SAID + "no", True, toolUseResult={"originalFile": BIG}),
        1,
        "",
    ),
    "comment-beside-a-small-result": (
        result("u5", "t1", "ok", beside=(text_block("keep it"),), more=BIG),
        1,
        "",
    ),
    "queued": (queued("u5", [image_block(BIG), text_block("this one")]), 1, ""),
    "result": (result("u5", "t1", BIG), 0, "tool_result"),
    "answer": (says("a5", BIG), 0, "assistant"),
    "marked-as-meta": (user("u5", BIG, isMeta=True), 0, "client_text"),
    "escapes-at-the-cut": (prompt("u5", "\\" * 65_535 + '"\n' + BIG), 1, ""),
    "unicode-at-the-cut": (prompt("u5", "纱" * 30_000 + BIG), 1, ""),
}


@pytest.mark.parametrize("everything", [False, True], ids=["fast", "everything"])
@pytest.mark.parametrize(("line", "turns", "reason"), OVERSIZE.values(), ids=OVERSIZE.keys())
def test_oversize(
    tmp_path: Path, line: dict[str, object], turns: int, reason: str, everything: bool
) -> None:
    """Its words are found behind any image; a result's own bulk is passed over."""
    reading = read_records(tmp_path, FIRST, line, LAST, everything=everything)
    assert len(reading.words) == 2 + turns
    assert all(len(words) <= 1 << 16 for words in reading.words)
    if reason:
        assert reading.counts.not_human[reason] == 1


ESCAPED = compact(prompt("u5", "x")).replace(b'"x"', b'"%s"')


@pytest.mark.parametrize("shift", range(8))
def test_escapes_are_never_cut_in_half(tmp_path: Path, shift: int) -> None:
    """Wherever the cut falls in a run of numeric escapes, the record stays valid JSON."""
    body = b"a" * shift + b"\\u7eb1" * ((LINE_MAX_BYTES + BLOCK_BYTES) // 6 + 1000)
    reading = read_records(tmp_path, FIRST, ESCAPED.replace(b"%s", body) + b"\n", LAST)
    assert len(reading.words) == 3
    assert set(reading.words[1][shift:]) == {"纱"}


@pytest.mark.parametrize("escape", ["\\u7eb1", "\\\\", '\\"', "\\n", "\\ud83e\\uddf5"])
@pytest.mark.parametrize("shift", range(7))
def test_escapes_across_the_pieces_of_a_stream(shift: int, escape: str) -> None:
    """However the reads fall, what comes out is JSON whose strings are beginnings of the real."""
    words = ("z" * shift + escape) * 3
    whole = ('{"a":"' + words + '","b":"' + escape * 20_000 + '","c":1}').encode()
    for size in (1, 2, 3, 5, 7, 65_533, 65_536, 70_001):
        if size < 8 and shift:
            continue
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        value = json.loads(b"".join(_shorten(iter(pieces))))
        real = json.loads(whole)
        assert (value["a"], value["c"]) == (real["a"], 1)
        assert (
            real["b"]
            .encode("utf-16", "surrogatepass")
            .startswith(value["b"].encode("utf-16", "surrogatepass"))
        )
        assert len(value["b"]) >= 5_000


def test_oversize_lines_that_are_torn_or_broken(tmp_path: Path) -> None:
    big = compact(prompt("u5", [image_block(BIG), text_block("dark")]))
    torn = read_records(tmp_path / "a", FIRST, big[:-30])
    assert (torn.words, torn.counts.pending_tail) == (["before"], 1)
    broken = read_records(tmp_path / "b", FIRST, big[:-30] + b"\n", LAST)
    assert broken.words == ["before", "after"]
    assert broken.counts.skipped == {"oversize": 1}


def test_a_line_of_too_many_parts(tmp_path: Path) -> None:
    """Small strings in the million would fill the memory as well as one big one."""
    line = prompt("u5", [text_block("no")], extra=[0] * 1_500_000)
    reading = read_records(tmp_path, FIRST, line, LAST)
    assert reading.words == ["before", "after"]
    assert reading.counts.skipped == {"oversize": 1}


def test_action_on_an_oversize_line(tmp_path: Path) -> None:
    write_call = calls("a1", "Write", inputs={"file_path": "a.py", "content": BIG})
    reading = read_records(tmp_path, write_call, prompt("u2", "no", "a1"))
    action = reading.action("no")
    assert action is not None and (action.tool, action.gist) == ("Write", "a.py")


# Memory, measured in a process of its own

MEASURE = """
import json, resource, sys
from pathlib import Path
from pipeline.transcripts.discover import discover
from pipeline.transcripts.oversize import decode_oversize
from pipeline.transcripts.reader import Options, open_transcript

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (
        1 << 20 if sys.platform == "darwin" else 1 << 10)

root, megabytes, head, tail, after = sys.argv[1:]
path = Path(root) / "projects" / "p" / "s.jsonl"
path.parent.mkdir(parents=True)
with path.open("wb") as handle:
    handle.write(head.encode())
    for _ in range(int(megabytes)):
        handle.write(b"A" * (1 << 20))
    handle.write(tail.encode() + b"\\n" + after.encode() + b"\\n")
before = peak()
(file,) = discover([Path(root)]).files
with open_transcript(file, Options()) as transcript:
    words = [turn.text[:40] for turn in transcript.turns]
    counts = transcript.counts
path.unlink()
print(json.dumps({"grown": peak() - before, "words": words, "state": counts.state,
                  "not_human": counts.not_human, "skipped": counts.skipped}))
"""
HUGE = {
    "tool-result": (result("u5", "t1", "%"), [], "tool_result"),
    "image": (prompt("u5", [image_block("%"), text_block("too dark")]), ["too dark"], ""),
    "text": (prompt("u5", "no %"), ["no " + "A" * 37], ""),
    "answer": (says("a5", "%"), [], "assistant"),
    "attachment": (queued("u5", "note %"), ["note " + "A" * 35], ""),
    "unknown": ({"v": 1, "what": "%"}, [], ""),
    "no-string": (b"%", [], ""),
}


@pytest.mark.parametrize(("line", "words", "reason"), HUGE.values(), ids=HUGE.keys())
def test_memory_is_bounded(
    tmp_path: Path, line: dict[str, object] | bytes, words: list[str], reason: str
) -> None:
    """150 MB on one line: at most 60 MB more, and the next line is read."""
    data = line if isinstance(line, bytes) else compact(line)
    head, _, tail = data.decode().partition("%")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path), "150", head, tail, compact(LAST).decode()],
        cwd=CODE,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["words"] == [*words, "after"]
    assert told["grown"] < 60
    if reason:
        assert told["not_human"] == {reason: 1}


# Files that change, or are no files


def test_growth_after_the_look_is_left_for_the_next_night(tmp_path: Path) -> None:
    """The record of the file holds the size from before; the rest is read next time."""
    path = write(tmp_path, FIRST)
    file = found(path)
    with path.open("ab") as handle:
        handle.write(dump(LAST))
    assert read(file).words == ["before"]
    assert read(found(path)).words == ["before", "after"]


def test_growth_in_the_middle_of_a_line(tmp_path: Path) -> None:
    path = write(tmp_path, FIRST, NEXT[:80])
    file = found(path)
    with path.open("ab") as handle:
        handle.write(NEXT[80:] + b"\n")
    early = read(file)
    assert (early.words, early.counts.pending_tail) == (["before"], 1)
    assert read(found(path)).words == ["before", "no, linen"]


def test_file_that_shrank(tmp_path: Path) -> None:
    path = write(tmp_path, FIRST, LAST)
    file = found(path)
    path.write_bytes(dump(FIRST))
    assert read(file).words == ["before"]


def test_file_that_vanished(tmp_path: Path) -> None:
    path = write(tmp_path, FIRST)
    file = found(path)
    path.unlink()
    with pytest.raises(SourceError, match="cannot read"):
        read(file)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_file_that_became_something_else(tmp_path: Path, kind: str) -> None:
    """Between the look and the opening: a link is not followed, a pipe does not hold the run."""
    path = write(tmp_path, FIRST)
    file = found(path)
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
        assert read(file).words == []
        return
    if kind == "link":
        path.symlink_to(write(tmp_path, LAST, name="other.jsonl"))
    else:
        path.mkdir()
    with pytest.raises(SourceError):
        read(file)


def test_size_that_lies(tmp_path: Path) -> None:
    """A size from another file system entry must not matter."""
    file = found(write(tmp_path, FIRST))
    assert read(replace(file, size=0)).words == []
    assert read(replace(file, size=1 << 40)).words == ["before"]
