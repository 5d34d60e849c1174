"""User lines with tool results: refusals, approvals with a comment, answers (T0-T12)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.records import Kind
from pipeline.transcripts import markers
from pipeline.transcripts.content import is_result, result_text, texts
from pipeline.transcripts.human.piece import Class, Piece
from pipeline.transcripts.human.tags import tagged


def with_results(
    data: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]], side: str
) -> Iterator[Piece]:
    """`side`: row of a subagent's line, else ""; there no text beside a result is a comment."""
    call = ""
    for block in blocks:
        if is_result(block):
            identity = block.get("tool_use_id")
            call = identity if isinstance(identity, str) else ""
            yield from _result(data, block, call, side)
        elif not side:
            yield from _beside(data, block, call)


def _result(
    data: Mapping[str, Any], block: Mapping[str, Any], call: str, side: str
) -> Iterator[Piece]:
    text = result_text(block)
    feedback = data.get("userFeedback")
    failed = block.get("is_error") is True
    refused = isinstance(feedback, str) and data.get("toolDenialKind") == "user-rejected"
    if failed and text.startswith(markers.REFUSED_WITH_WORDS):
        words, row = text[len(markers.REFUSED_WITH_WORDS) :], "T2"
    elif failed and text.startswith(markers.REFUSED_WITH_REASON):
        words, row = text[len(markers.REFUSED_WITH_REASON) :], "T3"
    elif failed and text.startswith(markers.DENIED) and markers.DENIED_WORDS in text:
        words, row = text.partition(markers.DENIED_WORDS)[2], "T6"
    else:
        words, row = "", ""
    if refused and str(feedback).strip():
        words, row = str(feedback), "T1"
    if words.startswith(markers.CLARIFY):
        yield Piece(Class.SIGNAL, "T0", "clarify")
    elif words.strip():
        yield Piece(Class.EMBEDDED, row, text=words, kind=Kind.REJECTION, tool_use_id=call)
    elif failed and text.startswith(markers.REFUSED_BARE):
        yield Piece(Class.SIGNAL, "T4", "refused")
    elif text.strip() in markers.INTERRUPTS:
        yield Piece(Class.SIGNAL, "T7", "interrupt")
    elif not side and isinstance(data.get("toolUseResult"), dict):
        yield from _answers(data["toolUseResult"], call)
    else:
        yield Piece(Class.HARNESS, side or "T12", "tool_result")


def _beside(data: Mapping[str, Any], block: Mapping[str, Any], call: str) -> Iterator[Piece]:
    """T11: a text block beside a tool result is the comment given with an approval."""
    for text in texts([block]):
        if text.strip() in markers.INTERRUPTS:
            yield Piece(Class.SIGNAL, "U1", "interrupt")
        elif (
            text.strip() == markers.TOOL_LOADED
            or any(data.get(flag) is True for flag in markers.CLIENT_FLAGS)
            or tagged(text, trusted=False, row="T11") is not None
        ):
            yield Piece(Class.HARNESS, "T11", "client_text")
        else:
            yield Piece(
                Class.EMBEDDED, "T11", text=text, kind=Kind.APPROVAL_COMMENT, tool_use_id=call
            )


# Answers to AskUserQuestion


def _answers(result: Mapping[str, Any], call: str) -> Iterator[Piece]:
    """T8: free answers and notes. A picked label is the model's wording, not the person's."""
    answers, questions = result.get("answers"), result.get("questions")
    if not isinstance(answers, dict) or not isinstance(questions, list):
        yield Piece(Class.HARNESS, "T12", "tool_result")
        return
    notes = result.get("annotations")
    found = False
    for question in questions:
        name = question.get("question") if isinstance(question, dict) else None
        if not isinstance(name, str):
            continue
        note = notes.get(name) if isinstance(notes, dict) else None
        for words in (
            _free_words(question, answers.get(name)),
            note.get("notes") if isinstance(note, dict) else None,
        ):
            if isinstance(words, str) and words.strip():
                found = True
                yield Piece(Class.EMBEDDED, "T8", text=words, kind=Kind.ANSWER, tool_use_id=call)
    if not found:
        yield Piece(Class.WEAK, "T8", "picked_answer")


def _free_words(question: Mapping[str, Any], answer: object) -> str:
    if not isinstance(answer, str) or answer == markers.NOTES_ONLY:
        return ""
    options = question.get("options")
    labels = {
        option["label"]
        for option in (options if isinstance(options, list) else [])
        if isinstance(option, dict) and isinstance(option.get("label"), str)
    }
    if answer in labels:
        return ""
    return _without_labels(answer, labels) if question.get("multiSelect") is True else answer


def _without_labels(answer: str, labels: set[str]) -> str:
    """Own words behind picked labels: labels are taken off the front, the rest is one piece."""
    rest = answer
    while True:
        for label in sorted(labels, key=len, reverse=True):
            if rest == label:
                return ""
            if rest.startswith(label + ", "):
                rest = rest[len(label) + 2 :]
                break
        else:
            break
    if len(rest) > 1 and rest[0] == rest[-1] == '"':
        return rest[1:-1]
    return rest
