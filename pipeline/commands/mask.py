"""`mask`: what would remain of a text, and what was taken."""

import json
from argparse import Namespace

from pipeline.commands.context import Context
from pipeline.commands.stdin import stdin
from pipeline.masking.masker import mask


def run(context: Context, args: Namespace) -> int:
    """The masked text on standard output; what was found on standard error."""
    if args.jsonl:
        return _lines(context)
    text = stdin().read().decode("utf-8", "replace")
    masked, found = _mask(text)
    if context.json:
        context.screen.document({"text": masked, "found": list(found)})
        return 0
    context.screen.out.write(masked)
    if found:
        context.screen.talk(f"found: {', '.join(found)}")
    return 0


def _mask(text: str) -> tuple[str, tuple[str, ...]]:
    """Windows line ends survive: the masker drops carriage returns like other controls."""
    windows = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    result = mask(text.replace("\r\n", "\n") if windows else text)
    return (result.text.replace("\n", "\r\n") if windows else result.text), result.found


def _lines(context: Context) -> int:
    """`{"text"}` lines in, one `{"text", "found"}` line out for each, in order."""
    for line in stdin():
        try:
            masked, found = _mask(json.loads(line.decode("utf-8", "replace"))["text"])
            answer = {"text": masked, "found": list(found)}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            answer = {"text": "", "found": ["not-a-line"]}
        context.screen.record(answer)
    return 0
