"""A first wording of a rule, by the second model, from masked cases. A person waits for it, so
that there is one try and little time, and edits it."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.cases.judging import DRAFT, Answer
from pipeline.config import Config
from pipeline.errors import PipelineError
from pipeline.judge import prompts
from pipeline.judge.backends.choose import direct
from pipeline.judge.pool import TOO_LATE, in_time
from pipeline.judge.prompts import Prompt
from pipeline.judge.question import Subject
from pipeline.judge.request import Backend, NoDesk, Reply, Request
from pipeline.masking.masker import mask
from pipeline.records import Case

PROMPT = "draft-rule"
MOST_CASES = 20
MOST_CHARS = 300
NAME = "draft"
PATIENCE_SECONDS = 15.0
"""In all, from the name of the server to the last byte."""
CALL_SECONDS = 14.0
"""Of these, for the call: what ends by itself can say why."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """What came of asking."""

    sentence: str | None = None
    fault: str = ""
    """Why there is none; no words of a case or of the model. "" when nothing was asked."""
    answers: tuple[Answer, ...] = ()
    """What it cost, for the store."""


def draft(config: Config, cases: Sequence[Case]) -> Drafted:
    """One sentence from the newest cases. Where the judge is off, or there is no case, nothing is
    asked. Never raises for what a model, a server or a broken installation does wrong."""
    if not config.judge.enabled or not cases:
        return Drafted()
    try:
        prompt = prompts.load(PROMPT)
        request, backend = asking(config, prompt, cases), direct(_hurried(config))
        replies = _asked(backend, request)
    except PipelineError as error:
        return Drafted(fault=f"{error.message}; {error.hint}")
    except ImportError:
        return Drafted(fault="the SDK of the backend is not installed")
    if replies is None:
        return Drafted(fault=TOO_LATE)
    written = sentence(replies)
    stop = next((reply.stop for reply in replies if reply.stop), "no usable sentence came back")
    answers = [_answer(request, prompt, one, backend.share, written) for one in replies if one.name]
    return Drafted(written, "" if written else stop, tuple(answers))


def _hurried(config: Config) -> Config:
    seconds = min(config.judge.timeout_seconds, CALL_SECONDS)
    return replace(config, judge=replace(config.judge, timeout_seconds=seconds))


def _asked(backend: Backend, request: Request) -> list[Reply] | None:
    """None when it takes too long."""

    def replies() -> list[Reply]:
        return [reply for group in backend.ask([request], NoDesk()) for reply in group]

    try:
        return in_time(replies, PATIENCE_SECONDS)
    finally:
        backend.close()


def asking(config: Config, prompt: Prompt, cases: Sequence[Case]) -> Request:
    """The cases as one JSON object, behind a marker that nobody could know before."""
    shown = [Subject.of(case).shown for case in cases[:MOST_CASES]]
    text = json.dumps({"corrections": shown}, ensure_ascii=False)
    user = prompt.asking(marker=secrets.token_hex(12), case=text)
    return Request(NAME, config.judge.second, prompt.system, user, prompt.schema, retries=0)


def sentence(replies: Sequence[Reply]) -> str | None:
    """What the model wrote, as one line, when that is short and holds nothing to mask."""
    answer = replies[0].answer if len(replies) == 1 else None
    if not isinstance(answer, dict) or answer.keys() != {"sentence"}:
        return None
    written = answer["sentence"]
    if not isinstance(written, str) or len(written) > MOST_CHARS:
        return None
    words = " ".join(written.split())
    masked = mask(words)
    return masked.text if words and not masked.found else None


def _answer(
    request: Request, prompt: Prompt, reply: Reply, share: float, written: str | None
) -> Answer:
    """The key covers the marker, so that nobody can guess words by it: cases may be forgotten."""
    model = request.model
    return Answer(
        "", hashlib.sha256(request.user.encode()).hexdigest(), DRAFT, model.id, prompt.digest,
        DRAFT if written else None, reply.calls, reply.tokens_in, reply.tokens_out,
        model.cost_usd(reply.tokens_in, reply.tokens_out, share),
    )  # fmt: skip
