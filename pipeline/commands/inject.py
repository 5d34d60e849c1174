"""`inject`: what the next night hands to the hook for a folder, and why each item is in.

The hook itself reads what the last night has left: where that is something else, it is said.
"""

import os
from argparse import Namespace
from pathlib import Path

from pipeline import clock
from pipeline.cases import read
from pipeline.cases.store import open_reader
from pipeline.commands.context import Context
from pipeline.inject import answer
from pipeline.inject.items import Item, choose
from pipeline.inject.text import frame
from pipeline.transcripts.repository import Repositories, from_git


def run(context: Context, args: Namespace) -> int:
    """The text as the agent would get it; with `--json` its items too."""
    cwd = os.path.realpath(Path(args.cwd or ".").expanduser())
    place = from_git(cwd) or Repositories().of(cwd, cwd)
    with open_reader(context.config.local_cases) as store:
        repo = read.repo_name(store, place.key) if store else None
        found = read.cases(store, read.Wanted(repo=repo)) if store and repo else []
    items = choose(found, clock.now())
    text = frame([item.text for item in items])
    _compare(context, text, answer.text(Path(cwd), context.config.home))
    if context.json:
        context.screen.document({"repo": repo, "items": [_json(i) for i in items], "text": text})
        return 0
    if not items:
        context.screen.talk(
            f"nothing would be shown: no decided correction of {repo} in the last 30 days"
            if repo
            else "nothing would be shown: no corrections are known of this folder's repository"
        )
        return 0
    context.screen.out.write(text + "\n")
    for item in items:
        context.screen.talk(f"{item.case.id}: {_why(item)}")
    return 0


def _compare(context: Context, text: str, now: str) -> None:
    """Says what the agent is shown as long as no night has run, if that is another text."""
    if now == text:
        return
    if not now:
        context.screen.talk(
            "the hook has no file for this folder, or none that it takes: the agent is shown"
            " nothing here until `twice-told nightly` has read a session of this folder"
        )
        return
    context.screen.talk("until `twice-told nightly` has run the agent is shown this instead:")
    for line in now.splitlines():
        context.screen.talk(f"  {line}")


def _json(item: Item) -> dict[str, str]:
    case = item.case
    return {
        "id": case.id,
        "day": case.day.isoformat(),
        "type": case.type.value,
        "source": case.source.value,
        "text": item.text,
    }


def _why(item: Item) -> str:
    case = item.case
    worth = "names its object" if case.named else f"answers a known action ({case.tool})"
    decided = f"{case.source.value}, by {case.decided_by} ({case.rule_id})"
    return f"{decided}, {worth}, until {item.until:%Y-%m-%d}"
