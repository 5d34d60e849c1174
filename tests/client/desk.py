"""One person's desk: a home, Claude Code with our hook in its settings, repositories, a fake API.

The client runs in a washed environment; nothing of this machine's Claude Code is read or written.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.inject.items import choose
from pipeline.inject.snapshots import document
from pipeline.inject.text import frame
from pipeline.install import entries, line
from pipeline.masking.masker import mask
from pipeline.records import Case, CaseType, Kind, Source
from tests.client.fake_api import FakeApi
from tests.client.terminal import Terminal

CHECKOUT = line.HOOK.parent.parent
FINISHED = re.compile(r"\[DEBUG\] Hooks: (\w+)\S* \[.*\] finished with status (\d+)")
SUCCESS = re.compile(r'^\S+ \[DEBUG\] ("Hook UserPromptSubmit .*")$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the client's own debug log tells of the hooks of one run."""

    log: Path

    @property
    def printed(self) -> list[str]:
        """Their outputs at prompts, as the client read them; silence not."""
        found = [json.loads(text) for text in SUCCESS.findall(self.log.read_text("utf-8"))]
        return [text.partition("\n")[2] for text in found]

    @property
    def statuses(self) -> list[tuple[str, int]]:
        """(event, exit code) of each that ended."""
        found = FINISHED.findall(self.log.read_text("utf-8"))
        return [(event, int(status)) for event, status in found]


@dataclass(frozen=True, slots=True)
class Said:
    """What `claude -p` gave back."""

    code: int
    out: str
    hooks: Hooks


def case(words: str, at: datetime) -> Case:
    """A decided correction of an edit."""
    return Case(
        id="d4e5f6a7b8c9",
        at=at,
        day=at.date(),
        session="5e551011-0000-4000-8000-00000000000a",
        repo="made-up",
        type=CaseType.WRONG_RESULT,
        source=Source.HUMAN,
        state="open",
        decided_by="rule",
        rule_id="en.wrong-result.made-up",
        text=mask(words).text,
        tool="Edit",
        gist=mask("kites.py").text,
        said=mask("").text,
        kind=Kind.TYPED,
        row="U7",
        lang="en",
        interrupted=False,
        named=True,
        admitted=False,
        file="made-up",
        number=1,
        inferred_at=False,
    )


class Desk:
    """See the module. `client` is the binary, `root` an empty folder."""

    def __init__(self, client: Path, root: Path) -> None:
        self.api = FakeApi()
        self.root = root
        self.claude = root / "home" / ".claude"
        self.ours = root / "twice told"
        self._client = client
        self._runs = 0
        self._trusted: list[Path] = []
        self.claude.mkdir(parents=True)
        for name in ("snapshots", "seen"):
            (self.ours / "local_cases" / name).mkdir(parents=True)
        self.line = line.guarded(line.interpreter(), str(line.HOOK), str(self.ours))
        self.wire(self.line)

    def wire(self, *commands: str) -> None:
        """Puts hook lines into the person's settings, in the entries that `install` writes."""
        hooks = {
            event: [entries.wanted(event, command) for command in commands]
            for event in entries.MATCHERS
        }
        settings = {"hooks": hooks, "permissions": {"allow": ["Bash(sleep:*)"]}}
        (self.claude / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    def repository(self, name: str) -> Path:
        """A new git repository that the person trusts."""
        path = self.root / name
        path.mkdir()
        self.git(path, "init", "--quiet")
        self.git(path, "commit", "--quiet", "--allow-empty", "--message", "begin")
        self._trusted.append(path)
        return path

    def git(self, path: Path, *args: str) -> None:
        author = ["-c", "user.name=A. Person", "-c", "user.email=person@example.com"]
        subprocess.run(["git", "-C", str(path), *author, *args], check=True, timeout=30)

    def correct(self, tree: Path, *words: str) -> str:
        """Writes the hook file that the night would leave for a tree; what is to be shown."""
        now = datetime.now(UTC)
        items = choose([case(text, now) for text in words], now)
        name = hashlib.sha256(os.fsencode(os.path.realpath(tree))).hexdigest()
        path = self.ours / "local_cases" / "snapshots" / f"{name}.json"
        path.write_bytes(document(name, tree.name, items, now))
        return frame([item.text for item in items])

    def snapshots(self) -> list[Path]:
        return sorted((self.ours / "local_cases" / "snapshots").iterdir())

    def prompt(self, cwd: Path, words: str, *flags: str) -> Said:
        """`claude -p`, once."""
        log = self._log()
        done = subprocess.run(
            [str(self._client), "--debug-file", str(log), *flags, "-p", words],
            cwd=cwd,
            env=self._environment(cwd),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Said(done.returncode, done.stdout, Hooks(log))

    @contextmanager
    def terminal(self, cwd: Path, *flags: str) -> Iterator[tuple[Terminal, Hooks]]:
        """The client at a terminal, ready for the first prompt."""
        projects = {str(path): {"hasTrustDialogAccepted": True} for path in self._trusted}
        state = self.root / "home" / ".claude.json"
        known = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
        known |= {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
            "projects": {**known.get("projects", {}), **projects},
        }
        state.write_text(json.dumps(known), encoding="utf-8")
        manual = ("--permission-mode", "manual")  # the default mode asks a server of its own
        log = self._log()
        command = [str(self._client), "--debug-file", str(log), *manual, *flags]
        with (
            tempfile.TemporaryDirectory(prefix="tt-") as short,  # a socket's path has 107 bytes
            Terminal(Path(short) / "tmux", command, cwd, self._environment(cwd)) as terminal,
        ):
            terminal.wait("❯")
            yield terminal, Hooks(log)
            terminal.leave()

    def twice_told(self, *args: str) -> str:
        """Our command line, on this desk's home and transcripts; what it prints."""
        folders = ["--home", str(self.ours), "--claude-dir", str(self.claude)]
        done = subprocess.run(
            [sys.executable, "-m", "pipeline", *folders, *args],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rows(self) -> list[dict[str, Any]]:
        """All lines of all transcripts."""
        files = sorted(self.claude.glob("projects/*/*.jsonl"))
        return [json.loads(row) for file in files for row in file.read_bytes().splitlines()]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The transcripts' rows of what hooks did."""
        return [r for r in self.rows() if r.get("attachment", {}).get("hookEvent")]

    def close(self) -> None:
        self.api.close()

    def _log(self) -> Path:
        self._runs += 1
        return self.root / f"debug-{self._runs}.log"

    def _environment(self, cwd: Path) -> Mapping[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.root / "home"),
            "PWD": str(cwd),
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "dummy",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        }
