"""A first wording of a rule, by the second model, from masked cases. A person edits it."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.cases.judging import DRAFT, Answer
from pipeline.config import Config
from pipeline.errors import ModelError
from pipeline.judge import prompts
from pipeline.judge.backends.choose import direct
from pipeline.judge.prompts import Prompt
from pipeline.judge.question import Subject
from pipeline.judge.request import NoDesk, Reply, Request
from pipeline.masking.masker import mask
from pipeline.records import Case

PROMPT = "draft-rule"
MOST_CASES = 20
MOST_CHARS = 300
NAME = "draft"


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
    asked. Never raises for what a model, a server or a missing SDK does wrong."""
    if not config.judge.enabled or not cases:
        return Drafted()
    replies: list[Reply] = []
    try:
        prompt = prompts.load(PROMPT)
        request, backend = asking(config, prompt, cases), direct(config)
        try:
            replies += [reply for group in backend.ask([request], NoDesk()) for reply in group]
        finally:
            backend.close()
    except ModelError as error:
        return Drafted(fault=f"{error.message}; {error.hint}")
    except ImportError:
        return Drafted(fault="the SDK of the backend is not installed")
    written = sentence(replies)
    stop = next((reply.stop for reply in replies if reply.stop), "no usable sentence came back")
    answers = [_answer(request, prompt, one, backend.share, written) for one in replies if one.name]
    return Drafted(written, "" if written else stop, tuple(answers))


def asking(config: Config, prompt: Prompt, cases: Sequence[Case]) -> Request:
    """The cases as one JSON object, behind a marker that nobody could know before."""
    shown = [Subject.of(case).shown for case in cases[:MOST_CASES]]
    text = json.dumps({"corrections": shown}, ensure_ascii=False)
    user = prompt.asking(marker=secrets.token_hex(12), case=text)
    return Request(NAME, config.judge.second, prompt.system, user, prompt.schema)


def sentence(replies: Sequence[Reply]) -> str | None:
    """What the model wrote, when it is one line of plain words."""
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
