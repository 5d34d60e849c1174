"""What is asked and what comes back: the border between the judge and its backends."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.cases.judging import Pending
from pipeline.config import Model
from pipeline.judge.labels import Silence

MAX_TOKENS = 2048
"""Thinking counts towards it."""
RETRIES = 2
_TOKENS_IN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_REQUEST_ID = re.compile(r"req_[A-Za-z0-9]{1,40}")
ERRORS = frozenset(
    """invalid_request_error authentication_error billing_error permission_error not_found_error
    request_too_large rate_limit_error api_error timeout_error overloaded_error""".split()
)
"""Types of errors of the Messages API (November 2026)."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to one model."""

    name: str
    """Unique, and the id that must come back."""
    model: Model
    system: str
    user: str
    schema: Mapping[str, Any]
    retries: int = RETRIES
    """How often it may be sent again when the server is busy or silent."""

    @property
    def most_tokens_in(self) -> int:
        """A safe guess: no language needs more tokens for its bytes."""
        return len(f"{self.system}{self.user}{json.dumps(self.schema)}".encode()) * 2 // 5 + 200


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. Holds no words of the case, and none of an error's text."""

    name: str
    answer: Mapping[str, Any] | Silence
    """A JSON object, not yet checked against anything, or why there is none."""
    calls: int = 1
    tokens_in: int = 0
    tokens_out: int = 0
    batch: str = ""
    """Token of the batch that ends with this reply."""
    stop: str = ""
    """Why nothing more is to be asked tonight: status, type and request id only."""
    warning: str = ""
    """What else somebody should know, in as few words."""
    blameless: bool = False
    """The failure had nothing to do with this question: it counts as not asked."""
    unheard: bool = False
    """No model answered, nor did the API: nobody was there, or something that is neither."""


class Desk(Protocol):
    """The memory that a backend may need beyond its own process."""

    def pending(self) -> list[Pending]:
        """Batches under way, oldest first."""

    def announce(self, requests: list[Request]) -> str:
        """Before a batch is handed over; returns the token that its questions are kept under."""

    def named(self, token: str, remote: str) -> None:
        """The server has the batch."""

    def dropped(self, token: str) -> None:
        """The server never had it."""


class NoDesk:
    """For questions that are not worth waiting for until another night."""

    def pending(self) -> list[Pending]:
        """Nothing is under way."""
        return []

    def announce(self, requests: list[Request]) -> str:
        """Kept nowhere."""
        return ""

    def named(self, token: str, remote: str) -> None:
        """Kept nowhere."""

    def dropped(self, token: str) -> None:
        """Kept nowhere."""


class Backend(Protocol):
    """A way to ask models. Neither method raises for what a server or a program does wrong."""

    share: float
    """Of the list price."""

    def ask(self, requests: Iterable[Request], desk: Desk) -> Iterator[list[Reply]]:
        """Replies in groups as they arrive, in any order; a request is drawn when there is room for
        it. One without a reply is under way, or was not sent since a reply said stop."""

    def earlier(self, desk: Desk) -> Iterator[list[Reply]]:
        """Replies to what earlier nights left under way."""

    def close(self) -> None:
        """Ends what is still under way on this machine."""


def message_reply(name: str, message: object, calls: int = 1) -> Reply:
    """Reads a message of the Messages API, already decoded, as it comes from any server."""
    if not isinstance(message, dict):
        return Reply(name, Silence.FAILED, calls, unheard=True)
    usage = message.get("usage")
    tokens = (_count(usage, *_TOKENS_IN), _count(usage, "output_tokens"))
    reason = message.get("stop_reason")
    if reason == "refusal":
        return Reply(name, Silence.REFUSED, calls, *tokens)
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    text = "".join(
        block["text"]
        for block in blocks
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    )
    answer = json_object(text) if reason in ("end_turn", "stop_sequence") else None
    return Reply(name, Silence.FAILED if answer is None else answer, calls, *tokens)


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The one object that a text is, None for anything else: a key that comes twice, too."""
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def kind_of_error(value: object) -> str:
    """A server's word for what is wrong; "-" for any that is not one of the API's own: a server can
    put what it was sent there."""
    return value if isinstance(value, str) and value in ERRORS else "-"


def request_id(value: object) -> str:
    """For a question to the server's owner; "-" for what is none."""
    return value if isinstance(value, str) and _REQUEST_ID.fullmatch(value) else "-"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _count(usage: object, *names: str) -> int:
    if not isinstance(usage, dict):
        return 0
    values = [usage.get(name) for name in names]
    return sum(v for v in values if isinstance(v, int) and 0 <= v < 1 << 40)
