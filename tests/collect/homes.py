"""Made-up sessions, homes to collect them into, and what a home holds afterwards."""

import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline.cases import copies, read
from pipeline.cases.store import Store, open_reader
from pipeline.cli import main
from pipeline.collect.run import Plan, collect
from pipeline.collect.summary import Summary
from pipeline.commands.writing import writing
from pipeline.config import Config
from pipeline.records import Case
from tests.transcripts.builders import CWD, NEWEST, Record, at, dump, prompt, says

TOP = Path(__file__).resolve().parents[2]
SAMPLE = TOP / "pipeline" / "sample"
MISSED = "You forgot the tests for the parser."
VIOLATED = "I told you not to push to main."
PLAIN = "Add a search box to the start page"


def talk(
    session: str,
    *texts: str,
    cwd: str = CWD,
    version: str = NEWEST,
    seconds: int = 0,
    begin: int = 0,
    **fields: Any,
) -> list[Record]:
    """A conversation: each text of the person gets an answer. Uuids tell session and place."""
    records: list[Record] = []
    for n, text in enumerate(texts, begin):
        common = {"sessionId": session, "cwd": cwd, **fields}
        asked, answered = f"{session}-u{n}", f"{session}-a{n}"
        parent = f"{session}-a{n - 1}" if n else None
        when = seconds + 60 * n
        records.append(prompt(asked, text, parent, version, timestamp=at(when), **common))
        answer = says(answered, f"Part {n} is done.", asked, timestamp=at(when + 20), **common)
        records.append(answer | {"version": version})
    return records


def forked(records: Sequence[Record], session: str) -> list[Record]:
    """The copy that a fork begins with: the same lines under another session."""
    return [record | {"sessionId": session} for record in records]


def put(root: Path, name: str, records: Iterable[Record | bytes], project: str = "loom") -> Path:
    """A whole transcript. The file's times differ from those of an earlier version of it."""
    path = root / "projects" / project / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(*records))
    return path


def run(config: Config, jobs: int = 1, rebuild: bool = False, **plan: Any) -> Summary:
    """One collecting run; both sums must add up whatever it met."""
    with writing(config) as store:
        summary = collect(store, config, Plan(jobs=jobs, rebuild=rebuild, **plan))
    counts = summary.counts
    assert counts.lines == counts.accounted
    assert summary.turns == summary.by_source["human"] + summary.no_case
    return summary


@contextmanager
def reader(config: Config) -> Iterator[Store]:
    with open_reader(config.local_cases) as store:
        assert store is not None
        yield store


def cases(config: Config, hidden: bool = True) -> list[Case]:
    """All cases, also dismissed ones, by id."""
    with reader(config) as store:
        return sorted(read.cases(store, read.Wanted(hidden=hidden)), key=lambda case: case.id)


def texts(config: Config) -> list[str]:
    return sorted(case.text for case in cases(config))


def live(config: Config) -> Counter[str]:
    """Uuids of the human turns that count, one for each turn."""
    with reader(config) as store:
        rows = store.rows("SELECT DISTINCT key, uuid FROM turns WHERE source = 'human'")
        keys = [key for key, _ in rows]
        out = copies.dead_keys(store, keys) | copies.headless_keys(store, keys)
    return Counter(uuid for key, uuid in rows if key not in out)


def state(config: Config) -> tuple[list[Case], Counter[str]]:
    """What a night must leave behind, whatever happened on the way."""
    return cases(config), live(config)


def tables(config: Config) -> dict[str, list[Any]]:
    """Every row of every table that an export holds, but for the time of the last run."""
    from pipeline.cases.export import TABLES

    with reader(config) as store:
        rows = {table: store.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in TABLES}
    rows["meta"] = [row for row in rows["meta"] if row[0] != "collected_us"]
    return rows


# Processes

Done = subprocess.CompletedProcess[str]


def environment(config: Config, **more: str) -> dict[str, str]:
    """Of a process that knows this home alone."""
    return {
        **os.environ,
        "PYTHONPATH": str(TOP),
        "TWICE_TOLD_HOME": str(config.home),
        "CLAUDE_CONFIG_DIR": str(config.claude_dirs[0]),
        **more,
    }


def command(config: Config, *words: str, stdin: str = "", **more: str) -> Done:
    """`twice-told …` with streams of its own, in this process: a start takes longer than most
    commands. What depends on a real process starts one itself."""
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin.encode(), b"", b"")]
    with pytest.MonkeyPatch.context() as patched:
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patched.setattr(sys, name, stream)
        for name, value in environment(config, **more).items():
            patched.setenv(name, value)
        code = main(words)
    out, err = (_written(stream) for stream in streams[1:])
    return Done(words, code, out, err)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    data = stream.buffer
    assert isinstance(data, io.BytesIO)
    return data.getvalue().decode("utf-8")


def answer(config: Config, *words: str, **more: Any) -> Any:
    """The JSON document that a command prints; it must succeed."""
    done = command(config, *words, "--json", **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def driver(config: Config, code: str, *words: str, **more: str) -> subprocess.Popen[str]:
    """A Python process that injects a fault into the system below us and then runs our code."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(config, **more),
    )


def everywhere(home: Path, word: str) -> list[str]:
    """Names of the files under a home that hold a word, raw or compressed."""
    import zlib

    found = []
    for path in sorted(p for p in home.rglob("*") if p.is_file()):
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            unpacker = zlib.decompressobj(31)
            try:
                data += unpacker.decompress(data)
            except zlib.error:
                pass
        if word.encode() in data:
            found.append(path.name)
    return found
