"""The Batches API: half the price, answers within a day.

A batch is announced in the store before it is handed over and named after, so that a killed night
leaves nothing that is paid and lost. Results are read by custom_id, from the configured address.
"""

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pipeline.cases.judging import Pending
from pipeline.clock import parse_instant
from pipeline.config import JudgeConfig
from pipeline.judge.backends.api import Fault, called, connect, parameters
from pipeline.judge.labels import Silence
from pipeline.judge.request import Desk, Reply, Request, json_object, message_reply

if TYPE_CHECKING:
    import anthropic

PATIENCE_SECONDS = 30.0
POLL_SECONDS = 2.0
_ID = re.compile(r"[\w-]{1,128}\Z")
_SKEW = timedelta(minutes=5)


class Batch:
    """Hands over everything at once, waits a little, and leaves the rest to the next night."""

    share = 0.5

    def __init__(
        self,
        config: JudgeConfig,
        key: str,
        patience_seconds: float = PATIENCE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._config, self._key = config, key
        self._patience_seconds = patience_seconds
        self._poll_seconds = poll_seconds

    @cached_property
    def client(self) -> "anthropic.Anthropic":
        """Made when it is needed."""
        return connect(self._config, self._key)

    def ask(self, requests: Iterable[Request], desk: Desk) -> Iterator[list[Reply]]:
        """Replies, when the batch ends soon."""
        chosen = list(requests)
        if not chosen:
            return
        token = desk.announce(chosen)
        batches = self.client.messages.batches.with_raw_response
        entries: list[Any] = [
            {"custom_id": r.name, "params": parameters(r, self._config)} for r in chosen
        ]
        made = called(lambda: batches.create(requests=entries))
        remote = _id(json_object(made)) if isinstance(made, bytes) else None
        if remote is None:
            fault = made if isinstance(made, Fault) else Fault("no batch was made", again=False)
            if not fault.again:  # else it may be there: the next night looks for it
                desk.dropped(token)
            yield [self._stop(fault)]
            return
        desk.named(token, remote)
        deadline = time.monotonic() + self._patience_seconds
        names = [r.name for r in chosen]
        while True:
            replies = self._ended(token, remote, names)
            if replies:
                yield [self._stop(replies)] if isinstance(replies, Fault) else replies
                return
            if time.monotonic() >= deadline:
                return
            time.sleep(self._poll_seconds)

    def earlier(self, desk: Desk) -> Iterator[list[Reply]]:
        """What earlier nights handed over, as far as it has ended. One batch that the server does
        not give out keeps nobody from the others."""
        for batch in desk.pending():
            remote = batch.remote or self._found(batch, desk)
            if remote is None:
                continue
            replies = self._ended(batch.token, remote, [entry.name for entry in batch.entries])
            if isinstance(replies, Fault) and not replies.status:
                yield [self._stop(replies)]
                return
            if replies:
                yield [self._warning(replies)] if isinstance(replies, Fault) else replies

    def close(self) -> None:
        """The server goes on without us."""
        if "client" in self.__dict__:
            self.client.close()

    def _ended(self, token: str, remote: str, names: list[str]) -> list[Reply] | Fault:
        """One reply a name when the batch has ended or is gone, else none."""
        found = self._fetched(remote)
        if isinstance(found, Fault) and found.gone:
            lost = [Reply(name, Silence.FAILED, 0, batch=token, blameless=True) for name in names]
            return [self._warning(found), *lost]
        if isinstance(found, Fault):
            return found
        results = _results(found) if found is not None else None
        return [_reply(n, results.get(n), token) for n in names] if results is not None else []

    def _fetched(self, remote: str) -> bytes | Fault | None:
        """Results; None while the server is at it."""
        batches = self.client.messages.batches.with_raw_response
        state = called(lambda: batches.retrieve(remote))
        if isinstance(state, Fault):
            return state
        if (json_object(state) or {}).get("processing_status") != "ended":
            return None
        import httpx2

        path = f"/v1/messages/batches/{remote}/results"
        return called(lambda: _Raw(self.client.get(path, cast_to=httpx2.Response)))

    def _found(self, batch: Pending, desk: Desk) -> str | None:
        """The server's name for a batch that we were killed over: the one made just then, with so
        many questions. None when it never came there."""
        known = {other.remote for other in desk.pending()}
        batches = self.client.messages.batches.with_raw_response
        listed = called(lambda: batches.list(limit=100))
        if isinstance(listed, Fault):
            return None
        for row in (json_object(listed) or {}).get("data") or []:
            remote = _id(row)
            if remote and remote not in known and _fits(row, batch.at, len(batch.entries)):
                desk.named(batch.token, remote)
                return remote
        desk.dropped(batch.token)
        return None

    def _stop(self, fault: Fault) -> Reply:
        return Reply(
            "", Silence.FAILED, 0, stop=f"{self._config.base_url}: {fault.words}", blameless=True
        )

    def _warning(self, fault: Fault) -> Reply:
        then = "its questions are asked anew" if fault.gone else "it is asked for again next night"
        words = f"{self._config.base_url} does not give out a batch: {fault.words}; {then}"
        return Reply("", Silence.FAILED, 0, warning=words, blameless=True)


class _Raw:
    """A plain response in the form of a raw one."""

    def __init__(self, response: Any) -> None:
        self.http_response = response


def _id(batch: object) -> str | None:
    """A name that may stand in an address."""
    found = batch.get("id") if isinstance(batch, dict) else None
    return found if isinstance(found, str) and _ID.match(found) else None


def _fits(row: Mapping[str, Any], at: datetime, questions: int) -> bool:
    made = parse_instant(row.get("created_at"))
    counts = row.get("request_counts")
    if made is None or not isinstance(counts, dict):
        return False
    total = sum(number for number in counts.values() if isinstance(number, int))
    return at - _SKEW <= made <= at + _SKEW and total == questions


def _results(lines: bytes) -> dict[str, Any]:
    """Results by custom_id; one that comes twice counts as none."""
    found: dict[str, Any] = {}
    for line in lines.splitlines():
        row = json_object(line)
        name = row.get("custom_id") if row else None
        if row and isinstance(name, str):
            found[name] = None if name in found else row.get("result")
    return found


def _reply(name: str, result: object, token: str) -> Reply:
    """Errored, expired, cancelled and missing entries are failures."""
    succeeded = isinstance(result, dict) and result.get("type") == "succeeded"
    message = result.get("message") if isinstance(result, dict) and succeeded else None
    reply = message_reply(name, message)
    return Reply(name, reply.answer, reply.calls, reply.tokens_in, reply.tokens_out, batch=token)
