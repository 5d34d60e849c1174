"""`classify`: messages in, verdicts out, one JSON object a line."""

import json
from argparse import Namespace
from typing import Any

from pipeline.classify import engine, labelled, packs
from pipeline.classify.rule import Packs
from pipeline.commands.context import Context
from pipeline.commands.stdin import stdin


def run(context: Context, args: Namespace) -> int:
    """One line out per line in, in order; a line that holds no message gets a null verdict."""
    loaded = packs.load(context.config.rule_folders)
    bad = 0
    for line in stdin():
        verdict = _verdict(loaded, line, args.lang)
        bad += "error" in verdict
        context.screen.record(verdict)
    if bad:
        context.screen.warn(f"{bad} lines hold no message with a `text`; see `error` in the output")
    return 0


def _verdict(loaded: Packs, line: bytes, lang: str | None) -> dict[str, Any]:
    empty = {"id": None, "type": None, "rule_id": None, "decided": False, "excluded_by": None}
    data = None
    try:
        data = json.loads(line.decode("utf-8", "replace"))
        message = labelled.message_of(data, lang)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = data.get("id") if isinstance(data, dict) else None
        return empty | {"id": known, "lang": None, "error": "no message"}
    traced = engine.trace(loaded, message)
    finding = traced.finding
    return empty | {
        "id": data.get("id"),
        "type": finding.type.value if finding else None,
        "rule_id": finding.rule_id if finding else None,
        "decided": bool(finding and finding.decided),
        "excluded_by": traced.excluded_by,
        "lang": finding.lang if finding else _language(traced),
    }


def _language(traced: Any) -> str | None:
    return traced.sentences[0].lang if traced.sentences else None
