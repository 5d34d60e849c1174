"""`export` and `restore`: the masked cases out of the store and in again."""

from argparse import Namespace
from pathlib import Path

from pipeline import clock
from pipeline.cases import earlier, export, stats
from pipeline.cases.store import FILE_NAME, open_reader, open_writer
from pipeline.commands.context import Context
from pipeline.errors import StoreError, UsageError
from pipeline.files import lock, private_dir


def save(context: Context, args: Namespace) -> int:
    """Writes all cases with verdicts and tombstones to one file (0600)."""
    if str(args.file) == "-":
        raise UsageError("an export is written to a file", "name it, as in cases.jsonl.gz")
    with open_reader(context.config.local_cases) as store:
        if store is None:
            raise StoreError("there is no store yet", "`twice-told collect` makes it")
        cases = stats.totals(store)["cases"]
        if context.dry_run:
            rows = sum(1 for _ in export.rows(store))
        else:
            rows = export.write(store, args.file.absolute(), clock.now())
    if context.json:
        context.screen.document({"file": str(args.file), "rows": rows})
    elif context.dry_run:
        context.screen.line(f"would write {cases} cases")
    else:
        context.screen.line(f"{rows} rows written to {args.file}")
    return 0


def restore(context: Context, args: Namespace) -> int:
    """Puts an export in the place of the store; what people decided since then stands."""
    rows = export.read(Path("/dev/stdin") if str(args.file) == "-" else args.file)
    cases = sum(row[0] == "cases" for row in rows)
    if context.dry_run:
        if context.json:
            context.screen.document({"cases": cases, "set_aside": []})
        else:
            context.screen.line(f"would restore {cases} cases")
        return 0
    folder = private_dir(context.config.local_cases)
    with lock(folder / "lock"):
        newer = _decisions(context, folder)
        fresh = folder / f"{FILE_NAME}.restoring"
        try:
            _remove(fresh)
            with open_writer(folder, fresh.name) as store:
                export.restore(store, rows, newer)
                back = stats.totals(store)["cases"]
        except BaseException:  # a ^C too: half a store holds words that nobody looks after
            _remove(fresh)
            raise
        aside = _set_aside(folder)
        fresh.replace(folder / FILE_NAME)
    if context.json:
        context.screen.document({"cases": back, "set_aside": [path.name for path in aside]})
    else:
        kept = f"; the old store is kept as {aside[0].name}" if aside else ""
        left = f", {cases - back} forgotten ones left out" if back < cases else ""
        context.screen.line(f"{back} cases restored{left}{kept}")
    return 0


def _decisions(context: Context, folder: Path) -> list[list[object]]:
    """People's decisions as the present store knows them, or all exports when it is damaged."""
    try:
        with open_reader(folder) as store:
            if store is None:
                return export.decisions_in(folder / "exports")
            if earlier.case_ids(store) and not context.yes:
                raise UsageError(
                    "there is a store with cases already",
                    "say --yes to put the export in its place",
                )
            return export.decisions(export.rows(store))
    except StoreError:
        return export.decisions_in(folder / "exports")


def _set_aside(folder: Path) -> list[Path]:
    """Keeps the old store under another name; a second one, so that a store is always there."""
    path, log = folder / FILE_NAME, folder / f"{FILE_NAME}.wal"
    aside = path.with_name(f"{path.name}.replaced-{clock.now():%Y%m%dT%H%M%S%fZ}")
    kept = []
    if path.exists():
        try:
            aside.hardlink_to(path)
        except OSError:
            path.rename(aside)
        kept.append(aside)
    if log.exists():
        kept.append(log.rename(aside.with_name(f"{aside.name}.wal")))
    return kept


def _remove(path: Path) -> None:
    for left in (path, path.with_name(f"{path.name}.wal")):
        left.unlink(missing_ok=True)
