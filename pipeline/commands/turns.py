"""`turns`: what a person typed, read afresh from the transcripts, masked."""

from argparse import Namespace
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pipeline import clock
from pipeline.collect.turns import Said, all_turns
from pipeline.commands.context import Context


def run(context: Context, args: Namespace) -> int:
    """An array with `--json`, else one line a turn. `--all` adds the other conversation lines."""
    start = clock.day_start(args.since, context.config.timezone) if args.since else None
    with context.screen.progress("reading") as progress:
        found = list(_wanted(context, args, start, progress))
    if context.json:
        context.screen.document([_as_json(said, args.all) for said in found])
        return 0
    context.screen.table(
        ("at", "repository", "kind", "words"),
        [(_instant(s.at), s.repo, s.kind if s.human else f"({s.reason})", s.text) for s in found],
    )
    return 0


def _wanted(
    context: Context, args: Namespace, start: datetime | None, progress: Any
) -> Iterator[Said]:
    for said in all_turns(context.config, others=args.all, start=start, progress=progress):
        if args.session is None or said.session == args.session:
            yield said


def _as_json(said: Said, with_reason: bool) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "uuid": said.uuid,
        "session": said.session,
        "at": _instant(said.at),
        "repo": said.repo,
        "kind": said.kind,
        "text": said.text,
    }
    if with_reason:
        shape["human"] = said.human
        if not said.human:
            shape["reason"] = said.reason
    return shape


def _instant(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
