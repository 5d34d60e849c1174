"""Real git repositories with a ledger in them."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pipeline.ledger.book import ATTRIBUTES, NAME, append, read
from pipeline.ledger.event import Event

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "dev"), ("EMAIL", "dev@example.com"))
}
QUICK = ("-c", "core.fsync=none", "-c", "gc.auto=0", "-c", "maintenance.auto=false")


class Clone:
    """A working tree, called as a person would."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.ledger = top / "ledger" / NAME

    def git(self, *words: str, data: bytes = b"") -> str:
        done = self.tried(*words, data=data)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout.decode().strip()

    def tried(self, *words: str, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            ["git", *QUICK, "-C", str(self.top), *words],
            env={**os.environ, **IDENTITY, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_EDITOR": "true"},
            input=data, capture_output=True, check=False,
        )  # fmt: skip

    def night(self, events: Sequence[Event]) -> None:
        """Appends and commits."""
        append(self.ledger, events)
        self.commit()

    def commit(self, *words: str) -> None:
        self.git("commit", "-q", "--allow-empty", "-am", "night", *words)

    @property
    def ids(self) -> frozenset[str]:
        reading = read(self.ledger)
        assert reading.bad == ()
        return reading.ids

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")


def started(top: Path) -> Clone:
    """A repository with an empty ledger and another file."""
    clone = Clone(top)
    clone.ledger.parent.mkdir(parents=True)
    clone.git("init", "-q", "-b", "main")
    (clone.ledger.parent / ".gitattributes").write_text(ATTRIBUTES)
    (top / "readme").write_text("hello\n")
    clone.ledger.touch()
    clone.git("add", ".")
    clone.commit()
    return clone


def imported(clone: Clone, nights: Sequence[bytes], branch: str = "main") -> None:
    """One commit for each version of the ledger, on top of the branch, without a checkout."""
    stream = [b"feature done\n"]
    for content in nights:
        stream.append(
            b"commit refs/heads/%s\ncommitter dev <dev@example.com> 1800000000 +0000\n"
            b"data 5\nnight%sM 100644 inline ledger/%s\ndata %d\n%s\n"
            % (
                branch.encode(),
                b"\nfrom refs/heads/%s^0\n" % branch.encode() if len(stream) == 1 else b"\n",
                NAME.encode(),
                len(content),
                content,
            )
        )
    clone.git("fast-import", "--quiet", "--force", data=b"".join([*stream, b"done\n"]))
    clone.git("reset", "-q", "--hard", branch)
