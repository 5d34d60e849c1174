"""`init`: a ledger for a team, in a repository."""

import os
import shlex
from argparse import Namespace
from pathlib import Path

from pipeline.cases.store import open_reader
from pipeline.commands.context import Context
from pipeline.config import Config
from pipeline.errors import UsageError
from pipeline.files import lock, private_dir
from pipeline.propose.start import Plan, carry_out, plan
from pipeline.wording import counted


def run(context: Context, args: Namespace) -> int:
    """Makes the ledger, or says what would be made."""
    if "\0" in args.dir:
        raise UsageError("DIR is no path", "name a folder of a git repository")
    folder = Path(os.path.normpath(Path(args.dir).absolute()))
    made = _planned(context.config, folder)  # a folder that is not fit waits for no lock
    if not context.dry_run:
        with lock(private_dir(context.config.local_cases) / "lock"):
            made = _planned(context.config, folder)
            carry_out(made)
    _say(context, made)
    return 0


def _planned(config: Config, folder: Path) -> Plan:
    with open_reader(config.local_cases) as store:
        return plan(config, folder, store)


def _say(context: Context, made: Plan) -> None:
    paths = [path for path, _ in (*made.files, *filter(None, [made.settings]))]
    if context.json:
        context.screen.document({
            "ledger": str(made.ledger), "repos": sorted(made.repos), "copied": len(made.copied),
            "written": [str(path) for path in paths], "dry_run": context.dry_run,
        })  # fmt: skip
        return
    would = "would be " if context.dry_run else ""
    for path in paths:
        context.screen.line(f"{path}: {would}written")
    if made.copied:
        context.screen.line(
            f"{made.ledger}: {counted(len(made.copied), 'event')} {would}copied from the home"
        )
    if not paths and not made.copied:
        context.screen.line(f"{made.ledger}: everything is there already")
    takes = ", ".join(sorted(made.repos)) or "none, as the settings say"
    context.screen.talk(f"it takes {takes}; all others stay in the home's ledger")
    if not context.dry_run:
        where = shlex.quote(str(made.folder))
        context.screen.talk(f"nothing is committed: git -C {where} add . && git -C {where} commit")
