"""The Messages API, Anthropic's own or a compatible server's, through the SDK.

The SDK (2.14) reads key, token, profile, address, headers, log level and tracing from the
environment and disk: here it is loaded and made in an environment without any of them, so that text
and key go to the configured address alone. Redirects are not followed.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pipeline.config import JudgeConfig
from pipeline.judge.backends.bounded import TooLong, bound
from pipeline.judge.labels import Silence
from pipeline.judge.pool import TOO_LATE, answered
from pipeline.judge.request import (
    MAX_TOKENS,
    RETRIES,
    Desk,
    Reply,
    Request,
    json_object,
    kind_of_error,
    message_reply,
    request_id,
)

if TYPE_CHECKING:
    import anthropic

OLD_VERSION = "2023-06-01"
"""Of the API, for compatible servers."""
BACKOFF_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 30.0
SLACK_SECONDS = 10.0
BUSY = frozenset({408, 409, 429})
ENOUGH_STRANGE = 3
NOT_ITS_FAULT = frozenset({401, 403, 404})
"""Statuses that say something of the key or the address, not of the question."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with a call, without any text of its answer."""

    words: str
    again: bool = False
    """Another try may succeed."""
    blameless: bool = False
    """It says something of the key or the address, not of the question."""
    unheard: bool = False
    """Nobody answered, or not as the API would."""
    wait_seconds: float = 0.0
    """So long the server wants to be left alone; 0: it did not say."""
    status: int = 0
    """0: none came."""

    @property
    def refused(self) -> bool:
        """The server said no: nothing was done. Without that, it may have been."""
        return bool(self.status) and not self.again

    @property
    def gone(self) -> bool:
        """What was asked for is not there. A key that is refused may be mended."""
        return 400 <= self.status < 500 and self.status not in BUSY | {401, 403}


class Api:
    """Asks a few questions at a time."""

    def __init__(self, config: JudgeConfig, key: str, backoff_seconds: float = BACKOFF_SECONDS):
        self.share = config.price_share
        self._config, self._key = config, key
        self._backoff_seconds = backoff_seconds
        self._strange = 0
        """Answers in a row that were no messages."""
        self._closed = threading.Event()
        self._lock = threading.Lock()

    @cached_property
    def client(self) -> "anthropic.Anthropic":
        """Made when the first question is there: loading the SDK takes a second."""
        return connect(self._config, self._key)

    def ask(self, requests: Iterable[Request], desk: Desk) -> Iterator[list[Reply]]:
        """Replies as they arrive."""
        longest = (RETRIES + 1) * self._config.timeout_seconds + RETRIES * LONGEST_WAIT_SECONDS
        return answered(requests, self._ask, longest + SLACK_SECONDS)

    def earlier(self, desk: Desk) -> Iterator[list[Reply]]:
        """Nothing is ever left under way."""
        return iter(())

    def close(self) -> None:
        """Wakes who waits to try again."""
        self._closed.set()
        if "client" in self.__dict__:
            self.client.close()

    def _ask(self, request: Request) -> Reply:
        """Sent again while the server is busy, as often as the request allows."""
        with self._lock:
            create = self.client.messages.with_raw_response.create
        calls = 0
        while True:
            calls += 1
            answer = called(
                lambda: create(**parameters(request, self._config)).http_response.content
            )
            if isinstance(answer, bytes):
                return self._read(request.name, answer, calls)
            again = answer.again and calls <= request.retries
            if not again or self._closed.wait(self._pause(answer, calls)):
                return Reply(
                    request.name, Silence.FAILED, calls,
                    stop=f"{self._config.base_url}: {answer.words}", blameless=answer.blameless,
                    unheard=answer.unheard,
                )  # fmt: skip

    def _read(self, name: str, answer: bytes, calls: int) -> Reply:
        """A portal before the network answers everything, and never as a model would."""
        message = json_object(answer)
        said = message_reply(name, message if message and "content" in message else None, calls)
        with self._lock:
            self._strange = self._strange + 1 if said.unheard else 0
            enough = self._strange >= ENOUGH_STRANGE
        if not enough:
            return said
        return replace(said, stop=f"{self._config.base_url}: what comes are no messages")

    def _pause(self, fault: Fault, calls: int) -> float:
        wanted = fault.wait_seconds or self._backoff_seconds * 2 ** (calls - 1)
        return min(wanted, LONGEST_WAIT_SECONDS)


def parameters(request: Request, config: JudgeConfig) -> dict[str, Any]:
    """The body of a message request. No temperature: the newest API refuses it."""
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
    if not config.compatible:
        output["effort"] = "low"
    return {
        "model": request.model.id,
        "max_tokens": MAX_TOKENS,
        "system": request.system,
        "messages": [{"role": "user", "content": request.user}],
        "output_config": output,
    }


def called(call: Callable[[], bytes]) -> bytes | Fault:
    """The body that a call brings, or what went wrong."""
    import anthropic

    try:
        return call()
    except anthropic.APITimeoutError:
        return Fault(TOO_LATE, again=True)
    except anthropic.APIConnectionError as error:
        if isinstance(error.__cause__, TooLong):
            return Fault("the answer has no end", unheard=True)
        return Fault("cannot be reached", again=True, unheard=True)
    except anthropic.APIStatusError as error:
        status = error.status_code
        told = f"{kind_of_error(error.type)}, request {request_id(error.request_id)}"
        words = f"status {status} ({told})"
        wait = _seconds(error.response.headers.get("retry-after"))
        again = status in BUSY or status >= 500
        blameless = status in NOT_ITS_FAULT or status < 400
        return Fault(words, again, blameless, wait_seconds=wait, status=status)
    except Exception as error:  # the faults of the SDK, its parsers and sockets are many
        return Fault(type(error).__name__)


def _seconds(header: str | None) -> float:
    try:
        return max(0.0, float(header or 0))
    except ValueError:
        return 0.0


def connect(config: JudgeConfig, key: str) -> "anthropic.Anthropic":
    """A client that knows what it is told and nothing else."""
    with washed():
        import anthropic

        headers = (
            {"anthropic-version": OLD_VERSION, "x-api-key": key} if config.compatible else None
        )
        return anthropic.Anthropic(
            api_key=key,
            base_url=config.base_url,
            timeout=config.timeout_seconds,
            max_retries=0,
            default_headers=headers,
            http_client=anthropic.DefaultHttpxClient(
                follow_redirects=False,
                headers={"accept-encoding": "identity"},  # what is counted is what is kept
                event_hooks={"response": [bound]},
            ),
        )


def deprecated_models() -> dict[str, str]:
    """Ids of models that end, with the day, as the SDK knows them. Loads the SDK (1.3 s)."""
    with washed():
        from anthropic.resources.messages import DEPRECATED_MODELS
    return dict(DEPRECATED_MODELS)


@contextmanager
def washed() -> Iterator[None]:
    """Without everything in the environment that the SDK would obey."""
    taken = {
        name: os.environ.pop(name) for name in list(os.environ) if name.startswith("ANTHROPIC")
    }
    try:
        yield
    finally:
        os.environ.update(taken)
