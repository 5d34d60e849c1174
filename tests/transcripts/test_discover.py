"""Which files are taken for transcripts, and what is left alone and counted."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.transcripts.discover import discover
from tests.transcripts.builders import prompt, write

CODE = Path(pipeline.__file__).resolve().parents[1]


def touch(root: Path, name: str) -> Path:
    path = root / "projects" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    return path


LAYOUTS = {
    "p/s1.jsonl": False,
    "p/agent-12345678.jsonl": True,
    "p/s1/subagents/agent-0123456789abcdef0.jsonl": True,
    "p/s1/subagents/agent-acompact-1.jsonl": True,
    "p/s1/subagents/workflows/wf_1/agent-a.jsonl": True,
}
PASSED = (
    "p/s1/subagents/agent-0123456789abcdef0.meta.json",
    "p/s1/subagents/workflows/wf_1/journal.jsonl",
    "p/s1/tool-results/x.jsonl",
    "p/memory/notes.jsonl",
    "p/s1.jsonl.bak",
    "p/sessions.json",
    "stray.jsonl",
)


def test_layouts(tmp_path: Path) -> None:
    for name in (*LAYOUTS, *PASSED):
        touch(tmp_path, name)
    found = discover([tmp_path])
    projects = tmp_path / "projects"
    told = {str(file.path.relative_to(projects)): file.subagent for file in found.files}
    assert told == LAYOUTS
    assert found.roots == [tmp_path]
    assert not found.passed_over


def test_sorted_and_complete(tmp_path: Path) -> None:
    """The order decides which of two copies is met first: it must not hang on the disk."""
    roots = [tmp_path / "b", tmp_path / "a"]
    for root in roots:
        for name in ("q/2.jsonl", "q/1.jsonl", "p/3.jsonl"):
            touch(root, name)
    paths = [file.path for file in discover(roots).files]
    assert paths == sorted(paths)
    assert len(paths) == 6


def test_what_the_directory_said(tmp_path: Path) -> None:
    path = write(tmp_path, prompt("u1", "no"))
    (file,) = discover([tmp_path]).files
    status = path.stat()
    assert file.stat_key == (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    assert file.root == tmp_path


def folder(path: Path) -> None:
    path.mkdir()


def link_to_system(path: Path) -> None:
    path.symlink_to("/etc")


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("gone"))


def loop(path: Path) -> None:
    path.symlink_to(path)


ODD: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "folder": ("p/x.jsonl", folder, "not_a_file"),
    "pipe": ("p/x.jsonl", os.mkfifo, "not_a_file"),
    "dangling-link": ("p/x.jsonl", dangling, "link"),
    "loop": ("p/x.jsonl", loop, "link"),
    "link-to-a-file": ("p/x.jsonl", lambda path: path.symlink_to("/etc/passwd"), "link"),
    "linked-project": ("x", link_to_system, "link"),
    "looped-project": ("x", loop, "link"),
    "subagent-pipe": ("p/s/subagents/agent-x.jsonl", os.mkfifo, "not_a_file"),
    "subagent-link": ("p/s/subagents/agent-x.jsonl", dangling, "link"),
}


@pytest.mark.parametrize(("name", "make", "reason"), ODD.values(), ids=ODD.keys())
def test_odd_entries(tmp_path: Path, name: str, make: Callable[[Path], None], reason: str) -> None:
    """Counted and left alone; the good file beside is found."""
    good = touch(tmp_path, "p/good.jsonl")
    path = tmp_path / "projects" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)
    found = discover([tmp_path])
    assert [file.path for file in found.files] == [good]
    assert found.passed_over == {reason: 1}


def test_linked_folders_below_a_session_are_not_entered(tmp_path: Path) -> None:
    good = touch(tmp_path, "p/good.jsonl")
    outside = touch(tmp_path / "outside", "p/s/subagents/agent-a.jsonl").parent
    session = tmp_path / "projects" / "p" / "s"
    session.mkdir()
    (session / "subagents").symlink_to(outside)
    inner = tmp_path / "projects" / "p" / "t" / "subagents"
    inner.mkdir(parents=True)
    (inner / "again").symlink_to(inner)
    assert [file.path for file in discover([tmp_path]).files] == [good]


@pytest.mark.parametrize("kind", ["missing", "file", "empty"])
def test_roots_without_logs(tmp_path: Path, kind: str) -> None:
    if kind == "file":
        (tmp_path / "projects").write_bytes(b"")
    elif kind == "empty":
        (tmp_path / "projects").mkdir()
    found = discover([tmp_path, tmp_path / "nowhere"])
    assert found.files == []
    assert found.roots == ([tmp_path] if kind == "empty" else [])


def test_a_linked_projects_folder_is_read(tmp_path: Path) -> None:
    """People keep ~/.claude elsewhere and link it; what lies below must be real."""
    path = touch(tmp_path / "real", "p/s.jsonl")
    root = tmp_path / "root"
    root.mkdir()
    (root / "projects").symlink_to(path.parents[1])
    assert [file.path.name for file in discover([root]).files] == ["s.jsonl"]


# Barred files and folders: tried by a process that is not root, whoever runs the tests; it gives
# its rights away after the imports, since the interpreter may lie in a home of root's

LOOK = """
import json, os, sys
from pathlib import Path
from pipeline.errors import PipelineError
from pipeline.transcripts.discover import discover
from pipeline.transcripts.reader import Options, open_transcript
from pipeline.transcripts.repository import from_git
from pipeline.config import load
import zoneinfo, pipeline.transcripts.oversize
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
root = Path(sys.argv[1])
def settings(home):
    try:
        load(home=home, environ={"HOME": str(root)})
    except PipelineError as error:
        return type(error).__name__
found = discover([root / "claude"])
read, failed = [], []
for file in found.files:
    try:
        with open_transcript(file, Options()) as transcript:
            read.append([file.path.name, len(transcript.turns)])
    except PipelineError as error:
        failed.append([file.path.name, type(error).__name__])
print(json.dumps({
    "read": read,
    "failed": failed,
    "passed_over": found.passed_over,
    "repository": from_git(str(root / "claude" / "projects" / "p" / "s")) is not None,
    "settings": settings(root / "barred-home"),
    "dirs": [str(p) for p in load(environ={"HOME": str(root / "claude")}).claude_dirs],
}))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def look(root: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(root)],
        cwd=CODE,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


BARRED = {
    "file": ("projects/p/s.jsonl", 0o000, [["s.jsonl", "SourceError"]], {}),
    "project": ("projects/q", 0o000, [], {"denied": 1}),
    "session": ("projects/p/s", 0o600, [], {"denied": 1}),
    "subagents": ("projects/p/s/subagents", 0o000, [], {"denied": 1}),
    "projects": ("projects", 0o000, None, {"denied": 1}),
    "root": (".", 0o000, None, {"denied": 1}),
}


@pytest.mark.parametrize(("name", "mode", "failed", "passed"), BARRED.values(), ids=BARRED.keys())
def test_barred(
    open_folder: Path, name: str, mode: int, failed: list[list[str]] | None, passed: dict[str, int]
) -> None:
    """Named or counted, never raised; all that is not barred is read."""
    root = open_folder / "claude"
    for file in ("p/s.jsonl", "q/t.jsonl", "r/good.jsonl", "p/s/subagents/agent-a.jsonl"):
        path = touch(root, file)
        path.write_bytes(b'{"type":"user","uuid":"u1","message":{"content":"no"}}\n')
    barred = root / name
    barred.chmod(mode)
    (open_folder / "barred-home").mkdir(mode=0o000)
    try:
        told = look(open_folder)
    finally:
        barred.chmod(0o755)
    assert told["passed_over"] == passed
    assert told["settings"] == "ConfigError"
    assert not told["repository"]
    if failed is None:
        assert told["read"] == []
    else:
        assert told["failed"] == failed
        assert ["good.jsonl", 1] in told["read"]
