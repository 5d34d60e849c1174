"""`status`: one line about the last run."""

import json
from argparse import Namespace

from pipeline.commands.context import Context
from pipeline.errors import StoreError


def run(context: Context, args: Namespace) -> int:
    """Reads the record that the last run left; says so when there was none."""
    path = context.config.local_cases / "runs" / "last_run.json"
    try:
        record = json.loads(path.read_bytes())
        at, cases, files = record["at"], record["cases"], record["files"]
        line = (
            f"last run {at}: {files['read']} of {files['seen']} files read,"
            f" {cases['new']} new cases, {cases['known']} known"
        )
    except FileNotFoundError:
        record, line = None, "no run yet; `twice-told collect` makes the first"
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"{path} is damaged", "run `twice-told collect`; it writes the record anew"
        ) from error
    if context.json:
        context.screen.document(record)
    else:
        context.screen.line(line)
    return 0
