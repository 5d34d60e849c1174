"""Messages that were queued while the agent worked, for clients that saved them nowhere else.

From 2.0.76 to 2.1.96 a message absorbed in mid-turn stands only in its `queue-operation` lines;
before and after, other lines hold it, and those of the queue repeat it (119 such messages in 565
public transcripts).
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.transcripts.markers import QUEUE_SAVED_SINCE

_NOT_WORDS = ("<task-notification", "/", "!", '{"task_id"')


@dataclass(frozen=True, slots=True)
class Queued:
    """One enqueued message and where it stands."""

    content: str
    session_id: str
    timestamp: object
    cwd: str
    """Working folder of the nearest line before: these lines carry none."""
    number: int
    spine: int


@dataclass(slots=True)
class Queue:
    """Pairs the operations of one file, first in, first out, within each session."""

    waiting: dict[str, deque[Queued]] = field(default_factory=lambda: defaultdict(deque))
    absorbed: list[Queued] = field(default_factory=list)
    """Enqueued and removed by a client that kept no other copy."""

    def operation(
        self,
        data: Mapping[str, Any],
        version: tuple[int, ...] | None,
        cwd: str,
        number: int,
        spine: int,
    ) -> None:
        """Takes one `queue-operation` line; `version` and `cwd` are those of the nearest
        earlier line."""
        session = data.get("sessionId")
        session = session if isinstance(session, str) else ""
        content = data.get("content")
        waiting = self.waiting[session]
        match data.get("operation"):
            case "enqueue" if isinstance(content, str):
                waiting.append(Queued(content, session, data.get("timestamp"), cwd, number, spine))
            case "popAll":
                waiting.clear()
            case "dequeue" | "remove" as operation:
                taken = self._take(waiting, content)
                if taken and operation == "remove" and _only_copy(taken, content, version):
                    self.absorbed.append(taken)

    @staticmethod
    def _take(waiting: deque[Queued], content: object) -> Queued | None:
        """2.1.332 repeats the content when it removes: then that message, else the oldest."""
        for item in waiting:
            if item.content == content:
                waiting.remove(item)
                return item
        return waiting.popleft() if waiting else None


def _only_copy(taken: Queued, content: object, version: tuple[int, ...] | None) -> bool:
    return (
        content is None
        and version is not None
        and version < QUEUE_SAVED_SINCE
        and bool(taken.content.strip())
        and not taken.content.lstrip().startswith(_NOT_WORDS)
    )
