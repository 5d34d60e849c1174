"""A first wording of a rule, by the second model, from masked cases. A person edits it."""

import json
import secrets
from collections.abc import Sequence

from pipeline.config import Config
from pipeline.errors import ModelError
from pipeline.judge import prompts
from pipeline.judge.backends.choose import direct
from pipeline.judge.question import Subject
from pipeline.judge.request import NoDesk, Reply, Request
from pipeline.masking.masker import mask
from pipeline.records import Case

PROMPT = "draft-rule"
MOST_CASES = 20
MOST_CHARS = 300
NAME = "draft"


def draft(config: Config, cases: Sequence[Case]) -> str | None:
    """One sentence, or None: where the judge is off, nothing is asked; where anything fails, or the
    sentence holds what the masker would take, there is none. Never raises for a model's fault.

    Who was asked to by the person hands over a config whose judge is enabled.
    """
    if not config.judge.enabled or not cases:
        return None
    try:
        prompt = prompts.load(PROMPT)
        backend = direct(config)
    except ModelError:
        return None
    shown = [Subject.of(case).shown for case in cases[:MOST_CASES]]
    text = json.dumps({"corrections": shown}, ensure_ascii=False)
    user = prompt.asking(marker=secrets.token_hex(12), case=text)
    request = Request(NAME, config.judge.second, prompt.system, user, prompt.schema)
    try:
        replies = [reply for group in backend.ask([request], NoDesk()) for reply in group]
    finally:
        backend.close()
    return sentence(replies)


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
