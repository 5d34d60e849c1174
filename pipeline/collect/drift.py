"""The watch over the transcripts' format: a new client version shows up as a warning."""

from datetime import datetime, timedelta
from statistics import median

from pipeline.cases import meta
from pipeline.cases.store import Store
from pipeline.collect.summary import Summary

UNREAD_SHARE = 0.01
"""From so many of the lines on that nobody understands."""
FALL = 0.5
"""From so many of the turns per line of earlier runs down."""
MIN_LINES = 500
"""Fewer tell nothing."""
DAYS = 14


def watch(store: Store, summary: Summary, now: datetime) -> None:
    """Warns of what many lines have in common that nobody understands, and of a fall in turns;
    then remembers this run for the next ones."""
    counts, lines = summary.counts, summary.counts.lines
    if lines < MIN_LINES:
        return
    for share, what in (
        (counts.skipped.total() / lines, "could not be read; see `skipped`"),
        (counts.unknown.total() / lines, "are of unknown types; see `unknown`"),
        (counts.not_human["unmarked"] / lines, "are prompts without a known mark"),
    ):
        if share > UNREAD_SHARE:
            summary.warnings.append(f"{share:.1%} of the lines {what}")
    before = meta.turns_per_line(store, now - timedelta(days=DAYS), MIN_LINES)
    if before and summary.turns / lines < FALL * median(before):
        summary.warnings.append(
            f"far fewer turns per line than in the last {DAYS} days:"
            " the transcripts may have a new form"
        )
    meta.put_run(store, now, lines, summary.turns, summary.new)
