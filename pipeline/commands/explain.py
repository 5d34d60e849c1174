"""`explain`: why a text or a stored case got its verdict, and where its line stands."""

import os
from argparse import Namespace
from typing import Any

from pipeline.cases import read
from pipeline.cases.rows import file_key
from pipeline.cases.store import open_reader
from pipeline.classify import engine, packs
from pipeline.classify.engine import WHOLE_CHARS
from pipeline.classify.rule import Packs
from pipeline.classify.trace import Trace
from pipeline.collect.mine import Miner, message
from pipeline.commands.cases import as_json
from pipeline.commands.context import Context
from pipeline.commands.lookup import one_case
from pipeline.commands.stdin import stdin
from pipeline.errors import SourceError, UsageError
from pipeline.masking.masker import mask
from pipeline.records import Case, Message, Source
from pipeline.screen import Screen
from pipeline.transcripts.discover import discover
from pipeline.transcripts.reader import open_transcript
from pipeline.transcripts.repository import Repositories


def run(context: Context, args: Namespace) -> int:
    """A text is traced as typed now; a case as it stood in its session."""
    if (args.text is None) == (args.case is None):
        raise UsageError("give a text, or --case ID", 'as in: twice-told explain "not that one"')
    loaded = packs.load(context.config.rule_folders)
    if args.text is not None:
        raw = stdin().read() if args.text == "-" else os.fsencode(args.text)
        text = raw.decode("utf-8", "replace")
        asked = Message(text, lang=args.lang)
        _show(context, engine.trace(loaded, asked), asked, {})
        return 0
    with open_reader(context.config.local_cases) as store:
        case = one_case(store, args.case)
        assert store is not None
        key, history = read.turn_key(store, case.id), read.history(store, case.id)
    about = as_json(case) | {"where": _where(case), "history": [
        {"at": at.isoformat(), "by": by, "type": kind, "rule_id": rule}
        for at, by, kind, rule in history
    ]}  # fmt: skip
    found = _original(context, loaded, case, key)
    if found is None:
        about["original"] = None
        asked = Message(case.text, kind=case.kind, source=case.source, interrupted=case.interrupted)
    else:
        asked, about["original"] = found
    _show(context, engine.trace(loaded, asked), asked, about)
    return 0


def _where(case: Case) -> dict[str, Any]:
    return {"line": case.number, "row": case.row, "inferred_time": case.inferred_at}


def _original(context: Context, loaded: Packs, case: Case, key: str) -> tuple[Message, str] | None:
    """The message as its transcript still holds it, with the path; None when that is gone."""
    miner = Miner(loaded, context.config, Repositories())
    for file in discover(context.config.claude_dirs).files:
        if file_key(file.path) != case.file:
            continue
        try:
            with open_transcript(file, miner.options(file.root)) as transcript:
                for turn in transcript.turns:
                    if turn.key == key:
                        return message(transcript, turn), f"{file.path}:{turn.number}"
        except SourceError:
            return None
    return None


def _show(context: Context, trace: Trace, asked: Message, about: dict[str, Any]) -> None:
    if context.json:
        context.screen.document({**about, "trace": _trace(trace, asked)})
        return
    if about:
        _about(context.screen, about)
    _print(context.screen, trace, asked)


def _words(asked: Message, span: tuple[int, int]) -> str:
    """What a rule matched, masked like everything that leaves."""
    return mask(asked.text[slice(*span)]).text


def _trace(trace: Trace, asked: Message) -> dict[str, Any]:
    finding = trace.finding
    return {
        "verdict": finding.type.value if finding else None,
        "decided": bool(finding and finding.decided),
        "rule_id": finding.rule_id if finding else None,
        "span": finding.span if finding else None,
        "why": trace.why.value,
        "question": trace.question,
        "facts": list(trace.facts),
        "signals": list(trace.signals),
        "blanked": [{"what": str(blank.kind), "span": blank.span} for blank in trace.blanks],
        "sentences": [
            {"lang": sentence.lang, "text": mask(sentence.text).text}
            for sentence in trace.sentences
        ],
        "attempts": [
            {
                "rule_id": attempt.rule_id,
                "type": attempt.type.value,
                "status": attempt.status.value,
                "span": attempt.span,
                "words": _words(asked, attempt.span),
                "exclusions_tried": list(attempt.tried),
                "stopped_by": attempt.stopped_by,
                "timed_out": attempt.timed_out,
                "muted": attempt.muted,
            }
            for attempt in trace.attempts
        ],
    }


def _about(screen: Screen, about: dict[str, Any]) -> None:
    screen.line(f"case {about['id']}: {about['type']}, {about['day']}, {about['repo']}")
    screen.line(f"  words: {about['text']}")
    action = about["action"]
    if action["tool"]:
        screen.line(f"  after {action['tool']}: {action['gist']}")
    where = about["original"] or (
        f"line {about['where']['line']} of a transcript that is gone or barred;"
        " judged on the masked words"
    )
    screen.line(f"  stands in {where} (row {about['where']['row']}, {about['kind']})")
    for entry in about["history"]:
        screen.line(f"  {entry['at'][:10]} by {entry['by']}: {entry['type']} {entry['rule_id']}")


def _print(screen: Screen, trace: Trace, asked: Message) -> None:
    finding = trace.finding
    verdict = finding.type.value if finding else "no correction"
    rule = f", {finding.rule_id}" if finding else ""
    screen.line(f"verdict: {verdict} ({trace.why.value}{rule})")
    for sentence in trace.sentences:
        screen.line(f"  sentence [{sentence.lang}]: {mask(sentence.text).text}")
    for blank in trace.blanks:
        screen.line(f"  left out of the search: {blank.kind} at {blank.span[0]}–{blank.span[1]}")
    for attempt in trace.attempts:
        fate = (
            f"stopped by {attempt.stopped_by}" if attempt.stopped_by
            else "ran out of time" if attempt.timed_out
            else "says nothing in a question" if attempt.muted
            else attempt.status.value
        )  # fmt: skip
        start, end = attempt.span
        screen.line(
            f"  {attempt.rule_id} matches {start}–{end} “{_words(asked, attempt.span)}”: {fate}"
        )
        if attempt.tried:
            screen.line(f"    exclusions tried: {', '.join(attempt.tried)}")
    if trace.facts:
        screen.line(f"  known of the turn: {', '.join(trace.facts)}")
    for signal in trace.signals:
        screen.line(f"  signal: {signal}")
    if len(asked.text.strip()) > WHOLE_CHARS and asked.source is Source.HUMAN:
        screen.line(f"  over {WHOLE_CHARS} characters: only its first sentence can decide")
    if trace.question:
        screen.line("  ends with a question mark: only violated-instruction, or other, can stand")
