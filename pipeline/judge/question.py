"""Turns a case into a question: masked once more, cut, harmless as markup, fenced."""

import hashlib
import json
import re
import secrets
from dataclasses import dataclass

from pipeline.config import Model
from pipeline.judge.labels import Label, Said, Silence
from pipeline.judge.prompts import Prompt
from pipeline.judge.request import MAX_TOKENS, RETRIES, Reply, Request
from pipeline.masking.masker import recheck
from pipeline.records import Case, MaskedText

TEXT_CHARS, GIST_CHARS, SAID_CHARS = 1000, 200, 500
NAME_CHARS = 16
_TAG = re.compile(r"<(?=[/A-Za-z!?|])")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about. All words are masked."""

    id: str
    """The case; "" for a labelled message."""
    text: MaskedText
    did: MaskedText
    """Tool and gist of the action."""
    said: MaskedText

    @classmethod
    def of(cls, case: Case) -> "Subject":
        """The words leave the machine, so they are looked at once more."""
        did = recheck(f"{case.tool} {case.gist}".strip())
        return cls(case.id, recheck(case.text), did, recheck(case.said))

    @property
    def shown(self) -> dict[str, str]:
        """As the models see it."""
        return {
            "message": quiet(self.text, TEXT_CHARS),
            "agent_did": quiet(self.did, GIST_CHARS),
            "agent_said": quiet(self.said, SAID_CHARS),
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A subject before one model."""

    subject: Subject
    prompt: Prompt
    model: Model

    @property
    def key(self) -> str:
        """Digest of what decides the answer: words, action, prompt, model."""
        parts = [*self.subject.shown.values(), self.prompt.digest, self.model.id]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def name(self) -> str:
        """The id that is sent and must come back."""
        return self.key[:NAME_CHARS]

    def request(self, retries: int = RETRIES) -> Request:
        """Behind a marker that nobody could know before."""
        case = json.dumps({"id": self.name, **self.subject.shown}, ensure_ascii=False)
        user = self.prompt.asking(marker=secrets.token_hex(12), case=case)
        return Request(self.name, self.model, self.prompt.system, user, self.prompt.schema, retries)


def quiet(text: str, most: int) -> str:
    """One line without tags of anybody's markup, cut."""
    flat = _TAG.sub("‹", " ".join(text.split()))
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def heard(reply: Reply) -> Said:
    """The label, when the answer is a whole one to this very question; else a failure."""
    answer = reply.answer
    if isinstance(answer, Silence):
        return answer
    if answer.keys() != {"id", "label"} or answer["id"] != reply.name:
        return Silence.FAILED
    label = answer["label"]
    return Label(label) if isinstance(label, str) and label in list(Label) else Silence.FAILED


def most_usd(request: Request, share: float) -> float:
    """What the one call that is answered costs at most: those that fail before it cost nothing."""
    return request.model.cost_usd(request.most_tokens_in, MAX_TOKENS, share)
