"""The sentence of a rule: worded from what repeated, and checked wherever it comes from."""

import re
from collections.abc import Mapping, Sequence

from pipeline.errors import UsageError
from pipeline.ledger.fold import Proposal
from pipeline.masking.inert import inert
from pipeline.masking.masker import mask
from pipeline.propose import scope
from pipeline.propose.instructions import imports
from pipeline.propose.words import words
from pipeline.records import Case

MAX_CHARS = 400
RUN_WORDS = 5
RUN_LETTERS = 12

_UNSPACED = r"\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(rf"[^{_UNSPACED}\w]+")
_RUN = re.compile(rf"[{_UNSPACED}]{{{RUN_LETTERS},}}")
_BLOCK = re.compile(r"(?:#{1,6}|[-+*]|\d{1,9}[.)])(?: |\Z)|>|\[[^\]]+\]:|(?:[-_*] ?){3,}\Z")
"""What would be more than a sentence in the list item that a rule is."""


def worded(
    proposal: Proposal, cases: Sequence[Case], files: Sequence[str], written: str | None = None
) -> str:
    """The template's sentence, or the one that a model has written; either says where, how often
    and when, and claims no more than the cases that are here.

    Where none are (a team's ledger, another machine's cases), than what the ledger counts.
    """
    known = words()
    parts = known.parts
    where = parts["repository"].format(repo=proposal.repo)
    # In backticks, as a folder's name may begin with @, which would be an import.
    where += parts["files"].format(files=" ".join(f"`{name}`" for name in files)) if files else ""
    counts = proposal.counts
    days = [case.day for case in cases] or [counts.first, counts.last]
    times = _often(
        parts,
        len(cases) or counts.cases,
        len({case.session for case in cases}) or counts.sessions,
        scope.tool(cases),
    )
    first, last = min(days), max(days)
    span = parts["day" if first == last else "span"].format(first=first, last=last)
    form = parts["written"] if written else known.drafts[proposal.type]
    return form.format(where=where, times=times, span=span, sentence=_ended(written or ""))


def _often(parts: Mapping[str, str], cases: int, sessions: int, tool: str | None) -> str:
    once = cases == 1
    name = "once" if once else "times_in_one_session" if sessions == 1 else "times"
    after = parts["tool_once" if once else "tool"].format(tool=tool) if tool else ""
    return parts[name].format(cases=cases, sessions=sessions, tool=after)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "。")) else f"{sentence}."


def checked(text: str) -> str:
    """One line that may stand in a CLAUDE.md. Raises UsageError, which quotes nothing of it."""
    if reason := fault(text):
        raise UsageError(
            f"the rule {reason}",
            f"one paragraph of at most {MAX_CHARS} characters, without secrets, comments, imports",
        )
    return _line(text)


def fault(text: str) -> str | None:
    """Why it may not stand there; quotes nothing of it."""
    paragraphs = [part for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]
    sentence = _line(text)
    found = mask(sentence).found
    reason = None
    if not sentence:
        reason = "is empty"
    elif len(paragraphs) > 1:
        reason = f"has {len(paragraphs)} paragraphs"
    elif len(sentence) > MAX_CHARS:
        reason = f"has {len(sentence)} characters"
    elif found:
        reason = f"holds what is masked ({', '.join(found)})"
    elif "<!--" in sentence or "-->" in sentence:
        reason = "holds an HTML comment"
    elif imports(sentence):
        reason = "holds an @import"
    elif sentence.startswith(("```", "~~~")):
        reason = "begins a code fence"
    elif _BLOCK.match(sentence):
        reason = "begins a heading, a list, a quote or a link's address"
    return reason


def _line(text: str) -> str:
    return " ".join(inert(text).split())


def echoes(sentence: str, cases: Sequence[Case]) -> list[str]:
    """Ids of the cases of which it repeats five words in a row, or twelve letters in Korean,
    Japanese or Chinese (T49)."""
    mine = _runs(sentence)
    return [case.id for case in cases if mine & _runs(case.text)]


def _runs(text: str) -> set[str]:
    """All runs of the shortest length that counts."""
    folded = text.casefold()
    heard = _WORD.findall(folded)
    runs = {" ".join(heard[n : n + RUN_WORDS]) for n in range(len(heard) - RUN_WORDS + 1)}
    for run in _RUN.findall(_LETTERS.sub("", folded)):
        runs |= {run[n : n + RUN_LETTERS] for n in range(len(run) - RUN_LETTERS + 1)}
    return runs
