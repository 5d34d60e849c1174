"""The Batches API: half the price, answers within a day.

A batch is announced in the store before it is handed over and named after, so that a killed night
leaves nothing that is paid and lost: what the server does not deny may be there. Results are read
by custom_id, from the configured address.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pipeline.cases.judging import Pending
from pipeline.clock import parse_instant
from pipeline.config import JudgeConfig
from pipeline.judge.backends.api import Fault, called, connect, parameters
from pipeline.judge.labels import Silence
from pipeline.judge.pool import TOO_LATE, in_time
from pipeline.judge.request import Desk, Reply, Request, json_object, message_reply

if TYPE_CHECKING:
    import anthropic

PATIENCE_SECONDS = 30.0
POLL_SECONDS = 2.0
_ID = re.compile(r"[\w-]{1,128}\Z")
_SKEW = timedelta(minutes=5)


class Batch:
    """Hands over everything at once, waits a little, and leaves the rest to the next night."""

    def __init__(
        self,
        config: JudgeConfig,
        key: str,
        patience_seconds: float = PATIENCE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.share = config.price_share
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
        remote = self._made(chosen)
        if isinstance(remote, Fault):
            if remote.refused:  # else the next night looks for it
                desk.dropped(token)
            yield [self._stop(remote)]
            return
        desk.named(token, remote)
        replies = self._awaited(token, remote, [request.name for request in chosen])
        if replies:
            yield [self._stop(replies)] if isinstance(replies, Fault) else replies

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

    def _called(self, call: Callable[[], bytes]) -> bytes | Fault:
        """As `called`, in the time that one call may take, however the server spends it."""
        found = in_time(lambda: called(call), self._config.timeout_seconds)
        return Fault(TOO_LATE, again=True) if found is None else found

    def _made(self, chosen: Sequence[Request]) -> str | Fault:
        """The server's name for a new batch."""
        batches = self.client.messages.batches.with_raw_response
        entries: list[Any] = [
            {"custom_id": r.name, "params": parameters(r, self._config)} for r in chosen
        ]
        made = self._called(lambda: batches.create(requests=entries).http_response.content)
        if isinstance(made, Fault):
            return made
        return _id(json_object(made)) or Fault("no name of a batch came back")

    def _awaited(self, token: str, remote: str, names: Sequence[str]) -> list[Reply] | Fault:
        """As `_ended`, after a little patience."""
        deadline = time.monotonic() + self._patience_seconds
        while not (replies := self._ended(token, remote, names)) and time.monotonic() < deadline:
            time.sleep(self._poll_seconds)
        return replies

    def _ended(self, token: str, remote: str, names: Sequence[str]) -> list[Reply] | Fault:
        """One reply a name when the batch has ended or is gone, else none."""
        found = self._fetched(remote)
        if isinstance(found, Fault) and found.gone:
            lost = [Reply(name, Silence.FAILED, 0, batch=token, blameless=True) for name in names]
            return [self._warning(found), *lost]
        if found is None or isinstance(found, Fault):
            return found or []
        results = _results(found)
        if not results:  # they are paid, and will be there another night
            return Fault("what came holds no results", status=200)
        return [_reply(name, results.get(name), token) for name in names]

    def _fetched(self, remote: str) -> bytes | Fault | None:
        """Results; None while the server is at it."""
        batches = self.client.messages.batches.with_raw_response
        state = self._called(lambda: batches.retrieve(remote).http_response.content)
        if isinstance(state, Fault):
            return state
        if (json_object(state) or {}).get("processing_status") != "ended":
            return None
        import httpx2

        path = f"/v1/messages/batches/{remote}/results"
        return self._called(lambda: self.client.get(path, cast_to=httpx2.Response).content)

    def _found(self, batch: Pending, desk: Desk) -> str | None:
        """The server's name for a batch that we were killed over: the one made just then, with so
        many questions. None when it never came there, or nobody can tell."""
        known = {other.remote for other in desk.pending()}
        batches = self.client.messages.batches.with_raw_response
        listed = self._called(lambda: batches.list(limit=100).http_response.content)
        rows = (json_object(listed) or {}).get("data") if isinstance(listed, bytes) else None
        if not isinstance(rows, list):
            return None
        for row in rows:
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
    return replace(message_reply(name, message), batch=token)
